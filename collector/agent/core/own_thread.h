// Threads of the agent's own in the target.
#pragma once

#include <cstddef>

namespace lanescope::agent {

// Starts a thread that nobody joins, with this many bytes of stack; 0: as much as the program's threads have. All signals stay with the threads of the program,
// except those of the thread's own faults, which go where the program's go. Returns 0, or the error of pthread_create if there is no thread.
int start_own_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes) noexcept;

// Must be the first object on such a thread and live as long as the thread. The thread gets a name that tells whose it is, and its calls are not recorded.
class [[nodiscard]] OwnThread {
 public:
  OwnThread() noexcept;
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

// In a forked child, which has no such threads.
void forget_own_threads() noexcept;

// True if all threads of the program have ended, one by one, and only ours are left: without ours, the C library would end the process, as after exit(0). A few
// system calls; called on one of our threads.
bool has_lost_its_threads() noexcept;

}  // namespace lanescope::agent
