#include "trace_chunks.h"

#include <algorithm>

#include "model/trace/segments/demanded_segments.h"

namespace lanescope::exporters {
namespace {

constexpr std::size_t kMaximumChunkEvents = 1u << 16;

// A column of differences between consecutive values.
class DeltaColumn {
 public:
  explicit DeltaColumn(google::protobuf::RepeatedField<std::int64_t>* column, std::int64_t base = 0) : column_(column), last_(base) {}
  void add(std::int64_t value) {
    column_->Add(value - last_);
    last_ = value;
  }

 private:
  google::protobuf::RepeatedField<std::int64_t>* column_;
  std::int64_t last_;
};

// A column that is left out if all its values are 0.
template <typename Items, typename Column, typename Value>
void fill_sparse(const Items& items, Column* column, Value value) {
  const auto is_zero = [&](const auto& item) { return value(item) == 0; };
  if (std::all_of(items.begin(), items.end(), is_zero)) return;
  column->Reserve(static_cast<int>(items.size()));
  for (const auto& item : items) column->Add(value(item));
}
template <typename Items, typename Value>
void fill_sparse_deltas(const Items& items, google::protobuf::RepeatedField<std::int64_t>* column, Value value) {
  const auto is_zero = [&](const auto& item) { return value(item) == 0; };
  if (std::all_of(items.begin(), items.end(), is_zero)) return;
  DeltaColumn deltas(column);
  for (const auto& item : items) deltas.add(static_cast<std::int64_t>(value(item)));
}

template <typename Items, typename Columns>
void fill_starts(const Items& items, proto::EventChunk& chunk, Columns& columns, std::int64_t epoch) {
  chunk.set_base_time(items.front().event.start + epoch);
  DeltaColumn starts(columns.mutable_start_delta(), items.front().event.start);
  columns.mutable_duration()->Reserve(static_cast<int>(items.size()));
  for (const auto& item : items) {
    starts.add(item.event.start);
    columns.add_duration(static_cast<std::uint64_t>(item.event.duration));
  }
}

template <typename Items, typename Columns>
void fill_correlations(const Items& items, Columns& columns) {
  DeltaColumn correlations(columns.mutable_correlation_delta());
  for (const auto& item : items) correlations.add(item.event.correlation);
}

template <typename Items, typename Columns>
void fill_queue(const Items& items, std::uint32_t queue, Columns& columns) {
  for (std::size_t i = 0; i < items.size(); ++i) columns.add_queue(queue);
}

// For fields in which 0 means none.
std::uint32_t one_more(std::uint32_t processor) { return processor == kNone ? 0 : processor + 1; }

}  // namespace

template <typename Encode>
bool TraceChunks::add_chunks(std::span<const Item> items, Encode encode) {
  for (std::size_t first = 0; first < items.size(); first += kMaximumChunkEvents) {
    const auto part = items.subspan(first, std::min(kMaximumChunkEvents, items.size() - first));
    proto::EventChunk chunk;
    encode(part, chunk);
    dictionary_.append_new(chunk);
    if (!emit_(chunk, static_cast<std::uint32_t>(part.size()))) return false;
  }
  return true;
}

bool TraceChunks::add(const Track& track) {
  std::vector<Item> items;
  for (const EventRef ref : events_in_order(trace_, track, selection_, more_)) items.push_back({ref, trace_.event(ref)});
  leave_out_unreadable(track, items);
  const auto chunks = [&](auto encode) {
    return add_chunks(items, [&](std::span<const Item> part, proto::EventChunk& chunk) { (this->*encode)(track, part, chunk); });
  };
  switch (track.key.kind) {
    case TrackKind::kKernels:
      return chunks(&TraceChunks::encode_kernels);
    case TrackKind::kMemory: {
      const auto is_copy = [&](const Item& item) { return trace_.memory_detail(item.event.detail).operation == MemoryOperation::kCopy; };
      const auto sets = std::stable_partition(items.begin(), items.end(), is_copy);
      const auto copy_count = static_cast<std::size_t>(sets - items.begin());
      const std::span<const Item> all(items);
      return add_chunks(all.first(copy_count), [&](std::span<const Item> part, proto::EventChunk& chunk) { encode_copies(track, part, chunk); }) &&
             add_chunks(all.subspan(copy_count), [&](std::span<const Item> part, proto::EventChunk& chunk) { encode_sets(track, part, chunk); });
    }
    case TrackKind::kGraphLaunches:
      return chunks(&TraceChunks::encode_graph_launches);
    case TrackKind::kSynchronizations:
      return chunks(&TraceChunks::encode_synchronizations);
    case TrackKind::kCudaApi:
      return add_calls(track, items);
    case TrackKind::kNvtxRanges:
    case TrackKind::kNvtxProcessRanges:
      return chunks(&TraceChunks::encode_ranges);
    case TrackKind::kNvtxMarks:
      return chunks(&TraceChunks::encode_marks);
    case TrackKind::kOsRuntime:
    case TrackKind::kOverhead:
    case TrackKind::kCompilation:
      return chunks(&TraceChunks::encode_spans);
    case TrackKind::kPageFaults:
      return chunks(&TraceChunks::encode_page_faults);
    case TrackKind::kMemoryUsage:
      return chunks(&TraceChunks::encode_memory_usage);
    case TrackKind::kCudaEvents:
      return chunks(&TraceChunks::encode_cuda_events);
    case TrackKind::kThreadStates:
      return chunks(&TraceChunks::encode_thread_states);
    case TrackKind::kCpuSamples:
    case TrackKind::kBacktraces:
      return add_samples(track, items);
    case TrackKind::kProcessors:
      return true;  // they follow from the states of threads
  }
  return true;
}

// Removes substitutes of unreadable events, because they did not happen.
void TraceChunks::leave_out_unreadable(const Track& track, std::vector<Item>& items) {
  for (const LaneId lane : track.lanes) {
    const DemandedSegments* const demanded = demanded_segments(trace_.lane(lane));
    if (demanded == nullptr || !demanded->has_substitutes()) continue;
    unreadable_ +=
        std::erase_if(items, [&](const Item& item) { return item.ref.lane == lane && demanded->is_unreadable(item.ref.index / LaneSegment::kCapacity); });
  }
}

// Runtime and driver calls nest in each other, but a chunk contains only one kind. So each piece of the track is split by kind, and time advances in the file
// as on the track.
bool TraceChunks::add_calls(const Track& track, std::span<const Item> items) {
  std::vector<Item> sorts[2];
  for (std::size_t first = 0; first < items.size(); first += kMaximumChunkEvents) {
    for (const Item& item : items.subspan(first, std::min(kMaximumChunkEvents, items.size() - first)))
      sorts[static_cast<std::size_t>(trace_.api_detail(item.event.detail).domain)].push_back(item);
    for (const ApiDomain domain : {ApiDomain::kRuntime, ApiDomain::kDriver}) {
      std::vector<Item>& calls = sorts[static_cast<std::size_t>(domain)];
      const auto encode = [&](std::span<const Item> part, proto::EventChunk& chunk) { encode_calls(track, domain, part, chunk); };
      if (!add_chunks(calls, encode)) return false;
      calls.clear();
    }
  }
  return true;
}

// A chunk contains samples of one origin and period, so runs of them are formed.
bool TraceChunks::add_samples(const Track& track, std::span<const Item> items) {
  const auto kind = [&](const Item& item) {
    const SampleDetail& detail = trace_.sample_detail(item.event.detail);
    return std::pair(detail.origin, detail.period);
  };
  while (!items.empty()) {
    const auto run = std::find_if(items.begin(), items.end(), [&](const Item& item) { return kind(item) != kind(items.front()); });
    const auto length = static_cast<std::size_t>(run - items.begin());
    const auto encode = [&](std::span<const Item> part, proto::EventChunk& chunk) { encode_samples(track, part, chunk); };
    if (!add_chunks(items.first(length), encode)) return false;
    items = items.subspan(length);
  }
  return true;
}

void TraceChunks::encode_thread_states(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::ThreadStates& states = *chunk.mutable_thread_states();
  const auto detail = [&](const Item& item) -> const ThreadStateDetail& { return trace_.thread_state_detail(item.event.detail); };
  states.set_thread(tid(track.key.thread));
  fill_starts(items, chunk, states, trace_.provenance().monotonic_epoch);
  for (const Item& item : items) states.add_state(static_cast<std::uint32_t>(detail(item).state));
  fill_sparse(items, states.mutable_processor(), [&](const Item& item) { return one_more(detail(item).processor); });
  fill_sparse(items, states.mutable_waker(), [&](const Item& item) { return detail(item).waker; });
}

void TraceChunks::encode_samples(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::Samples& samples = *chunk.mutable_samples();
  const auto detail = [&](const Item& item) -> const SampleDetail& { return trace_.sample_detail(item.event.detail); };
  samples.set_thread(tid(track.key.thread));
  samples.set_origin(static_cast<proto::SampleOrigin>(detail(items.front()).origin));
  samples.set_period(static_cast<std::uint64_t>(detail(items.front()).period));
  chunk.set_base_time(items.front().event.start + trace_.provenance().monotonic_epoch);
  DeltaColumn times(samples.mutable_time_delta(), items.front().event.start);
  for (const Item& item : items) {
    times.add(item.event.start);
    samples.add_call_node(dictionary_.call_node(detail(item).call_node));
  }
  fill_sparse(items, samples.mutable_processor(), [&](const Item& item) { return one_more(detail(item).processor); });
  fill_sparse(items, samples.mutable_duration(), [](const Item& item) { return static_cast<std::uint64_t>(item.event.duration); });
  fill_sparse_deltas(items, samples.mutable_correlation_delta(), [](const Item& item) { return item.event.correlation; });
}

void TraceChunks::encode_kernels(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::Kernels& kernels = *chunk.mutable_kernels();
  const auto detail = [&](const Item& item) -> const KernelDetail& { return trace_.kernel_detail(item.event.detail); };
  fill_starts(items, chunk, kernels, trace_.provenance().monotonic_epoch);
  fill_queue(items, dictionary_.queue(track.key), kernels);
  fill_correlations(items, kernels);
  std::unordered_map<DetailId, std::uint32_t> shapes;  // because many launches have equal details
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const auto [shape, added] = shapes.try_emplace(item.event.detail, 0);
    if (added) shape->second = dictionary_.launch_shape(detail(item));
    kernels.add_shape(shape->second);
    kernels.add_name(0);
    kernels.add_kernel_name(dictionary_.kernel_name(item.event.name, detail(item)));
    if (detail(item).finished == Finished::kNo) kernels.add_unfinished(i);
  }
  fill_sparse_deltas(items, kernels.mutable_graph_node_delta(), [&](const Item& item) { return detail(item).graph_node; });
  fill_sparse(items, kernels.mutable_graph(), [&](const Item& item) { return detail(item).graph; });
}

void TraceChunks::encode_copies(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::Copies& copies = *chunk.mutable_copies();
  const auto detail = [&](const Item& item) -> const MemoryDetail& { return trace_.memory_detail(item.event.detail); };
  fill_starts(items, chunk, copies, trace_.provenance().monotonic_epoch);
  fill_queue(items, dictionary_.queue(track.key), copies);
  fill_correlations(items, copies);
  for (const Item& item : items) {
    copies.add_bytes(detail(item).bytes);
    copies.add_shape(dictionary_.copy_shape(detail(item)));
  }
  fill_sparse_deltas(items, copies.mutable_graph_node_delta(), [&](const Item& item) { return detail(item).graph_node; });
  fill_sparse(items, copies.mutable_graph(), [&](const Item& item) { return detail(item).graph; });
  fill_sparse(items, copies.mutable_virtual_address(), [&](const Item& item) { return detail(item).virtual_address; });
  fill_sparse(items, copies.mutable_migration_cause(), [&](const Item& item) { return detail(item).migration_cause; });
}

void TraceChunks::encode_sets(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::Sets& sets = *chunk.mutable_sets();
  const auto detail = [&](const Item& item) -> const MemoryDetail& { return trace_.memory_detail(item.event.detail); };
  fill_starts(items, chunk, sets, trace_.provenance().monotonic_epoch);
  fill_queue(items, dictionary_.queue(track.key), sets);
  fill_correlations(items, sets);
  for (const Item& item : items) {
    sets.add_bytes(detail(item).bytes);
    sets.add_value(detail(item).value);
    sets.add_memory_kind(static_cast<std::uint32_t>(detail(item).destination_memory));
  }
  fill_sparse_deltas(items, sets.mutable_graph_node_delta(), [&](const Item& item) { return detail(item).graph_node; });
  fill_sparse(items, sets.mutable_graph(), [&](const Item& item) { return detail(item).graph; });
}

void TraceChunks::encode_graph_launches(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::GraphLaunches& launches = *chunk.mutable_graph_launches();
  const auto detail = [&](const Item& item) -> const GraphLaunchDetail& { return trace_.graph_launch_detail(item.event.detail); };
  fill_starts(items, chunk, launches, trace_.provenance().monotonic_epoch);
  fill_queue(items, dictionary_.queue(track.key), launches);
  fill_correlations(items, launches);
  for (const Item& item : items) launches.add_graph(detail(item).graph);
  fill_sparse(items, launches.mutable_graph_exec(), [&](const Item& item) { return detail(item).graph_exec; });
}

void TraceChunks::encode_synchronizations(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::Synchronizations& synchronizations = *chunk.mutable_synchronizations();
  fill_starts(items, chunk, synchronizations, trace_.provenance().monotonic_epoch);
  fill_queue(items, dictionary_.queue(track.key), synchronizations);
  fill_correlations(items, synchronizations);
  for (const Item& item : items) {
    const SynchronizationDetail& detail = trace_.synchronization_detail(item.event.detail);
    synchronizations.add_type(detail.type);
    synchronizations.add_event(detail.event);
  }
  fill_sparse(items, synchronizations.mutable_event_record(), [&](const Item& item) { return trace_.synchronization_detail(item.event.detail).event_record; });
}

void TraceChunks::encode_cuda_events(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::CudaEvents& events = *chunk.mutable_cuda_events();
  chunk.set_base_time(items.front().event.start + trace_.provenance().monotonic_epoch);
  DeltaColumn times(events.mutable_time_delta(), items.front().event.start);
  fill_queue(items, dictionary_.queue(track.key), events);
  fill_correlations(items, events);
  for (const Item& item : items) {
    const CudaEventDetail& detail = trace_.cuda_event_detail(item.event.detail);
    times.add(item.event.start);
    events.add_event(detail.event);
    events.add_record(detail.record);
  }
}

void TraceChunks::encode_memory_usage(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::MemoryUsage& usage = *chunk.mutable_memory_usage();
  const auto detail = [&](const Item& item) -> const MemoryUsageDetail& { return trace_.memory_usage_detail(item.event.detail); };
  chunk.set_base_time(items.front().event.start + trace_.provenance().monotonic_epoch);
  DeltaColumn times(usage.mutable_time_delta(), items.front().event.start);
  DeltaColumn addresses(usage.mutable_address_delta());
  fill_correlations(items, usage);
  for (const Item& item : items) {
    TrackKey queue = track.key;
    queue.context = detail(item).context;
    queue.stream = detail(item).stream;
    times.add(item.event.start);
    addresses.add(static_cast<std::int64_t>(detail(item).address));
    usage.add_operation(static_cast<std::uint32_t>(detail(item).operation));
    usage.add_bytes(detail(item).bytes);
    usage.add_memory_kind(static_cast<std::uint32_t>(detail(item).memory_kind));
    usage.add_queue(dictionary_.queue(queue));
  }
  fill_sparse(items, usage.mutable_name(), [&](const Item& item) { return dictionary_.string(detail(item).variable); });
  fill_sparse(items, usage.mutable_pool_address(), [&](const Item& item) { return detail(item).pool; });
  fill_sparse(items, usage.mutable_pool_bytes(), [&](const Item& item) { return detail(item).pool_size; });
  fill_sparse(items, usage.mutable_pool_bytes_in_use(), [&](const Item& item) { return detail(item).pool_utilized; });
  fill_sparse(items, usage.mutable_pool_release_threshold(), [&](const Item& item) { return detail(item).pool_release_threshold; });
}

void TraceChunks::encode_calls(const Track& track, ApiDomain domain, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::ApiCalls& calls = *chunk.mutable_api_calls();
  calls.set_thread(tid(track.key.thread));
  calls.set_driver(domain == ApiDomain::kDriver);
  fill_starts(items, chunk, calls, trace_.provenance().monotonic_epoch);
  fill_correlations(items, calls);
  for (const Item& item : items) calls.add_name(dictionary_.string(item.event.name));
  fill_sparse(items, calls.mutable_result(), [&](const Item& item) { return trace_.api_detail(item.event.detail).result; });
}

void TraceChunks::encode_spans(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::Spans& spans = *(track.key.kind == TrackKind::kOsRuntime  ? chunk.mutable_os_runtime()
                          : track.key.kind == TrackKind::kOverhead ? chunk.mutable_overheads()
                                                                   : chunk.mutable_compilations());
  fill_starts(items, chunk, spans, trace_.provenance().monotonic_epoch);
  const std::uint32_t thread = tid(track.key.thread);
  fill_sparse(items, spans.mutable_thread(), [&](const Item&) { return thread; });
  fill_sparse_deltas(items, spans.mutable_correlation_delta(), [](const Item& item) { return item.event.correlation; });
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    spans.add_name(dictionary_.string(items[i].event.name));
    if (track.key.kind == TrackKind::kOsRuntime && items[i].event.detail == kPartialCall) spans.add_partial(i);
  }
}

void TraceChunks::encode_ranges(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::NvtxRanges& ranges = *chunk.mutable_nvtx_ranges();
  const bool nested = track.key.kind == TrackKind::kNvtxRanges;
  const auto detail = [&](const Item& item) -> const NvtxDetail& { return trace_.nvtx_detail(item.event.detail); };
  ranges.set_thread(tid(track.key.thread));
  ranges.set_domain(track.key.domain);
  ranges.set_style(nested ? proto::NVTX_PUSH_POP : proto::NVTX_START_END);
  fill_starts(items, chunk, ranges, trace_.provenance().monotonic_epoch);
  const LanePositions depths(track);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    ranges.add_name(dictionary_.string(items[i].event.name));
    if (nested) ranges.add_depth(depths[items[i].ref.lane]);
    if (detail(items[i]).finished == Finished::kNo) ranges.add_unfinished(i);
  }
  fill_sparse(items, ranges.mutable_category(), [&](const Item& item) { return detail(item).category; });
  fill_sparse(items, ranges.mutable_color(), [&](const Item& item) { return detail(item).color; });
  fill_sparse(items, ranges.mutable_payload_type(), [&](const Item& item) { return static_cast<std::uint32_t>(detail(item).payload_type); });
  fill_sparse(items, ranges.mutable_payload(), [&](const Item& item) { return detail(item).payload; });
  fill_sparse(items, ranges.mutable_payload_json(), [&](const Item& item) { return dictionary_.string(detail(item).payload_json); });
  fill_sparse(items, ranges.mutable_end_thread(), [&](const Item& item) { return detail(item).end_thread == kNone ? 0 : tid(detail(item).end_thread); });
  fill_sparse_deltas(items, ranges.mutable_id_delta(), [](const Item& item) { return item.event.correlation; });
}

void TraceChunks::encode_page_faults(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::PageFaults& faults = *chunk.mutable_page_faults();
  const auto detail = [&](const Item& item) -> const PageFaultDetail& { return trace_.page_fault_detail(item.event.detail); };
  const std::uint32_t device = track.key.gpu == kNone ? 0 : 1 + device_ordinal(trace_, track.key.process, track.key.gpu);
  fill_starts(items, chunk, faults, trace_.provenance().monotonic_epoch);
  for (const Item& item : items) {
    faults.add_address(detail(item).address);
    faults.add_count(detail(item).count);
  }
  fill_sparse(items, faults.mutable_device(), [&](const Item&) { return device; });
  fill_sparse(items, faults.mutable_access(), [&](const Item& item) { return detail(item).access; });
  fill_sparse(items, faults.mutable_program_counter(), [&](const Item& item) { return detail(item).program_counter; });
  fill_sparse(items, faults.mutable_function(), [&](const Item& item) { return dictionary_.string(detail(item).function); });
  fill_sparse(items, faults.mutable_module(), [&](const Item& item) { return dictionary_.string(detail(item).module); });
  fill_sparse(items, faults.mutable_source_file(), [&](const Item& item) { return dictionary_.string(detail(item).source_file); });
  fill_sparse(items, faults.mutable_source_line(), [&](const Item& item) { return detail(item).source_line; });
}

void TraceChunks::encode_marks(const Track& track, std::span<const Item> items, proto::EventChunk& chunk) {
  proto::NvtxMarks& marks = *chunk.mutable_nvtx_marks();
  const auto detail = [&](const Item& item) -> const NvtxDetail& { return trace_.nvtx_detail(item.event.detail); };
  marks.set_thread(tid(track.key.thread));
  marks.set_domain(track.key.domain);
  chunk.set_base_time(items.front().event.start + trace_.provenance().monotonic_epoch);
  DeltaColumn times(marks.mutable_time_delta(), items.front().event.start);
  for (const Item& item : items) {
    times.add(item.event.start);
    marks.add_name(dictionary_.string(item.event.name));
  }
  fill_sparse(items, marks.mutable_category(), [&](const Item& item) { return detail(item).category; });
  fill_sparse(items, marks.mutable_color(), [&](const Item& item) { return detail(item).color; });
  fill_sparse(items, marks.mutable_payload_type(), [&](const Item& item) { return static_cast<std::uint32_t>(detail(item).payload_type); });
  fill_sparse(items, marks.mutable_payload(), [&](const Item& item) { return detail(item).payload; });
  fill_sparse(items, marks.mutable_payload_json(), [&](const Item& item) { return dictionary_.string(detail(item).payload_json); });
  fill_sparse_deltas(items, marks.mutable_id_delta(), [](const Item& item) { return item.event.correlation; });
}

}  // namespace lanescope::exporters
