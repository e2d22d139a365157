// Ends of the process that run no handlers of atexit(): _exit(), _Exit() and quick_exit().
#pragma once

namespace lanescope::agent::cupti {

// From here on finish() comes before them, where they are called from a file that is loaded now. (Where the agent is preloaded, its own
// functions of that name see to that for all files.) Once for the process; takes some hundred microseconds.
void finish_before_exits() noexcept;

}  // namespace lanescope::agent::cupti
