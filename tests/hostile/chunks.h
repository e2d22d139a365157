// Chunks with the largest allowed number of rows; hostile files change what they need.
#pragma once

#include "file_of_frames.h"
#include "hostile_files.h"

namespace lanescope::test {

using Path = std::filesystem::path;

inline constexpr std::size_t kRows = 65'536;                                          // of a chunk
inline constexpr std::size_t kHugeColumns = 60u << 20;                                // bytes of all columns of a chunk; they compress to a few KB
inline constexpr std::int64_t kChunkSpan = 2 * static_cast<std::int64_t>(kRows) + 2;  // ns, of its kernels

template <typename Column, typename Value>
void repeat(Column& column, Value value, std::size_t times = kRows) {
  column.Clear();
  column.Resize(static_cast<int>(times), value);
}
template <typename Column>
void count_up(Column& column, std::uint64_t from, std::size_t times = kRows) {
  column.Clear();
  for (std::size_t i = 0; i < times; ++i) column.Add(static_cast<typename Column::value_type>(from + i));
}

inline proto::EventChunk chunk_at(std::int64_t time) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch + time);
  return chunk;
}

// Kernels one after the other, each of 1 ns.
inline proto::Kernels& kernels_in(proto::EventChunk& chunk, std::size_t rows = kRows) {
  proto::Kernels& kernels = *chunk.mutable_kernels();
  repeat(*kernels.mutable_start_delta(), std::int64_t{2}, rows);
  repeat(*kernels.mutable_duration(), std::uint64_t{1}, rows);
  repeat(*kernels.mutable_name(), 0u, rows);
  repeat(*kernels.mutable_queue(), 0u, rows);
  repeat(*kernels.mutable_correlation_delta(), std::int64_t{0}, rows);
  repeat(*kernels.mutable_shape(), 0u, rows);
  return kernels;
}
inline proto::NvtxRanges& ranges_in(proto::EventChunk& chunk, proto::NvtxStyle style, std::size_t rows = kRows) {
  proto::NvtxRanges& ranges = *chunk.mutable_nvtx_ranges();
  ranges.set_thread(5);
  ranges.set_style(style);
  repeat(*ranges.mutable_start_delta(), std::int64_t{2}, rows);
  repeat(*ranges.mutable_duration(), std::uint64_t{1}, rows);
  repeat(*ranges.mutable_name(), 0u, rows);
  if (style == proto::NVTX_PUSH_POP) repeat(*ranges.mutable_depth(), 0u, rows);
  return ranges;
}
inline proto::ApiCalls& calls_in(proto::EventChunk& chunk, std::size_t rows = kRows) {
  proto::ApiCalls& calls = *chunk.mutable_api_calls();
  calls.set_thread(5);
  repeat(*calls.mutable_start_delta(), std::int64_t{2}, rows);
  repeat(*calls.mutable_duration(), std::uint64_t{1}, rows);
  repeat(*calls.mutable_name(), 0u, rows);
  repeat(*calls.mutable_correlation_delta(), std::int64_t{0}, rows);
  return calls;
}

// Adds chunks that follow each other, made by `make(chunk)`, until the file is full. Each is `span` ns after the one before.
template <typename Make>
void fill_with_chunks(FileOfFrames& file, std::int64_t span, Make make) {
  for (std::int64_t time = 0; !file.is_full(); time += span) {
    proto::EventChunk chunk = chunk_at(time);
    make(chunk);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kRows);
  }
}
template <typename Make>
void fill_with_resources(FileOfFrames& file, Make make, std::uint32_t process = kProcess) {
  constexpr std::uint32_t kEntriesOfFrame = 20'000;
  for (std::uint32_t next = 1; !file.is_full();) {
    proto::Resources resources;
    for (std::uint32_t i = 0; i < kEntriesOfFrame; ++i) make(resources, next++);
    file.add(proto::FRAME_RESOURCES, resources, process);
  }
}

}  // namespace lanescope::test
