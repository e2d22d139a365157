#include "agent/cupti/launch_hold.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <iterator>
#include <string_view>
#include <utility>

#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::int64_t kLongestWait = 5 * kSecond;  // of a held launch
// After a failure nothing is held again for this many times the patience: first kLeastCalm, then twice as many after each consecutive failure.
constexpr std::int64_t kLeastCalm = 2, kMostCalm = 20;
constexpr std::int64_t kLongestCalm = 2 * kSecond;
constexpr std::int64_t kUnfollowed =
    50 * kMillisecond;  // for launches that began before they were followed; a launch waits for a kernel to end if the queue is full

constinit std::atomic<std::uint32_t> followed{0};  // how many times following has begun; 0: launches are not followed
constinit std::uint32_t times_followed = 0;
constinit std::int64_t followed_since = 0;
constinit std::int64_t calm = kLeastCalm;  // multiple of the patience after the next failure
constinit std::int64_t calm_until = 0;
constinit std::atomic<bool> has_stalled{false};  // a launch was held for too long

// The state of the gate for launches. A thread that wants to hold launches waits until none of them waits for the GPU; the last one that returns closes the
// gate.
enum Gate : std::uint32_t { kOpen, kWanted, kHeld };
constinit std::atomic<std::uint32_t> gate{kOpen};  // futex

// Launches in progress: the value of `followed` that they belong to, how many of them wait for the GPU, and their number.
enum class Kind : std::uint8_t { kUncounted, kLaunch, kWaitsForGpu };
std::uint64_t share_of(Kind kind) noexcept { return kind == Kind::kWaitsForGpu ? 1 << 16 | 1 : kind == Kind::kLaunch ? 1 : 0; }
constinit std::atomic<std::uint64_t> under_way{0};
std::uint64_t all_of(std::uint64_t counts) noexcept { return counts & 0xffff; }
std::uint64_t waiting_of(std::uint64_t counts) noexcept { return counts >> 16 & 0xffff; }

constinit std::atomic<bool> is_followed[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
constinit std::atomic<bool> waits_for_gpu[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
constinit std::atomic<bool> is_ours[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};  // callbacks that were enabled for this
// For this thread: the value of `followed`, the nesting depth of its launches, and the kind as which the outermost counts.
constinit thread_local std::uint32_t depth_of = 0;
constinit thread_local std::uint16_t depth = 0;
constinit thread_local Kind counted_as = Kind::kUncounted;

// All calls of the driver except those that certainly neither load code, nor enqueue, nor wait: questions (cuKernelGetFunction, cuOccupancy...) load code, too.
bool is_launch(std::string_view name) noexcept {
  constexpr std::string_view kOthers[] = {"cuCtxGetCurrent", "cuCtxSetCurrent",    "cuCtxPushCurrent",    "cuCtxPopCurrent",
                                          "cuDeviceGet",     "cuDriverGetVersion", "cuGetError",          "cuGetProcAddress",
                                          "cuPointerGet",    "cuStreamQuery",      "cuStreamIsCapturing", "cuStreamGetCaptureInfo",
                                          "cuEventQuery",    "cuEventElapsedTime", "cuProfiler"};
  return name.starts_with("cu") && std::none_of(std::begin(kOthers), std::end(kOthers), [name](std::string_view other) { return name.starts_with(other); });
}

// Whether launches are still followed for the `now`-th time; if so, the counts of that.
struct Counted {
  bool is_counted = false;
  std::uint64_t counts = 0;
};
Counted count(std::uint32_t now, std::uint64_t change) noexcept {
  std::uint64_t before = under_way.load();
  do {
    if (before >> 32 != now) return {};
  } while (!under_way.compare_exchange_weak(before, before + change));
  return {true, before + change};
}

bool change_gate(std::uint32_t from, std::uint32_t to) noexcept {
  if (!gate.compare_exchange_strong(from, to)) return false;
  system::futex_wake(&gate, INT_MAX);
  return true;
}

void wait() noexcept {
  const std::int64_t give_up = monotonic_now() + kLongestWait;
  while (gate.load() == kHeld) {
    const std::int64_t left = give_up - monotonic_now();
    if (left <= 0) {
      has_stalled.store(true);
      change_gate(kHeld, kOpen);
      return;
    }
    system::futex_wait(&gate, kHeld, left);
  }
}

std::uint64_t own_share() noexcept { return depth != 0 && depth_of == followed.load() ? share_of(counted_as) : 0; }

// Returns true if the gate is closed: no launch except this thread's waits for the GPU.
bool close_gate(std::int64_t give_up) noexcept {
  gate.store(kWanted);
  if (waiting_of(under_way.load() - own_share()) == 0) change_gate(kWanted, kHeld);
  while (gate.load() == kWanted) {
    const std::int64_t left = give_up - monotonic_now();
    if (left <= 0) return !change_gate(kWanted, kOpen);
    system::futex_wait(&gate, kWanted, left);
  }
  return true;
}

bool are_all_back(std::int64_t give_up) noexcept {
  while (all_of(under_way.load() - own_share()) != 0) {
    if (monotonic_now() >= give_up) return false;
    system::sleep(kMillisecond / 20);
  }
  return true;
}

}  // namespace

void follow_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept {
  if (followed.load() != 0) return;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* name = nullptr;
    if (functions.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr || !is_launch(name)) continue;
    is_followed[id].store(true);
    waits_for_gpu[id].store(std::string_view(name).find("Synchronize") != std::string_view::npos);
    std::uint32_t was_enabled = 0;
    if (functions.get_callback_state != nullptr) functions.get_callback_state(&was_enabled, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    is_ours[id] = was_enabled == 0 && functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id) == CUPTI_SUCCESS;
  }
  under_way.store(std::uint64_t{++times_followed} << 32);
  followed.store(times_followed);
  followed_since = monotonic_now();
}

void leave_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept {
  if (followed.exchange(0) == 0) return;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id)
    if (is_ours[id].exchange(false)) functions.enable_callback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

bool is_for_holding_alone(CUpti_CallbackId id) noexcept { return id < CUPTI_DRIVER_TRACE_CBID_SIZE && is_ours[id].load(std::memory_order_relaxed); }

bool hold_launches(std::int64_t patience) noexcept {
  if (const std::int64_t left = followed_since + kUnfollowed - monotonic_now(); left > 0) system::sleep(left);
  const std::int64_t give_up = monotonic_now() + patience;
  if (has_stalled.load() || calm_until > give_up) return false;
  if (const std::int64_t left = calm_until - monotonic_now(); left > 0) system::sleep(left);
  if (!close_gate(give_up)) return false;
  if (are_all_back(std::max(give_up, monotonic_now() + patience / 2))) {
    calm = kLeastCalm;
    return true;
  }
  let_launches_go();
  calm_until = monotonic_now() + std::min(calm * patience, kLongestCalm);
  calm = std::min(2 * calm, kMostCalm);
  return false;
}

void let_launches_go() noexcept {
  gate.store(kOpen);
  system::futex_wake(&gate, INT_MAX);
}

void forget_launches() noexcept {
  followed.store(0);
  gate.store(kOpen);
  calm = kLeastCalm;
  calm_until = 0;
}

void wait_while_held(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  const std::uint32_t now = followed.load(std::memory_order_acquire);
  if (now == 0 || id >= CUPTI_DRIVER_TRACE_CBID_SIZE || !is_followed[id].load(std::memory_order_relaxed) || Quiet::is_on()) return;
  // The end of an earlier launch may have been missed.
  if (depth_of != now) depth = 0;
  depth_of = now;
  if (call.callbackSite != CUPTI_API_ENTER) {
    if (depth == 0 || --depth != 0 || counted_as == Kind::kUncounted) return;
    const Counted left = count(now, -share_of(std::exchange(counted_as, Kind::kUncounted)));
    if (left.is_counted && gate.load() == kWanted && waiting_of(left.counts) == 0) change_gate(kWanted, kHeld);
    return;
  }
  // A nested launch belongs to the outer one, whose locks others may wait for: it never waits itself.
  if (depth != 0) {
    ++depth;
    return;
  }
  // The holder sees this launch in progress, or this launch sees that launches are held. While it waits it does not count as a launch: a signal handler may
  // make one.
  const Kind kind = waits_for_gpu[id].load(std::memory_order_relaxed) ? Kind::kWaitsForGpu : Kind::kLaunch;
  while (true) {
    const bool is_counted = count(now, share_of(kind)).is_counted;
    if (gate.load() != kHeld) {
      depth = 1;
      counted_as = is_counted ? kind : Kind::kUncounted;
      return;
    }
    if (is_counted) count(now, -share_of(kind));
    wait();
  }
}

}  // namespace lanescope::agent::cupti
