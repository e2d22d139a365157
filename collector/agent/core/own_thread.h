// Threads of the agent's own in the target.
#pragma once

#include <cstddef>

namespace lanescope::agent {

// Starts one that nobody waits for, with so much stack; 0: as the program's threads have. All signals stay with the threads of the program,
// but those of its own faults, which go where the program's go. Returns 0, or as pthread_create why there is none.
int start_own_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes) noexcept;

// To be made first on such a thread, and to live as long as that: the thread has a name that tells whose it is, and what it does is no business
// of the recording.
class [[nodiscard]] OwnThread {
 public:
  OwnThread() noexcept;
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

// In a forked child, where there are none.
void forget_own_threads() noexcept;

// Whether the program's threads have all ended, one by one, and only ours are left: then the C library would end the process, as after exit(0),
// were it not for ours. A few system calls; asked on one of ours.
bool has_lost_its_threads() noexcept;

}  // namespace lanescope::agent
