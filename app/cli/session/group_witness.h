// A process of our group that gets the signals that our group gets, and no others: by it is known whether a signal came to us alone, or to the program
// as well, which is of the same group.
//
// timeout(1), supervisors, batch systems and service managers send a signal to a group or to all processes of a job, one after the other; a program that
// got it twice would take the second for an order to break off. The witness waits with all signals blocked, so the kernel shows what came to it as
// pending. To who looks for processes by their command it has the program's, as our own command holds it; by its name it is no `lanescope`.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/channel/file_descriptor.h"

namespace lanescope::cli {

// Signals that came to a process and that it holds back: bit n - 1 for signal n, as the kernel has them. None of one that is gone.
[[nodiscard]] std::uint64_t pending_signals(pid_t process);

// Whether a signal that has just come to us is the terminal's, and so came to all of its foreground: Ctrl+C does, and a hangup that the end of the
// session's first process brings. Of a terminal that is closed, that first process alone hears; where that is us, it is for us to pass on.
[[nodiscard]] bool is_from_terminal_to_all(const siginfo_t& signal);

class GroupWitness {
 public:
  // Without one, where the system has no processes left, nothing is known of other processes. Call it before there are threads.
  static GroupWitness start(const std::vector<std::string>& command);

  // Whether a signal that has just come to us came to it, too: waits 30 ms at most for who sends it to one process after the other. Forgets it
  // with that.
  [[nodiscard]] bool has_got(int signal);
  // What came to it of this signal until now tells nothing of one that comes later; of other signals it still does.
  void forget(int signal);

 private:
  channel::FileDescriptor link_;  // it ends when this is closed
  pid_t pid_ = 0;
};

}  // namespace lanescope::cli
