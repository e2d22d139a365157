// Processes of ours that are not our children: nobody has to wait for them, and they continue if we are killed.
#pragma once

#include <functional>
#include <span>

namespace lanescope::session {

// Starts a process in which `work` is called, and which ends when that returns. `work` may only make calls that are safe between fork and exec, because we
// may have threads. Returns false if the process can't be made; errno says why.
bool start_process_beside(const std::function<void()>& work);

// For such a process: ignores the signals that a terminal or a batch system sends to all of us. Signals of its own faults still end it.
void ignore_signals() noexcept;

// Closes all descriptors from `first` on except those in `kept`: whoever waits for the end of a pipe that we have must not wait for another process of ours.
// Safe between fork and exec. Negative descriptors in `kept` are ignored. Requires: at most four are kept.
void close_descriptors(int first, std::span<const int> kept = {}) noexcept;

}  // namespace lanescope::session
