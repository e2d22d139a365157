// The functions that CUPTI calls on the target's threads: each goes to the tracer, if it is asked for.
//
// Threads: any. Callbacks make no calls into CUDA, and return in O(1), except those at the end of a context, which wait for its records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

class Tracer;

// The tracer of this process that gets the callbacks; null: none.
void set_current_tracer(Tracer* tracer) noexcept;
[[nodiscard]] Tracer* current_tracer() noexcept;
// True if the tracer was set by this process: the child of a vfork sees the same memory, but is another process.
[[nodiscard]] bool is_traced_process() noexcept;

// For cuptiActivityRegisterCallbacks.
void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* maximum_records);
void CUPTIAPI on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes);
// For cuptiSubscribe.
void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

// Asks for the callbacks that are always needed: initialization of the driver, cudaProfilerStart and cudaProfilerStop, and ends of contexts. Returns
// CUPTI_SUCCESS unless all of them are refused.
CUptiResult enable_callbacks(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;

}  // namespace lanescope::agent::cupti
