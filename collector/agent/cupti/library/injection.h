// The agent as a CUPTI client.
#pragma once

namespace lanescope::agent::cupti {

enum class Arrival {
  kWithDriver,  // from within cuInit
  kLate,        // CUDA may have been in use for a long time
};

// Starts to record GPU activity, if there is a session that wants it: returns when CUPTI is on, so that nothing that follows is missed. If something can't be
// recorded, the user is told; the target runs on in any case. Any thread; once for each session that this process joins, further calls change nothing. For
// sessions after the first it waits at most two seconds.
void inject(Arrival arrival) noexcept;

// Called before the process ends without handlers: hands everything over, which takes at most two seconds. Does nothing in the child of a vfork.
void finish() noexcept;

// The same before the process becomes another program, which may fail: recording goes on.
void hand_over() noexcept;

}  // namespace lanescope::agent::cupti
