// Hostile files: ids and names.
#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void growing_ids(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint64_t source = 0; !file.is_full(); ++source) {
    for (std::uint32_t id = 1; id != 0 && id < (1u << 31); id *= 2) {
      proto::EventChunk chunk;
      chunk.set_first_string(id);
      chunk.add_strings("s");
      chunk.set_first_shape(id);
      chunk.add_launch_shapes();
      chunk.set_first_queue(id);
      chunk.add_queues();
      chunk.set_first_copy_shape(id);
      chunk.add_copy_shapes();
      chunk.set_first_kernel_name(id);
      chunk.add_kernel_names();
      chunk.set_first_code_location(id);
      chunk.add_code_locations();
      chunk.set_first_call_node(id);
      chunk.add_call_nodes();
      file.add(proto::FRAME_EVENTS, chunk, static_cast<std::uint32_t>(1 + source / 256), static_cast<int>(source % 256));
    }
  }
}
void kernels_of_many_dictionaries(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t i = 0; !file.is_full(); ++i) {
    proto::EventChunk chunk = chunk_at(i);
    kernels_in(chunk, 1);
    file.add(proto::FRAME_EVENTS, chunk, 1 + i / 256, static_cast<int>(i % 256), 1);
  }
}
void distinct_texts(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t next = 1; !file.is_full();) {
    proto::EventChunk chunk;
    chunk.set_first_string(next);
    for (int i = 0; i < 200'000; ++i) chunk.add_strings(std::to_string(next++));
    file.add(proto::FRAME_EVENTS, chunk);
  }
}
void ranges_of_distinct_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    chunk.set_first_string(next);
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP);
    ranges.clear_name();
    count_up(*ranges.mutable_name(), next);
    for (std::size_t i = 0; i < kRows; ++i) chunk.add_strings(std::to_string(next++));
  });
}
void long_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    chunk.set_first_string(next);
    chunk.add_strings(std::string(7u << 20, 'n') + std::to_string(next));
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP, 1);
    ranges.set_name(0, next++);
  });
}
void distinct_graph_nodes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [&, next = std::int64_t{1}](proto::EventChunk& chunk) mutable {
    proto::Kernels& kernels = kernels_in(chunk);
    repeat(*kernels.mutable_graph_node_delta(), std::int64_t{1});
    kernels.set_graph_node_delta(0, next);
    next += static_cast<std::int64_t>(kRows);
  });
}
void distinct_allocations(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [&, next = std::int64_t{1}](proto::EventChunk& chunk) mutable {
    proto::MemoryUsage& usage = *chunk.mutable_memory_usage();
    repeat(*usage.mutable_time_delta(), std::int64_t{1});
    repeat(*usage.mutable_operation(), 1u);
    repeat(*usage.mutable_address_delta(), std::int64_t{8});
    usage.set_address_delta(0, next);
    repeat(*usage.mutable_bytes(), std::uint64_t{1});
    repeat(*usage.mutable_memory_kind(), 3u);
    repeat(*usage.mutable_queue(), 0u);
    repeat(*usage.mutable_correlation_delta(), std::int64_t{0});
    next += 8 * static_cast<std::int64_t>(kRows);
  });
}

}  // namespace

std::vector<HostileFile> dictionaries() {
  return {
      {"growing_ids", &growing_ids},
      {"kernels_of_many_dictionaries", &kernels_of_many_dictionaries},
      {"distinct_texts", &distinct_texts},
      {"ranges_of_distinct_names", &ranges_of_distinct_names},
      {"long_names", &long_names},
      {"distinct_graph_nodes", &distinct_graph_nodes},
      {"distinct_allocations", &distinct_allocations},
  };
}

}  // namespace lanescope::test
