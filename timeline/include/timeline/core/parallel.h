// Work of many independent parts on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace lanescope::timeline {

// Calls part(0) to part(count - 1), each once, in any order, some of them at the same time, and returns when all have ended. The calling
// thread works too; others wait for work without using the processor. Where another call is under way, the caller does all of it itself.
// Any thread. Parts must not throw.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& part);

}  // namespace lanescope::timeline
