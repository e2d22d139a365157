// What is to be said when a recording has ended.
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

// What the outcome does not know of the recording.
struct RecordingFacts {
  QString path;   // of its file; empty where there is none
  pid_t pid = 0;  // 0: not known here
  Target target = Target::kLaunched;
  ProgramAtEnd program_at_end = ProgramAtEnd::kRunsOn;
};

// Whether what was recorded is in no file, though it is shown.
[[nodiscard]] bool is_shown_alone(const session::RecordingOutcome& outcome, const RecordingFacts& facts, const Trace* whole);

// What went wrong, and what became of the program; failures first, nothing where the program ended well by itself. `whole` is what was
// recorded, null for nothing: it knows how a program ended that was attached to.
[[nodiscard]] std::vector<Notice> end_messages(const session::RecordingOutcome& outcome, const RecordingFacts& facts, const Trace* whole);

}  // namespace lanescope::ui
