// Whether a stopped thread is at a point where it may be made to load a file and to create a thread.
//
// Unsafe is a point where it may hold a lock that these need: of the loader, of malloc, of thread creation, of fork. Such locks are held in
// the C library and the loader alone, so the question is whether their code is on the stack.
#pragma once

#include <optional>
#include <string>

#include "inject/stack_frames.h"

namespace lanescope::attach {

// Why the point is not safe; none when it is. `system_call` is the one that was interrupted, none in user code.
std::optional<std::string> objection(const CallStack& stack, std::optional<long> system_call);

// How well a thread suits that sleeps in this call: lower is better.
enum class Suitability { kWaits, kWaitsFragile, kBusy };  // fragile: the call shows that it was interrupted, and is begun anew
Suitability suitability(std::optional<long> system_call);

}  // namespace lanescope::attach
