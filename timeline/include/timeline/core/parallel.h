// Work of many independent parts on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace lanescope::timeline {

// Calls part(0) to part(count - 1), each once, in any order, some of them at the same time, and returns when all have ended. The calling
// thread works too; others wait for work without using the processor. Where another call is under way, the caller does all of it itself.
// Where one throws, no further part begins, and the first that did is thrown here. Any thread.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& part);

// Calls work(), in which parallel_for() does all parts on this thread: for what is not waited for, so that painting has the other cores.
void on_this_thread_alone(const std::function<void()>& work);

}  // namespace lanescope::timeline
