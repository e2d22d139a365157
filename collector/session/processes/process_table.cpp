#include "processes/process_table.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "clock.h"
#include "collector/attach/memory_map.h"
#include "processes/unfollowed/agent_obstacle.h"

namespace lanescope::session {
void ProcessTable::share_memory(std::uint64_t free) {
  free_memory_ = free;
  room_ = encoder_room(free_memory_, live_.size(), log_.maximum_bytes());
}

void ProcessTable::add_launched(pid_t pid, const ProcessDescription& description, std::int64_t since, std::span<const std::string> environment) {
  launched_pid_ = pid;
  AgentIntroduction introduction;
  introduction.since = since;
  introduction.program = program_state(pid).number;
  add(pid, description, introduction, environments_->among(environment));
  note_agent_obstacle(pid, description.executable);
}

void ProcessTable::add_attached(pid_t pid) {
  attached_pid_ = pid;
  AgentIntroduction introduction;
  introduction.program = program_state(pid).number;
  add(pid, describe_process(pid), introduction, environments_->of(pid).found);
}

TargetProcess* ProcessTable::find(pid_t pid) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const auto& process) { return process->pid() == pid; });
  return found == live_.end() ? nullptr : found->get();
}

TargetProcess* ProcessTable::find_instance(std::uint32_t instance) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const auto& process) { return process->instance() == instance; });
  return found == live_.end() ? nullptr : found->get();
}

void ProcessTable::remove(TargetProcess& process, std::optional<TargetProcess::Ending> known) {
  finish(process, known);
  std::erase_if(live_, [&](const auto& each) { return each.get() == &process; });
}

void ProcessTable::note_unfollowed(pid_t pid, const std::string& reason) {
  std::string executable = describe_process(pid).executable;
  TargetProcess* const process = find(pid);
  if (process != nullptr && process->generation().begin == 0) process->note_unfollowed();        // otherwise that was its earlier program
  if (process != nullptr && executable.empty()) executable = process->description().executable;  // it has ended meanwhile
  unfollowed_.add(title(pid, executable), reason);
}

void ProcessTable::note_agent_obstacle(pid_t pid, const std::string& executable) {
  constexpr std::size_t kMost = 4096;
  const bool needs_agent = launched_pid_ != 0 && (settings_.trace_os_runtime || settings_.trace_python_lock);
  if (!needs_agent || executable.empty() || looked_at_for_agents_.size() >= kMost || !looked_at_for_agents_.insert(executable).second) return;
  const std::optional<std::string> obstacle = agent_obstacle(pid, executable);
  if (!obstacle) return;
  const char* const missing =
      settings_.trace_os_runtime ? ": its calls into the C library are not recorded: " : ": its waits for Python's lock are not recorded: ";
  warn(proto::COMPONENT_OS_RUNTIME,
       title(pid, executable) + missing + *obstacle + ", so the agent can't be loaded into it. Its threads can be recorded from outside (-t none).");
}

void ProcessTable::warn(proto::Component component, const std::string& sentence, proto::ComponentState state) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(component);
  diagnostic.set_state(state);
  diagnostic.set_text(sentence);
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  log_.write({proto::FRAME_DIAGNOSTIC}, diagnostic);
  report_(sentence);
}

void ProcessTable::listen() {
  for (const auto& process : live_) {
    const bool was_joined = process->connection() >= 0;
    process->listen(unfollowed_);
    if (strays_ && was_joined && process->connection() < 0) strays_->look_soon(process->pid());
  }
  std::erase_if(heirs_, [this](Heirs& heirs) { return !heirs.look(unfollowed_); });
  if (!strays_) return;
  const auto is_joined = [this](pid_t pid) {
    const TargetProcess* process = find(pid);
    return process != nullptr && process->connection() >= 0;
  };
  for (const StrayProcesses::Stray& stray : strays_->look(is_joined)) note_stray(stray);
  if (strays_->take_doubt() && !std::exchange(is_doubt_told_, true))
    warn(proto::COMPONENT_SESSION,
         "Programs that process " + std::to_string(attached_pid_) +
             " starts may be missing, unsaid: the system gives it orphans of other programs as well, which look the same. Where threads are observed "
             "(--sample, --cpuctxsw), each is named.");
  for (const pid_t pid : strays_->take_begun()) note_agent_obstacle(pid, describe_process(pid).executable);
}

void ProcessTable::note_stray(const StrayProcesses::Stray& stray) {
  unfollowed_.add(stray.who, stray.reason, stray.missing);
  if (stray.pid == attached_pid_ && attached_process_ == AttachedProcess::kFollowed) attached_process_ = AttachedProcess::kBecameAnother;
}

bool ProcessTable::has_survivors(const std::string& address) {
  return survivors_.look([&] { return find_survivors(address); });
}

// Recorded are processes that have the agent, and those whose threads are observed.
std::vector<pid_t> ProcessTable::find_survivors(const std::string& address) const {
  constexpr std::size_t kMost = 4096;
  const auto has_agent = [](pid_t pid) {
    const std::optional<std::vector<attach::Mapping>> map = attach::read_memory_map(pid);
    return map && attach::find_file(*map, attach::is_agent) != nullptr;
  };
  std::set<pid_t> found;
  std::set<pid_t> candidates;
  if (launched_pid_ != 0 && !address.empty())
    for (const pid_t pid : processes_started_with(channel::kSocketVariable, address, kMost)) candidates.insert(pid);
  if (strays_)
    for (const pid_t pid : strays_->family()) candidates.insert(pid);
  for (const pid_t pid : candidates)
    if (threads_ || has_agent(pid)) found.insert(pid);
  for (const ObservedProcess& process : observed_)
    if (process.is_of_recording()) found.insert(process.pid());
  found.erase(launched_pid_);
  return {found.begin(), found.end()};
}

void ProcessTable::add_sources(std::vector<pollfd>& sources) const {
  for (const auto& process : live_) {
    if (process->pidfd() >= 0) sources.push_back({process->pidfd(), POLLIN, 0});
    if (process->connection() >= 0) sources.push_back({process->connection(), POLLIN, 0});
  }
  for (const Heirs& heirs : heirs_) sources.push_back({heirs.connection(), POLLIN, 0});
  survivors_.add_sources(sources);
}

void ProcessTable::begin_recording() {
  recording_ = true;
  for (const auto& process : live_) process->set_recording(TargetProcess::Recorded::kYes);
  if (threads_) threads_->begin_part();  // takes longer, and a program may wait for nothing but the line before
}

void ProcessTable::set_clock(const channel::CounterLine& line) {
  clock_ = line;
  for (const auto& process : live_) process->set_clock(line);
}

void ProcessTable::request_stop(std::int64_t time) {
  recording_ = false;
  part_end_ = time;
  if (threads_) threads_->finish_part();
  for (const auto& process : live_) process->request_stop(time);
}

bool ProcessTable::all_answered() const {
  return std::all_of(live_.begin(), live_.end(), [](const auto& process) { return process->is_answered(); });
}

void ProcessTable::request_handover() {
  for (const auto& process : live_) process->request_handover();
}

bool ProcessTable::all_handed_over() const {
  return std::all_of(live_.begin(), live_.end(), [](const auto& process) { return process->has_handed_over(); });
}

void ProcessTable::send_signal(int signal) {
  for (const auto& process : live_) {
    if (process->pidfd() >= 0) {
      syscall(SYS_pidfd_send_signal, process->pidfd(), signal, nullptr, 0);
    } else {
      kill(process->pid(), signal);
    }
  }
}

TargetProcess::CaptureCounts ProcessTable::captures() const {
  TargetProcess::CaptureCounts all = captures_of_ended_;
  for (const auto& process : live_) {
    const TargetProcess::CaptureCounts own = process->captures();
    all.begins += own.begins;
    all.ends += own.ends;
  }
  return all;
}

void ProcessTable::answer_captures() {
  for (const auto& process : live_) process->answer_captures();
}

void ProcessTable::take_trigger_away() {
  settings_.range.trigger = CaptureTrigger::kNone;
  for (const auto& process : live_) process->take_trigger_away();
}

void ProcessTable::await(const CaptureRange& range) {
  settings_.range = range;
  for (const auto& process : live_) process->await(range);
}

void ProcessTable::begin_part(std::int64_t time) {
  part_begin_ = time;
  part_end_ = 0;
  for (const auto& process : live_) process->begin_part();
}

void ProcessTable::end_part() {
  if (threads_) threads_->finish_part();
  for (const auto& process : live_) process->end_part();
}

void ProcessTable::drain_rest(RestLimit& limit) {
  constexpr std::size_t kAtOnce = 1u << 20;  // of each process: some 10 ms
  for (const auto& process : live_) process->set_recording(TargetProcess::Recorded::kNo);
  bool has_more = true;
  while (has_more) {
    has_more = false;
    for (const auto& process : live_) has_more = process->drain(kAtOnce).has_more || has_more;
    const std::uint64_t left = has_more ? waiting_bytes() : 0;
    if (has_more && limit.is_over(left)) break;
    if (has_more) limit.tell(left);
  }
  if (!has_more) return;
  for (const auto& process : live_) process->drop_rest(limit);
}

std::uint64_t ProcessTable::waiting_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& process : live_) bytes += process->waiting_bytes();
  return bytes;
}

Drained ProcessTable::drain(std::size_t most) {
  write_names();
  Drained all;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const Drained own = live_[(next_to_drain_ + i) % live_.size()]->drain(most - std::min(most, all.bytes));
    all.bytes += own.bytes;
    all.has_more = all.has_more || own.has_more;
  }
  ++next_to_drain_;
  return all;
}

void ProcessTable::flush_chunks() {
  for (const auto& process : live_) process->flush_chunks();
}

void ProcessTable::write_progress() {
  for (const auto& process : live_) {
    process->thread_names().look();
    process->write_counters();
    process->give_memory_back();
  }
}

bool ProcessTable::has_ended(const TargetProcess& process, std::optional<TargetProcess::Ending>& ending) {
  if (const auto known = endings_.find(process.instance()); known != endings_.end()) {
    ending = known->second;
    return true;
  }
  if (process.pid() != launched_pid_) return process.is_gone();
  if (!launched_status_) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(launched_pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != launched_pid_) return false;
    launched_was_strict_ = was_strict(launched_pid_);  // no longer known once we have waited for it, as is the next one
    launched_was_filtered_ = was_filtered(launched_pid_);
    if (strays_ && !process.is_connected()) strays_->note_launched_ended(process.title());
    int status = 0;
    if (waitpid(launched_pid_, &status, WNOHANG) != launched_pid_) return false;
    launched_status_ = to_exit_status(status);
  }
  ending = {launched_status_->signal != 0 ? proto::PROCESS_END_SIGNALED : proto::PROCESS_END_EXITED, *launched_status_};
  return true;
}

std::size_t ProcessTable::reap() {
  const std::size_t ended = std::erase_if(live_, [&](const auto& process) {
    std::optional<TargetProcess::Ending> ending;
    if (!has_ended(*process, ending) || !process->is_read_out()) return false;
    finish(*process, ending);
    return true;
  });
  if (ended > 0) share_memory(free_memory_);
  return ended;
}

void ProcessTable::write_last_words() {
  if (strays_)
    for (const StrayProcesses::Stray& stray : strays_->take_agentless()) note_stray(stray);
  unfollowed_.write_others();
}

void ProcessTable::detach_all() {
  if (threads_) threads_->finish_part();
  const std::int64_t end = part_end_ != 0 ? part_end_ : monotonic_now();
  for (ObservedProcess& process : observed_) process.write_end({proto::PROCESS_END_DETACHED, {}}, std::max(end, process.start()));
  observed_.clear();
  for (const auto& process : live_) {
    std::optional<TargetProcess::Ending> ending;
    if (!has_ended(*process, ending)) ending = TargetProcess::Ending{proto::PROCESS_END_DETACHED, {}};
    finish(*process, ending);
  }
  live_.clear();
  for (Heirs& heirs : heirs_) heirs.look(unfollowed_);
  heirs_.clear();
}

// Somebody may have sent the signal.
bool ProcessTable::was_ended_by_filter(const TargetProcess& process, int signal) const {
  return signal == SIGSYS && (process.pid() != launched_pid_ || launched_was_filtered_);
}

// The agent comes with the first call of NVTX or CUDA if it is not loaded with the program.
void ProcessTable::note_killed_by_seccomp(const TargetProcess& process, int signal) {
  const bool comes_with_program = settings_.trace_os_runtime || settings_.trace_python_lock;
  const bool comes = settings_.trace_nvtx || settings_.trace_cuda || comes_with_program;
  const bool was_strict = signal == SIGKILL && process.pid() == launched_pid_ && launched_was_strict_;
  const bool was_filtered = was_ended_by_filter(process, signal);
  if (was_filtered && !comes)
    return warn(proto::COMPONENT_SESSION,
                process.title() + ": its seccomp filter had the kernel end it (SIGSYS) for a system call of its own: nothing of the recorder's was in it.",
                proto::STATE_RECORDING);
  if (was_filtered && (process.is_connected() || comes_with_program))
    return warn(proto::COMPONENT_SESSION,
                process.title() +
                    ": its seccomp filter had the kernel end it (SIGSYS) for a system call, of its own or of the recorder's agent in it. If it "
                    "does not end so alone, record it from outside (-t none).",
                proto::STATE_RECORDING);
  if (!comes || comes_with_program || process.is_connected() || !(was_filtered || was_strict)) return;
  if (strays_) strays_->note_joined(process.pid());
  unfollowed_.add(process.title(),
                  was_strict ? "it had left itself no system calls but read and write (seccomp's strict mode), and the kernel ended it for another one "
                               "(SIGKILL), perhaps for loading the agent. If it does not end so alone, record it with -t osrt as well, by which the agent is "
                               "there before, or from outside (-t none)."
                             : "its seccomp filter had the kernel end it (SIGSYS), perhaps for loading the agent. If it does not end so alone, record it with "
                               "-t osrt as well, by which the agent is there before the filter, or from outside (-t none).");
}

void ProcessTable::finish(TargetProcess& process, std::optional<TargetProcess::Ending> known) {
  if (known) note_killed_by_seccomp(process, known->status.signal);
  process.set_recording(TargetProcess::Recorded::kNo);
  const TargetProcess::CaptureCounts captures = process.captures();
  captures_of_ended_.begins += captures.begins;
  captures_of_ended_.ends += captures.begins;  // its own end ended the captures that it had not ended
  process.listen(unfollowed_);
  if (process.pid() == attached_pid_ && process.is_unfollowed()) attached_process_ = AttachedProcess::kUnfollowed;
  process.finish(known);
  if (std::optional<Heirs> heirs = process.take_heirs()) heirs_.push_back(std::move(*heirs));
  note_ended(process.completeness());
  ended_programs_.add({process.generation(), process.instance(), process.description().executable, process.start(), process.reported(),
                       process.ending().kind == proto::PROCESS_END_REPLACED ? process.ending().time : monotonic_now(), process.ending().kind,
                       process.ending().status, process.unreturned_buffers(), seen_instances_.contains(process.instance())});
  forget_old();
  if (!threads_) return;
  for (const std::uint32_t thread : process.thread_names().named_by_program()) named_by_program_.insert({process.instance(), thread});
}

ProcessCompleteness ProcessTable::with_threads(ProcessCompleteness process) const {
  if (!threads_) return process;
  const proto::Counters counters = threads_->counters(process.instance);
  process.produced += counters.produced();
  process.dropped += counters.dropped();
  return process;
}

std::vector<ProcessCompleteness> ProcessTable::completeness() const {
  std::vector<ProcessCompleteness> all;
  for (const auto& [instance, process] : ended_) all.push_back(process);
  for (const auto& process : live_) all.push_back(process->completeness());
  for (ProcessCompleteness& process : all) process = with_threads(std::move(process));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.instance < b.instance; });
  if (long_ended_.produced + long_ended_.dropped > 0) all.push_back(long_ended_);
  return all;
}

std::uint64_t ProcessTable::dropped() const {
  std::uint64_t all = ended_dropped_ + (threads_ ? threads_->dropped() : 0);
  for (const auto& process : live_) all += process->completeness().dropped;
  return all;
}

void ProcessTable::note_ended(ProcessCompleteness process) {
  constexpr std::size_t kMost = 4096;
  ended_dropped_ += process.dropped;
  ended_.emplace(process.instance, std::move(process));
  if (ended_.size() <= kMost) return;
  auto given_up =
      std::find_if(ended_.begin(), ended_.end(), [](const auto& entry) { return entry.second.dropped == 0 && entry.second.unreturned_buffers == 0; });
  if (given_up == ended_.end()) given_up = ended_.begin();
  const ProcessCompleteness sum = with_threads(given_up->second);
  ended_.erase(given_up);
  long_ended_.name = "processes that ended before";
  long_ended_.produced += sum.produced;
  long_ended_.dropped += sum.dropped;
  long_ended_.late += sum.late;
  long_ended_.invalid += sum.invalid;
  long_ended_.unreturned_buffers += sum.unreturned_buffers;
}

void ProcessTable::forget_old() {
  constexpr std::uint32_t kKept = 4096;
  if (joined_ % kKept != 0 || joined_ <= 2 * kKept) return;
  const std::uint32_t oldest = joined_ - kKept;
  std::erase_if(seen_between_, [&](const auto& entry) { return entry.second < oldest; });
  std::erase_if(endings_, [&](const auto& entry) { return entry.first < oldest; });
  std::erase_if(named_by_program_, [&](const auto& entry) { return entry.first < oldest; });
  std::erase_if(seen_instances_, [&](std::uint32_t instance) { return instance < oldest && find_instance(instance) == nullptr; });
}

}  // namespace lanescope::session
