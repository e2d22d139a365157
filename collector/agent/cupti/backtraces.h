// Call chains of CUDA calls that take long: they show which code of the program made the calls.
//
// CUPTI calls back only at the begin and the end of the chosen calls. At the end of a call that took long enough, the thread's stack is walked by unwind
// tables, because the CUDA libraries keep no frame pointers. The addresses go to the host as a record of the thread's ring; the host knows what lies there.
#pragma once

#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// The channel::CallGroup of the call with that name. 0 for calls that are never asked about.
std::uint32_t call_group(const char* name) noexcept;

// Asks CUPTI to call back, or to stop calling back, for calls of these groups; of the driver API only for calls that do work.
void enable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept;
void disable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept;

// True if chains of calls of this group are asked for. Any thread.
bool takes_chains_of(std::uint32_t group) noexcept;

// For CUPTI's callback, on the thread of the call.
void follow_call(CUpti_CallbackDomain domain, const CUpti_CallbackData& call) noexcept;

}  // namespace lanescope::agent::cupti
