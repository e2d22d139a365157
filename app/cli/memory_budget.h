// How much memory events of compacted files may take while a command runs, and whether all could be read.
#pragma once

#include <cstdint>

#include "model/file/result.h"

namespace lanescope::cli {

// Sets it to what the environment says (LANESCOPE_MEMORY, a size such as 512M or 2G), where it says something. Fails where that is no size.
Result<void> apply_memory_budget();

// Whether a recording of so many events can be read beside what this process has, in half of the memory that is free: for want of it the kernel would end
// us, and what there is to say of the recording would not be said.
[[nodiscard]] bool fit_into_memory(std::uint64_t events);

// The code of a command that is over; failure where events could not be read meanwhile, which is said where the command has not said it.
int with_reading_checked(int code);

}  // namespace lanescope::cli
