#include <map>
#include <unordered_map>

#include "chunk_target.h"
#include "columns.h"

namespace lanescope {
namespace {

KernelDetail shaped(const proto::LaunchShape& shape) {
  KernelDetail detail;
  detail.grid[0] = shape.grid_x();
  detail.grid[1] = shape.grid_y();
  detail.grid[2] = shape.grid_z();
  detail.block[0] = shape.block_x();
  detail.block[1] = shape.block_y();
  detail.block[2] = shape.block_z();
  detail.cluster[0] = shape.cluster_x();
  detail.cluster[1] = shape.cluster_y();
  detail.cluster[2] = shape.cluster_z();
  detail.registers_per_thread = shape.registers_per_thread();
  detail.static_shared_memory = shape.static_shared_memory();
  detail.dynamic_shared_memory = shape.dynamic_shared_memory();
  detail.shared_memory_executed = shape.shared_memory_executed();
  detail.local_memory_per_thread = shape.local_memory_per_thread();
  detail.local_memory_total = shape.local_memory_total();
  detail.launch_type = shape.launch_type();
  detail.cache_config = shape.cache_config();
  return detail;
}

// Events of a chunk by queue id. Neighbouring events mostly have the same.
class QueueEvents {
 public:
  template <typename Column>
  explicit QueueEvents(const Column& queues) {
    std::map<std::uint32_t, std::size_t> counts;
    for (int first = 0, last = 0; first < queues.size(); first = last) {
      while (last < queues.size() && queues[last] == queues[first]) ++last;
      counts[queues[first]] += static_cast<std::size_t>(last - first);
    }
    for (const auto& [queue, count] : counts) events_[queue].reserve(count);
  }
  std::vector<Event>& operator[](std::uint32_t queue) {
    if (last_ == nullptr || queue != last_queue_) {
      last_ = &events_[queue];
      last_queue_ = queue;
    }
    return *last_;
  }
  auto begin() { return events_.begin(); }
  auto end() { return events_.end(); }

 private:
  std::map<std::uint32_t, std::vector<Event>> events_;
  std::vector<Event>* last_ = nullptr;
  std::uint32_t last_queue_ = 0;
};

void add_by_queue(const ChunkTarget& into, TrackKind kind, QueueEvents events) {
  for (auto& [queue_id, queue_events] : events) {
    const proto::Queue& queue = into.dictionary.queues[queue_id];
    TrackKey key{kind, into.process};
    key.gpu = into.builder.gpu_of_device(into.process, queue.device());
    key.context = queue.context();
    key.stream = queue.stream();
    into.builder.add(key, std::move(queue_events));
  }
}

const KernelName& kernel_name(const ChunkTarget& into, std::uint32_t string_id) {
  EntryTable<KernelName>& names = into.dictionary.kernel_names;
  const NameId mangled = into.dictionary.strings[string_id];
  if (mangled == 0) return names[0];
  if (const KernelName& known = names[string_id]; known.mangled == mangled) return known;
  return names.place(string_id) = into.kernel_names.of(mangled, into.builder);
}

// Names that are made from numbers, each made once: the events of a chunk have the same few again and again.
template <typename Make>
class NumberedNames {
 public:
  NumberedNames(TraceBuilder& builder, Make make) : builder_(builder), make_(std::move(make)) {}
  NameId of(std::uint32_t number) {
    const auto [found, is_new] = names_.try_emplace(number, 0);
    if (is_new) found->second = builder_.intern(make_(number));
    return found->second;
  }

 private:
  TraceBuilder& builder_;
  Make make_;
  std::unordered_map<std::uint32_t, NameId> names_;
};

}  // namespace

bool ingest(const ChunkTarget& into, const KernelColumns& c) {
  const int n = c.start_delta.size();
  if (!same_length(n, c.duration, c.name, c.queue, c.correlation_delta, c.shape)) return false;
  if (!same_length_or_empty(n, c.graph_node_delta, c.graph, c.kernel_name)) return false;
  const auto unfinished = marked(c.unfinished, n);
  const bool given = !c.kernel_name.empty();
  DetailCache& details = given ? into.dictionary.given_kernels : into.dictionary.kernels;
  QueueEvents events(c.queue);
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  std::int64_t node = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta[i]);
    correlation = sum(correlation, c.correlation_delta[i]);
    node = sum(node, optional_value(c.graph_node_delta, i));
    const std::uint32_t graph = optional_value(c.graph, i);
    const bool open = !unfinished.empty() && unfinished[static_cast<std::size_t>(i)];
    const std::uint32_t name_id = given ? c.kernel_name[i] : c.name[i];
    const KernelName& name = given ? into.dictionary.given_names[name_id] : kernel_name(into, name_id);
    const auto detail_of = [&] {
      KernelDetail detail = shaped(into.dictionary.shapes[c.shape[i]]);
      detail.mangled_name = name.mangled;
      detail.short_name = name.brief;
      detail.graph = graph;
      detail.graph_node = static_cast<std::uint64_t>(node);
      detail.finished = open ? Finished::kNo : Finished::kYes;
      return into.builder.intern(detail);
    };
    const DetailId detail = open ? detail_of() : details.find({c.shape[i], name_id, graph, static_cast<std::uint64_t>(node)}, detail_of);
    events[c.queue[i]].push_back({time, static_cast<Nanoseconds>(c.duration[i]), name.name, static_cast<std::uint32_t>(correlation), detail});
  }
  add_by_queue(into, TrackKind::kKernels, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, const proto::Copies& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.bytes(), c.queue(), c.correlation_delta(), c.shape())) return false;
  if (!same_length_or_empty(n, c.graph_node_delta(), c.graph(), c.virtual_address(), c.migration_cause())) return false;
  QueueEvents events(c.queue());
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  std::int64_t node = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    correlation = sum(correlation, c.correlation_delta(i));
    node = sum(node, optional_value(c.graph_node_delta(), i));
    const proto::CopyShape& shape = into.dictionary.copy_shapes[c.shape(i)];
    MemoryDetail detail;
    detail.operation = MemoryOperation::kCopy;
    detail.copy_kind = known_kind(static_cast<int>(shape.kind()), CopyKind::kUnifiedDeviceToDevice);
    detail.source_memory = known_kind(static_cast<int>(shape.source_memory()), MemoryKind::kManagedStatic);
    detail.destination_memory = known_kind(static_cast<int>(shape.destination_memory()), MemoryKind::kManagedStatic);
    detail.source_device = shape.source_device();
    detail.destination_device = shape.destination_device();
    detail.source_context = shape.source_context();
    detail.destination_context = shape.destination_context();
    detail.bytes = c.bytes(i);
    detail.graph = optional_value(c.graph(), i);
    detail.graph_node = static_cast<std::uint64_t>(node);
    detail.virtual_address = optional_value(c.virtual_address(), i);
    detail.migration_cause = optional_value(c.migration_cause(), i);
    events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), into.builder.intern(memory_operation_name(detail)),
                                  static_cast<std::uint32_t>(correlation), into.builder.intern(detail)});
  }
  add_by_queue(into, TrackKind::kMemory, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, const proto::Sets& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.bytes(), c.value(), c.queue(), c.correlation_delta(), c.memory_kind())) return false;
  if (!same_length_or_empty(n, c.graph_node_delta(), c.graph())) return false;
  QueueEvents events(c.queue());
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  std::int64_t node = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    correlation = sum(correlation, c.correlation_delta(i));
    node = sum(node, optional_value(c.graph_node_delta(), i));
    MemoryDetail detail;
    detail.operation = MemoryOperation::kSet;
    detail.destination_memory = known_kind(c.memory_kind(i), MemoryKind::kManagedStatic);
    detail.value = c.value(i);
    detail.bytes = c.bytes(i);
    detail.graph = optional_value(c.graph(), i);
    detail.graph_node = static_cast<std::uint64_t>(node);
    events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), into.builder.intern(memory_operation_name(detail)),
                                  static_cast<std::uint32_t>(correlation), into.builder.intern(detail)});
  }
  add_by_queue(into, TrackKind::kMemory, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, const proto::Synchronizations& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.type(), c.queue(), c.event(), c.correlation_delta()) || !same_length_or_empty(n, c.event_record())) return false;
  QueueEvents events(c.queue());
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    correlation = sum(correlation, c.correlation_delta(i));
    events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), into.builder.intern(synchronization_name(c.type(i))),
                                  static_cast<std::uint32_t>(correlation),
                                  into.builder.intern(SynchronizationDetail{c.type(i), c.event(i), optional_value(c.event_record(), i)})});
  }
  add_by_queue(into, TrackKind::kSynchronizations, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, const proto::GraphLaunches& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.queue(), c.correlation_delta(), c.graph()) || !same_length_or_empty(n, c.graph_exec())) return false;
  QueueEvents events(c.queue());
  NumberedNames names(into.builder, [](std::uint32_t graph) { return "CUDA graph " + std::to_string(graph); });
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    correlation = sum(correlation, c.correlation_delta(i));
    events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), names.of(c.graph(i)), static_cast<std::uint32_t>(correlation),
                                  into.builder.intern(GraphLaunchDetail{c.graph(i), optional_value(c.graph_exec(), i)})});
  }
  add_by_queue(into, TrackKind::kGraphLaunches, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, const proto::CudaEvents& c) {
  const int n = c.time_delta_size();
  if (!same_length(n, c.queue(), c.event(), c.record(), c.correlation_delta())) return false;
  QueueEvents events(c.queue());
  NumberedNames names(into.builder, [&](std::uint32_t event) {
    const std::string_view given = into.builder.cuda_name(into.process, CudaResource::kEvent, event);
    std::string name = "CUDA event " + std::to_string(event);
    return given.empty() ? name : name.append(" ").append(given);
  });
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.time_delta(i));
    correlation = sum(correlation, c.correlation_delta(i));
    events[c.queue(i)].push_back(
        {time, 0, names.of(c.event(i)), static_cast<std::uint32_t>(correlation), into.builder.intern(CudaEventDetail{c.event(i), c.record(i)})});
  }
  add_by_queue(into, TrackKind::kCudaEvents, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, const proto::MemoryUsage& c) {
  const int n = c.time_delta_size();
  if (!same_length(n, c.operation(), c.address_delta(), c.bytes(), c.memory_kind(), c.queue(), c.correlation_delta())) return false;
  if (!same_length_or_empty(n, c.name(), c.pool_address(), c.pool_bytes(), c.pool_bytes_in_use(), c.pool_release_threshold())) return false;
  std::map<GpuId, std::vector<Event>> by_gpu;
  std::int64_t time = into.base_time;
  std::int64_t address = 0;
  std::int64_t correlation = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.time_delta(i));
    address = sum(address, c.address_delta(i));
    correlation = sum(correlation, c.correlation_delta(i));
    const proto::Queue& queue = into.dictionary.queues[c.queue(i)];
    MemoryUsageDetail detail;
    detail.operation = known_kind(c.operation(i), MemoryUsageOperation::kPoolTrim);
    detail.memory_kind = known_kind(c.memory_kind(i), MemoryKind::kManagedStatic);
    detail.address = static_cast<std::uint64_t>(address);
    detail.bytes = c.bytes(i);
    detail.context = queue.context();
    detail.stream = queue.stream();
    detail.variable = into.dictionary.strings[optional_value(c.name(), i)];
    detail.pool = optional_value(c.pool_address(), i);
    detail.pool_size = optional_value(c.pool_bytes(), i);
    detail.pool_utilized = optional_value(c.pool_bytes_in_use(), i);
    detail.pool_release_threshold = optional_value(c.pool_release_threshold(), i);
    by_gpu[into.builder.gpu_of_device(into.process, queue.device())].push_back(
        {time, 0, into.builder.intern(memory_usage_name(detail.operation)), static_cast<std::uint32_t>(correlation), into.builder.intern(detail)});
  }
  for (auto& [gpu, events] : by_gpu) {
    TrackKey key{TrackKind::kMemoryUsage, into.process};
    key.gpu = gpu;
    into.builder.add(key, std::move(events));
  }
  return true;
}

}  // namespace lanescope
