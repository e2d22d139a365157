// Keeps launches of the program waiting for a moment, in which PC sampling begins or ends. A launch takes the driver's lock and then CUPTI's, and the call
// that ends the sampling CUPTI's and then the driver's: both stop for good where they meet (CUPTI 13.0, H200).
#pragma once

#include "agent/cupti/library.h"

namespace lanescope::agent::cupti {

// From here on launches wait in their callbacks, which the subscriber gets: those that begin; for those under way a few milliseconds are left. On the
// agent's own thread, whose own calls do not wait.
void hold_launches(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;
// And go on. They have gone on already where one has waited for 5 s.
void let_launches_go(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;

// For the subscriber's callback, of calls of the driver. Any thread; a load where nothing is held.
void wait_while_held(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

}  // namespace lanescope::agent::cupti
