// The program's names of its contexts, streams and events (nvtxNameCudaStream and others), by CUPTI's ids.
//
// CUPTI can be asked for the ids of contexts and streams. The id of an event occurs only in the records of its recordings. A callback shows which event a call
// records, and the call's correlation id connects the two.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// From here on, names of contexts and streams are reported, and names of events are kept. Requires: the functions live as long as the process. Once.
void tell_cuda_names(const Functions& functions) noexcept;

enum class EventNames { kIgnored, kFollowed };
// Whether calls that record or destroy events come to follow_event_call(). They do if CUDA events are recorded.
void watch_event_calls(const Functions& functions, CUpti_SubscriberHandle subscriber, EventNames names) noexcept;

// For CUPTI's callbacks: remembers the named event that a call records. Returns true if the call records or destroys events.
bool follow_event_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

// The name of the event that the call with this correlation id recorded; empty if it has none. The text lives as long as the process.
std::string_view name_of_recorded_event(std::uint32_t correlation) noexcept;

// For the only thread of a forked child, where CUPTI does not work.
void forget_cuda_names() noexcept;

}  // namespace lanescope::agent::cupti
