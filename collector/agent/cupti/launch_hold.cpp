#include "agent/cupti/launch_hold.h"

#include <atomic>
#include <climits>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/kernel_counters/launch.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::int64_t kPatience = 5 * kSecond;
constexpr std::int64_t kUnderWay = 5 * kMillisecond;  // a launch takes some microseconds

constinit std::atomic<std::uint32_t> is_held{0};  // futex
constinit std::atomic<bool> is_launch[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
constinit bool is_ours[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};  // callbacks that were enabled for this

}  // namespace

void hold_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept {
  using kernel_counters::CallKind;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* name = nullptr;
    if (functions.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr ||
        kernel_counters::call_kind(name) != CallKind::kLaunch)
      continue;
    is_launch[id].store(true);
    std::uint32_t was_enabled = 0;
    if (functions.get_callback_state != nullptr) functions.get_callback_state(&was_enabled, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    is_ours[id] = was_enabled == 0 && functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id) == CUPTI_SUCCESS;
  }
  is_held.store(1);
  system::sleep(kUnderWay);
}

void let_launches_go(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept {
  is_held.store(0);
  system::futex_wake(&is_held, INT_MAX);
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id)
    if (is_ours[id]) functions.enable_callback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

void wait_while_held(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (is_held.load(std::memory_order_acquire) == 0 || call.callbackSite != CUPTI_API_ENTER || id >= CUPTI_DRIVER_TRACE_CBID_SIZE || !is_launch[id].load()) return;
  const std::int64_t give_up = monotonic_now() + kPatience;
  while (is_held.load(std::memory_order_acquire) != 0) {
    const std::int64_t left = give_up - monotonic_now();
    if (left <= 0) {
      is_held.store(0);
      system::futex_wake(&is_held, INT_MAX);
      return;
    }
    system::futex_wait(&is_held, 1, left);
  }
}

}  // namespace lanescope::agent::cupti
