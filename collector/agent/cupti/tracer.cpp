#include "agent/cupti/tracer.h"

#include <cstring>
#include <utility>

#include "agent/channel/capture.h"
#include "agent/channel/membership.h"
#include "agent/channel/places.h"
#include "agent/core/clock.h"
#include "agent/core/own_thread.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "agent/cupti/backtraces.h"
#include "agent/cupti/callbacks.h"
#include "agent/cupti/cuda_names.h"
#include "agent/cupti/library/guarded_call.h"
#include "agent/cupti/words.h"
#include "agent/kernel_counters/collection.h"
#include "agent/process/forks.h"
#include "collector/channel/agent_bell.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::int64_t kFinishLimit = 2 * kSecond;  // without any buffer being read
constexpr std::int64_t kLongestFinish = 30 * kSecond;
constexpr std::int64_t kCrashLimit = 500 * kMillisecond;
constexpr std::int64_t kFollowLimit = 2 * kSecond;  // for CUPTI to be on for another session
constexpr std::int64_t kAwaitSettings = 2 * kSecond;
constexpr std::size_t kStackBytes = 512u << 10;
constexpr std::uint32_t kAcceptsNoBuffer = 27;      // CUPTI of CUDA 12.9: the first version that accepts that it gets no buffer
constexpr std::uint32_t kOwnSubscribers = 130'200;  // from this version on, the second way to subscribe requires that all other calls use it, too

// Old CUPTI versions write here if all buffers are in use; nobody reads it.
alignas(4096) constinit std::uint8_t discard_buffer[64u << 10] = {};

// Waits until the word is at least `wanted`, at most `limit` ns. Returns true if it is.
bool await(std::atomic<std::uint32_t>& word, std::uint32_t wanted, std::int64_t limit) noexcept {
  const std::int64_t deadline = monotonic_now() + limit;
  for (std::uint32_t seen = word.load(std::memory_order_acquire); seen < wanted; seen = word.load(std::memory_order_acquire)) {
    const std::int64_t left = deadline - monotonic_now();
    if (left <= 0) return false;
    system::futex_wait(&word, seen, left);
  }
  return true;
}

constexpr const char* kBeginsLate = "GPU activity at the begin of a capture is missing: CUPTI took more than 2 s to begin.";
constexpr const char* kFaultedAtBegin = "GPU activity is not recorded: CUPTI faulted when it was asked to begin. The program runs on.";

// A client that subscribes in the old way has no name; CUPTI then returns a placeholder.
bool has_name(const char* subscriber) noexcept { return *subscriber != '\0' && std::strstr(subscriber, "<not provided>") == nullptr; }

}  // namespace

Tracer::Tracer(const Library& library, channel::SharedMemory memory, std::uint32_t process_instance) noexcept : library_(library), memory_(memory) {
  write_for(memory, process_instance);
}

void Tracer::write_for(channel::SharedMemory memory, std::uint32_t process_instance) noexcept {
  session_places.hold(&memory.header());
  session_places.release(&std::exchange(memory_, memory).header(), process_generation());
  bell_.store(&memory.header(), std::memory_order_release);
  publish_unread();
  frames_.emplace(memory, process_instance);
  events_.emplace(*frames_, memory_.header().settings.events_of_chunk);
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
      return tell(ComponentState::kNoPermission, Severity::kError, "GPU activity is not recorded: the driver does not let this user do that (%s).", name);
    default:
      return tell(ComponentState::kFailed, Severity::kError, "GPU activity is not recorded: %s answered %d (%s).", cupti, static_cast<int>(result), name);
  }
}

void Tracer::report_refused(const char* are, CUptiResult result) noexcept {
  const char* name = "unknown error";
  library_.functions.get_result_string(result, &name);
  tell(DiagnosticKind::kLoss, ComponentState::kRecording, Severity::kWarning, "%s not recorded: CUPTI answered %d (%s).", are, static_cast<int>(result), name);
}

// This must come first, and alone: if we touched anything before it succeeded, another client's records would be lost.
bool Tracer::subscribe() noexcept {
  const Functions& functions = library_.functions;
  char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
  CUptiResult result = CUPTI_SUCCESS;
  set_phase(channel::AgentPhase::kBeginning);
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
  set_phase(channel::AgentPhase::kConnected);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    owner[sizeof(owner) - 1] = '\0';
    tell(ComponentState::kOwnedByOther, Severity::kError,
         "GPU activity is not recorded: CUPTI is in use by %s; switch that off in the target and record again.", has_name(owner) ? owner : "another profiler");
    return false;
  }
  if (result != CUPTI_SUCCESS) report_failure(result);
  return result == CUPTI_SUCCESS;
}

bool Tracer::take_cupti(Arrival arrival) noexcept {
  const Functions& functions = library_.functions;
  if (!subscribe()) return false;
  set_current_tracer(this);
  CUptiResult refusal = enable_callbacks(functions, subscriber_);
  if (refusal == CUPTI_SUCCESS) refusal = functions.register_callbacks(on_request, on_complete);
  const bool records_activity = !kernel_counters::excludes_activity();
  if (refusal == CUPTI_SUCCESS && records_activity) refusal = arrival == Arrival::kLate ? enable_resources_late(functions) : enable_resources(functions);
  if (refusal != CUPTI_SUCCESS) {
    report_failure(refusal);
    give_cupti_back();
    return false;
  }
  kernels_.watch(functions, subscriber_, memory_.header().settings, arrival);
  if (!records_activity || functions.set_thread_id_type == nullptr) return true;
  const CUptiResult numbered = functions.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (numbered != CUPTI_SUCCESS) report_refused("The threads that made CUDA calls are", numbered);
  return true;
}

void Tracer::give_cupti_back() noexcept {
  const Functions& functions = library_.functions;
  kernels_.end();
  set_recording(Recorded::kNo);
  disable_resources(functions);
  if (buffers_.unread() != 0) functions.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (functions.unsubscribe != nullptr) functions.unsubscribe(subscriber_);
  subscriber_ = nullptr;
}

bool Tracer::start_recording(Arrival arrival) noexcept {
  if (!take_cupti(arrival)) return false;
  if (arrival == Arrival::kLate) driver_is_up_.store(true, std::memory_order_relaxed);
  on_capture_change([] {
    if (Tracer* current = current_tracer()) current->await_settings();
  });
  read_clock(monotonic_now());
  follow_settings();
  if (is_over_) return false;
  if (!start_thread()) {
    give_cupti_back();
    report(Component::kCupti, ComponentState::kFailed, Severity::kError, "GPU activity is not recorded: the target can't start another thread.");
    return false;
  }
  tell_cuda_names(library_.functions);
  return true;
}

bool Tracer::start(Arrival arrival) noexcept {
  if (!buffers_.prepare()) {
    report(Component::kCupti, ComponentState::kFailed, Severity::kError, "GPU activity is not recorded: the target has no memory left for buffers.");
    return false;
  }
  bool started = false;
  if (call_cupti([&] { started = start_recording(arrival); }) == Guarded::kFaulted) {
    has_faulted_.store(true, std::memory_order_release);
    is_over_ = true;
    set_phase(channel::AgentPhase::kConnected);  // it never begins
    set_current_tracer(this);
    report(Component::kCupti, ComponentState::kFailed, Severity::kError, kFaultedAtBegin);
    return false;
  }
  if (started) return true;
  set_current_tracer(nullptr);
  buffers_.release();
  return false;
}

bool Tracer::start_thread() noexcept {
  const auto body = [](void* self) -> void* {
    static_cast<Tracer*>(self)->run();
    return nullptr;
  };
  const bool started = start_own_thread(body, this, kStackBytes) == 0;
  has_thread_.store(started, std::memory_order_release);
  return started;
}

// ---- For CUPTI ---------------------------------------------------------------------------------------------------------------------

void Tracer::request_buffer(std::uint8_t** buffer, std::size_t* bytes) noexcept {
  *buffer = has_faulted_.load(std::memory_order_relaxed) ? nullptr : buffers_.request();
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
    // A lower bound: most records are shorter.
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
  if (!is_recording_.load(std::memory_order_acquire) || has_faulted_.load(std::memory_order_acquire)) return;
  const Quiet quiet;
  if (call_cupti([this] { library_.functions.flush_all(0); }) == Guarded::kFaulted) note_fault();
}

void Tracer::note_fault() noexcept {
  has_faulted_.store(true, std::memory_order_release);
  wake();
}

// ---- For our own thread ------------------------------------------------------------------------------------------------------------

void Tracer::wake() noexcept { channel::ring_agent(*bell_.load(std::memory_order_acquire)); }

void Tracer::follow(channel::SharedMemory memory, std::uint32_t process_instance) noexcept {
  if (!has_thread_.load(std::memory_order_acquire)) return report(Component::kCupti, ComponentState::kFailed, Severity::kError, kFaultedBefore);
  {
    const ScopedLock lock(next_lock_);
    session_places.hold(&memory.header());
    if (next_) session_places.release(&next_->memory.header(), process_generation());
    next_ = Session{memory, process_instance};
  }
  const channel::SharedHeader& header = memory.header();
  const auto is_followed = [&] {
    if (followed_.load(std::memory_order_acquire) != &header) return false;
    return is_over_ || is_recording_.load(std::memory_order_acquire) == (header.settings.recording.load(std::memory_order_acquire) != 0);
  };
  for (const std::int64_t give_up = monotonic_now() + kFollowLimit; !is_followed() && monotonic_now() < give_up;) {
    wake();
    system::sleep(kMillisecond / 10);
  }
}

void Tracer::publish_unread() noexcept {
  std::atomic<std::uint64_t>& published = bell_.load(std::memory_order_acquire)->status.unread_buffers;
  const std::uint64_t now = buffers_.unread_changes();
  std::uint64_t before = published.load(std::memory_order_relaxed);
  while (now > before && !published.compare_exchange_weak(before, now, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void Tracer::await_settings() noexcept {
  const channel::SharedMemory memory = join_recording();
  if (!memory) return;
  const bool wanted = memory.header().settings.recording.load(std::memory_order_acquire) != 0;
  const std::int64_t give_up = monotonic_now() + kAwaitSettings;
  while (is_recording_.load(std::memory_order_acquire) != wanted && !is_over_) {
    if (monotonic_now() >= give_up)
      return wanted ? report(Component::kCupti, ComponentState::kRecording, Severity::kWarning, kBeginsLate, DiagnosticKind::kLoss) : void();
    wake();
    system::sleep(kMillisecond / 10);
  }
}

void Tracer::finish() noexcept {
  if (!has_thread_.load(std::memory_order_acquire)) return;
  finish_wanted_.store(1, std::memory_order_release);
  wake();
  await_while_reading(finished_, 1);
}

void Tracer::hand_over() noexcept {
  if (const std::uint32_t wanted = want_handover()) await_while_reading(handovers_, wanted);
}

void Tracer::hand_over_at_crash() noexcept {
  if (system::thread_id() == own_thread_.load(std::memory_order_relaxed)) return;
  if (const std::uint32_t wanted = want_handover()) await(handovers_, wanted, kCrashLimit);
}

std::uint32_t Tracer::want_handover() noexcept {
  if (!has_thread_.load(std::memory_order_acquire) || finished_.load(std::memory_order_acquire) != 0) return 0;
  const std::uint32_t wanted = handovers_wanted_.fetch_add(1, std::memory_order_acq_rel) + 1;
  wake();
  return wanted;
}

void Tracer::await_while_reading(std::atomic<std::uint32_t>& word, std::uint32_t wanted) noexcept {
  const std::int64_t give_up = monotonic_now() + kLongestFinish;
  for (std::uint64_t read = buffers_.unread_changes(); !await(word, wanted, kFinishLimit) && monotonic_now() < give_up;) {
    const std::uint64_t now = buffers_.unread_changes();
    if (now == read) return;
    read = now;
  }
}

}  // namespace lanescope::agent::cupti
