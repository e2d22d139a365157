// A process of our group that gets the signals that our group gets, and no others. It shows whether a signal came to us alone, or also to the program, which
// is in the same group.
//
// timeout(1), supervisors, batch systems and service managers send a signal to a group or to all processes of a job, one after the other. A program that got
// it twice would take the second for an order to break off. The witness waits with all signals blocked, so that the kernel shows as pending what came to it.
// Its command line is the program's, as is ours, for tools that find processes by their command; its process name is not `lanescope`.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/channel/file_descriptor.h"

namespace lanescope::cli {

// Signals that came to a process and that it holds back: bit n - 1 for signal n, as in the kernel. 0 for a process that is gone.
[[nodiscard]] std::uint64_t pending_signals(pid_t process);

// True if a signal that has just come to us is the terminal's, and so came to all processes in its foreground. This holds for Ctrl+C, and for a hangup that
// the end of the session's first process causes. If a terminal is closed, only that first process is told; if we are that process, we must pass it on.
[[nodiscard]] bool is_from_terminal_to_all(const siginfo_t& signal);

class GroupWitness {
 public:
  // Returns an object without a witness if the system has no processes left; nothing is then known about other processes. Must be called before there are
  // threads.
  static GroupWitness start(const std::vector<std::string>& command);

  // True if a signal that has just come to us came to the witness, too. Waits at most 30 ms, because a sender may signal one process after the other. Forgets
  // the signal then.
  [[nodiscard]] bool has_got(int signal);
  // From now on, instances of this signal that already came to the witness are ignored; other signals are kept.
  void forget(int signal);

 private:
  channel::FileDescriptor link_;  // the witness ends when this is closed
  pid_t pid_ = 0;
};

}  // namespace lanescope::cli
