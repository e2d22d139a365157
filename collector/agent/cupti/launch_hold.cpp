#include "agent/cupti/launch_hold.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <iterator>
#include <string_view>

#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::int64_t kPatience = 5 * kSecond;
constexpr std::int64_t kUnfollowed = 50 * kMillisecond;  // for launches that began before they were followed; one waits for a kernel to end where the queue is full

constinit std::atomic<std::uint32_t> followed{0};  // how often they began to be; 0: they are not
constinit std::uint32_t times_followed = 0;
constinit std::atomic<std::uint32_t> is_held{0};  // futex
constinit std::atomic<std::uint64_t> under_way{0};  // launches, below the `followed` that they count for
constinit std::atomic<bool> is_followed[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
constinit std::atomic<bool> is_ours[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};  // callbacks that were enabled for this
constinit std::int64_t followed_since = 0;
// Launches in which this thread is, each within the one before, and the `followed` that they count for.
constinit thread_local std::uint32_t depth = 0;
constinit thread_local std::uint32_t depth_of = 0;

// All calls of the driver but those that certainly neither load code, nor enqueue, nor wait: also a question (cuKernelGetFunction, cuOccupancy...) loads code.
bool is_launch(std::string_view name) noexcept {
  constexpr std::string_view kOthers[] = {"cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent",    "cuCtxPopCurrent",        "cuDeviceGet",  "cuDriverGetVersion",  "cuGetError",
                                          "cuGetProcAddress", "cuPointerGet",   "cuStreamQuery",       "cuStreamIsCapturing",    "cuStreamGetCaptureInfo", "cuEventQuery", "cuEventElapsedTime",
                                          "cuProfiler"};
  return name.starts_with("cu") && std::none_of(std::begin(kOthers), std::end(kOthers), [name](std::string_view other) { return name.starts_with(other); });
}

// Whether launches are followed for the `now`-th time still.
bool count(std::uint32_t now, std::int64_t change) noexcept {
  std::uint64_t before = under_way.load();
  do {
    if (before >> 32 != now) return false;
  } while (!under_way.compare_exchange_weak(before, before + static_cast<std::uint64_t>(change)));
  return true;
}

void wait() noexcept {
  const std::int64_t give_up = monotonic_now() + kPatience;
  while (is_held.load() != 0) {
    const std::int64_t left = give_up - monotonic_now();
    if (left <= 0) return let_launches_go();
    system::futex_wait(&is_held, 1, left);
  }
}

}  // namespace

void follow_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept {
  if (followed.load() != 0) return;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* name = nullptr;
    if (functions.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr || !is_launch(name))
      continue;
    is_followed[id].store(true);
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
  is_held.store(1);
  const std::int64_t begin = monotonic_now();
  while (static_cast<std::uint32_t>(under_way.load()) != 0) {
    if (monotonic_now() - begin >= patience) return false;
    system::sleep(kMillisecond / 20);
  }
  return true;
}

void let_launches_go() noexcept {
  is_held.store(0);
  system::futex_wake(&is_held, INT_MAX);
}

void wait_while_held(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  const std::uint32_t now = followed.load(std::memory_order_acquire);
  if (now == 0 || id >= CUPTI_DRIVER_TRACE_CBID_SIZE || !is_followed[id].load(std::memory_order_relaxed) || Quiet::is_on()) return;
  // The end of what began before may have been missed.
  if (depth_of != now) depth = 0;
  depth_of = now;
  if (call.callbackSite != CUPTI_API_ENTER) {
    if (depth != 0 && --depth == 0) count(now, -1);
    return;
  }
  // One within another is under way with that, whose locks others may wait for: it never waits itself.
  if (depth++ != 0) return;
  // Who holds launches sees this one under way, or this one sees that they are held.
  while (true) {
    const bool is_counted = count(now, 1);
    if (is_held.load() == 0) return;
    if (is_counted) count(now, -1);
    wait();
  }
}

}  // namespace lanescope::agent::cupti
