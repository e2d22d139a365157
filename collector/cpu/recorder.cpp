#include "collector/cpu/recorder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <future>
#include <mutex>
#include <span>
#include <thread>

#include "collector/attach/process_list.h"
#include "collector/channel/clock.h"
#include "collector/cpu/access.h"
#include "observation/observation.h"

namespace lanescope::cpu {
namespace {

using channel::FileDescriptor;

constexpr std::chrono::milliseconds kUnwatchedPeriod{20};  // between looks at a buffer that can't wake us
constexpr std::chrono::milliseconds kCountersPeriod{50};   // ... and between checks whether counters must be read
constexpr std::chrono::milliseconds kProgramsPeriod{20};   // ... and between looks for new programs, whose Python stacks are then read

proto::Diagnostic diagnostic(proto::Severity severity, proto::ComponentState state, const std::string& text) {
  proto::Diagnostic note;
  note.set_time(channel::monotonic_now());
  note.set_severity(severity);
  note.set_component(proto::COMPONENT_CPU);
  note.set_state(state);
  note.set_text(text);
  note.set_kind(proto::DIAGNOSTIC_OTHER);
  return note;
}

std::string refusal(const Access& access) {
  std::string text = "Threads are not observed: " + access.reason + ".";
  if (!access.remedy.empty()) text += " Change it: " + access.remedy;
  return text;
}

// True if this user may record it for its own threads.
bool can_be_traced(const TracedPoint& point) {
  EventPlan plan;
  plan.inheritance = Inheritance::kThreadAlone;
  plan.begin = Begin::kWhenTold;
  return open_event(attributes(point.kind, plan, point.tracepoint.number), 0, -1).valid();
}

// The available tracepoints; `notes` gets a note about each other one. Fails if the kernel has no tracepoint of that name.
Result<TracedPoints> traced_points(const CpuSettings& settings, std::vector<proto::Diagnostic>& notes) {
  constexpr const char* kForbidden = "The kernel does not permit it. Change it: sudo sysctl kernel.perf_event_paranoid=-1";
  TracedPoints points;
  const auto lack = [&notes](const std::string& what, const std::string& why) {
    notes.push_back(diagnostic(proto::SEVERITY_WARNING, proto::STATE_NO_PERMISSION, what + " not recorded. " + why));
  };
  if (settings.system_calls) {
    Result<Tracepoint> begins = find_tracepoint("raw_syscalls", "sys_enter");
    Result<Tracepoint> ends = find_tracepoint("raw_syscalls", "sys_exit");
    if (begins && ends) {
      points.push_back({EventKind::kSystemCallBegins, std::move(*begins)});
      points.push_back({EventKind::kSystemCallEnds, std::move(*ends)});
    }
    if (points.empty())
      lack("System calls are", (begins ? ends : begins).error().text);
    else if (!can_be_traced(points.front()))
      lack("System calls are", kForbidden), points.clear();
  }
  for (const std::string& name : settings.tracepoints) {
    const std::size_t slash = name.find('/');
    Result<Tracepoint> found = find_tracepoint(name.substr(0, slash), slash == std::string::npos ? "" : name.substr(slash + 1));
    if (!found && found.error().kind == ErrorKind::kUsage) return found.error();
    TracedPoint point{EventKind::kTracepoints, found ? std::move(*found) : Tracepoint{}};
    if (!found || !can_be_traced(point))
      lack(name + " is", found ? kForbidden : found.error().text);
    else
      points.push_back(std::move(point));
  }
  return points;
}

// The settings that can be fulfilled; `notes` gets notes about the others.
Result<CpuSettings> fulfillable(CpuSettings settings, const Access& access, std::vector<proto::Diagnostic>& notes) {
  if (!access.own_processes) return Error{refusal(access)};
  if (settings.system_wide() && !access.system_wide) {
    for (Scope* scope : {&settings.thread_states, &settings.samples})
      if (*scope == Scope::kSystemWide) *scope = Scope::kProcessTree;
    std::string text = "Only the recorded programs' threads are observed: other processes are not open to this user. Change it: ";
    text += kSystemWideRemedy;
    notes.push_back(diagnostic(proto::SEVERITY_WARNING, proto::STATE_NO_PERMISSION, text));
  }
  if (settings.samples == Scope::kNone) return settings;
  if (settings.call_chains == CallChains::kBranchRecords && !access.branch_records) {
    settings.call_chains = CallChains::kFramePointers;
    notes.push_back(diagnostic(proto::SEVERITY_WARNING, proto::STATE_FAILED,
                               "Calls are followed by frame pointers: this machine keeps no record of branches (-b lbr), as virtual machines "
                               "do not. Whole chains come from -b dwarf."));
  }
  if (settings.call_chains == CallChains::kDwarf && !(kCanUnwind && have_code_names()))
    return Error{"This build can't follow calls by unwind tables, so -b dwarf can't be had. Follow them with -b fp.", ErrorKind::kUsage};
  if (!access.cycles)
    notes.push_back(diagnostic(proto::SEVERITY_INFO, proto::STATE_FAILED,
                               "Samples are taken by a clock of the kernel's: this machine lends no counter of its processors' cycles, as "
                               "virtual machines do not."));
  if (!access.kernel_code)
    notes.push_back(diagnostic(proto::SEVERITY_INFO, proto::STATE_NO_PERMISSION,
                               "Samples show the programs' own code, not what the kernel does for them. Change it: sudo sysctl "
                               "kernel.perf_event_paranoid=1"));
  if (!have_code_names())
    notes.push_back(diagnostic(proto::SEVERITY_WARNING, proto::STATE_NO_LIBRARY,
                               "Code is known by file and address alone: this build has no libdw. Install libdw-dev and build again."));
  return settings;
}

}  // namespace

class Recorder::Worker {
 public:
  Worker(EventSet events, const CpuSettings& settings, std::chrono::milliseconds flush_interval)
      : observation_(std::move(events), settings, outbox_), flush_interval_(flush_interval), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Worker() {
    if (!thread_.joinable()) return;
    stop_naming_ = true;
    tell([this] { ended_ = true; });
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Observation& observation() noexcept { return observation_; }  // before start(), except for python()
  Outbox& outbox() noexcept { return outbox_; }
  // Before start().
  void count_events(const CpuSettings& settings, std::span<const pid_t> threads, Begin begin, const Access& access, std::vector<proto::Diagnostic>& notes) {
    if (settings.counted_events.empty()) return;
    std::vector<std::string> lacks;
    observation_.count_events(std::make_unique<EventCounters>(settings.counted_events,
                                                              settings.system_wide() ? EventCounters::Of::kMachine : EventCounters::Of::kThreads, threads,
                                                              begin, access.kernel_code ? KernelCode::kIncluded : KernelCode::kLeftOut, outbox_, lacks));
    for (const std::string& lack : lacks) notes.push_back(diagnostic(proto::SEVERITY_WARNING, proto::STATE_FAILED, lack));
  }
  void start() {
    thread_ = std::thread([this] { loop(); });
  }

  // Runs `what` on the recorder's thread.
  std::future<void> tell(std::function<void()> what) {
    std::packaged_task<void()> task(std::move(what));
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(wake_.get(), &one, sizeof(one));
    return done;
  }

  std::atomic<bool>& stop_naming() noexcept { return stop_naming_; }

 private:
  void loop() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!ended_) {
      wait();
      observation_.read();
      const std::int64_t now = channel::monotonic_now();
      if (now - flushed_ >= std::chrono::nanoseconds(flush_interval_).count()) {
        flushed_ = now;
        observation_.flush();
      }
      while (std::optional<std::packaged_task<void()>> task = next_task()) (*task)();
    }
  }

  void wait() {
    sources_.assign(1, {wake_.get(), POLLIN, 0});
    for (const int descriptor : observation_.descriptors()) sources_.push_back({descriptor, POLLIN, 0});
    // A buffer whose threads have all ended reports POLLHUP, and would wake us all the time.
    for (pollfd& source : sources_)
      if (hung_up_.contains(source.fd)) source.fd = -1;
    std::chrono::milliseconds limit = hung_up_.empty() ? flush_interval_ : std::min(flush_interval_, kUnwatchedPeriod);
    if (observation_.counts_events()) limit = std::min(limit, kCountersPeriod);
    if (observation_.python()) limit = std::min(limit, kProgramsPeriod);
    poll(sources_.data(), sources_.size(), static_cast<int>(limit.count()));
    for (const pollfd& source : sources_)
      if ((source.revents & (POLLHUP | POLLERR)) != 0) hung_up_.insert(source.fd);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(wake_.get(), &count, sizeof(count));
  }

  std::optional<std::packaged_task<void()>> next_task() {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return std::nullopt;
    std::packaged_task<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  Outbox outbox_;
  Observation observation_;
  std::chrono::milliseconds flush_interval_;
  FileDescriptor wake_;
  std::int64_t flushed_ = 0;
  std::vector<pollfd> sources_;
  std::set<int> hung_up_;
  bool ended_ = false;
  std::atomic<bool> stop_naming_{false};
  std::mutex mutex_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::thread thread_;
};

Recorder::Recorder(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::launch(pid_t waiting, const CpuSettings& wanted, Start start, std::chrono::milliseconds flush_interval) {
  const Access access = probe_access();
  std::vector<proto::Diagnostic> notes;
  const Result<CpuSettings> settings = fulfillable(wanted, access, notes);
  if (!settings) return settings.error();
  Result<TracedPoints> points = traced_points(*settings, notes);
  if (!points) return points.error();
  const Begin begin = start == Start::kAtOnce ? Begin::kOnExec : Begin::kWhenTold;
  Result<EventSet> events = settings->system_wide() ? EventSet::of_machine(*settings, access, std::move(*points))
                                                    : EventSet::of_waiting(waiting, *settings, access, std::move(*points), begin);
  if (!events) return events.error();
  auto worker = std::make_unique<Worker>(std::move(*events), *settings, flush_interval);
  worker->count_events(*settings, std::array{waiting}, settings->system_wide() ? Begin::kWhenTold : begin, access, notes);
  for (proto::Diagnostic& note : notes) worker->outbox().put(std::move(note));
  worker->observation().begin_with_waiting(waiting);
  if (settings->system_wide()) {
    for (const pid_t other : attach::process_numbers()) worker->observation().begin_with_others(other);
    if (start == Start::kAtOnce) worker->observation().begin_part();
  }
  worker->start();
  return std::unique_ptr<Recorder>(new Recorder(std::move(worker)));
}

Result<std::unique_ptr<Recorder>> Recorder::attach(pid_t running, const CpuSettings& wanted, Start start, std::chrono::milliseconds flush_interval) {
  const Access access = probe_access();
  std::vector<proto::Diagnostic> notes;
  const Result<CpuSettings> settings = fulfillable(wanted, access, notes);
  if (!settings) return settings.error();
  const std::vector<pid_t> family = with_descendants(running);
  std::vector<pid_t> threads;
  for (const pid_t process : family)
    for (const ThreadNow& thread : threads_now(process)) threads.push_back(static_cast<pid_t>(thread.thread));
  Result<TracedPoints> points = traced_points(*settings, notes);
  if (!points) return points.error();
  Result<EventSet> events = settings->system_wide() ? EventSet::of_machine(*settings, access, std::move(*points))
                                                    : EventSet::of_running(threads, *settings, access, std::move(*points));
  if (!events) return events.error();
  auto worker = std::make_unique<Worker>(std::move(*events), *settings, flush_interval);
  worker->count_events(*settings, threads, Begin::kWhenTold, access, notes);
  for (proto::Diagnostic& note : notes) worker->outbox().put(std::move(note));
  worker->observation().begin_with_running(running, settings->system_wide() ? attach::process_numbers() : family);
  if (start == Start::kAtOnce) worker->observation().begin_part();
  worker->start();
  return std::unique_ptr<Recorder>(new Recorder(std::move(worker)));
}

void Recorder::begin_part() {
  worker_->tell([this] { worker_->observation().begin_part(); }).wait();
}

std::shared_ptr<const python::Sampler> Recorder::python() const { return worker_->observation().python(); }

void Recorder::drain(Listener& listener) {
  struct Deliver {
    Listener& to;
    void operator()(const SeenProcess& seen) const { to.process_began(seen); }
    void operator()(const EndedProcess& ended) const { to.process_ended(ended.process, ended.time); }
    void operator()(const ForgottenProcess& forgotten) const { to.process_forgotten(forgotten.process); }
    void operator()(const NamedThread& named) const { to.thread_named(named.process, named.thread, named.name); }
    void operator()(const DescribedThings& described) const { to.described(described.process, described.resources); }
    void operator()(const PackedEvents& packed) const { to.recorded(packed.process, packed.chunk, packed.events); }
    void operator()(const NamedCode& named) const { to.named(named.process, named.symbols); }
    void operator()(const CountedRecords& counted) const { to.counted(counted.process, counted.counters); }
    void operator()(const proto::Diagnostic& note) const { to.noted(note); }
  };
  for (const Outbox::Item& item : worker_->outbox().take()) std::visit(Deliver{listener}, item);
}

void Recorder::finish_part(Listener& listener) {
  worker_->tell([this] { worker_->observation().finish_part(); }).wait();
  drain(listener);
}

void Recorder::begin_naming() {
  worker_->stop_naming() = false;
  naming_ = worker_->tell([worker = worker_.get()] { worker->observation().name_code(worker->stop_naming()); });
}

bool Recorder::is_naming() const { return naming_.valid() && naming_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout; }

void Recorder::stop_naming() { worker_->stop_naming() = true; }

}  // namespace lanescope::cpu
