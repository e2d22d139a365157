#include "agent/cupti/tracer.h"

#include <climits>
#include <csignal>
#include <cstring>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/channel/capture.h"
#include "agent/channel/membership.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/cupti/backtraces.h"
#include "agent/cupti/callbacks.h"
#include "agent/cupti/cuda_names.h"
#include "agent/cupti/words.h"
#include "collector/channel/doorbell.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;
constexpr std::int64_t kLongestSleep = 200 * kMillisecond;        // between looks when nobody rings
constexpr std::int64_t kWriteOutAnyway = 500 * kMillisecond;      // where CUPTI is not to be asked for buffers
constexpr std::int64_t kWaitForRunningWork = 100 * kMillisecond;  // at the end, before what still runs is taken as unfinished
constexpr std::int64_t kFinishLimit = 2 * kSecond;
constexpr std::int64_t kAwaitSettings = 200 * kMillisecond;
constexpr std::size_t kStackBytes = 512u << 10;
constexpr std::uint32_t kAcceptsNoBuffer = 27;      // CUPTI of CUDA 12.9: the first that may be given none
constexpr std::uint32_t kOwnSubscribers = 130'200;  // from here on, the second way to subscribe wants all other calls of its kind, too

// What old CUPTIs write into when all buffers are in use; nobody reads it.
alignas(4096) constinit std::uint8_t discard_buffer[64u << 10] = {};

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t nanoseconds) noexcept {
  const timespec limit{.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}
// Until the word is `wanted` or more, kFinishLimit at most.
void await(std::atomic<std::uint32_t>& word, std::uint32_t wanted) noexcept {
  const std::int64_t deadline = monotonic_now() + kFinishLimit;
  for (std::uint32_t seen = word.load(std::memory_order_acquire); seen < wanted; seen = word.load(std::memory_order_acquire)) {
    const std::int64_t left = deadline - monotonic_now();
    if (left <= 0) return;
    futex_wait(word, seen, left);
  }
}
void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// Who subscribes in the old way gives no name, which CUPTI puts in words of its own.
bool has_name(const char* subscriber) noexcept { return *subscriber != '\0' && std::strstr(subscriber, "<not provided>") == nullptr; }

}  // namespace

Tracer::Tracer(const Library& library, channel::SharedMemory memory, std::uint32_t process_instance) noexcept
    : library_(library), memory_(memory) {
  write_for(memory, process_instance);
}

void Tracer::write_for(channel::SharedMemory memory, std::uint32_t process_instance) noexcept {
  memory_ = memory;
  bell_.store(&memory.header(), std::memory_order_release);
  publish_unread();
  frames_.emplace(memory, process_instance);
  events_.emplace(*frames_);
  records_.emplace(library_.functions, *events_, *frames_, clocks_);
}

// ---- Starting ----------------------------------------------------------------------------------------------------------------------

void Tracer::report_failure(CUptiResult result) noexcept {
  const char* name = "unknown error";
  library_.functions.get_result_string(result, &name);
  char cupti[48];
  describe_cupti(library_.version, cupti);
  switch (result) {
    case CUPTI_ERROR_UNKNOWN:
      return tell(ComponentState::kNoDriver, Severity::kError, "GPU activity is not recorded: no NVIDIA driver answers (%s).", name);
    case CUPTI_ERROR_NOT_INITIALIZED:
      return tell(ComponentState::kVersionMismatch, Severity::kError,
                  "GPU activity is not recorded: %s does not fit the driver (CUDA %u.%u); update the driver, or name another libcupti in "
                  "LANESCOPE_CUPTI_LIBRARY.",
                  cupti, library_.driver_version / 1000, library_.driver_version % 1000 / 10);
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return tell(ComponentState::kNoPermission, Severity::kError,
                  "GPU activity is not recorded: the driver does not let this user do that (%s).", name);
    default:
      return tell(ComponentState::kFailed, Severity::kError, "GPU activity is not recorded: %s answered %d (%s).", cupti,
                  static_cast<int>(result), name);
  }
}

// First of all, and alone: another client's records would go astray if we touched anything before this succeeded.
bool Tracer::subscribe() noexcept {
  const Functions& functions = library_.functions;
  char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
  CUptiResult result = CUPTI_SUCCESS;
  if (functions.subscribe_v2 != nullptr && library_.version < kOwnSubscribers) {
    CUpti_SubscriberParams parameters{};
    parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    parameters.subscriberName = "Lanescope";
    parameters.oldSubscriberName = owner;
    parameters.oldSubscriberSize = sizeof(owner);
    result = functions.subscribe_v2(&subscriber_, on_callback, nullptr, &parameters);
  } else {
    result = functions.subscribe(&subscriber_, on_callback, nullptr);
  }
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    owner[sizeof(owner) - 1] = '\0';
    tell(ComponentState::kOwnedByOther, Severity::kError,
         "GPU activity is not recorded: CUPTI is in use by %s; switch that off in the target and record again.",
         has_name(owner) ? owner : "another profiler");
    return false;
  }
  if (result != CUPTI_SUCCESS) report_failure(result);
  return result == CUPTI_SUCCESS;
}

bool Tracer::start(Arrival arrival) noexcept {
  const Functions& functions = library_.functions;
  if (!buffers_.prepare()) {
    report(Component::kCupti, ComponentState::kFailed, Severity::kError,
           "GPU activity is not recorded: the target has no memory left for buffers.");
    return false;
  }
  if (!subscribe()) return false;
  set_current_tracer(this);
  enable_callbacks(functions, subscriber_);
  if (arrival == Arrival::kLate) driver_is_up_.store(true, std::memory_order_relaxed);
  on_capture_change([] {
    if (Tracer* current = current_tracer()) current->await_settings();
  });
  if (functions.set_thread_id_type != nullptr) functions.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  const CUptiResult result = functions.register_callbacks(on_request, on_complete);
  if (result != CUPTI_SUCCESS) {
    report_failure(result);
    return false;
  }
  tell_cuda_names(library_.functions);
  read_clock(monotonic_now());
  arrival == Arrival::kLate ? enable_resources_late(functions) : enable_resources(functions);
  follow_settings();
  if (!start_thread()) {
    set_recording(false);
    report(Component::kCupti, ComponentState::kFailed, Severity::kError,
           "GPU activity is not recorded: the target can't start another thread.");
    return false;
  }
  return true;
}

bool Tracer::start_thread() noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const auto body = [](void* self) -> void* {
    static_cast<Tracer*>(self)->run();
    return nullptr;
  };
  const bool started = pthread_create(&thread, &attributes, body, this) == 0;
  has_thread_.store(started, std::memory_order_release);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

// ---- For CUPTI ---------------------------------------------------------------------------------------------------------------------

void Tracer::request_buffer(std::uint8_t** buffer, std::size_t* bytes) noexcept {
  *buffer = buffers_.request();
  publish_unread();
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  if (*buffer == nullptr && library_.version < kAcceptsNoBuffer) {
    *buffer = discard_buffer;
    *bytes = sizeof(discard_buffer);
  }
}

void Tracer::complete_buffer(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  if (buffer == nullptr) return;
  if (buffer == discard_buffer) {
    // At least so many: most records are shorter.
    discarded_records_.fetch_add(valid_bytes / sizeof(CUpti_ActivityKernel10), std::memory_order_relaxed);
    return;
  }
  buffers_.complete(buffer, valid_bytes);
  wake();
}

void Tracer::note_driver() noexcept {
  driver_is_up_.store(true, std::memory_order_release);
  wake();
}

void Tracer::save_records() noexcept {
  if (!is_recording_.load(std::memory_order_acquire)) return;
  const Quiet quiet;
  library_.functions.flush_all(0);
}

// ---- Our own thread ----------------------------------------------------------------------------------------------------------------

void Tracer::wake() noexcept { channel::ring_agent(*bell_.load(std::memory_order_acquire)); }

void Tracer::run() noexcept {
  pthread_setname_np(pthread_self(), "lanescope");
  Quiet::this_thread();
  for (;;) {
    channel::SharedHeader& header = memory_.header();
    const std::uint32_t seen = header.agent_bell.load(std::memory_order_acquire);
    if (begin_next_session()) continue;
    follow_settings();
    drain();
    publish_counts();
    const channel::Settings& settings = header.settings;
    if (finish_wanted_.load(std::memory_order_acquire) != 0) {
      hand_everything_over();
      finished_.store(1, std::memory_order_release);
      futex_wake(finished_);
      return;
    }
    if (const std::uint32_t wanted = handovers_wanted_.load(std::memory_order_acquire);
        wanted != handovers_.load(std::memory_order_relaxed)) {
      if (!is_over_ && !has_handed_over_) take_all_records();
      handovers_.store(wanted, std::memory_order_release);
      futex_wake(handovers_);
    }
    const std::uint32_t stops = settings.stop_requests.load(std::memory_order_acquire);
    if (stops != answered_stops_) {
      hand_everything_over();
      answered_stops_ = stops;
      header.status.stop_answers.store(stops, std::memory_order_release);
      channel::ring_doorbell(header);
    }
    const std::int64_t now = monotonic_now();
    if (now >= next_clock_ && !is_over_) {
      read_clock(now);
      if (!session_is_alive()) {
        set_recording(false);
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
    if (left > 0) channel::wait_for_agent_bell(header, seen, std::chrono::nanoseconds(left < kLongestSleep ? left : kLongestSleep));
  }
}

void Tracer::follow(channel::SharedMemory memory, std::uint32_t process_instance) noexcept {
  {
    const ScopedLock lock(next_lock_);
    next_ = Session{memory, process_instance};
  }
  wake();
}

bool Tracer::begin_next_session() noexcept {
  std::optional<Session> session;
  {
    const ScopedLock lock(next_lock_);
    session = next_;
    next_.reset();
  }
  if (!session) return false;
  set_recording(false);
  library_.functions.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  drain();  // belongs to nobody any more
  write_out();
  write_for(session->memory, session->process_instance);
  dropped_by_cupti_ = 0;
  discarded_records_.store(0, std::memory_order_relaxed);
  answered_stops_ = 0;
  has_told_ = false;
  has_handed_over_ = false;
  next_flush_ = 0;
  is_over_ = false;
  read_clock(monotonic_now());
  enable_resources_late(library_.functions);
  return true;
}

void Tracer::follow_settings() noexcept {
  if (is_over_) return;
  set_recording(memory_.header().settings.recording.load(std::memory_order_acquire) != 0);
  if (is_recording_ && !follows_unified_memory_) follow_unified_memory();
}

void Tracer::follow_unified_memory() noexcept {
  if (!driver_is_up_.load(std::memory_order_acquire)) return;  // CUPTI can't configure it before
  follows_unified_memory_ = true;
  const CUptiResult result = enable_unified_memory(library_.functions, choice_);
  if (result == CUPTI_SUCCESS) return;
  const char* name = "unknown error";
  library_.functions.get_result_string(result, &name);
  tell(ComponentState::kRecording, Severity::kWarning, "Unified memory is not recorded: CUPTI answered %d (%s).", static_cast<int>(result),
       name);
}

void Tracer::check_event_records() noexcept {
  const bool wanted = (choice_.extras & channel::kCudaEvents) != 0;
  const bool available = library_.functions.enable_event_timestamps != nullptr;
  records_->set_event_records(wanted && available ? EventRecords::kPresent : EventRecords::kAbsent);
  if (wanted && available) watch_event_calls(library_.functions, subscriber_, EventNames::kFollowed);
  if (!wanted || available || has_told_) return;
  char cupti[48];
  describe_cupti(library_.version, cupti);
  tell(ComponentState::kRecording, Severity::kWarning, "CUDA events are not recorded: %s can't tell when streams come past them.", cupti);
}

void Tracer::set_recording(bool recording) noexcept {
  if (is_recording_ == recording) return;
  if (!recording) {
    disable_events(library_.functions, choice_);
    if ((choice_.extras & channel::kCudaEvents) != 0) watch_event_calls(library_.functions, subscriber_, EventNames::kIgnored);
    disable_backtraces(library_.functions, subscriber_, backtraces_);
    if (follows_unified_memory_) disable_unified_memory(library_.functions, choice_);
    follows_unified_memory_ = false;
    is_recording_ = false;
    return;
  }
  const channel::Settings& settings = memory_.header().settings;
  choice_.preset = static_cast<Preset>(settings.preset.load(std::memory_order_relaxed));
  choice_.graphs = static_cast<GraphLevel>(settings.graph_level.load(std::memory_order_relaxed));
  choice_.calls = settings.trace_all_calls.load(std::memory_order_relaxed) != 0 ? Calls::kAll : Calls::kTelling;
  choice_.extras = settings.cuda_extras.load(std::memory_order_relaxed);
  check_event_records();
  backtraces_ = settings.backtrace_calls.load(std::memory_order_relaxed);
  enable_backtraces(library_.functions, subscriber_, backtraces_);
  const CUptiResult result = enable_events(library_.functions, choice_);
  is_recording_ = true;
  has_handed_over_ = false;
  if (result != CUPTI_SUCCESS) return report_failure(result);
  set_phase(channel::AgentPhase::kTracing);
  if (has_told_) return;
  has_told_ = true;
  char cupti[48];
  describe_cupti(library_.version, cupti);
  tell(ComponentState::kRecording, Severity::kInformation, "GPU activity is recorded with %s.", cupti);
}

void Tracer::drain() noexcept {
  for (Buffers::Completed completed = buffers_.take_completed(); completed.buffer != nullptr; completed = buffers_.take_completed()) {
    if (completed.valid_bytes != 0) records_->read(completed.buffer, completed.valid_bytes);
    publish_counts();  // before it is no unread buffer any more: at no moment a killed process loses what is in neither number
    buffers_.recycle(completed.buffer);
    publish_unread();
  }
}

void Tracer::write_out() noexcept {
  records_->flush_resources();
  events_->flush();
  std::size_t dropped = 0;  // since the last call
  if (library_.functions.get_dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) dropped_by_cupti_ += dropped;
  publish_counts();
}

void Tracer::read_clock(std::int64_t now) noexcept {
  const encode::ClockReading reading = encode::read_clocks();
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
  set_recording(false);
  take_all_records();
  has_handed_over_ = true;
  set_phase(channel::AgentPhase::kDone);
}

void Tracer::take_all_records() noexcept {
  const std::int64_t give_up = monotonic_now() + kWaitForRunningWork;
  for (;;) {
    library_.functions.flush_all(0);
    drain();
    if (buffers_.unread() == 0 || monotonic_now() >= give_up) break;
    const timespec pause{.tv_sec = 0, .tv_nsec = 5 * kMillisecond};
    nanosleep(&pause, nullptr);
  }
  library_.functions.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::uint64_t unfinished = records_->counts().unfinished;
  records_->set_reading(Reading::kLast);
  drain();
  records_->set_reading(Reading::kOngoing);
  tell_unfinished(records_->counts().unfinished - unfinished);
  read_clock(monotonic_now());
  write_out();
}

void Tracer::tell_unfinished(std::uint64_t count) noexcept {
  if (count == 0) return;
  constexpr int kLongestName = 200;
  const std::string_view name = records_->first_unfinished().substr(0, kLongestName);
  tell(ComponentState::kRecording, Severity::kInformation,
       "Kernels and copies that had not ended when the recording did: %llu. They are not shown, for CUPTI has no times of them; their "
       "calls are%s%.*s.",
       static_cast<unsigned long long>(count), name.empty() ? "" : ". The first kernel: ", static_cast<int>(name.size()), name.data());
}

void Tracer::publish_counts() noexcept {
  channel::AgentStatus& status = memory_.header().status;
  const RecordCounts& counts = records_->counts();
  status.cupti_produced.store(counts.produced, std::memory_order_relaxed);
  status.cupti_invalid.store(counts.invalid, std::memory_order_relaxed);
  status.cupti_unfinished.store(counts.unfinished, std::memory_order_relaxed);
  status.cupti_dropped.store(dropped_by_cupti_ + discarded_records_.load(std::memory_order_relaxed) + events_->dropped(),
                             std::memory_order_relaxed);
  status.frameless_dropped.store(events_->dropped(), std::memory_order_relaxed);
}

void Tracer::publish_unread() noexcept {
  std::atomic<std::uint64_t>& published = bell_.load(std::memory_order_acquire)->status.unread_buffers;
  const std::uint64_t now = buffers_.unread_changes();
  std::uint64_t before = published.load(std::memory_order_relaxed);
  while (now > before && !published.compare_exchange_weak(before, now, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void Tracer::set_phase(channel::AgentPhase phase) noexcept {
  memory_.header().status.phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
}

void Tracer::await_settings() noexcept {
  const channel::SharedMemory memory = join_recording();
  if (!memory) return;
  const bool wanted = memory.header().settings.recording.load(std::memory_order_acquire) != 0;
  const std::int64_t give_up = monotonic_now() + kAwaitSettings;
  while (is_recording_.load(std::memory_order_acquire) != wanted && monotonic_now() < give_up) {
    wake();
    const timespec pause{.tv_sec = 0, .tv_nsec = kMillisecond / 10};
    nanosleep(&pause, nullptr);
  }
}

void Tracer::finish() noexcept {
  if (!has_thread_.load(std::memory_order_acquire)) return;
  finish_wanted_.store(1, std::memory_order_release);
  wake();
  await(finished_, 1);
}

void Tracer::hand_over() noexcept {
  if (!has_thread_.load(std::memory_order_acquire) || finished_.load(std::memory_order_acquire) != 0) return;
  const std::uint32_t wanted = handovers_wanted_.fetch_add(1, std::memory_order_acq_rel) + 1;
  wake();
  await(handovers_, wanted);
}

}  // namespace lanescope::agent::cupti
