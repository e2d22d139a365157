// The tracer's own thread: makes frames from completed buffers, as the host's settings say.
#include <algorithm>
#include <climits>
#include <csignal>

#include <sys/mman.h>

#include "agent/channel/membership.h"
#include "agent/channel/places.h"
#include "agent/core/clock.h"
#include "agent/core/faults/fault_guard.h"
#include "agent/core/own_thread.h"
#include "agent/core/system_calls.h"
#include "agent/cupti/backtraces.h"
#include "agent/cupti/cuda_names.h"
#include "agent/cupti/library/guarded_call.h"
#include "agent/cupti/tracer.h"
#include "agent/cupti/words.h"
#include "agent/kernel_counters/collection.h"
#include "agent/process/forks.h"
#include "collector/channel/agent_bell.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::int64_t kLongestSleep = 200 * kMillisecond;        // between looks if nobody rings
constexpr std::int64_t kWriteOutAnyway = 500 * kMillisecond;      // if CUPTI must not be asked for buffers
constexpr std::int64_t kWaitForRunningWork = 100 * kMillisecond;  // at the end, before work that still runs counts as unfinished

constexpr std::size_t kSignalStackBytes = 64u << 10;

constexpr const char* kFaultedInRun = "GPU activity is not recorded from here on: CUPTI faulted when it was asked for records. The program runs on.";
constexpr const char* kFaultedAtEnd =
    "GPU activity at the end of the program is missing: CUPTI faulted when it was asked for it. The program goes on to its end.";

// So that a fault can be reported if the thread's own stack has no room for that.
void use_own_signal_stack() noexcept {
  stack_t stack{};
  stack.ss_size = kSignalStackBytes;
  stack.ss_sp = system::map(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);
}

// Wakes threads that sleep on the word until it has this value.
void answer(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  word.store(value, std::memory_order_release);
  system::futex_wake(&word, INT_MAX);
}

}  // namespace

void Tracer::run() noexcept {
  const OwnThread own_thread;
  use_own_signal_stack();
  own_thread_.store(system::thread_id(), std::memory_order_relaxed);
  const auto look_on = [this] {
    while (!has_ended_ && (is_without_cupti_ || !has_faulted_.load(std::memory_order_acquire))) look();
  };
  while (!has_ended_) {
    const bool was_without_cupti = is_without_cupti_;
    static_cast<void>(call_cupti(look_on));
    if (has_ended_) return;
    if (was_without_cupti) return answer(finished_, 1);  // a fault in the remaining work: nobody must wait for this thread any more
    if (!is_without_cupti_) go_on_without_cupti(kFaultedInRun);
  }
}

// One round: does all pending work, then sleeps.
void Tracer::look() noexcept {
  channel::SharedHeader& header = memory_.header();
  const std::uint32_t seen = header.agent_bell.load(std::memory_order_acquire);
  if (begin_next_session()) return;
  follow_settings();
  drain();
  kernels_.collect(monotonic_now());
  publish_counts();
  kernel_counters::watch();
  const channel::Settings& settings = header.settings;
  has_ended_ = serve_end();
  if (has_ended_) return;
  const std::uint32_t handovers = settings.handover_requests.load(std::memory_order_acquire);
  if (handovers != answered_handovers_) {
    if (!is_over_ && !has_handed_over_) {
      take_finished_records();
      release_late_graph_work();
      write_events();
    }
    answered_handovers_ = handovers;
    header.status.handover_answers.store(handovers, std::memory_order_release);
  }
  const std::uint32_t stops = settings.stop_requests.load(std::memory_order_acquire);
  if (stops != answered_stops_) {
    hand_everything_over();
    answered_stops_ = stops;
    header.status.stop_answers.store(stops, std::memory_order_release);
  }
  const std::int64_t now = monotonic_now();
  if (now >= next_clock_ && !is_over_) {
    read_clock(now);
    if (session_state() == SessionState::kNone) {
      fall_silent_without_session();
      kernels_.end();
      set_recording(Recorded::kNo);
      is_over_ = true;
    }
  }
  if (now >= next_flush_ && !is_over_) {
    const std::int64_t interval = settings.flush_interval_ms.load(std::memory_order_relaxed) * kMillisecond;
    if (interval != 0 && is_recording_) library_.functions.flush_all(0);
    drain();
    write_out();
    next_flush_ = monotonic_now() + (interval != 0 ? interval : kWriteOutAnyway);
  }
  const std::int64_t left = is_over_ ? kLongestSleep : next_flush_ - monotonic_now();
  const std::int64_t longest = std::min(kLongestSleep, kernels_.until_due(monotonic_now(), kLongestSleep));
  if (left > 0 && longest > 0) channel::wait_for_agent_bell(header, seen, std::chrono::nanoseconds(std::min(left, longest)));
}

bool Tracer::serve_end() noexcept {
  const bool is_last = finish_wanted_.load(std::memory_order_acquire) != 0;
  const std::uint32_t wanted = handovers_wanted_.load(std::memory_order_acquire);
  if (!is_last && wanted == handovers_.load(std::memory_order_relaxed)) return false;
  const Guarded done = call_cupti([&] {
    if (is_last)
      hand_everything_over();
    else if (!is_over_ && !has_handed_over_)
      take_all_records();
  });
  if (done == Guarded::kFaulted) go_on_without_cupti(kFaultedAtEnd);
  answer(handovers_, wanted);
  if (is_last) answer(finished_, 1);
  return is_last;
}

bool Tracer::begin_next_session() noexcept {
  std::optional<Session> session;
  {
    const ScopedLock lock(next_lock_);
    session = next_;
    next_.reset();
  }
  if (!session) return false;
  if (!is_without_cupti_) {
    kernels_.end();
    set_recording(Recorded::kNo);
    library_.functions.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  for (Buffers::Completed last = buffers_.take_completed(); last.buffer != nullptr; last = buffers_.take_completed())
    buffers_.recycle(last.buffer);  // it belongs to nobody any more
  kernels_.begin_session();
  write_for(session->memory, session->process_instance);
  session_places.release(&session->memory.header(), process_generation());
  dropped_by_cupti_ = 0;
  discarded_records_.store(0, std::memory_order_relaxed);
  answered_stops_ = 0;
  answered_handovers_ = 0;
  has_told_ = false;
  has_handed_over_ = false;
  next_flush_ = 0;
  is_over_ = false;
  read_clock(monotonic_now());
  if (is_without_cupti_) report(Component::kCupti, ComponentState::kFailed, Severity::kError, kFaultedBefore);
  is_over_ = is_without_cupti_ || (subscriber_ == nullptr && !take_cupti(Arrival::kLate));
  if (!is_over_) enable_resources_late(library_.functions);
  if (!is_over_) kernels_.watch(library_.functions, subscriber_, memory_.header().settings, Arrival::kLate);
  follow_settings();
  followed_.store(&memory_.header(), std::memory_order_release);
  return true;
}

void Tracer::follow_settings() noexcept {
  if (is_over_) return;
  set_recording(memory_.header().settings.recording.load(std::memory_order_acquire) != 0 ? Recorded::kYes : Recorded::kNo);
  if (!is_recording_) kernels_.end();
  if (is_recording_ && !follows_unified_memory_) follow_unified_memory();
}

void Tracer::follow_unified_memory() noexcept {
  if (!driver_is_up_.load(std::memory_order_acquire)) return;  // CUPTI can't configure it earlier
  follows_unified_memory_ = true;
  const CUptiResult result = enable_unified_memory(library_.functions, choice_);
  if (result == CUPTI_SUCCESS) return;
  report_refused("Unified memory is", result);
}

void Tracer::check_event_records() noexcept {
  const bool wanted = (choice_.extras & channel::kCudaEvents) != 0;
  const bool available = library_.functions.enable_event_timestamps != nullptr;
  records_->set_event_records(wanted && available ? EventRecords::kPresent : EventRecords::kAbsent);
  if (wanted && available) watch_event_calls(library_.functions, subscriber_, EventNames::kFollowed);
  if (!wanted || available || has_told_) return;
  char cupti[48];
  describe_cupti(library_.version, cupti);
  tell(DiagnosticKind::kLoss, ComponentState::kRecording, Severity::kWarning, "CUDA events are not recorded: %s can't tell when streams come past them.",
       cupti);
}

void Tracer::set_recording(Recorded recorded) noexcept {
  const bool recording = recorded == Recorded::kYes;
  if (is_recording_ == recording) return;
  if (!recording) {
    if (finish_wanted_.load(std::memory_order_acquire) == 0) records_->begin_late_graph_work();  // a program that is ending launches nothing more
    disable_events(library_.functions, choice_);
    if ((choice_.extras & channel::kCudaEvents) != 0) watch_event_calls(library_.functions, subscriber_, EventNames::kIgnored);
    disable_backtraces(library_.functions, subscriber_, backtraces_);
    if (follows_unified_memory_) disable_unified_memory(library_.functions, choice_);
    follows_unified_memory_ = false;
    is_recording_ = false;
    return;
  }
  records_->end_late_graph_work();
  release_late_graph_work();
  const channel::Settings& settings = memory_.header().settings;
  choice_.preset = static_cast<Preset>(settings.preset.load(std::memory_order_relaxed));
  choice_.graphs = static_cast<GraphLevel>(settings.graph_level.load(std::memory_order_relaxed));
  choice_.calls = settings.trace_all_calls.load(std::memory_order_relaxed) != 0 ? Calls::kAll : Calls::kTelling;
  choice_.extras = settings.cuda_extras.load(std::memory_order_relaxed);
  check_event_records();
  backtraces_ = settings.backtrace_calls.load(std::memory_order_relaxed);
  enable_backtraces(library_.functions, subscriber_, backtraces_);
  const EnabledEvents enabled = kernel_counters::excludes_activity() ? EnabledEvents() : enable_events(library_.functions, choice_);
  is_recording_ = true;
  has_handed_over_ = false;
  if (enabled.failure != CUPTI_SUCCESS) {
    report_failure(enabled.failure);
    give_cupti_back();
    is_over_ = true;
    return;
  }
  for (const EnabledEvents::Extra& extra : enabled.extras())
    if (extra.result != CUPTI_SUCCESS && !has_told_) report_refused(extra.are, extra.result);
  set_phase(channel::AgentPhase::kTracing);  // from here on the host may ask for data
  kernels_.begin(settings, *frames_);
  if (has_told_) return;
  has_told_ = true;
  char cupti[48];
  describe_cupti(library_.version, cupti);
  tell(ComponentState::kRecording, Severity::kInformation, "GPU activity is recorded with %s.", cupti);
}

// ---- Records -----------------------------------------------------------------------------------------------------------------------

void Tracer::drain() noexcept {
  while (!is_over_) {
    const Buffers::Completed completed = buffers_.take_completed();
    if (completed.buffer == nullptr) return;
    const auto read = [&] { records_->read(completed.buffer, completed.valid_bytes); };
    if (completed.valid_bytes != 0 && call_cupti(read) == Guarded::kFaulted) return end_reading();
    publish_counts();  // before the buffer stops being unread, so that what a killed process loses is at each moment in one of the two numbers
    buffers_.recycle(completed.buffer);
    publish_unread();
  }
}

// Events that were read and not written yet are counted as lost by the host; later buffers stay unread.
void Tracer::end_reading() noexcept {
  publish_counts();
  set_recording(Recorded::kNo);
  is_over_ = true;
  tell(ComponentState::kFailed, Severity::kError,
       "GPU activity is not recorded from here on: what CUPTI delivered led the agent to memory that can't be used. The program runs on.");
}

// CUPTI must not be asked for anything more: only the buffers that it has returned so far remain.
void Tracer::go_on_without_cupti(const char* told) noexcept {
  is_without_cupti_ = true;
  has_faulted_.store(true, std::memory_order_release);
  is_recording_ = false;
  drain();
  release_late_graph_work();
  write_events();
  if (buffers_.unread() == 0) buffers_.request();  // nobody knows what it kept: the recording must not count as whole
  publish_unread();
  publish_counts();
  if (is_over_.exchange(true)) return;
  report(Component::kCupti, ComponentState::kFailed, Severity::kError, told);
}

void Tracer::write_events() noexcept {
  if (is_over_) return;
  const auto write = [this] {
    records_->flush_resources();
    events_->flush();
  };
  if (run_guarded(write) == Guarded::kFaulted) end_reading();
}

void Tracer::write_out() noexcept {
  write_events();
  if (is_over_) return;
  std::size_t dropped = 0;  // since the last call
  if (library_.functions.get_dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) dropped_by_cupti_ += dropped;
  publish_counts();
}

void Tracer::read_clock(std::int64_t now) noexcept {
  encode::ClockReading reading = encode::read_clocks();
  reading.monotonic = channel::event_time(memory_.header().clock, reading.monotonic);
  clocks_.add(reading);
  next_clock_ = now + kSecond;
  PageBuffer message;
  encode::ProtoWriter out(message);
  out.signed_field(1, reading.monotonic);
  out.signed_field(2, reading.realtime);
  out.unsigned_field(3, reading.uncertainty);
  frames_->write(encode::FrameType::kClockSync, message.bytes(), 0);
}

void Tracer::hand_everything_over() noexcept {
  if (is_over_ || has_handed_over_) return;
  set_phase(channel::AgentPhase::kDraining);
  set_recording(Recorded::kNo);
  take_all_records();
  kernels_.end();  // after the records, because it may take longer than the process waits
  has_handed_over_ = true;
  if (!is_over_) set_phase(channel::AgentPhase::kDone);
}

void Tracer::take_finished_records() noexcept {
  const std::int64_t give_up = monotonic_now() + kWaitForRunningWork;
  for (;;) {
    library_.functions.flush_all(0);
    drain();
    if (buffers_.unread() == 0 || monotonic_now() >= give_up) break;
    system::sleep(5 * kMillisecond);
  }
  write_out();
}

void Tracer::take_all_records() noexcept {
  take_finished_records();
  library_.functions.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::uint64_t unfinished = records_->counts().unfinished;
  records_->set_reading(Reading::kLast);
  drain();
  if (is_over_) return;
  records_->set_reading(Reading::kOngoing);
  tell_unfinished(records_->counts().unfinished - unfinished);
  tell_missing_faults();
  release_late_graph_work();
  read_clock(monotonic_now());
  write_out();
}

void Tracer::tell_unfinished(std::uint64_t count) noexcept {
  if (count == 0) return;
  constexpr int kLongestName = 200;
  const std::string_view name = records_->first_unfinished().substr(0, kLongestName);
  const auto number = static_cast<unsigned long long>(count);
  if (name.empty())
    tell(ComponentState::kRecording, Severity::kInformation,
         "Kernels and copies that had not ended when the recording did: %llu. They are not shown, for CUPTI has no times of them; their "
         "calls are.",
         number);
  else
    tell(ComponentState::kRecording, Severity::kInformation,
         "Kernels and copies that had not ended when the recording did: %llu. They are not shown, for CUPTI has no times of them; their "
         "calls are. The first kernel: %.*s.",
         number, static_cast<int>(name.size()), name.data());
}

void Tracer::tell_missing_faults() noexcept {
  const UnifiedMemoryCounts counts = records_->take_unified_memory_counts();
  const auto without_faults = [&](const PageMoves& moves, std::uint64_t extra) {
    return (choice_.extras & extra) != 0 && moves.faults == 0 ? moves.migrations : 0;
  };
  const std::uint64_t migrations = without_faults(counts.cpu, channel::kCpuPageFaults) + without_faults(counts.gpu, channel::kGpuPageFaults);
  if (migrations == 0) return;
  tell(DiagnosticKind::kLoss, ComponentState::kRecording, Severity::kWarning,
       "Records of unified memory are missing: CUPTI told of %llu migrations that followed page faults, and of none of these faults. The driver drops records "
       "of both while all processors are busy.",
       static_cast<unsigned long long>(migrations));
}

void Tracer::release_late_graph_work() noexcept {
  const std::uint64_t left_out = records_->release_late_graph_work();
  if (left_out == 0) return;
  tell(ComponentState::kRecording, Severity::kInformation,
       "Kernels and copies of the CUDA graphs that were launched last before recording stopped: %llu. They are not shown, for CUPTI's ends of them "
       "are those of later launches; their calls are.",
       static_cast<unsigned long long>(left_out));
}

void Tracer::publish_counts() noexcept {
  channel::AgentStatus& status = memory_.header().status;
  const RecordCounts& counts = records_->counts();
  status.cupti_produced.store(counts.produced, std::memory_order_relaxed);
  status.cupti_invalid.store(counts.invalid, std::memory_order_relaxed);
  status.cupti_unfinished.store(counts.unfinished, std::memory_order_relaxed);
  status.cupti_dropped.store(dropped_by_cupti_ + discarded_records_.load(std::memory_order_relaxed) + events_->dropped(), std::memory_order_relaxed);
  status.frameless_dropped.store(events_->dropped(), std::memory_order_relaxed);
}

void Tracer::set_phase(channel::AgentPhase phase) noexcept {
  memory_.header().status.phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
}

}  // namespace lanescope::agent::cupti
