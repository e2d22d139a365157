#include "run.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "clock.h"
#include "collector/channel/layout.h"
#include "collector/session/python_functions.h"
#include "file/machine.h"
#include "file/trace_output.h"
#include "model/file/memory_limits.h"
#include "outside/observers.h"

namespace lanescope::session {
namespace {

using namespace std::chrono_literals;

// Bytes of records between looks at who comes and goes: a millisecond's work, because visitors wait, and somewhat more if looks take long.
constexpr std::size_t kMostAtOnce = 64u << 10;
constexpr std::size_t kMoreForEachProcess = 2u << 10;
constexpr auto kLongestPeriod = 20ms;                    // between looks while no records come
constexpr std::uint64_t kBurst = 4'000'000;              // bytes of records that threads of a program write in 1 ms at most
constexpr std::int64_t kClockLook = 100'000'000;         // ns between comparisons of the clocks
constexpr std::int64_t kClocks = 10'000'000'000;         // ns between readings of the clocks for the file
constexpr std::int64_t kProgress = 1'000'000'000;        // ns between counters
constexpr std::int64_t kPublication = 50'000'000;        // ns between updates of the statistics
constexpr std::int64_t kHandoverPatience = 500'000'000;  // ns for the handover before a signal is passed on
constexpr const char* kNoDescriptorForIt = "the recorder may have no more files open. Allow it more (ulimit -n) and record again.";
constexpr auto kLastOutput = 250ms;  // for output that was on its way when the last target ended

}  // namespace

Recording::Run::Run(LaunchRequest request, Prepared prepared, std::vector<std::string> warnings)
    : request_(std::move(request)),
      reception_(std::move(prepared.socket)),
      relay_(std::move(prepared.relay)),
      log_(std::move(prepared.log)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      processes_(*log_, prepared.settings, prepared.shared_by, std::move(prepared.guard), [this](const std::string& sentence) { report(sentence); }),
      output_(*log_),
      gpu_metrics_(std::move(prepared.gpu_metrics)),
      machine_metrics_(std::move(prepared.machine_metrics)),
      start_(std::move(prepared.start)),
      started_(monotonic_now()),
      last_flush_(started_),
      last_progress_(started_),
      counter_lines_(CounterLines::are_possible() ? std::optional<CounterLines>(std::in_place) : std::nullopt),
      last_publication_(started_),
      origin_(prepared.origin),
      pid_(prepared.pid),
      shared_by_(std::move(prepared.shared_by)),
      user_(prepared.user),
      path_(log_->path()) {
  log_->tell([this](const std::string& sentence) { report(sentence); });
  const bool has_file = log_->is_open();
  processes_.share_memory(free_memory());
  if (request_.settings.domain_rule == DomainRule::kAll) processes_.await_ranges_of(modules_of(request_.python_functions));
  if (has_file) processes_.begin_part(start_.epoch());
  if (has_file) write_clocks();
  state_ = request_.delay > 0ns ? RecordingState::kDelayed : has_file ? RecordingState::kRecording : RecordingState::kWaiting;
  const std::optional<CaptureRequest>& first = request_.first_capture;
  range_ = first && first->range ? *first->range : request_.settings.range;
  awaited_ = first.value_or(CaptureRequest{});
  observed_threads_ = request_.settings.cpu;
  observed_gpus_ = request_.settings.gpu_metrics;
  observed_machine_ = request_.settings.machine_metrics;
  if (!has_file) note_earlier_files(awaited_, range_);
  duration_ = awaited_.duration ? awaited_.duration : request_.duration;
  on_target_exit_ = awaited_.on_target_exit.value_or(request_.on_target_exit);
  captures_ = has_file ? 1 : 0;
  if (state_ == RecordingState::kRecording) processes_.begin_recording();
  recording_since_ = started_;
  if (origin_ == Origin::kLaunched) {
    processes_.add_launched(pid_, prepared.description, prepared.released, prepared.environment);
    const CaptureSettings& traced = prepared.settings;
    if (traced.trace_cuda || traced.trace_nvtx || traced.trace_os_runtime || traced.trace_python_lock)
      processes_.tell_of_strays(channel::kSocketVariable, reception_.address(), prepared.agent, traced);
  } else {
    processes_.add_attached(pid_);
    if (prepared.connection.valid()) {
      processes_.tell_of_strays();
      reception_.add(std::move(prepared.connection));
    }
  }
  if (prepared.threads) processes_.follow_threads(std::move(prepared.threads), pid_);
  for (const std::string& warning : warnings) warn(warning);
  for (const std::string& lack : prepared.lacks) warn(lack, proto::STATE_UNSPECIFIED, proto::DIAGNOSTIC_LOSS);
  for (const proto::Diagnostic& refusal : prepared.refusals) {
    log_->write({proto::FRAME_DIAGNOSTIC}, refusal);
    report(refusal.text());
  }
  thread_ = std::move(prepared.thread);
  thread_->begin([this] { loop(); });
}

Recording::Run::~Run() {
  stop(StopMode::kAtOnce);
  thread_.reset();
  const bool is_our_child = origin_ == Origin::kLaunched;
  if (is_our_child && !exit_status_) wait_for_in_background(pid_);  // it runs on, and is still our child
}

void Recording::Run::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  try {
    while (state() != RecordingState::kEnded) {
      wait();
      look();
      pass_on_due();
      advance();
      publish_due();
    }
  } catch (const std::exception& failure) {  // from the standard library: no memory, no threads
    give_up(failure.what());
  }
}

void Recording::Run::give_up(const std::string& reason) {
  const Error failure{"The recording ended early: " + reason + ". The program was not disturbed."};
  const auto refuse_orders = [&] {  // also orders that come while the program is waited for
    if (awaits_end_) awaits_end_->set_value(failure);
    awaits_end_.reset();
    for (Order& order : orders_) order.answer.set_value(failure);
    orders_.clear();
  };
  const bool ours = origin_ == Origin::kLaunched && !processes_.launched_status();
  int status = 0;
  pid_t ended = 0;
  constexpr auto kLook = 20ms;
  while (ours && ended == 0 && wish_.load() != Wish::kAtOnce) {
    {
      const std::lock_guard lock(mutex_);
      refuse_orders();
    }
    ended = waitpid(pid_, &status, WNOHANG);
    std::this_thread::sleep_for(kLook);
  }
  const std::lock_guard lock(mutex_);
  outcome_.failure = failure;
  outcome_.target = ended == pid_ ? to_exit_status(status) : processes_.launched_status();
  outcome_.statistics = statistics_;
  exit_status_ = outcome_.target;
  state_ = RecordingState::kEnded;
  refuse_orders();
  changed_.notify_all();
}

void Recording::Run::wait() {
  std::vector<pollfd> sources{{wake_.get(), POLLIN, 0}};
  if (output_may_come_) sources.push_back({relay_.descriptor(), POLLIN, 0});
  if (gpu_metrics_ && gpu_metrics_->descriptor() >= 0) sources.push_back({gpu_metrics_->descriptor(), POLLIN, 0});
  reception_.add_sources(sources);
  processes_.add_sources(sources);
  poll(sources.data(), sources.size(), static_cast<int>(period_.count()));
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(wake_.get(), &count, sizeof(count));
}

void Recording::Run::look() {
  compare_clocks();
  accept_agents();
  const Drained drained = processes_.drain(kMostAtOnce + kMoreForEachProcess * processes_.live().size());
  const std::chrono::milliseconds longer = std::clamp<std::chrono::milliseconds>(period_ * 2, kShortestPeriod, longest_period());
  period_ = drained.has_more ? 0ms : drained.bytes > 0 ? kShortestPeriod : longer;
  if (output_may_come_) take_output();
  drain_gpu_metrics();
  if (machine_metrics_) machine_metrics_->drain(take_machine_metrics());
  const std::int64_t before = monotonic_now();
  processes_.reap();
  processes_.listen();
  if (request_.keep_last && state_ == RecordingState::kRecording && goes_on()) log_->goes_on(before);
  write_due();
}

// Whether what is recorded has not ended. A recorder that is late may still have to read what was written long before the end, so that the time of reading
// does not show it.
bool Recording::Run::goes_on() const {
  return on_target_exit_ == OnTargetExit::kGoOn || processes_.is_any_running() || (processes_.is_empty() && output_may_come_);
}

// Short enough for a burst to find room in the rings, and for a target that starts a capture not to wait for us.
std::chrono::milliseconds Recording::Run::longest_period() const {
  if (awaits_target()) return kShortestPeriod;
  const std::chrono::milliseconds until_full(request_.settings.pool_bytes / kBurst);
  return std::clamp<std::chrono::milliseconds>(until_full, kShortestPeriod, kLongestPeriod);
}

void Recording::Run::compare_clocks() {
  const std::int64_t now = monotonic_now();
  if (!counter_lines_ || now - last_line_ < kClockLook) return;
  last_line_ = now;
  if (const auto line = counter_lines_->add(CounterLines::read())) processes_.set_clock(*line);
}

void Recording::Run::accept_agents() {
  constexpr std::int64_t kLook = 10'000'000;  // ns: hundreds may have come at once, and short-lived processes must be noticed meanwhile
  read_words();
  std::int64_t looked = monotonic_now();
  for (Reception::Guest& guest : reception_.receive()) {
    if (const std::int64_t now = monotonic_now(); now - looked > kLook) {
      processes_.listen();
      looked = now;
    }
    if (guest.outcome == Reception::Outcome::kArrived) {
      const bool open = state_ != RecordingState::kStopping || next_after(reason_) != Next::kShutDown;
      processes_.greet(std::move(guest.connection), guest.greeting, guest.answer, open ? Joining::kWelcome : Joining::kRefused);
    } else if (guest.outcome == Reception::Outcome::kOtherLayout) {
      processes_.note_unfollowed(guest.greeting.pid, other_layout_reason(guest.greeting));
    } else {
      processes_.note_unfollowed(guest.greeting.pid, kNoDescriptorForIt);
    }
  }
}

void Recording::Run::read_words() {
  for (const channel::Word& word : reception_.take_words())
    processes_.note_unfollowed("[" + std::to_string(word.process) + "] " + word.program, reason_of(word.problem));
}

GpuMetricsProcess::Samples Recording::Run::gpu_samples() const {
  if (state_ == RecordingState::kRecording) return GpuMetricsProcess::Samples::kKeep;
  const bool is_rest = state_ == RecordingState::kStopping && !has_ended_part_;
  return is_rest ? GpuMetricsProcess::Samples::kKeepRest : GpuMetricsProcess::Samples::kLeaveOut;
}

void Recording::Run::drain_gpu_metrics() {
  if (gpu_metrics_) gpu_metrics_->drain(*log_, gpu_samples(), [this](const std::string& sentence) { report(sentence); });
}

machine_metrics::Sampler::Take Recording::Run::take_machine_metrics() {
  const bool keeps = state_ == RecordingState::kRecording || (state_ == RecordingState::kStopping && !has_ended_part_);
  return [this, keeps](proto::FrameType type, const google::protobuf::MessageLite& message) {
    if (keeps || type != proto::FRAME_EVENTS) log_->write({type, 0, machine_metrics::kSource}, message);
  };
}

void Recording::Run::write_clocks() {
  last_clocks_ = monotonic_now();
  log_->write({proto::FRAME_CLOCK_SYNC}, read_clocks());
}

void Recording::Run::write_due() {
  const std::int64_t now = monotonic_now();
  if (log_->is_open() && now - last_clocks_ >= kClocks) write_clocks();
  if (std::chrono::nanoseconds(now - last_flush_) >= (log_->is_watched() ? kWatchedFlush : kUnwatchedFlush)) {
    last_flush_ = now;
    processes_.flush_chunks();
    output_.flush();
    if (log_->is_watched()) publish_open_ranges();
  }
  if (now - last_progress_ >= kProgress) {
    last_progress_ = now;
    processes_.write_progress();
    processes_.share_memory(free_memory());
  }
}

bool Recording::Run::targets_have_ended() {
  if (request_.wait_for == WaitFor::kPrimary) return processes_.launched_status().has_value();
  return processes_.is_empty() && !reception_.is_somebody_waiting() && !output_may_come_ && !processes_.has_survivors(reception_.address());
}

void Recording::Run::advance() {
  const std::int64_t now = monotonic_now();
  if (wish_.load() == Wish::kAtOnce) {
    end(state_ == RecordingState::kStopping ? reason_ : EndReason::kStopped);
  } else if (log_->is_open() && log_->failure() && origin_ == Origin::kAttached) {
    end(EndReason::kDiskFull);
  } else if (log_->is_open() && log_->failure()) {
    stop_recording(now);
    end_capture(EndReason::kDiskFull);
  } else if (state_ == RecordingState::kStopping) {
    advance_stopping(now);
  } else {
    follow_target();
    take_order();
    state_ == RecordingState::kRecording ? advance_recording(now) : advance_waiting(now);
  }
}

void Recording::Run::advance_waiting(std::int64_t now) {
  if (state_ == RecordingState::kDelayed && now - started_ >= request_.delay.count()) {
    recording_since_ = now;
    if (log_->is_open()) processes_.begin_recording();
    set_state(log_->is_open() ? RecordingState::kRecording : RecordingState::kWaiting);
  }
  if (wish_.load() != Wish::kNone) {
    begin_stopping(EndReason::kStopped);
  } else if ((on_target_exit_ == OnTargetExit::kStop || state_ == RecordingState::kWaiting) && targets_have_ended()) {
    end(EndReason::kTargetExited);
  }
}

void Recording::Run::advance_recording(std::int64_t now) {
  if (wish_.load() != Wish::kNone) {
    begin_stopping(EndReason::kStopped);
  } else if (duration_ && now - recording_since_ >= duration_->count()) {
    begin_stopping(EndReason::kDuration);
  } else if (range_is_over()) {
    begin_stopping(EndReason::kRangeEnd);
  } else if (log_->is_full()) {
    report(log_->path().string() + " has the size that it may have: what comes from now on is not recorded.");
    begin_stopping(EndReason::kFileSize);
  } else if (on_target_exit_ == OnTargetExit::kStop && (targets_have_ended() || rest_has_stalled(now))) {
    end(EndReason::kTargetExited);
  } else if (on_target_exit_ == OnTargetExit::kStop) {
    say_whom_it_waits_for(now);
  }
}

// A signal may end the program at once, and what its agent holds would be lost.
void Recording::Run::pass_on_due() {
  std::unique_lock lock(mutex_);
  if (signals_to_pass_on_.empty()) return;
  const auto [signal, receiver] = signals_to_pass_on_.front();
  lock.unlock();
  const std::int64_t now = monotonic_now();
  if (may_end(pid_, signal)) {
    if (handover_deadline_ == 0) {
      processes_.request_handover();
      handover_deadline_ = now + kHandoverPatience;
    }
    period_ = kShortestPeriod;
    if (!processes_.all_handed_over() && now < handover_deadline_ && wish_.load() != Wish::kAtOnce) return;
  }
  const bool leads_group = receiver == SignalReceiver::kGroup && getpgid(pid_) == pid_;
  if (!processes_.launched_status()) kill(leads_group ? -pid_ : pid_, signal);
  handover_deadline_ = 0;
  lock.lock();
  signals_to_pass_on_.pop_front();
  if (!signals_to_pass_on_.empty()) period_ = kShortestPeriod;
}

void Recording::Run::set_state(RecordingState state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

void Recording::Run::take_output() {
  const auto take = [this](OutputStream stream, std::span<const char> data) {
    if (!has_ended_part_) output_.take(stream, data);
  };
  output_may_come_ = relay_.drain(take, [this](const std::string& sentence, OutputRelay::Told what) {
    warn(sentence, proto::STATE_UNSPECIFIED, what == OutputRelay::Told::kLoss ? proto::DIAGNOSTIC_LOSS : proto::DIAGNOSTIC_OTHER);
  });
}

void Recording::Run::take_last_output() {
  const std::int64_t deadline = monotonic_now() + std::chrono::nanoseconds(kLastOutput).count();
  const bool wait_for_it = processes_.launched_status().has_value();
  while (output_may_come_) {
    take_output();
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
  for (const auto& process : processes_.live()) now.running.push_back(process->instance());
  now.elapsed = std::chrono::nanoseconds((stopped_ != 0 ? stopped_ : monotonic_now()) - started_);
  now.dropped = processes_.dropped();
  now.has_ceased = state_ == RecordingState::kWaiting && !outcome_.files.empty();
  const std::lock_guard lock(mutex_);
  statistics_ = now;
  exit_status_ = processes_.launched_status();
}

// Behind the frames of all that has ended.
void Recording::Run::publish_open_ranges() {
  OpenRanges open;
  if (log_->is_open() && stopped_ == 0)
    for (const auto& process : processes_.live()) process->tell_open(open);
  const std::lock_guard lock(mutex_);
  open_ranges_ = std::move(open);
}

void Recording::Run::report(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kMostSentences = 1000;
  if (reported_.size() > kMostSentences || !reported_.insert(sentence).second) return;
  messages_.push_back(reported_.size() > kMostSentences ? "There is more to say of this recording, which is left out." : sentence);
}

void Recording::Run::warn(const std::string& sentence, proto::ComponentState state, proto::DiagnosticKind kind) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_SESSION);
  diagnostic.set_state(state);
  diagnostic.set_text(sentence);
  diagnostic.set_kind(kind);
  log_->write({proto::FRAME_DIAGNOSTIC}, diagnostic);
  report(sentence);
}

}  // namespace lanescope::session
