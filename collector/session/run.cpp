#include "run.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "clock.h"

namespace lanescope::session {
namespace {

using namespace std::chrono_literals;

constexpr auto kShortestPeriod = 1ms;                // between looks while records come
constexpr auto kLongestPeriod = 20ms;                // while none do; rings that fill up wake us earlier
constexpr std::int64_t kWatchedFlush = 100'000'000;  // ns between chunks when somebody watches
constexpr std::int64_t kUnwatchedFlush = 500'000'000;
constexpr std::int64_t kProgress = 1'000'000'000;       // ns between counters
constexpr std::int64_t kPublication = 50'000'000;       // ns between statistics for whoever asks
constexpr std::int64_t kStopPatience = 2'000'000'000;   // ns for agents to hand over what they hold
constexpr std::int64_t kDeathPatience = 5'000'000'000;  // ns for targets to end after the end signal
constexpr auto kLastOutput = 250ms;                     // for output that is on its way when the last target ended

proto::EndReason to_proto(EndReason reason) { return static_cast<proto::EndReason>(reason); }

}  // namespace

Recording::Run::Run(LaunchRequest request, Prepared prepared, std::vector<std::string> warnings)
    : request_(std::move(request)),
      socket_(std::move(prepared.socket)),
      relay_(std::move(prepared.relay)),
      log_(std::move(prepared.log)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      processes_(*log_, prepared.settings, wake_.get(), [this](const std::string& sentence) { report(sentence); }),
      output_(*log_),
      started_(monotonic_now()),
      last_flush_(started_),
      last_progress_(started_),
      last_publication_(started_),
      origin_(prepared.origin),
      path_(log_->path()),
      pid_(prepared.pid) {
  if (request_.delay > 0ns) state_ = RecordingState::kDelayed;
  processes_.set_recording(state_ == RecordingState::kRecording);
  recording_since_ = started_;
  if (origin_ == Origin::kLaunched) {
    processes_.add_launched(pid_, prepared.description);
  } else {
    processes_.add_attached(pid_);
    silent_connections_.push_back(std::move(prepared.connection));
  }
  for (const std::string& warning : warnings) warn(warning);
  thread_ = std::thread([this] { loop(); });
}

Recording::Run::~Run() {
  stop(StopMode::kAtOnce);
  thread_.join();
  const bool is_our_child = origin_ == Origin::kLaunched;
  if (is_our_child && !exit_status_)
    std::thread([pid = pid_] { waitpid(pid, nullptr, 0); }).detach();  // it runs on, and is still our child
}

void Recording::Run::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (state() != RecordingState::kEnded) {
    wait();
    look();
    advance();
    publish_due();
  }
}

void Recording::Run::wait() {
  std::vector<pollfd> sources{{socket_.descriptor(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  if (output_may_come_) sources.push_back({relay_.descriptor(), POLLIN, 0});
  for (const FileDescriptor& connection : silent_connections_) sources.push_back({connection.get(), POLLIN, 0});
  for (const auto& process : processes_.live()) {
    if (process->pidfd() >= 0) sources.push_back({process->pidfd(), POLLIN, 0});
    if (process->connection() >= 0) sources.push_back({process->connection(), POLLIN, 0});
  }
  poll(sources.data(), sources.size(), static_cast<int>(period_.count()));
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(wake_.get(), &count, sizeof(count));
}

void Recording::Run::look() {
  accept_agents();
  const std::size_t bytes = processes_.drain();
  period_ = bytes > 0 ? kShortestPeriod : std::min<std::chrono::milliseconds>(period_ * 2, kLongestPeriod);
  if (output_may_come_)
    output_may_come_ = relay_.drain([this](OutputStream stream, std::span<const char> data) { output_.take(stream, data); });
  processes_.reap();
  for (const auto& process : processes_.live()) {
    char nothing = 0;
    const bool hung_up = process->connection() >= 0 && recv(process->connection(), &nothing, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
    if (hung_up) process->hang_up();
  }
  write_due();
}

void Recording::Run::accept_agents() {
  while (std::optional<FileDescriptor> connection = socket_.accept()) silent_connections_.push_back(std::move(*connection));
  std::erase_if(silent_connections_, [this](FileDescriptor& connection) {
    Greeting greeting;
    const GreetingState state = receive_greeting(connection.get(), greeting);
    if (state == GreetingState::kArrived) {
      const bool open = state_ == RecordingState::kRecording || state_ == RecordingState::kDelayed;
      processes_.greet(std::move(connection), greeting, open ? Joining::kWelcome : Joining::kRefused);
    }
    return state != GreetingState::kWaiting;
  });
}

void Recording::Run::write_due() {
  const std::int64_t now = monotonic_now();
  if (now - last_flush_ >= (log_->is_watched() ? kWatchedFlush : kUnwatchedFlush)) {
    last_flush_ = now;
    processes_.flush_chunks();
    output_.flush();
  }
  if (now - last_progress_ >= kProgress) {
    last_progress_ = now;
    processes_.write_progress();
  }
}

bool Recording::Run::targets_have_ended() const {
  if (request_.wait_for == WaitFor::kPrimary) return processes_.launched_status().has_value();
  return processes_.live().empty() && silent_connections_.empty() && !output_may_come_;
}

void Recording::Run::advance() {
  const std::int64_t now = monotonic_now();
  if (log_->failure()) {
    end(EndReason::kDiskFull);
  } else if (wish_.load() == Wish::kAtOnce) {
    end(state_ == RecordingState::kStopping ? reason_ : EndReason::kStopped);
  } else if (state_ == RecordingState::kStopping) {
    advance_stopping(now);
  } else {
    advance_recording(now);
  }
}

void Recording::Run::advance_recording(std::int64_t now) {
  if (state_ == RecordingState::kDelayed && now - started_ >= request_.delay.count()) {
    recording_since_ = now;
    processes_.set_recording(true);
    const std::lock_guard lock(mutex_);
    state_ = RecordingState::kRecording;
  }
  const bool over = state_ == RecordingState::kRecording && request_.duration && now - recording_since_ >= request_.duration->count();
  if (wish_.load() == Wish::kOrderly) {
    begin_stopping(EndReason::kStopped);
  } else if (over) {
    begin_stopping(EndReason::kDuration);
  } else if (targets_have_ended() && request_.on_target_exit == OnTargetExit::kStop) {
    end(EndReason::kTargetExited);
  }
}

void Recording::Run::begin_stopping(EndReason reason) {
  reason_ = reason;
  processes_.request_stop();
  stop_deadline_ = monotonic_now() + kStopPatience;
  period_ = kShortestPeriod;
  const std::lock_guard lock(mutex_);
  state_ = RecordingState::kStopping;
}

void Recording::Run::advance_stopping(std::int64_t now) {
  const bool signals = reason_ == EndReason::kDuration && request_.end_signal.has_value();
  if (processes_.live().empty()) {
    end(reason_);
  } else if (end_signal_sent_ ? now >= stop_deadline_ : processes_.all_answered() || now >= stop_deadline_) {
    if (!signals || end_signal_sent_) {
      end(reason_);
      return;
    }
    processes_.send_signal(*request_.end_signal);
    end_signal_sent_ = true;
    stop_deadline_ = now + kDeathPatience;
  }
}

void Recording::Run::end(EndReason reason) {
  processes_.drain();
  processes_.detach_all();
  take_last_output();
  output_.flush();
  proto::SessionEnd last;
  last.set_time(monotonic_now());
  last.set_reason(to_proto(reason));
  log_->close(last);
  publish();
  const std::lock_guard lock(mutex_);
  outcome_.reason = reason;
  outcome_.target = processes_.launched_status();
  outcome_.failure = log_->failure();
  outcome_.processes = processes_.completeness();
  outcome_.statistics = statistics_;
  state_ = RecordingState::kEnded;
  changed_.notify_all();
}

void Recording::Run::take_last_output() {
  const std::int64_t deadline = monotonic_now() + std::chrono::nanoseconds(kLastOutput).count();
  const bool wait_for_it = processes_.launched_status().has_value();
  while (output_may_come_) {
    output_may_come_ = relay_.drain([this](OutputStream stream, std::span<const char> data) { output_.take(stream, data); });
    const std::int64_t left = deadline - monotonic_now();
    if (!output_may_come_ || !wait_for_it || left <= 0) return;
    pollfd source{relay_.descriptor(), POLLIN, 0};
    poll(&source, 1, static_cast<int>(left / 1'000'000) + 1);
  }
}

void Recording::Run::publish_due() {
  const std::int64_t now = monotonic_now();
  if (now - last_publication_ < kPublication && exit_status_ == processes_.launched_status()) return;
  last_publication_ = now;
  publish();
}

void Recording::Run::publish() {
  RecordingStatistics now;
  now.events = log_->events();
  now.bytes = log_->bytes();
  now.processes = processes_.joined();
  now.running_processes = static_cast<std::uint32_t>(processes_.live().size());
  now.elapsed = std::chrono::nanoseconds(monotonic_now() - started_);
  for (const ProcessCompleteness& process : processes_.completeness()) now.dropped += process.dropped;
  const std::lock_guard lock(mutex_);
  statistics_ = now;
  exit_status_ = processes_.launched_status();
}

void Recording::Run::report(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (reported_.insert(sentence).second) messages_.push_back(sentence);
}

void Recording::Run::warn(const std::string& sentence) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_SESSION);
  diagnostic.set_text(sentence);
  log_->write({proto::FRAME_DIAGNOSTIC}, diagnostic);
  report(sentence);
}

// ---- What callers ask, from any thread -------------------------------------------------------------------------------------------

void Recording::Run::stop(StopMode mode) {
  const Wish wish = mode == StopMode::kAtOnce ? Wish::kAtOnce : Wish::kOrderly;
  Wish before = wish_.load();
  while (before < wish && !wish_.compare_exchange_weak(before, wish)) {
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(wake_.get(), &one, sizeof(one));
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

std::optional<ExitStatus> Recording::Run::exit_status() const {
  const std::lock_guard lock(mutex_);
  return exit_status_;
}

RecordingOutcome Recording::Run::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace lanescope::session
