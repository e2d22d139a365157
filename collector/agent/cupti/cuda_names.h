// What the program calls its contexts, streams and events (nvtxNameCudaStream and the like), by CUPTI's ids of these.
//
// CUPTI tells the ids of contexts and streams when it is asked. That of an event stands in the records of its recordings alone: which event
// a call records is seen in a callback, and comes together with the record by the call's correlation id.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// From here on names of contexts and streams are told, and those of events kept. Requires: the functions live as long as the process. Once.
void tell_cuda_names(const Functions& functions) noexcept;

enum class EventNames { kIgnored, kFollowed };
// Whether calls that record events, or destroy them, come to follow_event_call(): where CUDA events are recorded.
void watch_event_calls(const Functions& functions, CUpti_SubscriberHandle subscriber, EventNames names) noexcept;

// For CUPTI's callbacks: keeps which event with a name a call records. Returns whether it is a call that records or destroys events.
bool follow_event_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

// The name of the event that the call with this correlation id recorded; empty where it has none. It stays as long as the process.
std::string_view name_of_recorded_event(std::uint32_t correlation) noexcept;

// In a forked child, on its only thread: CUPTI does not work there.
void forget_cuda_names() noexcept;

}  // namespace lanescope::agent::cupti
