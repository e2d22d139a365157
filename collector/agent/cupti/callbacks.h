// What CUPTI calls, on the target's threads: each goes to the tracer, as far as it is asked for.
//
// Threads: any. Callbacks make no calls into CUDA, and return in O(1) but for the ends of contexts, which wait for their records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

class Tracer;

// To whom callbacks go, of this process; null: to nobody.
void set_current_tracer(Tracer* tracer) noexcept;
[[nodiscard]] Tracer* current_tracer() noexcept;
// Whether it was set by this process: the child of a vfork sees the same memory, and is another one.
[[nodiscard]] bool is_traced_process() noexcept;

// For cuptiActivityRegisterCallbacks.
void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* maximum_records);
void CUPTIAPI on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes);
// For cuptiSubscribe.
void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

// Asks for what is always needed: the driver's initialization, cudaProfilerStart and cudaProfilerStop, and the ends of contexts. Returns
// CUPTI_SUCCESS unless all of it is refused.
CUptiResult enable_callbacks(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept;

}  // namespace lanescope::agent::cupti
