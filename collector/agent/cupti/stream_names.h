// What the program calls its streams (nvtxNameCudaStream), by CUPTI's ids of these.
//
// The name is told to the host as metadata, on the thread that gives it, and merged there with what CUPTI says of the stream.
#pragma once

#include "agent/cupti/library.h"

namespace lanescope::agent::cupti {

// From here on names are told. Requires: the functions live as long as the process. Once.
void tell_stream_names(const Functions& functions) noexcept;

}  // namespace lanescope::agent::cupti
