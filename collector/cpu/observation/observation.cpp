#include "observation.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "collector/channel/clock.h"

namespace lanescope::cpu {
namespace {

using channel::monotonic_now;

constexpr std::int64_t kArrival = 2'000'000;            // ns after which a record that was begun can be read
constexpr std::int64_t kUndecided = 50'000'000;         // ns within which a forked process can become another program without being shown separately
constexpr std::int64_t kCountInterval = 1'000'000'000;  // ns between counters

std::uint64_t sample_period(const CpuSettings& settings) { return 1'000'000'000 / std::max<std::uint32_t>(settings.frequency, 1); }

}  // namespace

Observation::Observation(EventSet events, const CpuSettings& settings, Outbox& outbox)
    : events_(std::move(events)),
      settings_(settings),
      outbox_(outbox),
      states_([this](const StateInterval& interval) {
        if (const auto owner = owners_.find(interval.thread); owner != owners_.end()) owner->second->encoder.add(interval);
      }),
      namer_(settings.debug_folders, modules_.kernel(), outbox) {
  if (settings.python_names) python_ = std::make_shared<python::Sampler>(settings.frequency);
}

// ---- Processes -------------------------------------------------------------------------------------------------------------------

Observation::RecordPointer Observation::make(SeenProcess description) {
  description.key = ++last_key_;
  if (description.program_start == 0) description.program_start = description.start;
  const ProcessKey key = description.key;
  return std::make_shared<ProcessRecord>(
      std::move(description), sample_period(settings_),
      [this, key](proto::EventChunk& chunk, std::uint32_t events) {
        outbox_.put(PackedEvents{key, chunk, events});
      },
      perf_maps_);
}

Observation::RecordPointer Observation::find(std::uint32_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second;
}

Observation::RecordPointer Observation::adopt(std::uint32_t pid, std::int64_t time) {
  if (RecordPointer known = find(pid)) return known;
  const std::vector<ThreadNow> threads = threads_now(static_cast<pid_t>(pid));
  if (threads.empty() && first_) return nullptr;  // it has ended, and its remains are being removed
  const ProcessNow now = process_now(static_cast<pid_t>(pid));
  const RecordPointer parent = find(static_cast<std::uint32_t>(now.parent));
  RecordPointer process;
  if (now.of_kernel && parent) {
    process = parent;  // threads of the kernel are shown as threads of one process
  } else {
    const bool is_first = !first_;
    SeenProcess seen{0, static_cast<pid_t>(pid), now.parent, time, now.executable, now.arguments, false, false, Membership::kOutside};
    if (now.of_kernel) seen.executable = "[kernel]";
    const bool outside = settings_.system_wide() && !is_first && !(parent && parent->description.membership == Membership::kRecorded);
    seen.membership = outside ? Membership::kOutside : Membership::kRecorded;
    process = make(std::move(seen));
    process->is_described = true;
    process->own_space().read(static_cast<pid_t>(pid), modules_);
    if (python_ && process->description.membership == Membership::kRecorded) python_->watch(static_cast<pid_t>(pid));
  }
  processes_[pid] = process;
  for (const ThreadNow& thread : threads) {
    process->threads.insert(thread.thread);
    owners_[thread.thread] = process;
    name_thread(*process, thread.thread, thread.name);
  }
  return process;
}

void Observation::begin_with_waiting(pid_t process) {
  first_ = make({0, process, getpid(), monotonic_now(), {}, {}, false, false, Membership::kRecorded});
  first_->is_announced = true;  // its launcher knows it already
  first_->threads.insert(static_cast<ThreadNumber>(process));
  processes_[static_cast<std::uint32_t>(process)] = first_;
  owners_[static_cast<ThreadNumber>(process)] = first_;
  awaits_exec_ = true;
  recording_ = events_.plan().begin == Begin::kOnExec;
  if (!python_) return;
  python_->watch(process);
  if (recording_) python_->start();
}

void Observation::begin_with_running(pid_t process, const std::vector<pid_t>& others) {
  const std::int64_t now = monotonic_now();
  first_ = adopt(static_cast<std::uint32_t>(process), now);
  first_->is_announced = true;
  for (const pid_t other : others) adopt(static_cast<std::uint32_t>(other), now);
}

void Observation::begin_with_others(pid_t other) { adopt(static_cast<std::uint32_t>(other), monotonic_now()); }

void Observation::announce(ProcessRecord& process) {
  if (process.is_announced) return;
  process.is_announced = true;
  if (!process.is_described && !process.description.forked) {
    ProcessNow now = process_now(process.description.pid);
    const bool is_this_program = process.description.executable.empty() || now.executable == process.description.executable;
    if (process.description.executable.empty()) process.description.executable = now.executable;
    if (is_this_program) process.description.arguments = std::move(now.arguments);
  }
  if (process.description.executable.empty() && !process.names.empty())
    process.description.executable = process.names.begin()->second;  // it has ended, and only its name is known
  outbox_.put(process.description);
  for (const auto& [thread, name] : process.names) outbox_.put(NamedThread{process.description.key, thread, name});
}

void Observation::name_thread(ProcessRecord& process, ThreadNumber thread, std::string_view name) {
  std::string& known = process.names[thread];
  if (known == name) return;
  known = name;
  if (process.is_announced) outbox_.put(NamedThread{process.description.key, thread, known});
}

void Observation::pack(ProcessRecord& process) {
  if (!process.encoder.has_events()) return;
  announce(process);
  describe_domains(process);
  process.seen_in_part = true;
  process.encoder.flush();
}

void Observation::describe_domains(ProcessRecord& process) {
  if (std::exchange(process.has_domains, true) || events_.points().empty()) return;
  DescribedThings described{process.description.key, {}};
  const auto add = [&described](std::uint32_t id, const char* name) {
    proto::NvtxDomain& domain = *described.resources.add_nvtx_domains();
    domain.set_id(id);
    domain.set_name(name);
  };
  if (events_.has(EventKind::kSystemCallBegins)) add(kSystemCallDomain, "System calls");
  if (events_.has(EventKind::kTracepoints)) add(kTracepointDomain, "Kernel events");
  outbox_.put(std::move(described));
}

void Observation::count(ProcessRecord& process) {
  if (!process.is_announced) return;
  proto::Counters counters;
  counters.set_produced(process.encoder.produced() - process.produced_before);
  counters.set_dropped(process.lost);
  outbox_.put(CountedRecords{process.description.key, counters});
}

void Observation::retire(const RecordPointer& process) {
  pack(*process);
  count(*process);
  process->perf_map.refresh();
}

void Observation::hand_over(const RecordPointer& process) {
  if (process->seen_in_part)
    namer_.add(process);
  else if (process->is_announced)
    outbox_.put(ForgottenProcess{process->description.key});
}

void Observation::end_process(const RecordPointer& process, std::int64_t time) {
  const bool is_of_interest = process->description.membership == Membership::kRecorded || process->encoder.has_events();
  if (is_of_interest && recording_) announce(*process);
  retire(process);
  if (process->is_announced) outbox_.put(EndedProcess{process->description.key, time});
  if (python_) python_->forget(process->description.pid);
  processes_.erase(static_cast<std::uint32_t>(process->description.pid));
  lost_.process_ended(static_cast<std::uint32_t>(process->description.pid));
  hand_over(process);
}

// ---- Parts -----------------------------------------------------------------------------------------------------------------------

void Observation::begin_part() {
  if (recording_) return;
  read();
  recording_ = true;
  events_.start();
  if (counters_) counters_->start(monotonic_now());
  if (python_) python_->start();
  if (!follows_states()) return;
  const std::int64_t now = monotonic_now();
  for (const auto& [pid, process] : processes_) {
    for (const ThreadNow& thread : threads_now(static_cast<pid_t>(pid)))
      if (owners_.contains(thread.thread))
        states_.observe(thread.thread, now, thread.may_run ? Suspected{proto::THREAD_RUNNING, thread.processor + 1} : Suspected{proto::THREAD_BLOCKED, 0});
  }
}

void Observation::read() {
  read_until(static_cast<std::uint64_t>(std::max<std::int64_t>(monotonic_now() - kArrival, 0)));
  if (counters_) counters_->read(monotonic_now());
}

void Observation::read_until(std::uint64_t end) {
  last_times_.resize(events_.buffers().size());
  for (std::size_t i = 0; i < events_.buffers().size(); ++i) {
    events_.buffers()[i].take([&](const perf_event_header& header) {
      const std::uint64_t time = read_record(header, events_).who.time;
      // A record of losses has no place of its own: it is ordered right after the record before it.
      order_.add(header, header.type == PERF_RECORD_LOST ? last_times_[i] : time);
      last_times_[i] = std::max(last_times_[i], time);
    });
  }
  order_.release(end, [this](const perf_event_header& header) { take(header); });
  read_until_ = static_cast<std::int64_t>(std::min<std::uint64_t>(end, static_cast<std::uint64_t>(monotonic_now())));
}

void Observation::flush() {
  if (counters_) counters_->flush();
  for (const auto& [pid, process] : processes_) {
    const bool undecided = !process->is_announced && process->description.forked && read_until_ - process->description.start < kUndecided;
    if (!undecided) pack(*process);
  }
  const std::int64_t now = monotonic_now();
  if (now - counted_at_ < kCountInterval) return;
  counted_at_ = now;
  for (const auto& [pid, process] : processes_)
    if (process->seen_in_part) count(*process);
}

void Observation::finish_part() {
  events_.stop();
  const std::int64_t now = monotonic_now();
  if (counters_) counters_->finish(now);
  if (python_) python_->pause();
  read_until(~std::uint64_t{0});  // still as part of the recording: a short program may appear only here
  if (!std::exchange(recording_, false)) return;
  if (first_) first_->lost += lost_.add_up_to(events_.lost_records());
  states_.end_all(now);
  while (!system_calls_.empty()) end_system_call(system_calls_.begin()->first, now, std::nullopt);
  for (const auto& [pid, process] : processes_) {
    pack(*process);
    if (process->seen_in_part) count(*process);
  }
  for (std::string& sentence : lost_.take_sentences()) note(proto::SEVERITY_WARNING, proto::STATE_FAILED, std::move(sentence));
  if (throttled_ > 0)
    note(proto::SEVERITY_WARNING, proto::STATE_FAILED,
         "The kernel held samples back " + std::to_string(throttled_) +
             " times, since they took too much time. Sample less often (--sampling-frequency), or change it: sudo sysctl "
             "kernel.perf_cpu_time_max_percent=50");
  throttled_ = 0;
  note_python();
}

void Observation::note_python() {
  if (!python_) return;
  const std::vector<std::string> refusals = python_->take_refusals();
  for (const std::string& refusal : refusals) note(proto::SEVERITY_WARNING, proto::STATE_FAILED, refusal);
  const python::Sampler::Counts counts = python_->counts();
  if (counts.programs == 0 && refusals.empty()) {
    std::ostringstream text;
    text << "No Python functions are named: no interpreter was found in the recorded processes. " << python::kSupportedVersions << " can be read.";
    note(proto::SEVERITY_WARNING, proto::STATE_FAILED, text.str());
  }
  constexpr std::uint64_t kFewOf = 20;
  const std::uint64_t samples = python_samples_ + leaning_samples_;
  if (leaning_samples_ > samples / kFewOf)
    note(proto::SEVERITY_WARNING, proto::STATE_FAILED,
         std::to_string(leaning_samples_) + " of " + std::to_string(samples) +
             " Python stacks were read while their threads had no processor, since none was free for reading in time: innermost functions "
             "that call the system come out too large.");
  python_samples_ = leaning_samples_ = 0;
  if (counts.torn == 0) return;
  proto::Diagnostic torn;
  torn.set_severity(proto::SEVERITY_INFO);
  torn.set_state(proto::STATE_RECORDING);
  torn.set_kind(proto::DIAGNOSTIC_TORN_STACKS);
  torn.set_count(counts.torn);
  torn.set_text(std::to_string(counts.torn) + " Python stacks changed while they were read, and were dropped; programs were read " +
                std::to_string(counts.readings) + " times.");
  note(std::move(torn));
}

void Observation::note(proto::Severity severity, proto::ComponentState state, std::string text) {
  proto::Diagnostic diagnostic;
  diagnostic.set_severity(severity);
  diagnostic.set_state(state);
  diagnostic.set_text(std::move(text));
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  note(std::move(diagnostic));
}

void Observation::note(proto::Diagnostic diagnostic) {
  diagnostic.set_time(monotonic_now());
  diagnostic.set_component(proto::COMPONENT_CPU);
  outbox_.put(std::move(diagnostic));
}

// ---- Names of code ---------------------------------------------------------------------------------------------------------------

void Observation::name_code(const std::atomic<bool>& stop) {
  std::vector<RecordPointer> seen;
  for (const auto& [pid, process] : processes_)
    if (process->seen_in_part && static_cast<std::uint32_t>(process->description.pid) == pid) seen.push_back(process);
  namer_.name(seen, stop);
  for (const RecordPointer& process : seen) {
    process->seen_in_part = false;
    process->produced_before = process->encoder.produced();
    process->lost = 0;
  }
}

}  // namespace lanescope::cpu
