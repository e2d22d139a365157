// The part of the table of processes that follows their threads from outside, and takes in processes of which no agent reports.
#include <algorithm>

#include "clock.h"
#include "model/file/last_path_part.h"
#include "processes/process_table.h"

namespace lanescope::session {

void ProcessTable::follow_threads(std::unique_ptr<cpu::Recorder> recorder, pid_t pid) {
  if (threads_) log_.forget(proto::SOURCE_CPU);
  for (ObservedProcess& process : observed_) process.write_end({}, monotonic_now());  // as a process about which nothing more is known
  observed_.clear();
  seen_instances_.clear();
  threads_.reset();
  if (strays_ && attached_pid_ != 0) strays_->expect_threads(recorder ? StrayProcesses::Threads::kSeen : StrayProcesses::Threads::kUnseen);
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

std::uint32_t ProcessTable::join_seen(const cpu::SeenProcess& seen) {
  if (strays_)
    if (const std::optional<StrayProcesses::Stray> stray = strays_->see(seen)) note_stray(*stray);
  if (const std::optional<std::uint32_t> known = find_seen(seen)) return *known;
  TargetProcess* const process = find(seen.pid);
  if (const EndedProgram* const next = ended_programs_.reported_since(seen.pid, seen.program_start)) return join_seen_between(seen, next->start);
  if (process != nullptr && seen.program_start <= process->reported()) return join_seen_between(seen, process->start());
  if (process == nullptr) return join_unknown(seen);
  remove(*process, TargetProcess::Ending{proto::PROCESS_END_REPLACED, {}, seen.program_start});  // it called exec
  const std::uint32_t instance = add(seen.pid, describe(seen), {{}, seen.forked, seen.program_start}, environments_->of(seen.pid).found).instance();
  seen_instances_.insert(instance);
  note_agent_obstacle(seen.pid, seen.executable);
  return instance;
}

// What is seen comes up to half a second later than the agents' reports: this program's agent may have reported since, and its process may have ended.
std::optional<std::uint32_t> ProcessTable::find_seen(const cpu::SeenProcess& seen) {
  const auto found = [&](std::uint32_t instance, bool is_late_start) {
    if (is_late_start) write_late_start(instance, seen);
    seen_instances_.insert(instance);
    if (const auto between = seen_between_.find(seen.pid); between != seen_between_.end()) {
      write_end_between(between->second, seen.program_start);
      seen_between_.erase(between);
    }
    return instance;
  };
  if (EndedProgram* const ended = ended_programs_.begun(seen.pid, seen.program_start, seen.executable)) {
    const bool is_late_start = !is_path(ended->executable);
    ended->is_seen = true;
    ended->executable = seen.executable;
    return found(ended->instance, is_late_start);
  }
  TargetProcess* const process = find(seen.pid);
  if (process == nullptr) return std::nullopt;
  const bool has_reported_since = seen.program_start <= process->reported() && same_file(seen.executable, process->description().executable);
  const bool is_unseen = !seen_instances_.contains(process->instance());
  if (!has_reported_since && !(is_unseen && same_program(describe(seen), process->description()))) return std::nullopt;
  const bool is_late_start = !is_path(process->description().executable);
  if (is_late_start) process->set_description(describe(seen));
  return found(process->instance(), is_late_start);
}

std::uint32_t ProcessTable::join_seen_between(const cpu::SeenProcess& seen, std::int64_t end) {
  if (EndedProgram* const before = ended_programs_.before(seen.pid, seen.program_start); before != nullptr && before->end > seen.program_start)
    write_replaced(*before, seen.program_start);
  if (const auto between = seen_between_.find(seen.pid); between != seen_between_.end()) write_end_between(between->second, seen.program_start);
  cpu::SeenProcess program = seen;
  program.start = seen.program_start;
  ++joined_;
  ObservedProcess process(joined_, program, place(joined_, environments_->of(seen.pid).found), log_);
  process.write_end({proto::PROCESS_END_REPLACED, {}}, std::max(end, program.start));
  note_agent_obstacle(seen.pid, seen.executable);
  seen_between_[seen.pid] = joined_;
  seen_instances_.insert(joined_);
  return joined_;
}

void ProcessTable::write_end_between(std::uint32_t instance, std::int64_t time) {
  proto::ProcessEnd end;
  end.set_time(time);
  end.set_kind(proto::PROCESS_END_REPLACED);
  log_.write({proto::FRAME_PROCESS_END, instance}, end);
}

std::uint32_t ProcessTable::join_unknown(const cpu::SeenProcess& seen) {
  const bool has_begun_now = seen.forked && !seen.executed;
  if (has_begun_now) {  // another process had this number
    ended_programs_.forget(seen.pid);
    seen_between_.erase(seen.pid);
  }
  EndedProgram* const before = ended_programs_.last(seen.pid);
  for (ObservedProcess& other : observed_)
    if (other.pid() == seen.pid) other.write_end({proto::PROCESS_END_REPLACED, {}}, seen.program_start);
  std::erase_if(observed_, [&](const ObservedProcess& each) { return each.pid() == seen.pid; });
  ++joined_;
  const bool is_ours = seen.membership != cpu::Membership::kOutside;
  cpu::SeenProcess program = seen;
  if (before != nullptr) program.start = seen.program_start;  // the process's time before that is known already
  observed_.emplace_back(joined_, program, is_ours ? place(joined_, environments_->of(seen.pid).found) : proto::JobPlace(), log_);
  if (is_ours) note_agent_obstacle(seen.pid, seen.executable);
  if (before != nullptr && before->kind != proto::PROCESS_END_REPLACED) {
    endings_[joined_] = {before->kind, before->status};  // this program ended as its process did
    write_replaced(*before, seen.program_start);
  }
  seen_instances_.insert(joined_);
  return joined_;
}

void ProcessTable::write_late_start(std::uint32_t instance, const cpu::SeenProcess& seen) {
  log_.write({proto::FRAME_PROCESS_START, instance}, start_of(seen));
  const auto ended = ended_.find(instance);
  if (ended != ended_.end()) ended->second.name = last_path_part(seen.executable);
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

}  // namespace lanescope::session
