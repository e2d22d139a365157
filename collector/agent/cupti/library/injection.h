// The agent as a CUPTI client.
#pragma once

namespace lanescope::agent::cupti {

enum class Arrival {
  kWithDriver,  // from within cuInit
  kLate,        // CUDA may have been in use for long
};

// Starts to record GPU activity, where there is a session that wants it: returns once CUPTI is on, so that nothing which follows is missed.
// What can't be had is reported to the user; the target runs on in any case. Any thread; once for each session that this process joins,
// further calls change nothing. For sessions after the first it waits two seconds at most.
void inject(Arrival arrival) noexcept;

// Before the process ends without handlers: hands everything over, which takes two seconds at most. Does nothing in the child of a vfork.
void finish() noexcept;

// The same before it becomes another program, which may fail: recording goes on.
void hand_over() noexcept;

}  // namespace lanescope::agent::cupti
