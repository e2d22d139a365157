// What callers ask of a recording, from any thread: its own thread is woken, and answers under the lock.
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

namespace lanescope::session {

Result<std::filesystem::path> Recording::Run::order(Order order) {
  std::future<Result<std::filesystem::path>> answer = order.answer.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (state_ == RecordingState::kEnded) return Error{"The recording has ended."};
    orders_.push_back(std::move(order));
  }
  wake();
  try {
    return answer.get();
  } catch (const std::future_error&) {  // the order was taken, and dropped with the recording
    return Error{"The recording ended early."};
  }
}

void Recording::Run::shut_down(std::optional<int> signal) {
  {
    const std::lock_guard lock(mutex_);
    if (wish_.load() == Wish::kNone) shut_down_signal_ = signal;
  }
  Wish none = Wish::kNone;
  wish_.compare_exchange_strong(none, Wish::kShutDown);
  wake();
}

void Recording::Run::pass_on(int signal, SignalReceiver receiver) {
  {
    const std::lock_guard lock(mutex_);
    signals_to_pass_on_.push_back({signal, receiver});
  }
  wake();
}

bool Recording::Run::passes_on() const {
  const std::lock_guard lock(mutex_);
  return !signals_to_pass_on_.empty() && state_ != RecordingState::kEnded;
}

void Recording::Run::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(wake_.get(), &one, sizeof(one));
}

std::filesystem::path Recording::Run::path() const {
  const std::lock_guard lock(mutex_);
  return path_;
}

void Recording::Run::stop(StopMode mode) {
  const Wish wish = mode == StopMode::kAtOnce ? Wish::kAtOnce : Wish::kOrderly;
  Wish before = wish_.load();
  while (before < wish && !wish_.compare_exchange_weak(before, wish)) {
  }
  wake();
}

bool Recording::Run::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return state_ == RecordingState::kEnded; });
}

std::vector<std::string> Recording::Run::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

RecordingState Recording::Run::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

RecordingStatistics Recording::Run::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

OpenRanges Recording::Run::open_ranges() const {
  const std::lock_guard lock(mutex_);
  return open_ranges_;
}

bool Recording::Run::take_stop() {
  siginfo_t stop{};
  return origin_ == Origin::kLaunched && waitid(P_PID, static_cast<id_t>(pid_), &stop, WSTOPPED | WNOHANG) == 0 && stop.si_pid == pid_;
}

std::optional<ExitStatus> Recording::Run::exit_status() const {
  const std::lock_guard lock(mutex_);
  return exit_status_;
}

RecordingOutcome Recording::Run::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace lanescope::session
