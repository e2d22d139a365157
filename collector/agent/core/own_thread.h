// Threads of the agent's own in the target.
#pragma once

#include <cstddef>

namespace lanescope::agent {

// Starts one that nobody waits for, with so much stack; 0: as the program's threads have. All signals stay with the threads of the program,
// but those of its own faults, which go where the program's go. Returns 0, or as pthread_create why there is none.
int start_own_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes) noexcept;

// To be called first on such a thread: it has a name that tells whose it is, and what it does is no business of the recording.
void name_own_thread() noexcept;

}  // namespace lanescope::agent
