// The messages at the end of a recording.
#pragma once

#include <vector>

#include <QString>

#include "collector/session/recording.h"
#include "model/trace/trace.h"
#include "record/capture_choices.h"

namespace lanescope::ui {

enum class MessageWeight { kNote, kError };

struct Notice {
  QString sentence;
  MessageWeight weight = MessageWeight::kNote;
  bool operator==(const Notice&) const = default;
};

// Facts about the recording that its outcome does not contain.
struct RecordingFacts {
  QString path;   // of its file; empty if there is none
  pid_t pid = 0;  // 0: not known here
  Target target = Target::kLaunched;
  ProgramAtEnd program_at_end = ProgramAtEnd::kRunsOn;
};

// True if the recording is shown but is in no file.
[[nodiscard]] bool is_shown_alone(const session::RecordingOutcome& outcome, const RecordingFacts& facts, const Trace* whole);

// What went wrong, and how the program ended; failures first, empty if the program ended well by itself. `whole` is the recorded trace, null if nothing was
// recorded: it tells how a program ended that was attached to.
[[nodiscard]] std::vector<Notice> end_messages(const session::RecordingOutcome& outcome, const RecordingFacts& facts, const Trace* whole);

}  // namespace lanescope::ui
