#include "session/recording_end.h"
#include "base/files/file_path.h"
#include "base/text/texts.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <QObject>

namespace lanescope::ui {
namespace {

using session::EndReason;

// "SIGKILL (Killed)".
QString signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  const QString short_name = name != nullptr ? QStringLiteral("SIG%1").arg(QString::fromLatin1(name)) : tr("signal %1").arg(signal);
  return QStringLiteral("%1 (%2)").arg(short_name, QString::fromLocal8Bit(strsignal(signal)));
}

// Empty: it ended well.
QString exit_text(const session::ExitStatus& status) {
  if (status.signal != 0) return tr("The program was ended by %1. What it did until then is shown.").arg(signal_text(status.signal));
  if (status.code == 0) return {};
  return tr("The program exited with code %1. What it printed is in Diagnostics, under Output.").arg(status.code);
}

// For a process that was attached to and is not our child: its end as seen by the recording.
QString attached_end_text(const RecordingFacts& facts, const Trace* whole) {
  if (whole == nullptr) return tr("The process %1 has ended.").arg(facts.pid);
  const auto& processes = whole->processes();
  const auto found =
      std::find_if(processes.rbegin(), processes.rend(), [&](const Process& process) { return process.pid == static_cast<std::uint32_t>(facts.pid); });
  if (found == processes.rend()) return tr("The process %1 has ended.").arg(facts.pid);
  const QString name = QStringLiteral("%1 (%2)").arg(QString::fromStdString(found->name)).arg(facts.pid);
  switch (found->end_kind) {
    case ProcessEndKind::kSignaled:
      return tr("%1 was ended by %2. What it did until then is shown.").arg(name, signal_text(found->signal));
    case ProcessEndKind::kLost:
      return tr("%1 was killed, or ended without running its exit handlers. What it did until then is shown.").arg(name);
    case ProcessEndKind::kReplaced:
      return tr("%1 became another program (exec), which is not recorded. What it did until then is shown.").arg(name);
    case ProcessEndKind::kDetached:
      return tr("The recording has ended. The program runs on as process %1.").arg(facts.pid);
    case ProcessEndKind::kExited:
    case ProcessEndKind::kUnknown:
      return tr("%1 has ended.").arg(name);
  }
  return {};
}

// For a program that still ran when the recording ended.
QString program_text(const session::RecordingOutcome& outcome, const RecordingFacts& facts) {
  const bool was_to_end = facts.target == Target::kLaunched && facts.program_at_end == ProgramAtEnd::kEnds;
  if (!outcome.target && facts.pid != 0 && was_to_end && outcome.reason == EndReason::kStopped)
    return tr("The recording was stopped. The program did not end when it was asked to (SIGTERM): it runs on as process %1.").arg(facts.pid);
  if (!outcome.target && facts.pid == 0) return {};  // the failure says why nothing is known of it
  if (!outcome.target) return tr("The recording has ended. The program runs on as process %1.").arg(facts.pid);
  if (was_to_end && (outcome.reason == EndReason::kStopped || outcome.reason == EndReason::kDuration || outcome.reason == EndReason::kRangeEnd))
    return outcome.reason == EndReason::kStopped ? tr("The recording was stopped, and the program was ended.")
                                                 : tr("The recording is over, and the program was ended.");
  return exit_text(*outcome.target);
}

}  // namespace

bool is_shown_alone(const session::RecordingOutcome& outcome, const RecordingFacts& facts, const Trace* whole) {
  const std::filesystem::path file = file_path(facts.path);
  return whole != nullptr && whole->event_count() > 0 && std::find(outcome.gone.begin(), outcome.gone.end(), file) != outcome.gone.end();
}

std::vector<Notice> end_messages(const session::RecordingOutcome& outcome, const RecordingFacts& facts, const Trace* whole) {
  std::vector<Notice> messages;
  if (is_shown_alone(outcome, facts, whole))
    messages.push_back({tr("%1 was removed or overwritten by another program while it was recorded. What was recorded is in this window alone: File > Save as "
                           "writes it.")
                            .arg(facts.path),
                        MessageWeight::kError});
  else if (outcome.failure)
    messages.push_back({QString::fromStdString(outcome.failure->text), MessageWeight::kError});
  if (facts.path.isEmpty() && !outcome.failure) messages.push_back({tr("The recording ended before it began: nothing was recorded."), MessageWeight::kNote});
  const bool has_ended = facts.target == Target::kRunning && outcome.reason == EndReason::kTargetExited;
  const QString of_program = has_ended ? attached_end_text(facts, whole) : program_text(outcome, facts);
  if (!of_program.isEmpty()) messages.push_back({of_program, MessageWeight::kNote});
  return messages;
}

}  // namespace lanescope::ui
