// Makes launches of the program wait for a moment, in which PC sampling begins, ends or pauses. A launch takes the driver's lock and then CUPTI's; the call
// that ends the sampling takes CUPTI's and then the driver's. If the two meet, both stop for good (CUPTI 13.0, H200). The same holds for copies, and for calls
// that load code, as do questions about a kernel. Here a launch is every call of the driver that may load, enqueue or wait.
#pragma once

#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// From here on launches can be held: the subscriber gets their callbacks. One thread at a time, as for all functions but the last two.
void follow_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;
void leave_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;

// Launches that begin now wait in their callbacks until let_launches_go(). Returns true if the launches in progress have returned, except the one that this
// thread is in; if false, launches wait no more. First, calls that wait for the GPU (cu...Synchronize) get `patience` ns to return, during which nothing is
// held; then other calls get the rest of it, and at least half. After a failure the program gets twice that time for itself, doubled after each further
// failure, up to twenty times the patience and 2 s: within that time the result is false at once, unless the time ends within the patience. A launch that has
// waited for 5 s releases all, and nothing is held in the process from then on. A launch that began more than 50 ms before launches were followed, and has not
// returned yet, is not noticed.
// Requires: launches are followed, and nobody holds them.
bool hold_launches(std::int64_t patience) noexcept;
void let_launches_go() noexcept;

// In a forked child, which has none of the threads that held launches or were held.
void forget_launches() noexcept;

// For the subscriber's callback, at calls of the driver. Any thread; one load if launches are not followed.
void wait_while_held(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

// True if the callbacks of this driver call were enabled only for this, and nobody else asked for them. Any thread; one load.
[[nodiscard]] bool is_for_holding_alone(CUpti_CallbackId id) noexcept;

}  // namespace lanescope::agent::cupti
