// How a recording ends: what is asked of processes and agents, how long it is waited for, and what is said of those that stay behind.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>

#include "clock.h"
#include "collector/channel/layout.h"
#include "collector/session/planned_file.h"
#include "model/file/last_path_part.h"
#include "run.h"

namespace lanescope::session {
namespace {

constexpr std::int64_t kStopPatience = 2'000'000'000;        // ns for agents to hand over what they hold
constexpr std::int64_t kRestPatience = 10'000'000'000;       // ns for records that wait in memory at the end of a recording
constexpr std::int64_t kRestPatienceAtOnce = 2'000'000'000;  // where it is to end at once
constexpr std::int64_t kDeathPatience = 5'000'000'000;       // ns for targets to end after the end signal

}  // namespace

// Nothing was recorded then, and an empty file would look like a program that does nothing.
void Recording::Run::discard_if_still_delayed() {
  if (state_ != RecordingState::kDelayed || !log_->is_open()) return;
  const auto seconds = [](std::int64_t duration) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.10g s", std::round(static_cast<double>(duration) / 1e8) / 10);
    return std::string(text);
  };
  report("The recording ended after " + seconds(monotonic_now() - started_) + ", before the delay of " + seconds(request_.delay.count()) +
         " was over: nothing was recorded.");
  discards_file_ = true;
}

void Recording::Run::stop_recording(std::int64_t end) {
  stopped_ = end;
  processes_.request_stop(stopped_);
  log_->begin_nothing_more();
}

void Recording::Run::begin_stopping(EndReason reason) {
  discard_if_still_delayed();
  reason_ = reason;
  const std::int64_t now = monotonic_now();
  stop_recording(reason == EndReason::kDuration ? std::min(now, recording_since_ + duration_->count()) : now);  // a busy machine lets us look late
  if (next_after(reason) == Next::kShutDown) expect_no_more_captures();  // a target that starts a capture must not wait: it would not learn of the end
  if (gpu_metrics_) gpu_metrics_->ask_for_rest();
  if (machine_metrics_) machine_metrics_->ask_for_rest();
  stop_deadline_ = now + kStopPatience;
  period_ = kShortestPeriod;
  set_state(RecordingState::kStopping);
}

void Recording::Run::advance_stopping(std::int64_t now) {
  const bool ready = now >= stop_deadline_ || (processes_.live().empty() && have_signalled_ended()) || (!end_signal_sent_ && processes_.all_answered());
  if (!ready || (gpu_metrics_ && gpu_metrics_->is_awaited())) return;
  if (machine_metrics_ && !machine_metrics_->has_answered() && now < stop_deadline_) return;
  if (next_after(reason_) != Next::kShutDown) {
    end_part();
    return has_named(now) ? end_capture(reason_) : void();
  }
  const bool by_user = reason_ == EndReason::kStopped;
  const std::optional<int> signal = !by_user ? request_.end_signal : wish_.load() == Wish::kShutDown ? shut_down_signal_ : std::nullopt;
  if (!signal || end_signal_sent_ || processes_.live().empty()) return end(reason_);
  signal_others_of_job(*signal);
  processes_.send_signal(*signal);
  end_signal_sent_ = true;
  stop_deadline_ = now + kDeathPatience;
}

// A script's child makes no recorded calls, or none yet, and a signal that ends only the script leaves it behind. As with timeout(1), all processes of the
// recording in the program's group are ended, and no other processes in that group.
void Recording::Run::signal_others_of_job(int signal) {
  constexpr std::size_t kMost = 4096;
  const std::string address = reception_.address();
  const pid_t group = getpgid(pid_);
  if (origin_ != Origin::kLaunched || address.empty() || group < 0) return;
  const std::array<std::string_view, 1> name{channel::kSocketVariable};
  for (const pid_t pid : processes_started_with(name.front(), address, kMost)) {
    // The descriptor is opened first and the process is checked afterwards, because its number may be another's by now.
    FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!process.valid() || processes_.lives(pid) || getpgid(pid) != group ||
        start_variables(pid, name).found != Variables{{std::string(name.front()), address}})
      continue;
    syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
    signalled_.push_back(std::move(process));
  }
}

bool Recording::Run::have_signalled_ended() const {
  return std::all_of(signalled_.begin(), signalled_.end(), [](const FileDescriptor& process) {
    pollfd state{process.get(), POLLIN, 0};
    return poll(&state, 1, 0) == 1;
  });
}

// The first processes that were started in this recording and run: "[12] sleep, [13] python3". Empty if there are none.
std::string Recording::Run::running_processes() const {
  constexpr std::size_t kNamed = 16;
  const std::string address = reception_.address();
  if (origin_ != Origin::kLaunched || address.empty()) return {};
  std::string who;
  for (const pid_t pid : processes_started_with(channel::kSocketVariable, address, kNamed)) {
    const std::string executable = describe_process(pid).executable;
    who += (who.empty() ? "[" : ", [") + std::to_string(pid) + "] " + std::string(last_path_part(executable));
  }
  return who;
}

// Distinguishes a daemon that the program left behind from a recorder that hangs.
void Recording::Run::say_whom_it_waits_for(std::int64_t now) {
  constexpr std::int64_t kPatience = 3'000'000'000;  // ns
  if (is_wait_told_ || origin_ != Origin::kLaunched || !processes_.launched_status()) return;
  if (launched_ended_ == 0) launched_ended_ = now;
  if (now - launched_ended_ < kPatience) return;
  is_wait_told_ = true;
  if (!processes_.is_any_running() && !reception_.is_somebody_waiting() && !output_may_come_)
    return report("The program has ended. What it recorded is still being written: " + std::to_string((processes_.waiting_bytes() >> 20) + 1) +
                  " MiB of records are left.");
  const std::string who = running_processes();
  report("The program has ended. Waiting for " + (who.empty() ? "a process that it left behind" : "what it left behind: " + who) +
         ". With --wait=primary the recording ends with the program.");
}

// Reports processes that have made no call by which they would have joined, and that have closed everything they shared with us.
void Recording::Run::note_left_behind(EndReason reason) {
  const std::string who = running_processes();
  if (who.empty()) return;
  const proto::ComponentState state = reason == EndReason::kTargetExited ? proto::STATE_FAILED : proto::STATE_UNSPECIFIED;  // otherwise, the end was asked for
  warn("Processes that were started run on, and nothing is recorded of what they do from now on: " + who + ".", state);
}

// Whoever asked for it to be replaced would take it for the new one.
void Recording::Run::tell_of_earlier_file() {
  if (!outcome_.files.empty() || request_.overwrite != Overwrite::kAllow) return;
  std::error_code failed;
  const Result<std::optional<std::filesystem::path>> planned = planned_file(request_.output);
  if (planned && *planned && std::filesystem::exists(**planned, failed))
    report((*planned)->string() + " is an earlier recording, which stays: nothing was recorded that could replace it.");
}

void Recording::Run::drain_rest(EndReason reason) {
  const RestLimit::Kind kind = reason == EndReason::kTargetExited && wish_.load() == Wish::kNone ? RestLimit::Kind::kProgress : RestLimit::Kind::kWhole;
  RestLimit limit(kind, wish_.load() == Wish::kAtOnce ? kRestPatienceAtOnce : kRestPatience, [this](const std::string& sentence) { report(sentence); });
  processes_.drain_rest(limit);
}

// All processes have ended, and what they recorded is no longer being written.
bool Recording::Run::rest_has_stalled(std::int64_t now) {
  const bool is_rest = !processes_.is_empty() && !processes_.is_any_running() && !reception_.is_somebody_waiting() && !output_may_come_;
  if (!is_rest) rest_progress_.reset();
  if (is_rest && !rest_progress_) rest_progress_.emplace(kRestPatience);
  return is_rest && rest_progress_->has_stalled(processes_.waiting_bytes(), now);
}

void Recording::Run::end(EndReason reason) {
  discard_if_still_delayed();
  if (stopped_ == 0) stopped_ = monotonic_now();
  if (end_signal_sent_ || (reason == EndReason::kTargetExited && request_.wait_for != WaitFor::kPrimary)) note_left_behind(reason);
  expect_no_more_captures();
  read_words();
  processes_.listen();
  for (const auto& process : processes_.live()) process->hear_no_more_of_children();
  reception_.close();  // what follows may take a while, and no program must wait for it
  drain_rest(reason);
  processes_.detach_all();  // first, because they are recorded until then
  if (gpu_metrics_) gpu_metrics_->end(*log_, gpu_samples(), [this](const std::string& sentence) { report(sentence); });
  if (machine_metrics_) machine_metrics_->end(take_machine_metrics());
  take_last_output();
  while (!has_named(monotonic_now())) std::this_thread::sleep_for(kShortestPeriod);
  const Result<std::filesystem::path> file = close_file(reason);
  say_of_replaced();
  mark_of_files_ = RunningRecordersFile();
  tell_of_earlier_file();
  publish();
  const std::lock_guard lock(mutex_);
  outcome_.reason = reason;
  outcome_.target = processes_.launched_status();
  outcome_.is_output_cut = relay_.has_cut_output();
  outcome_.processes = processes_.completeness();
  outcome_.unfollowed_processes = processes_.unfollowed();
  outcome_.attached_process = processes_.attached_process();
  outcome_.statistics = statistics_;
  state_ = RecordingState::kEnded;
  for (Order& order : orders_) order.answer.set_value(Error{"The recording has ended."});
  orders_.clear();
  answer_end(file);
  changed_.notify_all();
}

}  // namespace lanescope::session
