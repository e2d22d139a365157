#include "event_set.h"

#include <sys/ioctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace lanescope::cpu {
namespace {

constexpr std::size_t kProcessorBufferBytes = 2u << 20;
constexpr std::size_t kUnwindBufferBytes = 8u << 20;  // each stack has 16 KiB
constexpr std::size_t kThreadBufferBytes = 128u << 10;
constexpr std::size_t kMaximumFollowedPairs = 1024;  // pairs of a running thread and a processor, up to which the kernel follows children

// Raises the limit of file descriptors while it lives; opened descriptors stay valid afterwards.
class DescriptorRoom {
 public:
  DescriptorRoom() {
    if (getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
    rlimit raised = before_;
    raised.rlim_cur = raised.rlim_max;
    changed_ = setrlimit(RLIMIT_NOFILE, &raised) == 0;
  }
  ~DescriptorRoom() {
    if (changed_) setrlimit(RLIMIT_NOFILE, &before_);
  }
  DescriptorRoom(const DescriptorRoom&) = delete;
  DescriptorRoom& operator=(const DescriptorRoom&) = delete;

 private:
  rlimit before_{};
  bool changed_ = false;
};

Error refusal(int error) {
  if (error == EMFILE || error == ENFILE) return {"Threads are not observed: this user may open too few files. Change it: ulimit -n 65536"};
  if (error == EPERM || error == ENOMEM)
    return {"Threads are not observed: too little memory may be locked for records. Change it: sudo sysctl kernel.perf_event_mlock_kb=8192"};
  if (error == EACCES) return {"Threads are not observed: the kernel does not permit it. Change it: " + std::string(kSystemWideRemedy)};
  return {"Threads are not observed: the kernel refuses performance events (" + std::string(std::strerror(error)) + ")."};
}

}  // namespace

std::vector<int> online_processors() {
  std::ifstream file("/sys/devices/system/cpu/online");  // "0-3,8,10-11"
  std::vector<int> processors;
  int first = 0;
  while (file >> first) {
    int last = first;
    if (file.peek() == '-') {
      file.ignore();
      file >> last;
    }
    for (int processor = first; processor <= last; ++processor) processors.push_back(processor);
    if (file.peek() == ',') file.ignore();
  }
  if (processors.empty()) processors.push_back(0);
  return processors;
}

EventSet::EventSet(const CpuSettings& settings, const Access& access, TracedPoints points) : points_(std::move(points)) {
  plan_.call_chains = settings.call_chains;
  plan_.frequency = std::clamp<std::uint32_t>(settings.frequency, 1, kMaximumFrequency);
  plan_.clock = access.cycles ? SampleClock::kCycles : SampleClock::kTimer;
  plan_.kernel_code = access.kernel_code ? KernelCode::kIncluded : KernelCode::kLeftOut;
  sources_.emplace_back(EventKind::kTracking);
  // Stacks read from Python are used only if the thread was running, so switches must be known.
  if (settings.thread_states != Scope::kNone || settings.python_names) sources_.emplace_back(EventKind::kSwitches);
  if (settings.thread_states != Scope::kNone && access.wakeups) {
    wakeup_ = find_wakeup_tracepoint();
    plan_.wakeup_tracepoint = wakeup_.number;
    sources_.emplace_back(EventKind::kWakeups);
  }
  if (settings.samples != Scope::kNone) sources_.emplace_back(EventKind::kSamples);
  for (std::size_t i = 0; i < points_.size(); ++i) sources_.emplace_back(points_[i].kind, i);
}

bool EventSet::has(EventKind kind) const noexcept {
  return std::any_of(sources_.begin(), sources_.end(), [kind](const EventSource& source) { return source.kind == kind; });
}

std::uint64_t EventSet::lost_records() const noexcept {
  std::uint64_t lost = 0;
  for (const Event& event : events_) lost += lost_by(event.descriptor.get());
  return lost;
}

EventSource EventSet::source_of(std::uint64_t event) const {
  const auto found = sources_by_id_.find(event);
  return found == sources_by_id_.end() ? EventSource(EventKind::kTracking) : found->second;
}

Result<void> EventSet::open(pid_t thread, int processor) {
  const bool stacks = plan_.call_chains == CallChains::kDwarf && has(EventKind::kSamples);
  const std::size_t bytes = processor < 0 ? kThreadBufferBytes : stacks ? kUnwindBufferBytes : kProcessorBufferBytes;
  EventPlan plan = plan_;
  plan.wakeup_bytes = static_cast<std::uint32_t>(bytes / 4);
  const auto found = owner_of_processor_.find(processor);
  int owner = processor < 0 || found == owner_of_processor_.end() ? -1 : found->second;
  for (const EventSource& source : sources_) {
    const std::uint64_t tracepoint = source.point < points_.size() ? points_[source.point].tracepoint.number : 0;
    FileDescriptor event = open_event(attributes(source.kind, plan, tracepoint), thread, processor);
    if (!event.valid()) return refusal(errno);
    if (owner < 0) {
      std::optional<RecordBuffer> buffer = RecordBuffer::map(event.get(), bytes);
      if (!buffer) return refusal(errno);
      buffers_.push_back(std::move(*buffer));
      owner = event.get();
      owners_.push_back(owner);
      if (processor >= 0) owner_of_processor_[processor] = owner;
    } else if (ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, owner) != 0) {
      return refusal(errno);
    }
    std::uint64_t id = 0;
    ioctl(event.get(), PERF_EVENT_IOC_ID, &id);
    sources_by_id_.insert_or_assign(id, source);
    events_.push_back({std::move(event), source.kind});
  }
  return {};
}

Result<void> EventSet::open_everywhere(pid_t thread) {
  for (const int processor : online_processors())
    if (Result<void> opened = open(thread, processor); !opened) return opened;
  return {};
}

Result<EventSet> EventSet::of_waiting(pid_t process, const CpuSettings& settings, const Access& access, TracedPoints points, Begin begin) {
  const DescriptorRoom room;
  EventSet set(settings, access, std::move(points));
  set.plan_.begin = begin;
  set.recording_ = begin == Begin::kOnExec;
  if (Result<void> opened = set.open_everywhere(process); !opened) return opened.error();
  return set;
}

Result<EventSet> EventSet::of_running(const std::vector<pid_t>& threads, const CpuSettings& settings, const Access& access, TracedPoints points) {
  const DescriptorRoom room;
  EventSet set(settings, access, std::move(points));
  set.plan_.begin = Begin::kWhenTold;
  const bool many = threads.size() * online_processors().size() > kMaximumFollowedPairs;
  set.plan_.inheritance = many ? Inheritance::kThreadAlone : Inheritance::kWithChildren;
  std::size_t failed = 0;
  std::optional<Error> failure;
  for (const pid_t thread : threads) {
    Result<void> opened = many ? set.open(thread, -1) : set.open_everywhere(thread);
    if (opened) continue;
    failure = opened.error();
    ++failed;
  }
  if (failure && failed == threads.size()) return *failure;
  for (const Event& event : set.events_)
    if (event.kind == EventKind::kTracking) ioctl(event.descriptor.get(), PERF_EVENT_IOC_ENABLE, 0);
  return set;
}

Result<EventSet> EventSet::of_machine(const CpuSettings& settings, const Access& access, TracedPoints points) {
  const DescriptorRoom room;
  EventSet set(settings, access, std::move(points));
  set.plan_.begin = Begin::kWhenTold;
  set.plan_.inheritance = Inheritance::kWithChildren;
  if (Result<void> opened = set.open_everywhere(-1); !opened) return opened.error();
  for (const Event& event : set.events_)
    if (event.kind == EventKind::kTracking) ioctl(event.descriptor.get(), PERF_EVENT_IOC_ENABLE, 0);
  return set;
}

Result<EventSet> EventSet::of_file(int file, std::size_t bytes, const CpuSettings& settings, std::unordered_map<std::uint64_t, EventSource> sources,
                                   TracedPoints points) {
  EventSet set(settings, Access{}, std::move(points));
  set.sources_by_id_ = std::move(sources);
  set.recording_ = true;
  std::optional<RecordBuffer> buffer = RecordBuffer::map(file, bytes);
  if (!buffer) return refusal(errno);
  set.buffers_.push_back(std::move(*buffer));
  return set;
}

void EventSet::ask_all(unsigned long request) {
  for (const Event& event : events_)
    if (event.kind != EventKind::kTracking) ioctl(event.descriptor.get(), request, 0);
}

void EventSet::start() {
  recording_ = true;
  ask_all(PERF_EVENT_IOC_ENABLE);
}

void EventSet::stop() {
  recording_ = false;
  ask_all(PERF_EVENT_IOC_DISABLE);
}

void EventSet::follow(pid_t thread) {
  const DescriptorRoom room;
  const std::size_t before = events_.size();
  [[maybe_unused]] const Result<void> opened = open(thread, -1);  // the thread may have ended by now
  for (std::size_t i = before; i < events_.size(); ++i)
    if (recording_ || events_[i].kind == EventKind::kTracking) ioctl(events_[i].descriptor.get(), PERF_EVENT_IOC_ENABLE, 0);
}

}  // namespace lanescope::cpu
