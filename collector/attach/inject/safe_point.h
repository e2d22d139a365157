// Tells if a stopped thread is at a point where it may be made to load a file and to create a thread.
//
// A point is unsafe if the thread may hold a lock that these need: of the loader, of malloc, of thread creation, of fork. Such locks are held only by
// code of the C library and the loader. So the question is whether their code is on the stack.
#pragma once

#include <optional>
#include <string>

#include "inject/stack_frames.h"

namespace lanescope::attach {

// Why the point is not safe; nothing if it is. `system_call` is the one that was interrupted; nothing if the thread was in user code.
std::optional<std::string> objection(const CallStack& stack, std::optional<long> system_call);

// How suitable a thread is that sleeps in this call: lower is better.
enum class Suitability { kWaits, kWaitsFragile, kBusy };  // fragile: the call notices that it was interrupted, and is made again
Suitability suitability(std::optional<long> system_call);

}  // namespace lanescope::attach
