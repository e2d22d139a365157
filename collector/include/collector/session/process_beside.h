// Processes of ours that are no children of ours: nobody has to wait for them, and they go on where we are killed.
#pragma once

#include <functional>
#include <span>

namespace lanescope::session {

// Starts one, in which `work` is called; it ends when that returns. Only calls may be made there that are safe between fork and exec, since we may
// have threads. False where there is no process for it; errno says why.
bool start_process_beside(const std::function<void()>& work);

// For such a process: signals that a terminal or a batch system sends to all of us are not for it. Those of its own faults end it.
void ignore_signals() noexcept;

// Closes all descriptors from `first` on but those that are `kept`: who waits for the end of a pipe that we have must not wait for another process of
// ours. Safe between fork and exec. Those that are negative are none. Requires: at most four are kept.
void close_descriptors(int first, std::span<const int> kept = {}) noexcept;

}  // namespace lanescope::session
