#include "chrome_assembly.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "model/trace/kernel_name.h"

namespace lanescope::importers {
namespace {

// NVTX domains that PyTorch's own events get.
enum Domain : std::uint32_t { kUserDomain = 0, kOperatorDomain = 1, kPythonDomain = 2, kProfilerDomain = 3, kMemoryDomain = 4 };

enum class Category : std::uint8_t {
  kGeneric,
  kKernel,
  kCopyOrSet,
  kSynchronization,
  kRuntimeCall,
  kDriverCall,
  kOverhead,
  kOsRuntime,
  kCompilation,
  kUserRange,
  kOperator,
  kPython,
  kProfiler,
  kMemoryMark,
  kRepeated,  // says what other events say
};

constexpr std::string_view kUserCategory = "user_annotation";
struct CategoryName {
  std::string_view name;
  Category category;
};
constexpr CategoryName kCategories[] = {
    {"cpu_op", Category::kOperator},
    {"python_function", Category::kPython},
    {"cuda_runtime", Category::kRuntimeCall},
    {"kernel", Category::kKernel},
    {"gpu_memcpy", Category::kCopyOrSet},
    {"gpu_memset", Category::kCopyOrSet},
    {"cuda_driver", Category::kDriverCall},
    {kUserCategory, Category::kUserRange},
    {"gpu_user_annotation", Category::kRepeated},
    {"cuda_sync", Category::kSynchronization},
    {"overhead", Category::kOverhead},
    {"cpu_instant_event", Category::kMemoryMark},
    {"Trace", Category::kProfiler},
    {"os_runtime", Category::kOsRuntime},
    {"compilation", Category::kCompilation},
    {"Operator", Category::kOperator},
    {"Runtime", Category::kRuntimeCall},
    {"Kernel", Category::kKernel},
    {"Memcpy", Category::kCopyOrSet},
    {"Memset", Category::kCopyOrSet},
};

Category category_of(std::string_view name) {
  for (const CategoryName& known : kCategories)
    if (known.name == name) return known.category;
  return Category::kGeneric;
}

MemoryKind memory_kind(std::string_view word) {
  if (word == "Pageable") return MemoryKind::kPageable;
  if (word == "Pinned") return MemoryKind::kPinned;
  if (word == "Device") return MemoryKind::kDevice;
  if (word == "Array") return MemoryKind::kArray;
  if (word == "Managed") return MemoryKind::kManaged;
  if (word == "Device Static") return MemoryKind::kDeviceStatic;
  if (word == "Managed Static") return MemoryKind::kManagedStatic;
  return MemoryKind::kUnknown;
}

CopyKind copy_kind(std::string_view word) {
  constexpr std::pair<std::string_view, CopyKind> kKinds[] = {{"HtoD", CopyKind::kHostToDevice},
                                                              {"DtoH", CopyKind::kDeviceToHost},
                                                              {"DtoD", CopyKind::kDeviceToDevice},
                                                              {"HtoA", CopyKind::kHostToArray},
                                                              {"AtoH", CopyKind::kArrayToHost},
                                                              {"AtoA", CopyKind::kArrayToArray},
                                                              {"AtoD", CopyKind::kArrayToDevice},
                                                              {"DtoA", CopyKind::kDeviceToArray},
                                                              {"HtoH", CopyKind::kHostToHost},
                                                              {"PtoP", CopyKind::kPeerToPeer},
                                                              {"UHtoD", CopyKind::kUnifiedHostToDevice},
                                                              {"UDtoH", CopyKind::kUnifiedDeviceToHost},
                                                              {"UDtoD", CopyKind::kUnifiedDeviceToDevice}};
  for (const auto& [name, kind] : kKinds)
    if (name == word) return kind;
  return CopyKind::kUnknown;
}

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
MemoryDetail memory_detail(const ChromeEvent& event) {
  MemoryDetail detail;
  std::string_view name = event.name;
  const bool is_set = name.starts_with("Memset") || event.category == "gpu_memset" || event.category == "Memset";
  detail.operation = is_set ? MemoryOperation::kSet : MemoryOperation::kCopy;
  detail.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.arguments.bytes.value_or(0)));
  detail.graph = event.arguments.graph;
  detail.graph_node = event.arguments.graph_node;
  const auto open = name.find('(');
  const auto close = name.rfind(')');
  const std::string_view places = open < close && close != name.npos ? name.substr(open + 1, close - open - 1) : std::string_view{};
  if (is_set) {
    detail.destination_memory = memory_kind(places);
    detail.value = event.arguments.value;
    return detail;
  }
  if (name.starts_with("Memcpy ")) {
    name.remove_prefix(7);
    detail.copy_kind = copy_kind(name.substr(0, name.find(' ')));
  }
  if (const auto arrow = places.find(" -> "); arrow != places.npos) {
    detail.source_memory = memory_kind(places.substr(0, arrow));
    detail.destination_memory = memory_kind(places.substr(arrow + 4));
  }
  detail.source_device = event.arguments.from_device;
  detail.destination_device = event.arguments.to_device;
  return detail;
}

std::uint32_t synchronization_type(const ChromeEvent& event) {
  const std::string_view kind = event.arguments.kind.empty() ? event.name : event.arguments.kind;
  if (kind.starts_with("Event")) return 1;
  if (kind.starts_with("Stream W")) return 2;
  if (kind.starts_with("Stream")) return 3;
  if (kind.starts_with("Context")) return 4;
  return 0;
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The number in "7" and in "stream 7".
std::uint32_t stream_of(std::string_view tid) {
  if (const auto blank = tid.rfind(' '); blank != tid.npos) tid.remove_prefix(blank + 1);
  return number_of(tid).value_or(0);
}

}  // namespace

std::uint32_t ChromeAssembly::source(std::string_view pid) {
  if (last_source_ != kNone && sources_[last_source_].text == pid) return last_source_;
  const auto found = source_ids_.find(pid);
  if (found != source_ids_.end()) return last_source_ = found->second;
  last_source_ = static_cast<std::uint32_t>(sources_.size());
  sources_.emplace_back().text = pid;
  thread_ids_.emplace_back();
  source_ids_.emplace(pid, last_source_);
  return last_source_;
}

std::uint32_t ChromeAssembly::thread(std::uint32_t source, std::string_view tid) {
  if (last_thread_ != kNone && threads_[last_thread_].source == source && threads_[last_thread_].text == tid) return last_thread_;
  auto& ids = thread_ids_[source];
  const auto found = ids.find(tid);
  if (found != ids.end()) return last_thread_ = found->second;
  constexpr std::uint32_t kFirstSyntheticTid = 0xf0000000;  // far above those of any kernel
  last_thread_ = static_cast<std::uint32_t>(threads_.size());
  SourceThread& added = threads_.emplace_back();
  added.source = source;
  added.text = tid;
  added.synthetic_tid = kFirstSyntheticTid + last_thread_;
  ids.emplace(tid, last_thread_);
  return last_thread_;
}

std::uint32_t ChromeAssembly::category(std::string_view name) {
  if (name.empty()) return 0;
  if (last_category_id_ != 0 && last_category_ == name) return last_category_id_;
  const auto found = categories_.find(name);
  last_category_ = name;
  last_category_id_ = found != categories_.end() ? found->second : static_cast<std::uint32_t>(categories_.size() + 1);
  if (found == categories_.end()) categories_.emplace(name, last_category_id_);
  return last_category_id_;
}

const ChromeAssembly::KernelNames& ChromeAssembly::kernel_names(std::string_view name) {
  const NameId given = builder_.intern(name);
  const auto [found, inserted] = kernel_names_.try_emplace(given);
  if (inserted) {
    const std::string readable = demangle(name);
    found->second.readable = builder_.intern(readable);
    found->second.brief = builder_.intern(short_kernel_name(readable));
    if (readable != name) found->second.mangled = given;
  }
  return found->second;
}

std::vector<Event>& ChromeAssembly::group(const GroupKey& key) {
  const auto kind = static_cast<std::size_t>(key.kind);
  if (last_groups_.size() <= kind) last_groups_.resize(kind + 1);
  LastGroup& last = last_groups_[kind];
  if (last.events == nullptr || last.key != key) last = {key, &groups_[key]};
  return *last.events;
}

void ChromeAssembly::see(Nanoseconds start, Nanoseconds end) {
  begin_ = std::min(begin_, start);
  end_ = std::max(end_, end);
  ++events_;
}

void ChromeAssembly::add(const ChromeEvent& event, const ParsedBatch& batch) {
  if (event.phase == 'M') return add_metadata(event);
  constexpr std::string_view kPlaced = "XBEiIRnbeC";
  if (kPlaced.find(event.phase) == kPlaced.npos) return;
  const Category category = category_of(event.category);
  if (category == Category::kRepeated) return;
  if (!event.has_time) {
    ++without_time_;
    return;
  }
  if (event.phase == 'B' || event.phase == 'E' || event.phase == 'b' || event.phase == 'e') return add_edge(event);
  if (event.phase == 'C') return add_counter(event, batch);
  if (event.phase != 'X') return add_mark(event);
  see(event.time, event.time + std::max<Nanoseconds>(0, event.duration));
  switch (category) {
    case Category::kKernel:
      return add_kernel(event);
    case Category::kCopyOrSet:
      return add_copy_or_set(event);
    case Category::kSynchronization:
      return add_synchronization(event);
    case Category::kRuntimeCall:
      return add_call(event, ApiDomain::kRuntime);
    case Category::kDriverCall:
      return add_call(event, ApiDomain::kDriver);
    case Category::kOverhead:
      return add_span(event, TrackKind::kOverhead);
    case Category::kCompilation:
      return add_span(event, TrackKind::kCompilation);
    case Category::kOsRuntime:
      return add_span(event, TrackKind::kOsRuntime);
    case Category::kOperator:
      return add_range(event, TrackKind::kNvtxRanges, kOperatorDomain);
    case Category::kPython:
      return add_range(event, TrackKind::kNvtxRanges, kPythonDomain);
    case Category::kProfiler:
      return add_range(event, TrackKind::kNvtxProcessRanges, kProfilerDomain);
    default:
      return add_range(event, TrackKind::kNvtxRanges, kUserDomain);
  }
}

void ChromeAssembly::add_metadata(const ChromeEvent& event) {
  const std::uint32_t of = source(event.pid);
  if (event.name == "process_name") {
    sources_[of].name = event.arguments.name;
    sources_[of].host_pid = event.arguments.host_pid;
  } else if (constexpr std::string_view kGpu = "GPU "; event.name == "process_labels" && event.arguments.labels.starts_with(kGpu)) {
    sources_[of].device = number_of(event.arguments.labels.substr(kGpu.size()));
  } else if (event.name == "thread_name") {
    threads_[thread(of, event.tid)].name = event.arguments.name;
  }
}

ChromeAssembly::GroupKey ChromeAssembly::queue_key(TrackKind kind, const ChromeEvent& event) {
  from_pytorch_ = true;
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  key.device = event.arguments.device.value_or(number_of(event.pid).value_or(0));
  key.context = event.arguments.context;
  key.stream = event.arguments.stream.value_or(stream_of(event.tid));
  return key;
}

void ChromeAssembly::add_kernel(const ChromeEvent& event) {
  const ChromeArguments& given = event.arguments;
  const KernelNames& names = kernel_names(event.name);
  KernelDetail detail;
  detail.mangled_name = names.mangled;
  detail.short_name = names.brief;
  std::copy(given.grid.begin(), given.grid.end(), detail.grid);
  std::copy(given.block.begin(), given.block.end(), detail.block);
  std::copy(given.cluster.begin(), given.cluster.end(), detail.cluster);
  detail.registers_per_thread = given.registers;
  detail.static_shared_memory = given.static_shared_memory;
  // Kineto gives the sum only.
  detail.dynamic_shared_memory = given.shared_memory - std::min(given.shared_memory, given.static_shared_memory);
  detail.graph = given.graph;
  detail.graph_node = given.graph_node;
  group(queue_key(TrackKind::kKernels, event))
      .push_back({event.time, event.duration, names.readable, given.correlation, builder_.intern(detail)});
}

void ChromeAssembly::add_copy_or_set(const ChromeEvent& event) {
  const MemoryDetail detail = memory_detail(event);
  group(queue_key(TrackKind::kMemory, event))
      .push_back({event.time, event.duration, builder_.intern(memory_operation_name(detail)), event.arguments.correlation,
                  builder_.intern(detail)});
}

void ChromeAssembly::add_synchronization(const ChromeEvent& event) {
  const SynchronizationDetail detail{synchronization_type(event), event.arguments.wait_event};
  group(queue_key(TrackKind::kSynchronizations, event))
      .push_back({event.time, event.duration, builder_.intern(synchronization_name(detail.type)), event.arguments.correlation,
                  builder_.intern(detail)});
}

void ChromeAssembly::add_call(const ChromeEvent& event, ApiDomain domain) {
  from_pytorch_ = true;
  GroupKey key;
  key.kind = TrackKind::kCudaApi;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, event.duration, builder_.intern(event.name), event.arguments.correlation,
                        builder_.intern(ApiDetail{domain, event.arguments.result})});
}

void ChromeAssembly::add_span(const ChromeEvent& event, TrackKind kind) {
  from_pytorch_ = true;
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  // PyTorch names no thread for overhead: its pid is -1. Neither do our exports where it is a whole process's: its thread is 0.
  const bool of_profiler = event.pid == "-1";
  const bool of_process = event.tid == "0" && kind != TrackKind::kOsRuntime;
  key.thread = of_profiler || of_process ? kNone : thread(key.source, event.tid);
  if (!of_profiler) sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, event.duration, builder_.intern(event.name), event.arguments.correlation, 0});
}

DetailId ChromeAssembly::range_detail(const ChromeEvent& event) {
  NvtxDetail detail;
  const Category known = category_of(event.category);
  if (known == Category::kGeneric) detail.category = category(event.category);
  if (event.arguments.bytes && event.phase != 'X') {
    detail.payload_type = PayloadType::kSigned;
    detail.payload = std::bit_cast<std::uint64_t>(*event.arguments.bytes);
  }
  return builder_.intern(detail);
}

void ChromeAssembly::add_range(const ChromeEvent& event, TrackKind kind, std::uint32_t domain) {
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  key.domain = domain;
  if (domain == kOperatorDomain || event.category == kUserCategory) {
    from_pytorch_ = true;
    sources_[key.source].has_host_work = true;
  }
  group(key).push_back({event.time, event.duration, builder_.intern(event.name), 0, range_detail(event)});
}

void ChromeAssembly::add_mark(const ChromeEvent& event) {
  see(event.time, event.time);
  GroupKey key;
  key.kind = TrackKind::kNvtxMarks;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  if (event.name == "[memory]") key.domain = kMemoryDomain;
  if (event.category == kUserCategory) sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, 0, builder_.intern(event.name), 0, range_detail(event)});
}

void ChromeAssembly::add_edge(const ChromeEvent& event) {
  see(event.time, event.time);
  Edge edge;
  edge.begins = event.phase == 'B' || event.phase == 'b';
  edge.thread = thread(source(event.pid), event.tid);
  if (event.category == kUserCategory) sources_[threads_[edge.thread].source].has_host_work = true;
  edge.name = builder_.intern(event.name);
  edge.detail = range_detail(event);
  edge.time = event.time;
  if (event.phase == 'B' || event.phase == 'E') {
    thread_edges_.push_back(edge);
  } else {
    // Asynchronous ranges belong together by category and id, on whichever thread they end.
    std::string key(event.category);
    key += '\0';
    key += event.id;
    asynchronous_edges_[key].push_back(edge);
  }
}

void ChromeAssembly::match(std::vector<Edge>& edges, TrackKind kind) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });
  std::vector<Edge> open;
  const auto place = [&](const Edge& begin, Nanoseconds end, DetailId detail) {
    GroupKey key;
    key.kind = kind;
    key.source = threads_[begin.thread].source;
    key.thread = begin.thread;
    group(key).push_back({begin.time, end - begin.time, begin.name, 0, detail});
  };
  for (const Edge& edge : edges) {
    if (edge.begins) {
      open.push_back(edge);
    } else if (!open.empty()) {
      place(open.back(), edge.time, open.back().detail);
      open.pop_back();
    }
  }
  for (const Edge& begin : open) {
    NvtxDetail detail;
    detail.finished = Finished::kNo;
    place(begin, end_, builder_.intern(detail));
  }
}

void ChromeAssembly::close_edges() {
  std::map<std::uint32_t, std::vector<Edge>> by_thread;
  for (const Edge& edge : thread_edges_) by_thread[edge.thread].push_back(edge);
  thread_edges_.clear();
  for (auto& [thread, edges] : by_thread) match(edges, TrackKind::kNvtxRanges);
  for (auto& [id, edges] : asynchronous_edges_) match(edges, TrackKind::kNvtxProcessRanges);
}

}  // namespace lanescope::importers
