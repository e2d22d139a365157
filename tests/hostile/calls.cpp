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
// Samples of one call chain of `depth` calls each, the chains of a chunk longer than those before.
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
      {"deep_call_chains", &deep_call_chains},
      {"functions_of_one_location", &functions_of_one_location},
  };
}

}  // namespace lanescope::test
