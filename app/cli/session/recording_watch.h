// Watches a recording from a terminal: signals that end it, its messages, and its outcome.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "options/report_options.h"
#include "session/group_witness.h"
#include "session/session_server.h"

namespace lanescope::cli {

// Signals that come to a recorder. From here on they are blocked in each of our threads and waited for in one place: all that would end or stop us, except
// those that our own faults raise.
class RecorderSignals {
 public:
  RecorderSignals();
  // For a process that is about to start this program, and has no threads yet.
  explicit RecorderSignals(const std::vector<std::string>& command);
  // A signal that came since the last call, or nothing.
  std::optional<siginfo_t> next();
  // Called for a program that is about to start, whose process holds all signals back: notes the signals that came to us before that process existed, and so
  // did not come to it.
  void note_missed(pid_t process);
  // The receiver of a signal that has just come to us. None if it came to the program as well: from its terminal, which is ours, or from a sender that
  // signals our group or all processes of a job. A signal of the terminal is for a whole job, and so is one that belongs to a key of the terminal and that
  // somebody sent to our whole group. A program that leads a group of its own would lead its job if it ran alone.
  [[nodiscard]] std::optional<session::SignalReceiver> receiver_of(const siginfo_t& signal, pid_t program);
  // The signals by which a user ends a program (Ctrl+C, kill) end this process again, as usual; those that came until now are forgotten. Called when the
  // recording is over, and what follows may take long. Otherwise it is not called, because a late Ctrl+C must not seem to have ended the program.
  void release();

 private:
  sigset_t signals_{};
  GroupWitness witness_;
  std::uint64_t missed_ = 0;  // bit n - 1 for signal n
};

// What a signal does that asks for the end, such as SIGINT, SIGTERM, SIGHUP and SIGQUIT, and what other signals do.
enum class OnSignal {
  kEndProgram,  // signals are for the program as well. It gets each once, as it would without us. After the first that asks for the end, the recording ends
                // with the program, however long that takes, and waits at most five seconds for processes that it left behind. If we are stopped (SIGTSTP), so
                // is the program.
  kDetach,      // the recording ends, the program runs on; other signals have no effect
};

struct Watched {
  session::RecordingOutcome outcome;
  int signal = 0;          // the first that asked for the end; 0: none
  std::uint64_t came = 0;  // signals that came: bit n - 1 for signal n
  Reports reports = Reports::kMade;
};

// Waits for the end. The first signal that asks for it ends the recording in order, the second at once, even if the program runs on. What happens with other
// signals is said on standard error. Then, in this order:
// - The recording can no longer be asked anything.
// - Large files get their outlines (model/trace/outline.h).
// - File, events and what was dropped are said on standard error.
// - Reports and exports of the files are made. Signals interrupt this; if there is nothing to make, they stay held back.
// `range`: what starts a capture, which is said if none started.
Watched watch(session::Recording& recording, SessionServer& server, RecorderSignals& signals, OnSignal on_signal, const session::CaptureRange& range);

// What the recording lacks of what happened, one a line; empty if nothing is missing.
[[nodiscard]] std::vector<std::string> losses(const session::RecordingOutcome& outcome);

}  // namespace lanescope::cli
