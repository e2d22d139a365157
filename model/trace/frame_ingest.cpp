#include "model/trace/frame_ingest.h"

#include <map>
#include <tuple>
#include <variant>

#include "lanescope/trace.pb.h"
#include "model/trace/kernel_name.h"

namespace lanescope {
namespace {

// What ids of one (process, source) stand for.
struct KernelName {
  NameId name = 0;
  NameId mangled = 0;
  NameId brief = 0;
};
// Remembers the details of (shape, name) pairs that launches repeat. A pair may push another out: it is then interned again.
class DetailCache {
 public:
  template <typename Compute>
  DetailId find(std::uint32_t shape, std::uint32_t name, Compute compute) {
    const std::uint64_t key = (std::uint64_t{shape} << 32 | name) + 1;
    Slot& slot = slots_[(key * 0x9e3779b97f4a7c15ull) >> 52];
    if (slot.key != key) slot = {key, compute()};
    return slot.detail;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    DetailId detail = 0;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(1u << 12);
};

struct Dictionary {
  std::vector<NameId> strings{0};
  std::vector<KernelName> kernel_names{{}};  // by string id; filled where a string is first used as a kernel's name
  std::vector<KernelName> given_names{{}};   // by kernel name id: as the source of an imported trace has them
  std::vector<proto::LaunchShape> shapes{1};
  std::vector<proto::Queue> queues{1};
  std::vector<proto::CopyShape> copy_shapes{1};
  DetailCache plain_kernels;  // kernels outside of graphs, by string id
  DetailCache given_kernels;  // the same by kernel name id
};

constexpr std::size_t kMaximumDictionaryEntries = 1u << 24;

// Puts entries at their ids. A gap (a lost chunk) leaves default entries behind; an absurd id is refused.
template <typename Entry, typename Entries, typename Convert>
bool extend(std::vector<Entry>& known, std::uint32_t first, const Entries& entries, Convert convert) {
  if (entries.empty()) return true;
  if (first == 0 || first > kMaximumDictionaryEntries) return false;
  const std::size_t end = first + static_cast<std::size_t>(entries.size());
  if (known.size() < end) known.resize(end);
  for (std::size_t i = 0; i < static_cast<std::size_t>(entries.size()); ++i) known[first + i] = convert(entries[static_cast<int>(i)]);
  return true;
}

template <typename Entry>
const Entry& lookup(const std::vector<Entry>& table, std::uint32_t id) {
  return table[id < table.size() ? id : 0];
}

// A column that is empty when all its values are 0.
template <typename Column>
auto optional_value(const Column& column, int i) -> typename Column::value_type {
  return i < column.size() ? column[i] : 0;
}

template <typename... Columns>
bool same_length(int length, const Columns&... columns) {
  return ((columns.size() == length) && ...);
}
template <typename... Columns>
bool same_length_or_empty(int length, const Columns&... columns) {
  return ((columns.size() == length || columns.empty()) && ...);
}

std::vector<bool> marked(const google::protobuf::RepeatedField<std::uint32_t>& indexes, int size) {
  std::vector<bool> marks(indexes.empty() ? 0 : static_cast<std::size_t>(size));
  for (const std::uint32_t index : indexes)
    if (index < marks.size()) marks[index] = true;
  return marks;
}

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

Gpu described(const proto::Device& device) {
  Gpu gpu;
  gpu.name = device.name();
  gpu.uuid = device.uuid();
  gpu.bus_id = device.bus_id();
  gpu.ordinal = device.id();
  gpu.multiprocessor_count = device.multiprocessor_count();
  gpu.compute_major = device.compute_major();
  gpu.compute_minor = device.compute_minor();
  gpu.memory_bytes = device.memory_bytes();
  gpu.memory_bandwidth = device.memory_bandwidth();
  gpu.core_clock_khz = device.core_clock_khz();
  gpu.max_warps_per_multiprocessor = device.max_warps_per_multiprocessor();
  gpu.max_blocks_per_multiprocessor = device.max_blocks_per_multiprocessor();
  gpu.max_registers_per_multiprocessor = device.max_registers_per_multiprocessor();
  gpu.max_shared_memory_per_multiprocessor = device.max_shared_memory_per_multiprocessor();
  return gpu;
}

}  // namespace

struct FrameIngest::State {
  // Events of a chunk by queue id. Neighbours mostly share theirs.
  class QueueEvents {
   public:
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

  TraceBuilder& builder;
  Nanoseconds epoch = 0;
  std::uint64_t malformed = 0;
  std::map<std::pair<std::uint32_t, std::uint8_t>, Dictionary> dictionaries;  // by (process instance, source)
  std::map<std::tuple<std::uint32_t, std::uint8_t>, Completeness> counters;

  Nanoseconds since_epoch(std::int64_t monotonic) const { return monotonic - epoch; }

  bool session_start(const proto::SessionStart& message) {
    epoch = message.epoch();
    Provenance& provenance = builder.provenance();
    provenance.format = "Lanescope";
    provenance.producer = "lanescope " + message.lanescope_version();
    provenance.host_name = message.host_name();
    provenance.operating_system = message.operating_system();
    provenance.working_directory = message.working_directory();
    provenance.command.assign(message.command().begin(), message.command().end());
    provenance.utc_epoch = message.utc_epoch();
    provenance.monotonic_epoch = message.epoch();
    if (!message.source_format().empty()) {
      provenance.format = message.source_format();
      provenance.producer = message.source_producer();
    }
    return true;
  }

  bool process_start(ProcessId id, const proto::ProcessStart& message) {
    Process& process = builder.process(id);
    process.pid = message.pid();
    process.parent_pid = message.parent_pid();
    process.executable = message.executable();
    process.arguments.assign(message.arguments().begin(), message.arguments().end());
    process.start = since_epoch(message.time());
    process.forked = message.forked();
    return true;
  }

  bool process_end(ProcessId id, const proto::ProcessEnd& message) {
    Process& process = builder.process(id);
    process.end = since_epoch(message.time());
    process.end_kind = static_cast<ProcessEndKind>(message.kind());
    process.exit_code = message.exit_code();
    process.signal = message.signal();
    process.completeness.unreturned_buffers = message.unreturned_buffers();
    return true;
  }

  bool resources(ProcessId id, const proto::Resources& message) {
    for (const auto& device : message.devices()) builder.set_device(id, device.id(), described(device));
    for (const auto& context : message.contexts()) builder.set_context({id, context.id(), context.device(), context.null_stream()});
    for (const auto& stream : message.streams())
      builder.set_stream({id, stream.context(), stream.id(), stream.priority(), static_cast<std::uint32_t>(stream.kind()), stream.name()});
    for (const auto& thread : message.threads()) {
      const ThreadId known = builder.thread(id, thread.id());
      builder.name_thread(known, thread.name());
      if (thread.has_priority()) builder.set_thread_priority(known, thread.priority());
    }
    for (const auto& domain : message.nvtx_domains()) builder.set_domain(id, domain.id(), domain.name());
    for (const auto& category : message.nvtx_categories()) builder.set_category(id, category.domain(), category.id(), category.name());
    return true;
  }

  // Counters are cumulative for each source; a process's completeness is the sum of its sources.
  bool add_counters(const FrameHeader& header, ProcessId id, const proto::Counters& message) {
    counters[{header.process, header.source}] = {message.produced(), message.dropped(), message.late(), message.invalid()};
    Completeness& total = builder.process(id).completeness;
    const std::uint32_t unreturned = total.unreturned_buffers;
    total = {};
    total.unreturned_buffers = unreturned;
    for (const auto& [key, part] : counters) {
      if (std::get<0>(key) != header.process) continue;
      total.produced += part.produced;
      total.dropped += part.dropped;
      total.late += part.late;
      total.invalid += part.invalid;
    }
    return true;
  }

  bool diagnostic(std::uint32_t instance, const proto::Diagnostic& message) {
    builder.add_diagnostic({since_epoch(message.time()), instance == 0 ? kNone : builder.process_of_instance(instance), message.severity(),
                            message.component(), message.state(), message.text()});
    return true;
  }

  void add_by_queue(TrackKind kind, ProcessId process, const Dictionary& dictionary, QueueEvents events) {
    for (auto& [queue_id, queue_events] : events) {
      const proto::Queue& queue = lookup(dictionary.queues, queue_id);
      TrackKey key{kind, process};
      key.gpu = builder.gpu_of_device(process, queue.device());
      key.context = queue.context();
      key.stream = queue.stream();
      builder.add(key, std::move(queue_events));
    }
  }

  const KernelName& kernel_name(Dictionary& dictionary, std::uint32_t string_id) {
    if (string_id >= dictionary.strings.size()) string_id = 0;
    if (dictionary.kernel_names.size() < dictionary.strings.size()) dictionary.kernel_names.resize(dictionary.strings.size());
    KernelName& entry = dictionary.kernel_names[string_id];
    const NameId mangled = dictionary.strings[string_id];
    if (entry.name == 0 && mangled != 0) {
      entry.mangled = mangled;
      const std::string readable = demangle(builder.text(mangled));
      entry.name = builder.intern(readable);
      entry.brief = builder.intern(short_kernel_name(readable));
    }
    return entry;
  }

  bool kernels(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::Kernels& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.name(), c.queue(), c.correlation_delta(), c.shape())) return false;
    if (!same_length_or_empty(n, c.graph_node_delta(), c.graph(), c.kernel_name())) return false;
    const auto unfinished = marked(c.unfinished(), n);
    const bool given = !c.kernel_name().empty();
    DetailCache& plain_details = given ? dictionary.given_kernels : dictionary.plain_kernels;
    QueueEvents events;
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    std::int64_t node = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      node += optional_value(c.graph_node_delta(), i);
      const std::uint32_t graph = optional_value(c.graph(), i);
      const bool open = !unfinished.empty() && unfinished[static_cast<std::size_t>(i)];
      const std::uint32_t name_id = given ? c.kernel_name(i) : c.name(i);
      const KernelName& name = given ? lookup(dictionary.given_names, name_id) : kernel_name(dictionary, name_id);
      const auto detail_of = [&] {
        KernelDetail detail = shaped(lookup(dictionary.shapes, c.shape(i)));
        detail.mangled_name = name.mangled;
        detail.short_name = name.brief;
        detail.graph = graph;
        detail.graph_node = static_cast<std::uint64_t>(node);
        detail.finished = open ? Finished::kNo : Finished::kYes;
        return builder.intern(detail);
      };
      const bool plain = graph == 0 && node == 0 && !open;
      const DetailId detail = plain ? plain_details.find(c.shape(i), name_id, detail_of) : detail_of();
      events[c.queue(i)].push_back(
          {time, static_cast<Nanoseconds>(c.duration(i)), name.name, static_cast<std::uint32_t>(correlation), detail});
    }
    add_by_queue(TrackKind::kKernels, process, dictionary, std::move(events));
    return true;
  }

  bool copies(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::Copies& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.bytes(), c.queue(), c.correlation_delta(), c.shape())) return false;
    if (!same_length_or_empty(n, c.graph_node_delta(), c.graph(), c.virtual_address(), c.migration_cause())) return false;
    QueueEvents events;
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    std::int64_t node = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      node += optional_value(c.graph_node_delta(), i);
      const proto::CopyShape& shape = lookup(dictionary.copy_shapes, c.shape(i));
      MemoryDetail detail;
      detail.operation = MemoryOperation::kCopy;
      detail.copy_kind = static_cast<CopyKind>(shape.kind());
      detail.source_memory = static_cast<MemoryKind>(shape.source_memory());
      detail.destination_memory = static_cast<MemoryKind>(shape.destination_memory());
      detail.source_device = shape.source_device();
      detail.destination_device = shape.destination_device();
      detail.source_context = shape.source_context();
      detail.destination_context = shape.destination_context();
      detail.bytes = c.bytes(i);
      detail.graph = optional_value(c.graph(), i);
      detail.graph_node = static_cast<std::uint64_t>(node);
      detail.virtual_address = optional_value(c.virtual_address(), i);
      detail.migration_cause = optional_value(c.migration_cause(), i);
      events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), builder.intern(memory_operation_name(detail)),
                                    static_cast<std::uint32_t>(correlation), builder.intern(detail)});
    }
    add_by_queue(TrackKind::kMemory, process, dictionary, std::move(events));
    return true;
  }

  bool sets(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::Sets& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.bytes(), c.value(), c.queue(), c.correlation_delta(), c.memory_kind())) return false;
    if (!same_length_or_empty(n, c.graph_node_delta(), c.graph())) return false;
    QueueEvents events;
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    std::int64_t node = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      node += optional_value(c.graph_node_delta(), i);
      MemoryDetail detail;
      detail.operation = MemoryOperation::kSet;
      detail.destination_memory = static_cast<MemoryKind>(c.memory_kind(i));
      detail.value = c.value(i);
      detail.bytes = c.bytes(i);
      detail.graph = optional_value(c.graph(), i);
      detail.graph_node = static_cast<std::uint64_t>(node);
      events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), builder.intern(memory_operation_name(detail)),
                                    static_cast<std::uint32_t>(correlation), builder.intern(detail)});
    }
    add_by_queue(TrackKind::kMemory, process, dictionary, std::move(events));
    return true;
  }

  bool api_calls(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::ApiCalls& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.name(), c.correlation_delta()) || !same_length_or_empty(n, c.result())) return false;
    std::vector<Event> events;
    events.reserve(static_cast<std::size_t>(n));
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    ApiDetail detail;
    detail.domain = c.driver() ? ApiDomain::kDriver : ApiDomain::kRuntime;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      detail.result = optional_value(c.result(), i);
      events.push_back({time, static_cast<Nanoseconds>(c.duration(i)), lookup(dictionary.strings, c.name(i)),
                        static_cast<std::uint32_t>(correlation), builder.intern(detail)});
    }
    TrackKey key{TrackKind::kCudaApi, process};
    key.thread = builder.thread(process, c.thread());
    builder.add(key, std::move(events));
    return true;
  }

  bool synchronizations(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::Synchronizations& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.type(), c.queue(), c.event(), c.correlation_delta())) return false;
    QueueEvents events;
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), builder.intern(synchronization_name(c.type(i))),
                                    static_cast<std::uint32_t>(correlation), builder.intern(SynchronizationDetail{c.type(i), c.event(i)})});
    }
    add_by_queue(TrackKind::kSynchronizations, process, dictionary, std::move(events));
    return true;
  }

  bool graph_launches(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::GraphLaunches& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.queue(), c.correlation_delta(), c.graph()) || !same_length_or_empty(n, c.graph_exec()))
      return false;
    QueueEvents events;
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      events[c.queue(i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)),
                                    builder.intern("CUDA graph " + std::to_string(c.graph(i))), static_cast<std::uint32_t>(correlation),
                                    builder.intern(GraphLaunchDetail{c.graph(i), optional_value(c.graph_exec(), i)})});
    }
    add_by_queue(TrackKind::kGraphLaunches, process, dictionary, std::move(events));
    return true;
  }

  bool spans(TrackKind kind, ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::Spans& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.name()) || !same_length_or_empty(n, c.thread(), c.correlation_delta())) return false;
    const auto partial = marked(c.partial(), n);
    const bool whole = partial.empty();
    std::map<std::uint32_t, std::vector<Event>> by_thread;
    std::int64_t time = since_epoch(base);
    std::int64_t correlation = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      correlation += optional_value(c.correlation_delta(), i);
      by_thread[optional_value(c.thread(), i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)),
                                                          lookup(dictionary.strings, c.name(i)), static_cast<std::uint32_t>(correlation),
                                                          whole || !partial[static_cast<std::size_t>(i)] ? kWholeCall : kPartialCall});
    }
    for (auto& [tid, events] : by_thread) {
      TrackKey key{kind, process};
      // Calls are always a thread's: one of unknown id is thread 0. Time that the profiler takes may be a whole process's.
      if (tid != 0 || kind == TrackKind::kOsRuntime) key.thread = builder.thread(process, tid);
      builder.add(key, std::move(events));
    }
    return true;
  }

  bool page_faults(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::PageFaults& c) {
    const int n = c.start_delta_size();
    if (!same_length(n, c.duration(), c.address(), c.count())) return false;
    if (!same_length_or_empty(n, c.device(), c.access(), c.program_counter(), c.function(), c.module(), c.source_file(), c.source_line()))
      return false;
    std::map<std::uint32_t, std::vector<Event>> by_device;
    std::int64_t time = since_epoch(base);
    for (int i = 0; i < n; ++i) {
      const auto text = [&](const auto& column) { return lookup(dictionary.strings, optional_value(column, i)); };
      time += c.start_delta(i);
      PageFaultDetail detail;
      detail.address = c.address(i);
      detail.program_counter = optional_value(c.program_counter(), i);
      detail.function = text(c.function());
      detail.module = text(c.module());
      detail.source_file = text(c.source_file());
      detail.source_line = optional_value(c.source_line(), i);
      detail.count = c.count(i);
      detail.access = optional_value(c.access(), i);
      const std::uint32_t device = optional_value(c.device(), i);
      by_device[device].push_back({time, static_cast<Nanoseconds>(c.duration(i)),
                                   builder.intern(page_fault_name(device == 0 ? PageFaultOf::kCpu : PageFaultOf::kGpu)), 0,
                                   builder.intern(detail)});
    }
    for (auto& [device, events] : by_device) {
      TrackKey key{TrackKind::kPageFaults, process};
      if (device != 0) key.gpu = builder.gpu_of_device(process, device - 1);
      builder.add(key, std::move(events));
    }
    return true;
  }

  bool nvtx_ranges(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::NvtxRanges& c) {
    const int n = c.start_delta_size();
    const bool nested = c.style() == proto::NVTX_PUSH_POP;
    if (!same_length(n, c.duration(), c.name())) return false;
    if (nested && !same_length(n, c.depth())) return false;
    if (!same_length_or_empty(n, c.category(), c.color(), c.payload_type(), c.payload(), c.end_thread(), c.id_delta())) return false;
    const auto unfinished = marked(c.unfinished(), n);
    std::vector<Event> events;
    events.reserve(static_cast<std::size_t>(n));
    std::int64_t time = since_epoch(base);
    std::int64_t id = 0;
    for (int i = 0; i < n; ++i) {
      time += c.start_delta(i);
      id += optional_value(c.id_delta(), i);
      NvtxDetail detail;
      detail.category = optional_value(c.category(), i);
      detail.color = optional_value(c.color(), i);
      detail.payload = optional_value(c.payload(), i);
      detail.payload_type = static_cast<PayloadType>(optional_value(c.payload_type(), i));
      if (const std::uint32_t tid = optional_value(c.end_thread(), i); tid != 0 && tid != c.thread())
        detail.end_thread = builder.thread(process, tid);
      detail.finished = !unfinished.empty() && unfinished[static_cast<std::size_t>(i)] ? Finished::kNo : Finished::kYes;
      events.push_back({time, static_cast<Nanoseconds>(c.duration(i)), lookup(dictionary.strings, c.name(i)),
                        static_cast<std::uint32_t>(id), builder.intern(detail)});
    }
    TrackKey key{nested ? TrackKind::kNvtxRanges : TrackKind::kNvtxProcessRanges, process};
    key.thread = builder.thread(process, c.thread());
    key.domain = c.domain();
    if (nested) {
      const std::vector<std::uint32_t> depths(c.depth().begin(), c.depth().end());
      builder.add(key, std::move(events), depths);
    } else {
      builder.add(key, std::move(events));
    }
    return true;
  }

  bool nvtx_marks(ProcessId process, Dictionary& dictionary, std::int64_t base, const proto::NvtxMarks& c) {
    const int n = c.time_delta_size();
    if (!same_length(n, c.name())) return false;
    if (!same_length_or_empty(n, c.category(), c.color(), c.payload_type(), c.payload(), c.id_delta())) return false;
    std::vector<Event> events;
    events.reserve(static_cast<std::size_t>(n));
    std::int64_t time = since_epoch(base);
    std::int64_t id = 0;
    for (int i = 0; i < n; ++i) {
      time += c.time_delta(i);
      id += optional_value(c.id_delta(), i);
      NvtxDetail detail;
      detail.category = optional_value(c.category(), i);
      detail.color = optional_value(c.color(), i);
      detail.payload = optional_value(c.payload(), i);
      detail.payload_type = static_cast<PayloadType>(optional_value(c.payload_type(), i));
      events.push_back({time, 0, lookup(dictionary.strings, c.name(i)), static_cast<std::uint32_t>(id), builder.intern(detail)});
    }
    TrackKey key{TrackKind::kNvtxMarks, process};
    key.thread = builder.thread(process, c.thread());
    key.domain = c.domain();
    builder.add(key, std::move(events));
    return true;
  }

  bool event_chunk(const FrameHeader& header, ProcessId process, const proto::EventChunk& chunk) {
    Dictionary& dictionary = dictionaries[{header.process, header.source}];
    const auto same = [](const auto& entry) { return entry; };
    const bool extended =
        extend(dictionary.strings, chunk.first_string(), chunk.strings(),
               [this](const std::string& text) { return builder.intern(text); }) &&
        extend(dictionary.shapes, chunk.first_shape(), chunk.launch_shapes(), same) &&
        extend(dictionary.queues, chunk.first_queue(), chunk.queues(), same) &&
        extend(dictionary.copy_shapes, chunk.first_copy_shape(), chunk.copy_shapes(), same) &&
        extend(dictionary.given_names, chunk.first_kernel_name(), chunk.kernel_names(), [&](const proto::KernelName& name) {
          const auto text = [&](std::uint32_t id) { return lookup(dictionary.strings, id); };
          return KernelName{text(name.readable()), text(name.mangled()), text(name.brief())};
        });
    if (!extended) return false;
    const std::int64_t base = chunk.base_time();
    switch (chunk.events_case()) {
      case proto::EventChunk::kKernels:
        return kernels(process, dictionary, base, chunk.kernels());
      case proto::EventChunk::kCopies:
        return copies(process, dictionary, base, chunk.copies());
      case proto::EventChunk::kSets:
        return sets(process, dictionary, base, chunk.sets());
      case proto::EventChunk::kApiCalls:
        return api_calls(process, dictionary, base, chunk.api_calls());
      case proto::EventChunk::kSynchronizations:
        return synchronizations(process, dictionary, base, chunk.synchronizations());
      case proto::EventChunk::kOverheads:
        return spans(TrackKind::kOverhead, process, dictionary, base, chunk.overheads());
      case proto::EventChunk::kCompilations:
        return spans(TrackKind::kCompilation, process, dictionary, base, chunk.compilations());
      case proto::EventChunk::kGraphLaunches:
        return graph_launches(process, dictionary, base, chunk.graph_launches());
      case proto::EventChunk::kNvtxRanges:
        return nvtx_ranges(process, dictionary, base, chunk.nvtx_ranges());
      case proto::EventChunk::kNvtxMarks:
        return nvtx_marks(process, dictionary, base, chunk.nvtx_marks());
      case proto::EventChunk::kOsRuntime:
        return spans(TrackKind::kOsRuntime, process, dictionary, base, chunk.os_runtime());
      case proto::EventChunk::kPageFaults:
        return page_faults(process, dictionary, base, chunk.page_faults());
      case proto::EventChunk::EVENTS_NOT_SET:
        return true;
    }
    return true;
  }

  // One overload for each message.
  bool apply(const FrameHeader&, std::monostate) { return true; }
  bool apply(const FrameHeader&, const proto::SessionStart& message) { return session_start(message); }
  bool apply(const FrameHeader& header, const proto::ProcessStart& message) { return process_start(process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::ProcessEnd& message) { return process_end(process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::Resources& message) { return resources(process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::EventChunk& message) { return event_chunk(header, process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::Counters& message) { return add_counters(header, process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::Diagnostic& message) { return diagnostic(header.process, message); }
  bool apply(const FrameHeader&, const proto::Output& message) {
    builder.add_output({since_epoch(message.time()), message.stream() == proto::OUTPUT_STDERR, message.data()});
    return true;
  }

  ProcessId process_of(const FrameHeader& header) { return builder.process_of_instance(header.process); }
};

struct DecodedFrame::Content {
  FrameHeader header;
  bool sound = false;
  std::variant<std::monostate, proto::SessionStart, proto::ProcessStart, proto::ProcessEnd, proto::Resources, proto::EventChunk,
               proto::Counters, proto::Diagnostic, proto::Output>
      message;

  template <typename Message>
  void parse(const std::string& payload) {
    sound = message.emplace<Message>().ParseFromString(payload);
  }
};

DecodedFrame::DecodedFrame(const FrameView& frame) : content_(std::make_unique<Content>()) {
  content_->header = frame.header;
  const auto payload = open_frame(frame);
  if (!payload) return;
  switch (frame.header.type) {
    case proto::FRAME_SESSION_START:
      content_->parse<proto::SessionStart>(*payload);
      break;
    case proto::FRAME_PROCESS_START:
      content_->parse<proto::ProcessStart>(*payload);
      break;
    case proto::FRAME_PROCESS_END:
      content_->parse<proto::ProcessEnd>(*payload);
      break;
    case proto::FRAME_RESOURCES:
      content_->parse<proto::Resources>(*payload);
      break;
    case proto::FRAME_EVENTS:
      content_->parse<proto::EventChunk>(*payload);
      break;
    case proto::FRAME_COUNTERS:
      content_->parse<proto::Counters>(*payload);
      break;
    case proto::FRAME_DIAGNOSTIC:
      content_->parse<proto::Diagnostic>(*payload);
      break;
    case proto::FRAME_OUTPUT:
      content_->parse<proto::Output>(*payload);
      break;
    default:
      content_->sound = true;
  }
}
DecodedFrame::DecodedFrame(DecodedFrame&&) noexcept = default;
DecodedFrame& DecodedFrame::operator=(DecodedFrame&&) noexcept = default;
DecodedFrame::~DecodedFrame() = default;

FrameIngest::FrameIngest(TraceBuilder& builder) : state_(std::make_unique<State>(State{builder})) {}
FrameIngest::~FrameIngest() = default;

std::uint64_t FrameIngest::malformed() const noexcept { return state_->malformed; }

void FrameIngest::add(const DecodedFrame& frame) {
  const DecodedFrame::Content& content = *frame.content_;
  const bool understood =
      content.sound && std::visit([&](const auto& message) { return state_->apply(content.header, message); }, content.message);
  if (!understood) ++state_->malformed;
}

void FrameIngest::add(const FrameView& frame) { add(DecodedFrame(frame)); }

}  // namespace lanescope
