// Hostile files: calls and their chains.
#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void one_correlation_id(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::int64_t time = 0;
  while (!file.is_full()) {
    proto::EventChunk calls = chunk_at(time);
    calls_in(calls).set_correlation_delta(0, 7);
    file.add(proto::FRAME_EVENTS, calls, kProcess, 0, kRows);
    proto::EventChunk kernels = chunk_at(time);
    kernels_in(kernels).set_correlation_delta(0, 7);
    file.add(proto::FRAME_EVENTS, kernels, kProcess, 0, kRows);
    time += kChunkSpan;
  }
}
void falling_correlation_ids(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::int64_t time = 0;
  for (std::int64_t first = std::int64_t{1} << 31; !file.is_full(); first -= static_cast<std::int64_t>(kRows)) {
    proto::EventChunk calls = chunk_at(time);
    repeat(*calls_in(calls).mutable_correlation_delta(), std::int64_t{-1});
    calls.mutable_api_calls()->set_correlation_delta(0, first);
    file.add(proto::FRAME_EVENTS, calls, kProcess, 0, kRows);
    proto::EventChunk kernels = chunk_at(time);
    repeat(*kernels_in(kernels).mutable_correlation_delta(), std::int64_t{-1});
    kernels.mutable_kernels()->set_correlation_delta(0, first);
    file.add(proto::FRAME_EVENTS, kernels, kProcess, 0, kRows);
    time += kChunkSpan;
  }
}
// Threads with one range each, in which each launches one kernel.
void threads_that_launch(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t thread = 1; !file.is_full(); ++thread) {
    const std::int64_t time = 40'000 * std::int64_t{thread};  // apart, so that the GPU is idle in between
    proto::EventChunk ranges = chunk_at(time);
    ranges_in(ranges, proto::NVTX_PUSH_POP, 1).set_thread(thread);
    ranges.mutable_nvtx_ranges()->set_duration(0, 1'000);
    proto::EventChunk calls = chunk_at(time + 10);
    calls_in(calls, 1).set_thread(thread);
    calls.mutable_api_calls()->set_correlation_delta(0, thread);
    proto::EventChunk kernels = chunk_at(time + 100);
    kernels_in(kernels, 1).set_correlation_delta(0, thread);
    for (const proto::EventChunk* chunk : {&ranges, &calls, &kernels}) file.add(proto::FRAME_EVENTS, *chunk, kProcess, 0, 1);
  }
}
// A thread that launches kernels without own ranges, while very many other threads have ranges.
void launches_beside_ranges_of_many_threads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t thread = 10; file.position() < bytes / 2; ++thread) {
    proto::EventChunk ranges = chunk_at(thread);
    ranges_in(ranges, proto::NVTX_PUSH_POP, 1).set_thread(thread);
    file.add(proto::FRAME_EVENTS, ranges, kProcess, 0, 1);
  }
  std::int64_t time = 0;
  for (std::int64_t id = 1; !file.is_full(); time += kChunkSpan) {
    proto::EventChunk calls = chunk_at(time), kernels = chunk_at(time);
    repeat(*calls_in(calls).mutable_correlation_delta(), std::int64_t{1});
    calls.mutable_api_calls()->set_correlation_delta(0, id);
    repeat(*kernels_in(kernels).mutable_correlation_delta(), std::int64_t{1});
    kernels.mutable_kernels()->set_correlation_delta(0, id);
    id += static_cast<std::int64_t>(kRows);
    for (const proto::EventChunk* chunk : {&calls, &kernels}) file.add(proto::FRAME_EVENTS, *chunk, kProcess, 0, kRows);
  }
}
// Kernels with a gap before each that is long enough to be reported.
void kernels_far_apart(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::int64_t kApart = 20'000;
  fill_with_chunks(file, kApart * static_cast<std::int64_t>(kRows + 1),
                   [](proto::EventChunk& chunk) { repeat(*kernels_in(chunk).mutable_start_delta(), kApart); });
}
// Samples of one call chain of `depth` calls each; the chains of each chunk are longer than those before.
void deep_call_chains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    chunk.set_first_string(1);
    chunk.add_strings("f");
    chunk.set_first_code_location(1);
    chunk.add_code_locations()->set_function(1);
    chunk.set_first_call_node(next);
    for (std::size_t i = 0; i < kRows; ++i, ++next) {
      proto::CallNode& call = *chunk.add_call_nodes();
      call.set_parent(next - 1);
      call.set_location(1);
    }
    proto::Samples& samples = *chunk.mutable_samples();
    samples.set_thread(5);
    samples.set_period(1'000);
    repeat(*samples.mutable_time_delta(), std::int64_t{2});
    count_up(*samples.mutable_call_node(), next - kRows);
  });
}
void functions_of_one_location(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::EventChunk chunk;
  chunk.set_first_string(1);
  chunk.add_strings("f");
  for (std::uint32_t i = 1; i <= 1'000; ++i) chunk.add_code_locations()->set_address(i);
  chunk.set_first_code_location(1);
  file.add(proto::FRAME_EVENTS, chunk);
  proto::Symbols symbols;
  for (std::uint32_t location = 1; location <= 2; ++location) {
    proto::LocationSymbol& symbol = *symbols.add_locations();
    symbol.set_location(location);
    for (int i = 0; i < 250'000; ++i) symbol.add_functions()->set_function(1);
  }
  file.fill_with(proto::FRAME_SYMBOLS, symbols);
}

}  // namespace

std::vector<HostileFile> calls() {
  return {
      {"one_correlation_id", &one_correlation_id},
      {"falling_correlation_ids", &falling_correlation_ids},
      {"threads_that_launch", &threads_that_launch},
      {"launches_beside_ranges_of_many_threads", &launches_beside_ranges_of_many_threads},
      {"kernels_far_apart", &kernels_far_apart},
      {"deep_call_chains", &deep_call_chains},
      {"functions_of_one_location", &functions_of_one_location},
  };
}

}  // namespace lanescope::test
