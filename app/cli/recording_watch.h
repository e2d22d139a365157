// Watching over a recording from a terminal: signals that end it, what it has to say, and its outcome.
#pragma once

#include <csignal>
#include <optional>

#include "collector/session/recording.h"
#include "session_server.h"

namespace lanescope::cli {

// Signals that end a recording. From here on they are blocked in every thread of ours and waited for in one place.
class EndingSignals {
 public:
  EndingSignals();
  // One that came since the last call, else none.
  std::optional<siginfo_t> next();
  // They end this program again, as ever; those that came until now are forgotten. For when the recording is over.
  void release();

 private:
  sigset_t signals_{};
};

enum class OnSignal {
  kEndProgram,  // it is the program's as well: the recording ends when the program has, or five seconds later
  kDetach,      // the recording ends, the program runs on
};

struct Watched {
  session::RecordingOutcome outcome;
  int signal = 0;  // the first that came; 0: none
};

// Waits for the end; the first signal ends the recording in order, the second at once. Then nobody can ask the recording any more; large
// files get their outlines (model/trace/outline.h); file, events and what was dropped are told on standard error; and what is to be made of
// the files is made, which signals interrupt.
Watched watch(session::Recording& recording, SessionServer& server, EndingSignals& signals, OnSignal on_signal);

}  // namespace lanescope::cli
