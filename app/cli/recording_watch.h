// Watching over a recording from a terminal: signals that end it, what it has to say, and its outcome.
#pragma once

#include <csignal>
#include <optional>

#include "collector/session/recording.h"

namespace lanescope::cli {

// Signals that end a recording. From here on they are blocked in every thread of ours and waited for in one place.
class EndingSignals {
 public:
  EndingSignals();
  // One that came since the last call, else none.
  std::optional<siginfo_t> next();

 private:
  sigset_t signals_{};
};

enum class OnSignal {
  kEndProgram,  // it is the program's as well: the recording ends when the program has, or five seconds later
  kDetach,      // the recording ends, the program runs on
};

// Waits for the end; the first signal ends the recording in order, the second at once. Returns the first signal, 0 when none came.
int wait_for_end(session::Recording& recording, EndingSignals& signals, OnSignal on_signal);

// Gives large files their outline (model/trace/outline.h), so that a viewer draws them at once. What fails is said; the files stay good.
// Files of over 100 million events get none: it would take gigabytes and half a minute when the program has just ended. O(events).
void add_outlines(const session::RecordingOutcome& outcome);

// To standard error: the file, how much is in it, and what was dropped.
void print_outcome(const session::Recording& recording, const session::RecordingOutcome& outcome);

}  // namespace lanescope::cli
