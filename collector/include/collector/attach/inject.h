// Brings the agent into a process that was started without us.
//
// One thread of the target is stopped at a safe point, where it holds no lock of the loader, of malloc or of thread creation. It is made to start
// another thread, put back exactly as it was, and let go. All other threads run on meanwhile. An interrupted system call is continued. Signals for
// the thread wait until then. The new thread loads the agent, calls its entry, and ends. If the target can't have a new thread, the stopped thread
// does this itself, and stands still for longer.
//
// If this process is killed meanwhile, at any point, the target runs on: a thread that was made to make calls returns from them by itself.
//
// A process that was started armed listens: we connect to it and never stop it, whatever ptrace_scope is.
//
// The agent gets one end of a socket pair, so it needs no path in the target's mount namespace and no permission on a path. We keep the other end. If
// the agent is already loaded, its entry is called again and nothing is loaded twice.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::attach {

// Exported by the agent: int lanescope_agent_attach(const char* address), with "fd:N" or "fd:N:PATH" for an open SOCK_SEQPACKET socket in its
// process. It starts what it needs and returns at once: 0 for success, EBUSY if another recording uses the agent.
inline constexpr char kAgentEntry[] = "lanescope_agent_attach";

enum class Loader { kNewThread, kStoppedThread };

struct InjectionRequest {
  pid_t pid = 0;
  std::filesystem::path agent;                 // the shared object
  std::filesystem::path socket;                // at which its forked children may join; empty: they may not
  std::chrono::milliseconds patience{10'000};  // how long to look for a safe point: a program that imports its libraries is in the loader for seconds
  Loader loader = Loader::kNewThread;
};

enum class AgentOrigin { kLoaded, kWasThere };

struct Injection {
  int connection = -1;  // our end of the socket; the caller owns it and must close it
  AgentOrigin origin = AgentOrigin::kLoaded;
  pid_t thread = 0;                     // the thread that was stopped
  std::chrono::nanoseconds stopped{0};  // how long it was stopped
  std::vector<std::string> warnings;    // one sentence each
};

// Fails with one sentence; the target then runs as before. Blocks at most for `patience`, plus the time that loading takes. Only one injection into a
// process may run at a time. Safe to call from any thread.
Result<Injection> inject(const InjectionRequest& request);

}  // namespace lanescope::attach
