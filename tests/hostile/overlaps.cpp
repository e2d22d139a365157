// Hostile files: overlaps, and late events.
#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void overlapping_kernels(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) { repeat(*kernels_in(chunk).mutable_duration(), std::uint64_t{1} << 40); });
}
void overlapping_calls(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) { repeat(*calls_in(chunk).mutable_duration(), std::uint64_t{1} << 40); });
}
void open_ranges(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) {
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_START_END);
    repeat(*ranges.mutable_duration(), std::uint64_t{1} << 40);
    count_up(*ranges.mutable_unfinished(), 0);
  });
}
void overlapping_at_one_depth(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan,
                   [](proto::EventChunk& chunk) { repeat(*ranges_in(chunk, proto::NVTX_PUSH_POP).mutable_duration(), std::uint64_t{1} << 40); });
}
void deep_ranges_of_many_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t domain = 1; !file.is_full(); ++domain) {
    proto::EventChunk chunk = chunk_at(0);
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP, 1);
    ranges.set_domain(domain);
    ranges.set_depth(0, 100'000);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
// Frames, each earlier than the previous one.
template <typename Make>
void fill_with_falling_chunks(FileOfFrames& file, Make make) {
  for (std::int64_t time = std::int64_t{1} << 40; !file.is_full(); time -= 1'000) {
    proto::EventChunk chunk = chunk_at(time);
    make(chunk);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
void falling_marks(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_falling_chunks(file, [](proto::EventChunk& chunk) {
    chunk.mutable_nvtx_marks()->set_thread(5);
    chunk.mutable_nvtx_marks()->add_time_delta(0);
    chunk.mutable_nvtx_marks()->add_name(0);
  });
}
void falling_ranges(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_falling_chunks(file, [](proto::EventChunk& chunk) { ranges_in(chunk, proto::NVTX_PUSH_POP, 1); });
}
void falling_ranges_of_one_chunk_each(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::int64_t time = std::int64_t{1} << 40; !file.is_full(); time -= 2 * kChunkSpan) {
    proto::EventChunk chunk = chunk_at(time);
    ranges_in(chunk, proto::NVTX_PUSH_POP);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kRows);
  }
}
void falling_kernels(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::int64_t time = std::int64_t{1} << 40; !file.is_full(); time -= 2 * kChunkSpan) {
    proto::EventChunk chunk = chunk_at(time);
    kernels_in(chunk);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kRows);
  }
}
void kernels_in_turn_at_begin_and_end(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::int64_t i = 0; !file.is_full(); ++i) {
    proto::EventChunk chunk = chunk_at((i % 2 == 0 ? i : -i) * 10 + (std::int64_t{1} << 30));
    kernels_in(chunk, 1);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}

}  // namespace

std::vector<HostileFile> overlaps() {
  return {
      {"overlapping_kernels", &overlapping_kernels},
      {"overlapping_calls", &overlapping_calls},
      {"open_ranges", &open_ranges},
      {"overlapping_at_one_depth", &overlapping_at_one_depth},
      {"deep_ranges_of_many_domains", &deep_ranges_of_many_domains},
      {"falling_marks", &falling_marks},
      {"falling_ranges", &falling_ranges},
      {"falling_ranges_of_one_chunk_each", &falling_ranges_of_one_chunk_each},
      {"falling_kernels", &falling_kernels},
      {"kernels_in_turn_at_begin_and_end", &kernels_in_turn_at_begin_and_end},
  };
}

}  // namespace lanescope::test
