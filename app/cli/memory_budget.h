// How much memory events of compacted files may take while a command runs, and whether all events could be read.
#pragma once

#include <cstdint>

#include "model/file/result.h"

namespace lanescope::cli {

// Sets the budget to the value of the environment variable LANESCOPE_MEMORY, a size such as 512M or 2G, if it is set. Fails if that is not a size.
Result<void> apply_memory_budget();

// True if a recording of this many events can be read in half of the memory that is free. Otherwise the kernel could end us for lack of memory, and nothing
// could be said about the recording.
[[nodiscard]] bool fit_into_memory(std::uint64_t events);

// The exit code of a command that is over. It becomes failure if events could not be read meanwhile; this is said if the command has not said it.
int with_reading_checked(int code);

}  // namespace lanescope::cli
