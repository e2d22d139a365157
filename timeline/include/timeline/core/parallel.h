// Runs many independent parts of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace lanescope::timeline {

// Calls part(0) to part(count - 1), each once, in any order, several at the same time, and returns when all have ended. The calling thread works, too; waiting
// threads do not use the processor. If another call is in progress, the caller does all parts itself. If a part throws, no further part starts, and the first
// exception is thrown here. Threads: any. Worker threads are kept for the next call: this function is for work that is done many times a second, while
// parallel_for() (model/trace/workers) starts threads for each call.
void work_in_parts(std::size_t count, const std::function<void(std::size_t)>& part);

// Calls work(); work_in_parts() within it does all parts on this thread. For work that nobody waits for, so that painting has the other cores.
void on_this_thread_alone(const std::function<void()>& work);

}  // namespace lanescope::timeline
