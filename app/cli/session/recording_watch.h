// Watching over a recording from a terminal: signals that end it, what it has to say, and its outcome.
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

// Signals that come to a recorder. From here on they are blocked in every thread of ours and waited for in one place: all that would end or
// stop us, but for those that faults of our own raise.
class RecorderSignals {
 public:
  RecorderSignals();
  // Of who is about to start this program, and has no threads yet.
  explicit RecorderSignals(const std::vector<std::string>& command);
  // One that came since the last call, else none.
  std::optional<siginfo_t> next();
  // Of a program that is about to start, whose process holds all signals back: those that came until now, and not to it, came before it was there.
  void note_missed(pid_t process);
  // Who is to get one that has just come from us; none where it came to the program as well: from its terminal, which is ours, or from who signals our group
  // or all processes of a job. A terminal's is for a whole job, and so is one of its keys' that somebody sent to all of our group; and a program that leads a
  // group of its own would lead its job if it ran alone.
  [[nodiscard]] std::optional<session::SignalReceiver> receiver_of(const siginfo_t& signal, pid_t program);
  // Those by which a user ends a program (Ctrl+C, kill) end this one again, as ever; those that came until now are forgotten. For when the
  // recording is over, and what follows may take long; where nothing does, Ctrl+C that comes too late must not seem to have ended the program.
  void release();

 private:
  sigset_t signals_{};
  GroupWitness witness_;
  std::uint64_t missed_ = 0;  // bit n - 1 for signal n
};

// What becomes of a signal that asks for the end, as SIGINT, SIGTERM, SIGHUP and SIGQUIT do, and of the others.
enum class OnSignal {
  kEndProgram,  // they are the program's as well. It gets each once, as it would without us; behind the first that asks for the end, the recording ends
                // with the program, however long that takes, and waits for processes that it left behind for five seconds at most. Where we are
                // stopped (SIGTSTP), so is the program.
  kDetach,      // the recording ends, the program runs on; others have no effect
};

struct Watched {
  session::RecordingOutcome outcome;
  int signal = 0;          // the first that asked for the end; 0: none
  std::uint64_t came = 0;  // signals that came: bit n - 1 for signal n
  Reports reports = Reports::kMade;
};

// Waits for the end; the first signal that asks for it ends the recording in order, the second at once, though the program goes on. What becomes of other
// signals is told on standard error. Then nobody can ask the recording any more; large files get their outlines (model/trace/outline.h); file, events and what
// was dropped are told on standard error; and what is to be made of the files is made, which signals interrupt; where there is nothing to make, they are
// still held back. `range`: what begins a capture, which is told
// where none began.
Watched watch(session::Recording& recording, SessionServer& server, RecorderSignals& signals, OnSignal on_signal, const session::CaptureRange& range);

// What the recording lacks of what happened, a line each; empty where nothing.
[[nodiscard]] std::vector<std::string> losses(const session::RecordingOutcome& outcome);

}  // namespace lanescope::cli
