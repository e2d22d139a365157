#include "chrome_assembly.h"

#include <algorithm>

#include "chrome_categories.h"

namespace lanescope::importers {
namespace {

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
    {"thread_state", Category::kThreadState},
    {"page_fault", Category::kPageFault},
    {"Operator", Category::kOperator},
    {"Runtime", Category::kRuntimeCall},
    {"Kernel", Category::kKernel},
    {"Memcpy", Category::kCopyOrSet},
    {"Memset", Category::kCopyOrSet},
};

// How often a text is stored: here, and in each place for it in the builder and in its trace.
constexpr std::uint64_t kProcessTexts = 2 + 2 * cost::kTextCopies;  // as the executable, and as the process's name
constexpr std::uint64_t kThreadTexts = 2 + cost::kTextCopies;

ThreadState state_of(std::string_view name) {
  for (const ThreadState state : {ThreadState::kRunning, ThreadState::kRunnable, ThreadState::kBlocked})
    if (thread_state_name(state) == name) return state;
  return ThreadState::kUnknown;
}

}  // namespace

Category category_of(std::string_view name) noexcept {
  for (const CategoryName& known : kCategories)
    if (known.name == name) return known.category;
  return Category::kGeneric;
}

std::uint32_t ChromeAssembly::source(std::string_view pid) {
  if (last_source_ != kNone && sources_[last_source_].text == pid) return last_source_;
  const auto found = source_ids_.find(pid);
  if (found != source_ids_.end()) return last_source_ = found->second;
  last_source_ = static_cast<std::uint32_t>(sources_.size());
  kept_ += cost::kProcess + kProcessTexts * pid.size();
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
  constexpr std::uint32_t kFirstSyntheticTid = 0xf0000000;  // far above the thread ids of any kernel
  last_thread_ = static_cast<std::uint32_t>(threads_.size());
  kept_ += cost::kThread + kThreadTexts * tid.size();
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
  if (found == categories_.end()) {
    kept_ += cost::kName + 2 * name.size();
    categories_.emplace(name, last_category_id_);
  }
  return last_category_id_;
}

std::vector<Event>& ChromeAssembly::group(const GroupKey& key) {
  const auto kind = static_cast<std::size_t>(key.kind);
  if (last_groups_.size() <= kind) last_groups_.resize(kind + 1);
  LastGroup& last = last_groups_[kind];
  if (last.events == nullptr || last.key != key) {
    const auto [found, inserted] = groups_.try_emplace(key);
    if (inserted) kept_ += cost::kTrack;
    const std::uint64_t device = std::uint64_t{key.source} << 32 | key.device;
    if (inserted && is_gpu_work(key.kind) && devices_.insert(device).second) kept_ += cost::kGpu;
    last = {key, &found->second};
  }
  return *last.events;
}

void ChromeAssembly::see(Nanoseconds start, Nanoseconds end) {
  begin_ = std::min(begin_, start);
  end_ = std::max(end_, end);
  kept_ += cost::kEvent;
  ++events_;
}

void ChromeAssembly::add(const ChromeEvent& event, const ParsedBatch& batch) {
  if (event.phase == 'M') return add_metadata(event);
  constexpr std::string_view kPlaced = "XBEiIRnbeCSFTp", kFlows = "stf";
  if (kFlows.find(event.phase) != kFlows.npos) return;
  if (kPlaced.find(event.phase) == kPlaced.npos) {
    ++without_place_;
    return;
  }
  const Category category = category_of(event.category);
  if (category == Category::kRepeated) return;
  if (!event.has_time) {
    ++without_time_;
    return;
  }
  if (constexpr std::string_view kEdges = "BEbeSF"; kEdges.find(event.phase) != kEdges.npos) return add_edge(event);
  if (event.phase == 'C') return add_counter(event, batch);
  if (category == Category::kPageFault) return add_page_fault(event, batch);
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
    case Category::kThreadState:
      return add_state(event);
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

void ChromeAssembly::keep_text(std::string& known, std::string_view text, std::uint64_t times) {
  kept_ += times * text.size();
  kept_ -= times * known.size();
  known = text;
}

void ChromeAssembly::add_metadata(const ChromeEvent& event) {
  const std::uint32_t of = source(event.pid);
  if (event.name == "process_name") {
    keep_text(sources_[of].name, event.arguments.name, kProcessTexts);
    sources_[of].host_pid = event.arguments.host_pid;
  } else if (constexpr std::string_view kGpu = "GPU "; event.name == "process_labels" && event.arguments.labels.starts_with(kGpu)) {
    sources_[of].device = number_of(event.arguments.labels.substr(kGpu.size()));
  } else if (event.name == "thread_name") {
    keep_text(threads_[thread(of, event.tid)].name, event.arguments.name, kThreadTexts);
  }
}

void ChromeAssembly::add_call(const ChromeEvent& event, ApiDomain domain) {
  from_pytorch_ = true;
  GroupKey key;
  key.kind = TrackKind::kCudaApi;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, event.duration, intern(event.name), event.arguments.correlation, intern(ApiDetail{domain, event.arguments.result})});
}

void ChromeAssembly::add_span(const ChromeEvent& event, TrackKind kind) {
  from_pytorch_ = true;
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  // For overhead, PyTorch names no thread: its pid is -1. Our exports use thread 0 for overhead of a whole process.
  const bool of_profiler = event.pid == "-1";
  const bool of_process = event.tid == "0" && kind != TrackKind::kOsRuntime;
  key.thread = of_profiler || of_process ? kNone : thread(key.source, event.tid);
  if (!of_profiler) sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, event.duration, intern(event.name), event.arguments.correlation, 0});
}

void ChromeAssembly::add_state(const ChromeEvent& event) {
  const std::uint32_t of = source(event.pid);
  sources_[of].has_host_work = true;
  // The event is on a row of its own; its arguments contain the thread.
  const std::uint32_t whose = event.arguments.thread ? thread(of, std::to_string(*event.arguments.thread)) : thread(of, event.tid);
  std::vector<ThreadStateSpan>& of_thread = states_[whose];
  if (of_thread.empty()) kept_ += cost::kTrack;
  if (event.arguments.processor != kNone && processors_.insert(event.arguments.processor).second) kept_ += cost::kTrack;
  of_thread.push_back({event.time, event.duration, {state_of(event.name), event.arguments.processor}});
}

// Uses the format of our exports: faults of a GPU are groups with a duration; faults of the CPU are instants of a process.
void ChromeAssembly::add_page_fault(const ChromeEvent& event, const ParsedBatch& batch) {
  see(event.time, event.time + std::max<Nanoseconds>(0, event.duration));
  from_pytorch_ = true;
  const bool of_gpu = event.phase == 'X';
  GroupKey key;
  key.kind = TrackKind::kPageFaults;
  key.source = source(event.pid);
  key.thread = kNone;
  key.device = of_gpu ? event.arguments.device.value_or(number_of(event.pid).value_or(0)) : kNone;
  if (!of_gpu) sources_[key.source].has_host_work = true;
  PageFaultDetail detail;
  if (event.value_count > 0) {
    const ChromePageFault& given = batch.page_faults[event.first_value];
    detail = {given.address, given.instruction, intern(given.function), intern(given.module), intern(given.file), given.line, given.faults, given.access};
  }
  group(key).push_back({event.time, event.duration, intern(event.name), 0, intern(detail)});
}

void ChromeAssembly::add_states() {
  for (auto& [thread, spans] : states_) {
    for (ThreadStateSpan& span : spans) span.start -= begin_;
    built_thread(thread);
    add_thread_states(builder_, sources_[threads_[thread].source].process, tid(thread), spans);
  }
  states_.clear();
}

std::uint32_t ChromeAssembly::tid(std::uint32_t thread) const { return number_of(threads_[thread].text).value_or(threads_[thread].synthetic_tid); }

}  // namespace lanescope::importers
