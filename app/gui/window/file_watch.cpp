#include "window/file_watch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <QApplication>
#include <QFile>

#include "export/trace_writing.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
namespace {

constexpr int kProblemInterval = 500;  // ms between checks whether files have become unreadable
constexpr int kWatchInterval = 2'000;  // ms between checks whether files were written again

// Why events of the trace can't be read; empty if none was missed so far.
QString lack_of(const std::shared_ptr<const Trace>& trace) {
  const Result<void> all = trace ? check_all_was_read(*trace) : Result<void>();
  return all ? QString() : QString::fromStdString(all.error().text);
}

}  // namespace

FileWatch::FileWatch(QWidget& window, const SelectionState& state, const SessionController& session, MessageArea& messages, TraceStatus& status)
    : QObject(&window),
      window_(window),
      state_(state),
      session_(session),
      messages_(messages),
      status_(status),
      told_problems_(SegmentCache::of_process().problems().size()) {  // those of before are not of this window
  reading_.setInterval(kProblemInterval);
  watching_.setInterval(kWatchInterval);
  connect(&reading_, &QTimer::timeout, this, &FileWatch::tellProblems);
  connect(&watching_, &QTimer::timeout, this, [this] {
    if (window_.isVisible()) tellChanges();
  });
  connect(&state_, &SelectionState::traceChanged, this, &FileWatch::showTrace);
  connect(&session_, &SessionController::opened, this, &FileWatch::noteFiles);
  connect(&session_, &SessionController::openedBeside, this, &FileWatch::noteFiles);
}

void FileWatch::showTrace(TraceChange change) {
  if (change == TraceChange::kOther) {
    told_lack_.clear();
    messages_.settle(MessageSubject::kReading);
    watching_.stop();
    opened_as_.clear();
  }
  const bool is_read = state_.trace() && !has_memory_for_events(*state_.trace());
  if (!is_read) reading_.stop();
  if (is_read && !reading_.isActive()) reading_.start();
  tellProblems();  // also if a recording stays in memory because its temporary file cannot be written
}

void FileWatch::noteFiles() {
  messages_.settle(MessageSubject::kChange);
  opened_as_.clear();
  for (const std::filesystem::path& file : session_.files())
    if (const std::optional<FileState> state = state_of(file)) opened_as_.emplace_back(file, *state);
  watching_.start();
}

// Another recording may have taken the name, or somebody continues to write the file. A file that was removed is still shown as long as the user wants.
void FileWatch::tellChanges() {
  const auto has_changed = [](auto& opened) { return find_change(opened.first, opened.second) == FileChange::kContent; };
  const auto changed = std::find_if(opened_as_.begin(), opened_as_.end(), has_changed);
  if (changed == opened_as_.end()) return;
  const QString name = QFile::decodeName(changed->first.filename().c_str());
  opened_as_.clear();  // it is reported only once
  watching_.stop();
  messages_.show(tr("%1 was written anew since it was opened: shown is what it was then.").arg(name), MessageWeight::kNote, MessageSubject::kChange,
                 {tr("Reload"), [this] { emit reloadWished(); }});
}

// Each window tells what is lacking in its own trace, and what the whole process lacks.
void FileWatch::tellProblems() {
  const QString own = lack_of(state_.trace());
  if (!own.isEmpty() && std::exchange(told_lack_, own) != own) messages_.showAnew(own, MessageWeight::kError, MessageSubject::kReading);
  static QString of_traces;  // also of those that were closed since
  for (const QWidget* widget : QApplication::topLevelWidgets()) {
    const auto* watch = widget->findChild<const FileWatch*>(QString(), Qt::FindDirectChildrenOnly);
    if (const QString lack = watch == nullptr ? QString() : lack_of(watch->state_.trace()); !of_traces.contains(lack)) of_traces += lack;
  }
  const std::vector<std::string> problems = SegmentCache::of_process().problems();
  for (; told_problems_ < problems.size(); ++told_problems_)
    if (const QString problem = QString::fromStdString(problems[told_problems_]); !of_traces.contains(problem)) messages_.show(problem, MessageWeight::kError);
  if (state_.trace() && !holds_events(*state_.trace())) status_.showUnreadable(count_unreadable(*state_.trace()));
}

}  // namespace lanescope::ui
