#include "processes/process_table.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "clock.h"
#include "processes/agent_obstacle.h"
#include "processes/job_place.h"

namespace lanescope::session {
namespace {

// A file as threads' records name it, by the path that the program used, and as the kernel shows it to us: from another root folder, or with a mark where it
// has no name any more. As far as is known: nothing is of a process that had ended by the time that its agent was heard.
bool same_file(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return true;
  constexpr std::string_view kGone = " (deleted)";
  for (std::string_view* path : {&a, &b})
    if (path->ends_with(kGone)) path->remove_suffix(kGone.size());
  const bool is_absolute = a.starts_with('/') && b.starts_with('/');
  return a == b || (is_absolute && (a.ends_with(b) || b.ends_with(a)));
}

// As far as is known: arguments are not, of a process that was seen to call exec and looked at when it had gone on.
bool same_program(const ProcessDescription& a, const ProcessDescription& b) {
  return same_file(a.executable, b.executable) && (a.arguments.empty() || b.arguments.empty() || a.arguments == b.arguments);
}

// When an agent reported, which may be a while ago where the recorder was busy: CLOCK_MONOTONIC ns; now where it says what can't be.
std::int64_t time_of(const channel::Hello& hello, std::int64_t shift) {
  constexpr std::int64_t kLongestWait = 10'000'000'000;  // ns
  const std::int64_t now = monotonic_now();
  const bool is_sane = hello.time > now - kLongestWait - shift && hello.time <= now - shift;
  return is_sane ? hello.time + shift : now;
}

// When the program began whose agent reports, likewise: that may be long before its first event, at which it does.
std::int64_t begin_of(const channel::Hello& hello, std::int64_t shift) {
  const std::int64_t reported = time_of(hello, shift);
  const bool is_sane = hello.begin > 0 && hello.begin <= hello.time && reported == hello.time + shift;
  return is_sane ? hello.begin + shift : reported;
}

}  // namespace

void ProcessTable::share_memory(std::uint64_t free) {
  free_memory_ = free;
  room_ = encoder_room(free_memory_, live_.size());
}

TargetProcess& ProcessTable::add(pid_t pid, const ProcessDescription& description, const AgentIntroduction& agent) {
  const auto observed = std::find_if(observed_.begin(), observed_.end(), [&](const auto& each) { return each.pid() == pid; });
  // Programs write over their arguments: of a process whose records were read first, they may be others by now.
  const bool is_known = observed != observed_.end() && same_file(observed->description().executable, description.executable);
  AgentIntroduction introduction = agent;
  if (is_known) introduction.since = observed->start();
  const std::uint32_t instance = is_known ? observed->instance() : ++joined_;
  const ProcessDescription observed_description = is_known ? observed->description() : ProcessDescription();
  if (observed != observed_.end()) {
    if (!is_known) observed->write_end({proto::PROCESS_END_REPLACED, {}}, agent.since != 0 ? agent.since : monotonic_now());
    observed_.erase(observed);
  }
  introduction.place = place(instance, pid);
  const ProcessDescription& known = is_known && description.executable.empty() ? observed_description : description;
  live_.push_back(std::make_unique<TargetProcess>(instance, pid, known, introduction, log_, naming_, report_, room_));
  share_memory(free_memory_);
  if (threads_) live_.back()->name_python_by(threads_->python());
  return *live_.back();
}

proto::JobPlace ProcessTable::place(std::uint32_t instance, pid_t pid) {
  const std::span<const std::string_view> of_jobs = job_variables();
  std::vector<std::string_view> names(of_jobs.begin(), of_jobs.end());
  names.insert(names.end(), shared_by_.begin(), shared_by_.end());
  const std::map<std::string, std::string> variables = start_variables(pid, names).found;  // once: it may become another program meanwhile
  Variables share;
  for (const std::string& name : shared_by_)
    if (const auto found = variables.find(name); found != variables.end()) share.insert(*found);
  log_.assign(instance, share);
  return job_place(variables);
}

void ProcessTable::add_launched(pid_t pid, const ProcessDescription& description, std::int64_t since) {
  launched_pid_ = pid;
  AgentIntroduction introduction;
  introduction.since = since;
  add(pid, description, introduction);
  note_agent_obstacle(pid, description.executable);
}

void ProcessTable::add_attached(pid_t pid) {
  attached_pid_ = pid;
  add(pid, describe_process(pid), {});
}

TargetProcess* ProcessTable::find(pid_t pid) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const auto& process) { return process->pid() == pid; });
  return found == live_.end() ? nullptr : found->get();
}

void ProcessTable::replace_or_adopt(const Greeting& greeting) {
  const ProcessDescription description = describe_process(greeting.pid);
  const std::int64_t since = std::max(begin_of(greeting.hello, clock_shift(greeting.pid)), part_begin_);
  TargetProcess* process = find(greeting.pid);
  if (process != nullptr) {
    // Of the launched one it is not known otherwise that it has become another one of the same file.
    const bool is_same = greeting.pid == launched_pid_ ? same_program(process->description(), description)
                                                       : same_file(process->description().executable, description.executable);
    const bool first_words = !process->is_connected() && is_same;
    if (first_words) return;
    finish(*process, TargetProcess::Ending{proto::PROCESS_END_REPLACED, {}, since});
    std::erase_if(live_, [&](const auto& each) { return each.get() == process; });
  }
  add(greeting.pid, description, {greeting.hello.agent_version, greeting.hello.forked != 0, since});
}

void ProcessTable::greet(FileDescriptor connection, const Greeting& greeting, channel::Welcome answer, Joining joining) {
  if (joining == Joining::kRefused) {
    send_welcome(connection.get(), answer, -1);
    return;
  }
  replace_or_adopt(greeting);
  TargetProcess& process = *find(greeting.pid);
  Result<std::unique_ptr<TargetMemory>> memory = TargetMemory::create(process.instance(), settings_);
  if (!memory) {
    note_unfollowed(process.pid(), memory.error().text);
    send_welcome(connection.get(), answer, -1);
    return;
  }
  if (guard_) (*memory)->guard_by(*guard_);  // before the agent has it: there is no moment in which nobody would see to it
  (*memory)->shared().header().settings.recording.store(recording_ ? 1 : 0, std::memory_order_release);
  channel::write_line((*memory)->shared().header().clock, clock_);
  (*memory)->shared().header().clock.shift.store(clock_shift(greeting.pid), std::memory_order_relaxed);
  answer.accepted = 1;
  answer.process_instance = process.instance();
  answer.memory_bytes = (*memory)->shared().size();
  if (!send_welcome(connection.get(), answer, (*memory)->descriptor())) {
    if (strays_ && strays_->has_become_another(process.pid())) return strays_->look_soon(process.pid());
    if (has_ended_while_it_waited(process, greeting.hello.time)) return;
    return note_unfollowed(process.pid(), "its agent waited for an answer, and then no longer, or it ended meanwhile.");
  }
  (*memory)->close_descriptor();
  process.connect(std::move(*memory), std::move(connection));
}

void ProcessTable::note_unfollowed(pid_t pid, const std::string& reason) {
  std::string executable = describe_process(pid).executable;
  if (TargetProcess* const process = find(pid)) {
    process->note_unfollowed();
    if (executable.empty()) executable = process->description().executable;  // it has ended meanwhile
  }
  unfollowed_.add("[" + std::to_string(pid) + "] " + (executable.empty() ? "(ended)" : executable.substr(executable.rfind('/') + 1)), reason);
}

void ProcessTable::note_agent_obstacle(pid_t pid, const std::string& executable) {
  constexpr std::size_t kMost = 4096;
  const bool needs_agent = launched_pid_ != 0 && settings_.trace_os_runtime;
  if (!needs_agent || looked_at_for_agents_.size() >= kMost || !looked_at_for_agents_.insert(executable).second) return;
  const std::optional<std::string> obstacle = agent_obstacle(pid, executable);
  if (!obstacle) return;
  warn(proto::COMPONENT_OS_RUNTIME, "[" + std::to_string(pid) + "] " + executable.substr(executable.rfind('/') + 1) +
                                        ": its calls into the C library are not recorded: " + *obstacle +
                                        ", so the agent can't be loaded into it. Its threads can be recorded from outside (-t none).");
}

void ProcessTable::warn(proto::Component component, const std::string& sentence) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(component);
  diagnostic.set_state(proto::STATE_FAILED);
  diagnostic.set_text(sentence);
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
  for (const pid_t pid : strays_->take_begun())
    if (const std::optional<std::string> program = program_of(pid)) note_agent_obstacle(pid, *program);
}

void ProcessTable::note_stray(const StrayProcesses::Stray& stray) {
  unfollowed_.add(stray.who, stray.reason, stray.missing);
  if (stray.pid == attached_pid_ && attached_process_ == AttachedProcess::kFollowed) attached_process_ = AttachedProcess::kBecameAnother;
}

void ProcessTable::add_sources(std::vector<pollfd>& sources) const {
  for (const auto& process : live_) {
    if (process->pidfd() >= 0) sources.push_back({process->pidfd(), POLLIN, 0});
    if (process->connection() >= 0) sources.push_back({process->connection(), POLLIN, 0});
  }
  for (const Heirs& heirs : heirs_) sources.push_back({heirs.connection(), POLLIN, 0});
}

void ProcessTable::set_recording(bool recording) {
  recording_ = recording;
  for (const auto& process : live_) process->set_recording(recording);
  if (threads_) threads_->set_recording(recording);  // takes longer, and a program may wait for nothing but the line before
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
  if (process.pid() != launched_pid_) return process.is_gone();
  if (!launched_status_) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(launched_pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != launched_pid_) return false;
    launched_was_strict_ = was_strict(launched_pid_);  // nothing says so once it was waited for
    int status = 0;
    if (waitpid(launched_pid_, &status, WNOHANG) != launched_pid_) return false;
    launched_status_ = to_exit_status(status);
  }
  ending = {launched_status_->signal != 0 ? proto::PROCESS_END_SIGNALED : proto::PROCESS_END_EXITED, *launched_status_};
  return true;
}

// Within the first call that was to be recorded, then: nothing came behind it, and that one did not end.
bool ProcessTable::has_ended_while_it_waited(const TargetProcess& process, std::int64_t since) {
  constexpr std::int64_t kShortestWait = 900'000'000;  // ns: who has no answer after a second may go on without (agent/channel/handshake.h)
  const std::int64_t waited = monotonic_now() - since;
  std::optional<TargetProcess::Ending> ending;
  return waited >= 0 && waited < kShortestWait && has_ended(process, ending);
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

// The agent comes with the first call of NVTX or CUDA where it is not loaded with the program.
void ProcessTable::note_killed_by_seccomp(const TargetProcess& process, int signal) {
  const bool comes_late = (settings_.trace_nvtx || settings_.trace_cuda) && !settings_.trace_os_runtime && !settings_.trace_python_lock;
  const bool was_strict = signal == SIGKILL && process.pid() == launched_pid_ && launched_was_strict_;
  if (!comes_late || process.is_connected() || !(signal == SIGSYS || was_strict)) return;
  const std::string& executable = process.description().executable;
  unfollowed_.add("[" + std::to_string(process.pid()) + "] " + executable.substr(executable.rfind('/') + 1),
                  was_strict ? "it had left itself no system calls but read and write (seccomp's strict mode), and the kernel ended it for another one "
                               "(SIGKILL), perhaps for loading the agent. If it does not end so alone, record it with -t osrt as well, by which the agent is "
                               "there before, or from outside (-t none)."
                             : "its seccomp filter had the kernel end it (SIGSYS), perhaps for loading the agent. If it does not end so alone, record it with "
                               "-t osrt as well, by which the agent is there before the filter, or from outside (-t none).");
}

void ProcessTable::finish(TargetProcess& process, std::optional<TargetProcess::Ending> known) {
  if (known) note_killed_by_seccomp(process, known->status.signal);
  process.set_recording(false);
  const TargetProcess::CaptureCounts captures = process.captures();
  captures_of_ended_.begins += captures.begins;
  captures_of_ended_.ends += captures.begins;  // what it had not ended, its own end did
  process.listen(unfollowed_);
  if (process.pid() == attached_pid_ && process.is_unfollowed()) attached_process_ = AttachedProcess::kUnfollowed;
  process.finish(known);
  if (std::optional<Heirs> heirs = process.take_heirs()) heirs_.push_back(std::move(*heirs));
  note_ended(process.completeness());
  if (!threads_) return;
  forget_old();
  ended_seen_[process.pid()] = {process.instance(), process.ending(), process.unreturned_buffers()};
  for (const std::uint32_t thread : process.thread_names().named_by_program()) named_by_program_.insert({process.instance(), thread});
  if (!seen_instances_.contains(process.instance()))
    ended_unseen_.push_back({process.pid(), process.instance(), process.description().executable, monotonic_now()});
}

// ---- Processes whose threads are seen --------------------------------------------------------------------------------------------

void ProcessTable::follow_threads(std::unique_ptr<cpu::Recorder> recorder, pid_t pid) {
  if (threads_) log_.forget(proto::SOURCE_CPU);
  for (ObservedProcess& process : observed_) process.write_end({}, monotonic_now());  // as one of which nothing more is known
  observed_.clear();
  seen_instances_.clear();
  ended_unseen_.clear();
  threads_.reset();
  if (strays_ && attached_pid_ != 0) strays_->expect_threads(recorder != nullptr);
  if (!recorder) return;
  const std::uint32_t first = find(pid)->instance();
  seen_instances_.insert(first);
  ProcessDirectory directory{[this](const cpu::SeenProcess& seen) { return join_seen(seen); },
                             [this](std::uint32_t instance, std::int64_t time) { leave_seen(instance, time); },
                             [this](std::uint32_t instance, std::uint32_t thread, const std::string& name) { name_seen_thread(instance, thread, name); },
                             [this](std::uint32_t instance, const proto::Counters& counters) {
                               const auto ended = ended_.find(instance);
                               ProcessCompleteness& process = ended == ended_.end() ? long_ended_ : ended->second;
                               process.produced += counters.produced();
                               process.dropped += counters.dropped();
                             },
                             report_};
  threads_ = std::make_unique<ThreadFollower>(std::move(recorder), first, log_, std::move(directory));
  for (const std::unique_ptr<TargetProcess>& process : live_) process->name_python_by(threads_->python());
}

void ProcessTable::begin_naming() {
  if (threads_) threads_->begin_naming();
  for (const auto& process : live_) process->begin_naming();
}

bool ProcessTable::is_naming() const { return naming_.is_busy() || (threads_ && threads_->is_naming()); }

void ProcessTable::write_names() {
  if (threads_) threads_->drain();
  naming_.write_found();
}

void ProcessTable::stop_naming() {
  if (threads_) threads_->stop_naming();
  naming_.give_up();
}

TargetProcess* ProcessTable::find_instance(std::uint32_t instance) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const auto& process) { return process->instance() == instance; });
  return found == live_.end() ? nullptr : found->get();
}

std::uint32_t ProcessTable::join_seen(const cpu::SeenProcess& seen) {
  if (strays_)
    if (const std::optional<StrayProcesses::Stray> stray = strays_->see(seen)) note_stray(*stray);
  if (TargetProcess* process = find(seen.pid)) {
    // What is seen comes up to half a second later than what agents say: this program's agent may have joined since.
    const bool has_joined_since = process->is_connected() && seen.program_start <= process->joined();
    if (process->description().executable.empty()) {
      process->set_description(describe(seen));
      write_late_start(process->instance(), seen);
    }
    if (has_joined_since || (same_program(describe(seen), process->description()) && !seen_instances_.contains(process->instance()))) {
      seen_instances_.insert(process->instance());
      return process->instance();
    }
    finish(*process, TargetProcess::Ending{proto::PROCESS_END_REPLACED, {}, seen.program_start});  // it called exec
    std::erase_if(live_, [&](const auto& each) { return each.get() == process; });
    const std::uint32_t instance = add(seen.pid, describe(seen), {{}, seen.forked, seen.program_start}).instance();
    seen_instances_.insert(instance);
    note_agent_obstacle(seen.pid, seen.executable);
    return instance;
  }
  // What is seen comes a little later than what agents say: the process may have ended by now.
  const auto ended_as = [&](std::string_view executable) {
    return std::find_if(ended_unseen_.rbegin(), ended_unseen_.rend(),
                        [&](const EndedProcess& process) { return process.pid == seen.pid && process.executable == executable && seen.start <= process.end; });
  };
  auto ended = ended_as(seen.executable);
  const bool was_unknown = ended == ended_unseen_.rend();
  if (was_unknown) ended = ended_as("");
  if (ended != ended_unseen_.rend()) {
    const std::uint32_t instance = ended->instance;
    if (was_unknown) write_late_start(instance, seen);
    ended_unseen_.erase(std::next(ended).base());
    seen_instances_.insert(instance);
    return instance;
  }
  for (ObservedProcess& other : observed_)
    if (other.pid() == seen.pid) other.write_end({proto::PROCESS_END_REPLACED, {}}, seen.program_start);
  std::erase_if(observed_, [&](const ObservedProcess& before) { return before.pid() == seen.pid; });
  ++joined_;
  const bool is_ours = seen.membership != cpu::Membership::kOutside;
  auto before = ended_seen_.find(seen.pid);
  const bool has_begun_now = seen.forked && !seen.executed;
  if (before != ended_seen_.end() && has_begun_now) {  // another one that had this number
    ended_seen_.erase(before);
    before = ended_seen_.end();
  }
  cpu::SeenProcess program = seen;
  if (before != ended_seen_.end()) program.start = seen.program_start;  // its time before that is known already
  observed_.emplace_back(joined_, program, is_ours ? place(joined_, seen.pid) : proto::JobPlace(), log_);
  if (is_ours) note_agent_obstacle(seen.pid, seen.executable);
  if (before != ended_seen_.end()) {
    // That was its program before an exec; how the process ended is how this one did.
    proto::ProcessEnd replaced;
    replaced.set_time(seen.program_start);
    replaced.set_kind(proto::PROCESS_END_REPLACED);
    replaced.set_unreturned_buffers(before->second.unreturned_buffers);
    log_.write({proto::FRAME_PROCESS_END, before->second.instance}, replaced);
    endings_[joined_] = before->second.ending;
    ended_seen_.erase(before);
  }
  seen_instances_.insert(joined_);
  return joined_;
}

void ProcessTable::write_late_start(std::uint32_t instance, const cpu::SeenProcess& seen) {
  log_.write({proto::FRAME_PROCESS_START, instance}, start_of(seen));
  const auto ended = ended_.find(instance);
  if (ended != ended_.end()) ended->second.name = seen.executable.substr(seen.executable.rfind('/') + 1);
}

void ProcessTable::leave_seen(std::uint32_t instance, std::int64_t time) {
  for (ObservedProcess& process : observed_)
    if (process.instance() == instance) process.write_end(endings_[instance], time);
  std::erase_if(observed_, [&](const ObservedProcess& process) { return process.instance() == instance; });
}

void ProcessTable::name_seen_thread(std::uint32_t instance, std::uint32_t thread, const std::string& name) {
  if (TargetProcess* process = find_instance(instance)) return process->thread_names().add(thread, name);
  if (named_by_program_.contains({instance, thread})) return;
  proto::Resources resources;
  proto::Thread& named = *resources.add_threads();
  named.set_id(thread);
  named.set_name(name);
  log_.write({proto::FRAME_RESOURCES, instance, proto::SOURCE_CPU}, resources);
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
  std::erase_if(ended_seen_, [&](const auto& entry) { return entry.second.instance < oldest; });
  std::erase_if(endings_, [&](const auto& entry) { return entry.first < oldest; });
  std::erase_if(ended_unseen_, [&](const EndedProcess& process) { return process.instance < oldest; });
  std::erase_if(named_by_program_, [&](const auto& entry) { return entry.first < oldest; });
  std::erase_if(seen_instances_, [&](std::uint32_t instance) { return instance < oldest && find_instance(instance) == nullptr; });
}

}  // namespace lanescope::session
