// Hostile files: zeros, and empty entries.
#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

// The payload of a chunk: columns of `rows` zeros.
std::string zeros(std::uint32_t events_field, std::initializer_list<std::uint32_t> columns, std::size_t rows, std::size_t width = 1) {
  std::string events;
  for (const std::uint32_t column : columns) events += field(column, std::string(rows * width, '\0'));
  return number_field(proto::EventChunk::kBaseTimeFieldNumber, 2'000) + field(events_field, events);
}

template <std::uint32_t events, std::uint32_t... columns>
void huge_zero_columns(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, zeros(events, {columns...}, kHugeColumns / sizeof...(columns)), kRows);
}
template <std::uint32_t events, std::uint32_t... columns>
void zero_columns(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, zeros(events, {columns...}, kRows), kRows);
}
void zero_memory_usage(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, zeros(31, {1, 2, 3, 4, 5, 6, 7}, kRows), kRows);
}
void zero_counters(const Path& path, std::size_t bytes) {
  constexpr std::uint32_t kCounters = 100;
  FileOfFrames file(path, bytes);
  proto::Resources resources;
  for (std::uint32_t i = 1; i <= kCounters; ++i) {
    resources.add_counters()->set_id(i);
    resources.mutable_counters(static_cast<int>(i) - 1)->set_name("counter " + std::to_string(i));
  }
  file.add(proto::FRAME_RESOURCES, resources);
  for (std::int64_t time = 0; !file.is_full(); time += static_cast<std::int64_t>(kRows)) {
    proto::EventChunk chunk = chunk_at(time);
    proto::CounterSamples& samples = *chunk.mutable_counter_samples();
    repeat(*samples.mutable_time_delta(), std::int64_t{1});
    samples.set_time_delta(0, 0);
    samples.set_last_duration(1);
    for (std::uint32_t i = 1; i <= kCounters; ++i) {
      samples.add_counter(i);
      repeat(*samples.add_columns()->mutable_value_delta(), std::int64_t{0});
    }
    file.add(proto::FRAME_EVENTS, chunk);
  }
}
void many_counter_columns(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string empty_columns;
  for (std::size_t i = 0; i < (std::size_t{20} << 20); ++i) empty_columns += std::string_view("\x1a\0", 2);
  file.fill_with(proto::FRAME_EVENTS, number_field(1, 2'000) + field(30, field(2, std::string_view("\0", 1)) + empty_columns), kRows);
}

void empty_texts(const Path& path, std::size_t bytes) {
  std::string texts = number_field(proto::EventChunk::kFirstStringFieldNumber, 1);
  while (texts.size() < kHugeColumns) texts += std::string_view("\x1a\0", 2);
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, texts);
}
template <std::uint32_t first_field, std::uint32_t entry_field>
void empty_entries(const Path& path, std::size_t bytes) {
  std::string entries = number_field(first_field, 1);
  while (entries.size() < (4u << 20)) entries += field(entry_field, "");
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, entries);
}

void unknown_fields(const Path& path, std::size_t bytes) {
  std::string fields;
  while (fields.size() < kHugeColumns) fields += field(99, "");
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, fields);
}

}  // namespace

std::vector<HostileFile> columns_and_entries() {
  using Chunk = proto::EventChunk;
  return {
      {"huge_zero_kernels", &huge_zero_columns<Chunk::kKernelsFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"huge_zero_copies", &huge_zero_columns<Chunk::kCopiesFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"huge_zero_ranges", &huge_zero_columns<Chunk::kNvtxRangesFieldNumber, 4, 5, 6, 7>},
      {"huge_zero_calls", &huge_zero_columns<Chunk::kApiCallsFieldNumber, 3, 4, 5, 6>},
      {"zero_kernels", &zero_columns<Chunk::kKernelsFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"zero_copies", &zero_columns<Chunk::kCopiesFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"zero_sets", &zero_columns<Chunk::kSetsFieldNumber, 1, 2, 3, 4, 5, 6, 7>},
      {"zero_calls", &zero_columns<Chunk::kApiCallsFieldNumber, 3, 4, 5, 6>},
      {"zero_synchronizations", &zero_columns<Chunk::kSynchronizationsFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"zero_graph_launches", &zero_columns<Chunk::kGraphLaunchesFieldNumber, 1, 2, 3, 4, 5>},
      {"zero_ranges", &zero_columns<Chunk::kNvtxRangesFieldNumber, 4, 5, 6, 7>},
      {"zero_marks", &zero_columns<Chunk::kNvtxMarksFieldNumber, 3, 4>},
      {"zero_spans", &zero_columns<Chunk::kOsRuntimeFieldNumber, 1, 2, 3>},
      {"zero_states", &zero_columns<Chunk::kThreadStatesFieldNumber, 2, 3, 4>},
      {"zero_samples", &zero_columns<Chunk::kSamplesFieldNumber, 4, 5>},
      {"zero_memory_usage", &zero_memory_usage},
      {"zero_cuda_events", &zero_columns<Chunk::kCudaEventsFieldNumber, 1, 2, 3, 4, 5>},
      {"zero_counters", &zero_counters},
      {"many_counter_columns", &many_counter_columns},
      {"empty_texts", &empty_texts},
      {"empty_shapes", &empty_entries<Chunk::kFirstShapeFieldNumber, Chunk::kLaunchShapesFieldNumber>},
      {"empty_queues", &empty_entries<Chunk::kFirstQueueFieldNumber, Chunk::kQueuesFieldNumber>},
      {"empty_locations", &empty_entries<Chunk::kFirstCodeLocationFieldNumber, Chunk::kCodeLocationsFieldNumber>},
      {"empty_call_nodes", &empty_entries<Chunk::kFirstCallNodeFieldNumber, Chunk::kCallNodesFieldNumber>},
      {"unknown_fields", &unknown_fields},
  };
}

}  // namespace lanescope::test
