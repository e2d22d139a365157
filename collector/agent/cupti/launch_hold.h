// Keeps launches of the program waiting for a moment, in which PC sampling begins, ends or pauses. A launch takes the driver's lock and then CUPTI's, and the
// call that ends the sampling CUPTI's and then the driver's: both stop for good where they meet (CUPTI 13.0, H200). So do copies, and what loads code,
// which also questions about a kernel do: a launch is here every call of the driver that may load, enqueue or wait.
#pragma once

#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// From here on launches can be held: the subscriber gets their callbacks. One thread at a time, as all but the last two.
void follow_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;
void leave_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;

// Launches that begin wait in their callbacks until let_launches_go(). Whether those that were under way have come back, but for the one in which this thread
// is; where they have not, launches do not wait any more. Calls that wait for the GPU (cu...Synchronize) get `patience` ns to come back, in which nobody is
// held; then others get what is left of it, and half of it at least. Where that was in vain the program gets twice as long for itself, and twice that after
// each further try in vain, up to twenty times the patience and 2 s: within that the answer is false at once, unless it ends within the patience. A launch that
// has waited for 5 s lets all go, and nothing is held in the process from then on. One that began more than 50 ms before launches were followed, and is under
// way still, is not seen. Requires: launches are followed, and nobody holds them.
bool hold_launches(std::int64_t patience) noexcept;
void let_launches_go() noexcept;

// In a forked child, which has none of the threads that held, or were held.
void forget_launches() noexcept;

// For the subscriber's callback, of calls of the driver. Any thread; a load where launches are not followed.
void wait_while_held(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

// Whether the callbacks of this call of the driver come for that alone, and nobody else asked for them. Any thread; a load.
[[nodiscard]] bool is_for_holding_alone(CUpti_CallbackId id) noexcept;

}  // namespace lanescope::agent::cupti
