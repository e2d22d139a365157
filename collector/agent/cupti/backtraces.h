// Call chains of CUDA calls that take long: which code of the program made them.
//
// CUPTI calls back at the begin and the end of the chosen calls alone. At the end of one that took long enough its thread's stack is
// walked, by unwind tables: the CUDA libraries keep no frame pointers. Addresses go to the host as a record of the thread's ring; the host
// knows what lies there.
#pragma once

#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// Of channel::CallGroup: what a call of that name does. 0 for those that are never asked about.
std::uint32_t call_group(const char* name) noexcept;

// Asks CUPTI to call back, or no longer to, for calls of these groups; of the driver API for those alone that do work.
void enable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept;
void disable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept;

// Whether chains of calls of this group are asked for. Any thread.
bool takes_chains_of(std::uint32_t group) noexcept;

// For CUPTI's callback, on the thread of the call.
void follow_call(CUpti_CallbackDomain domain, const CUpti_CallbackData& call) noexcept;

}  // namespace lanescope::agent::cupti
