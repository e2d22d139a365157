// A process that asks to be recorded and loads the agent itself. Nothing is forced into it, which would need rights.
//
// The process makes a pair of SOCK_SEQPACKET sockets, starts the recorder with one end, and permits it to read its memory if the system requires that
// (PR_SET_PTRACER). Each of these is one message:
//   from the process:  "ready"
//   to the process:    AGENT '\0' SOCKET '\0', the paths of the agent and of the socket at which its forked children may join
// The process loads the agent and calls kAgentEntry (inject.h) with its own end, over which the agent greets. If it closes that end before, it has
// given up.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "collector/attach/inject.h"

namespace lanescope::attach {

// Waits for "ready". Fails with one sentence if the descriptor is not such a socket, or if the other end belongs to another process.
Result<void> await_asking_process(int connection, pid_t pid, std::chrono::milliseconds limit);

// Sends the paths that the process asks for. The connection in the answer is `connection`; the caller closes it.
Result<Injection> answer_asking_process(int connection, const InjectionRequest& request);

}  // namespace lanescope::attach
