// A process that asks to be recorded, and loads the agent itself: nothing enters it by force, which would take rights.
//
// It makes a pair of SOCK_SEQPACKET sockets, starts the recorder with one end of it, and lets it read its memory where the system asks for
// that (PR_SET_PTRACER). Messages, one each:
//   from the process:  "ready"
//   to the process:    AGENT '\0' SOCKET '\0', the paths of the agent and of the socket at which children that it forks may join
// It loads the agent and calls kAgentEntry (inject.h) with its own end, at which the agent greets. Where it closes that end before, it has
// given up.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "collector/attach/inject.h"

namespace lanescope::attach {

// Waits for "ready". Fails with one sentence where the descriptor is no such socket, or the other end is not this process's.
Result<void> await_asking_process(int connection, pid_t pid, std::chrono::milliseconds limit);

// Sends what it asks for. The connection is the answer's, whose owner closes it.
Result<Injection> answer_asking_process(int connection, const InjectionRequest& request);

}  // namespace lanescope::attach
