#include "process_table.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace lanescope::session {
namespace {

ExitStatus exit_status_of(int status) { return WIFSIGNALED(status) ? ExitStatus{0, WTERMSIG(status)} : ExitStatus{WEXITSTATUS(status), 0}; }

bool same_program(const ProcessDescription& a, const ProcessDescription& b) {
  return a.executable == b.executable && a.arguments == b.arguments;
}

}  // namespace

TargetProcess& ProcessTable::add(pid_t pid, const ProcessDescription& description, const AgentIntroduction& agent) {
  live_.push_back(std::make_unique<TargetProcess>(++joined_, pid, description, agent, log_, report_));
  return *live_.back();
}

void ProcessTable::add_launched(pid_t pid, const ProcessDescription& description) {
  launched_pid_ = pid;
  add(pid, description, {});
}

void ProcessTable::add_attached(pid_t pid) { add(pid, describe_process(pid), {}); }

TargetProcess* ProcessTable::find(pid_t pid) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const auto& process) { return process->pid() == pid; });
  return found == live_.end() ? nullptr : found->get();
}

void ProcessTable::replace_or_adopt(const Greeting& greeting) {
  const ProcessDescription description = describe_process(greeting.pid);
  TargetProcess* process = find(greeting.pid);
  if (process != nullptr) {
    const bool first_words = !process->is_connected() && same_program(process->description(), description);
    if (first_words) return;
    finish(*process, TargetProcess::Ending{proto::PROCESS_END_REPLACED, {}});
    std::erase_if(live_, [&](const auto& each) { return each.get() == process; });
  }
  add(greeting.pid, description, {greeting.hello.agent_version, greeting.hello.forked != 0});
}

void ProcessTable::greet(FileDescriptor connection, const Greeting& greeting, Joining joining) {
  channel::Welcome welcome;
  if (joining == Joining::kRefused) {
    send_welcome(connection.get(), welcome, -1);
    return;
  }
  replace_or_adopt(greeting);
  TargetProcess& process = *find(greeting.pid);
  Result<std::unique_ptr<TargetMemory>> memory = TargetMemory::create(process.instance(), settings_);
  if (!memory) {
    report_(memory.error().text);
    send_welcome(connection.get(), welcome, -1);
    return;
  }
  (*memory)->shared().header().settings.recording.store(recording_ ? 1 : 0, std::memory_order_release);
  welcome.accepted = 1;
  welcome.process_instance = process.instance();
  welcome.memory_bytes = channel::kMemoryBytes;
  send_welcome(connection.get(), welcome, (*memory)->descriptor());
  (*memory)->close_descriptor();
  process.connect(std::move(*memory), std::move(connection), wake_);
}

void ProcessTable::set_recording(bool recording) {
  recording_ = recording;
  for (const auto& process : live_) process->set_recording(recording);
}

void ProcessTable::request_stop() {
  recording_ = false;
  for (const auto& process : live_) process->request_stop();
}

bool ProcessTable::all_answered() const {
  return std::all_of(live_.begin(), live_.end(), [](const auto& process) { return process->is_answered(); });
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

void ProcessTable::begin_part() {
  for (const auto& process : live_) process->begin_part();
}

void ProcessTable::end_part() {
  for (const auto& process : live_) process->end_part();
}

std::size_t ProcessTable::drain() {
  std::size_t bytes = 0;
  for (const auto& process : live_) bytes += process->drain();
  return bytes;
}

void ProcessTable::flush_chunks() {
  for (const auto& process : live_) process->flush_chunks();
}

void ProcessTable::write_progress() {
  for (const auto& process : live_) {
    process->name_threads();
    process->write_counters();
  }
}

bool ProcessTable::has_ended(const TargetProcess& process, std::optional<TargetProcess::Ending>& ending) {
  if (process.pid() != launched_pid_) return process.is_gone();
  int status = 0;
  if (waitpid(launched_pid_, &status, WNOHANG) != launched_pid_) return false;
  launched_status_ = exit_status_of(status);
  ending = {launched_status_->signal != 0 ? proto::PROCESS_END_SIGNALED : proto::PROCESS_END_EXITED, *launched_status_};
  return true;
}

std::size_t ProcessTable::reap() {
  return std::erase_if(live_, [&](const auto& process) {
    std::optional<TargetProcess::Ending> ending;
    if (!has_ended(*process, ending)) return false;
    finish(*process, ending);
    return true;
  });
}

void ProcessTable::detach_all() {
  for (const auto& process : live_) finish(*process, TargetProcess::Ending{proto::PROCESS_END_DETACHED, {}});
  live_.clear();
}

void ProcessTable::finish(TargetProcess& process, std::optional<TargetProcess::Ending> known) {
  process.set_recording(false);
  const TargetProcess::CaptureCounts captures = process.captures();
  captures_of_ended_.begins += captures.begins;
  captures_of_ended_.ends += captures.begins;  // what it had not ended, its own end did
  process.finish(known);
  ended_.push_back(process.completeness());
}

std::vector<ProcessCompleteness> ProcessTable::completeness() const {
  std::vector<ProcessCompleteness> all = ended_;
  for (const auto& process : live_) all.push_back(process->completeness());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.instance < b.instance; });
  return all;
}

}  // namespace lanescope::session
