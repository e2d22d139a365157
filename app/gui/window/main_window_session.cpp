// What the main window shows of its session, and what it asks.
#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <QApplication>
#include <QFileInfo>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QThread>
#include <QTimer>

#include "analysis/place.h"
#include "base/text/diagnostic_text.h"
#include "base/text/texts.h"
#include "model/events/carried_filter.h"
#include "model/import/open_trace.h"
#include "record/attach_dialog.h"
#include "record/launch_dialog.h"
#include "record/remote_dialog.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"
#include "window/main_window.h"
#include "window/quitting.h"
#include "window/recording_question.h"

namespace lanescope::ui {
namespace {

constexpr int kCloseInterval = 50;  // ms between attempts to close the window

// True if the recordings of a trace are so far apart in time that an axis for all of them shows none. O(parts · log parts).
bool are_out_of_sight(const Trace& trace) {
  constexpr Nanoseconds kPixels = 1'000;  // of an axis, about
  std::vector<TimeRange> extents;
  for (const TracePart& part : trace.parts()) extents.push_back(part.extent);
  std::sort(extents.begin(), extents.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
  Nanoseconds covered = 0, end = std::numeric_limits<Nanoseconds>::min();
  for (const TimeRange extent : extents) {
    covered += std::max<Nanoseconds>(0, extent.end - std::max(end, extent.begin));
    end = std::max(end, extent.end);
  }
  return extents.size() > 1 && covered < trace.extent().length() / kPixels;
}

}  // namespace

void MainWindow::connectSession() {
  connect(&session_, &SessionController::changed, this, [this] {
    enableActions();
    showActivity();
  });
  connect(&state_, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      notes_keeper_->close();
      is_shown_alone_ = false;
      if (!pair().isOpen()) actions_.row_filter->clear();  // other traces may not have these rows; if the sides are swapped, the rows stay
    }
    if (state_.trace()) showTrace();
    if (change == TraceChange::kSnapshot) placeNotes();
    if (change == TraceChange::kOther) diagnostics_->setFiles(session_.files());
    enableActions();
  });
  file_watch_ = new FileWatch(*this, state_, session_, *messages_, *status_);
  connect(file_watch_, &FileWatch::reloadWished, this, [this] { begin(session_.sameAgain()); });
  connect(&session_, &SessionController::toBeMadeReady, timeline_, &timeline::TimelineView::makeReady);
  connect(timeline_, &timeline::TimelineView::traceReady, &session_, &SessionController::showReady);
  connect(&session_, &SessionController::fileChanged, this, &MainWindow::showTitle);
  connect(&session_, &SessionController::somethingBegan, messages_, &MessageArea::clear);
  connect(&session_, &SessionController::somethingBegan, this, &MainWindow::stay);  // the user continues to work
  connect(&session_, &SessionController::said, this, [this](const Notice& message) { messages_->show(message.sentence, message.weight); });
  connect(&session_, &SessionController::loading, this, [this](const QString& path) { status_->showLoading(QFileInfo(path).fileName()); });
  connect(&session_, &SessionController::progressed, status_, &TraceStatus::showProgress);
  connect(status_, &TraceStatus::cancelRequested, &session_, &SessionController::cancelLoading);
  connect(recent_, &RecentFiles::chosen, this, &MainWindow::begin);
  connect(&session_, &SessionController::openedBeside, this, [this](const QString& path) { remember({WishKind::kOpen, session_.file(), {}, path}); });
  connect(&session_, &SessionController::opened, this, [this](const QString& path) {
    remember({WishKind::kOpen, path, session_.file() == path ? session_.paths().mid(1) : QStringList()});
    showTitle();
    messages_->settle(MessageSubject::kExport);  // until now, only a part of it could be saved
    diagnostics_->setFiles(session_.files());
    if (state_.trace() && !pair().isOpen()) notes_keeper_->open(path, *state_.trace());
    placeNotes();
    tellLeftOut();
    if (state_.trace()) telling_->showFor(*state_.trace());
    emit opened(path);
  });
  connect(&session_, &SessionController::failed, this, [this](const QString& sentence, const QString& path) {
    if (layout_ != Layout::kPicture) recent_->forgetIfGone(path);
    showFailure(sentence);
  });
  connect(diagnostics_, &DiagnosticsPanel::damageFound, status_, &TraceStatus::showDamage);
  // Queued, because dialogs stay open for a long time and must not delay the session.
  connect(&session_, &SessionController::asked, this, &MainWindow::ask, Qt::QueuedConnection);
  connect(&session_, &SessionController::begun, this, &MainWindow::start, Qt::QueuedConnection);
  connect(&fleet_opening_, &FleetOpening::wished, this, &MainWindow::begin);
  connect(&session_, &SessionController::begunElsewhere, this, &MainWindow::windowWished, Qt::QueuedConnection);
}

void MainWindow::connectNotes() {
  connect(timeline_, &timeline::TimelineView::markersEdited, this, &MainWindow::placeNotes);
  connect(notes_keeper_, &NotesKeeper::filesChanged, notes_, &NotesPanel::setFiles);
  connect(notes_keeper_, &NotesKeeper::saving, this, [this] { messages_->settle(MessageSubject::kNotes); });
  connect(notes_keeper_, &NotesKeeper::said, this,
          [this](const QString& sentence) { messages_->show(sentence, MessageWeight::kNote, MessageSubject::kNotes); });
}

void MainWindow::connectPair() {
  connect(&pair(), &TracePair::sidesChanged, this, &MainWindow::showTitle);
  connect(&pair(), &TracePair::sidesChanged, this, [this] {
    before_swap_ = {timeline_->visibleRange(), state_.selectedEvent(), state_.selectedRange(), state_.filter(), state_.trace()};
  });
  connect(&session_, &SessionController::swapped, this, &MainWindow::showSwapped);
  connect(&pair(), &TracePair::placed, this, [this](TimeRange range, EventRef event, TimeRange gap) { show_place(state_, range, event, gap); });
  connect(alignment_, &AlignmentBar::rowsWished, timeline_, &timeline::TimelineView::setTraceSides);
  connect(timeline_, &timeline::TimelineView::rowArrangementChanged, this, [this] { alignment_->showRows(timeline_->traceSides()); });
  connect(alignment_, &AlignmentBar::closeRequested, &session_, &SessionController::closeSecond);
  connect(alignment_, &AlignmentBar::refused, this,
          [this](const QString& sentence) { messages_->showAnew(sentence, MessageWeight::kNote, MessageSubject::kAlignment); });
  for (const auto settles : {&TracePair::alignmentChanged, &TracePair::sidesChanged})
    connect(&pair(), settles, this, [this] { messages_->settle(MessageSubject::kAlignment); });
}

void MainWindow::remember(const Wish& opened) {
  if (layout_ != Layout::kPicture) recent_->add(opened);
}

// The visible range, selection and filter are kept, converted to the times of the trace that is now the first.
void MainWindow::showSwapped() {
  const Nanoseconds shift = pair().shift();  // of the trace that was the first
  const auto shifted = [shift](TimeRange range) { return TimeRange{range.begin + shift, range.end + shift}; };
  timeline_->setVisibleRange(shifted(before_swap_.visible));
  if (const EventRef event = before_swap_.event; event.valid()) {
    const auto lanes_second = static_cast<LaneId>(pair().second().trace->lanes().size());  // they came first
    state_.setSelectedEvent(event.lane < lanes_second ? pair().ofSecond(event) : EventRef{event.lane - lanes_second, event.index});
  }
  if (before_swap_.range) state_.setSelectedRange(shifted(*before_swap_.range));
  if (const std::shared_ptr<const Trace> before = std::exchange(before_swap_.trace, nullptr))
    state_.setFilter(carried_filter(before_swap_.filter, *before, *state_.trace(), swapped_track(*before, *state_.trace())));
  placeNotes();
}

// For two traces, the notes of both are shown on the axis, and follow the second trace when it is shifted; without the second trace, its notes are removed.
// Notes that are made during a recording are stored at once, because the window may be closed when the recording has ended.
void MainWindow::placeNotes() {
  if (pair().isOpen() && state_.trace() && state_.trace()->parts().size() == 2)
    notes_keeper_->openPair(pair().first().path, pair().second().path, *state_.trace());
  else if (!pair().isOpen() && notes_keeper_->hasSeveral() && state_.trace() && state_.trace()->parts().empty())
    notes_keeper_->open(session_.file(), *state_.trace());
  else if (session_.isRecording() && state_.trace() && !notes_keeper_->isOpen() && !session_.recordedFile().isEmpty())
    notes_keeper_->open(session_.recordedFile(), *state_.trace());
}

// Tells a user who opened the files of 64 ranks why only two are shown, or who opened those of several days why there is nothing to see.
void MainWindow::tellLeftOut() {
  if (!state_.trace() || pair().isOpen()) return;
  if (are_out_of_sight(*state_.trace()))
    messages_->show(tr("These recordings were made so far apart in time that none can be seen on one axis. Open one of them, or two to compare them from "
                       "their starts."),
                    MessageWeight::kNote);
  const std::size_t left_out = count_left_out_as_same(*state_.trace());
  if (left_out == 0) return;
  const std::size_t files = left_out + std::max<std::size_t>(1, state_.trace()->parts().size());
  messages_->show(tr("%1 of %2 files are left out: they hold the same recordings as others. Diagnostics > Messages names them.").arg(left_out).arg(files),
                  MessageWeight::kNote);
}

void MainWindow::connectRecording() {
  connect(&session_, &SessionController::recordingBegan, this, [this] {
    showTrace();
    clock_elsewhere_.reset();
    diagnostics_->setRecording(DiagnosticsPanel::Recording::kGoesOn);
    timeline_->setFollowLive(timeline::FollowLive::kYes);
  });
  connect(&session_, &SessionController::completed, this, &MainWindow::closeWhenDone);
  connect(&session_, &SessionController::programOutlivesStop, this, [this] {
    messages_->show(
        tr("The program was asked to end (SIGTERM), and runs on. To stop the recording once more ends it at once, without waiting for the program."),
        MessageWeight::kNote, MessageSubject::kRecording);
  });
  connect(&session_, &SessionController::shownAlone, this, [this](const QString& told) {
    is_shown_alone_ = true;
    messages_->withdraw(told);
  });
  connect(exports_, &Exports::wrote, this, [this](const QString& path) {
    if (path == saved_whole_) is_shown_alone_ = false;
  });
  connect(&session_, &SessionController::recordingProgressed, this, &MainWindow::showRecordingProgress);
  // A later state of the trace has other open ranges; until the next progress, they would count as if they had ended.
  connect(&state_, &SelectionState::traceChanged, this, [this] {
    const bool has_clock = state_.trace() && state_.trace()->provenance().monotonic_epoch != 0 && state_.openEvents().now != 0;
    if (!has_clock || !session_.recording() || session_.recording()->isStopping()) return;
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    state_.setOpenEvents(session_.recording()->openEvents(state_.trace().get()), now.count() - state_.trace()->provenance().monotonic_epoch);
  });
  connect(&session_, &SessionController::recordingEnded, this, [this] {
    messages_->withdraw(shown_text(diagnostic_message(session::kNamingMessage)));
    messages_->settle(MessageSubject::kRecording);
    if (!isRecording()) {
      leaveClock();
      diagnostics_->setRecording(DiagnosticsPanel::Recording::kIsOver);
      timeline_->setFollowLive(timeline::FollowLive::kNo);
    }
    emit recordingEnded();
  });
}

void MainWindow::ask(const Wish& wish) {
  LiveRecording* recording = session_.recording();
  session_event::Answer answer = recording ? ask_about_recording(*this, wish, *recording) : session_event::Answer::kHere;
  if (answer == session_event::Answer::kHere) messages_->settle(MessageSubject::kClosing);  // the last wish replaces earlier ones
  if (wish.kind == WishKind::kClose && answer == session_event::Answer::kHere && isRecording())
    messages_->show(tr("The window closes once the recording is complete."), MessageWeight::kNote, MessageSubject::kClosing);
  const bool shows_another = wish.kind != WishKind::kClose && wish.kind != WishKind::kOpenBeside;  // closing asks by itself; opening beside keeps what is shown
  if (answer == session_event::Answer::kHere && shows_another && !letsGo()) answer = session_event::Answer::kNot;
  if (wish.kind == WishKind::kClose && answer == session_event::Answer::kNot) stay();
  session_.answer(wish, answer);
}

// Empty: nothing.
QString MainWindow::whatIsOnlyHere() {
  QStringList what;
  if (is_shown_alone_) what += tr("What was recorded is in this window alone: its file was removed or overwritten.");
  if (const QStringList files = notes_keeper_->unwritten(); !files.isEmpty())
    what += tr("Notes are in this window alone, since they can't be written to %1. Rename that file, or look at its folder, and try again.")
                .arg(files.join(QStringLiteral(", ")));
  return what.join(u'\n');
}

bool MainWindow::letsGo() {
  const QString what = whatIsOnlyHere();
  if (what.isEmpty()) return true;
  QMessageBox box(QMessageBox::Warning, tr("Not in any file"), what, QMessageBox::Cancel, this);
  const QPushButton* save = is_shown_alone_ ? box.addButton(tr("Save as…"), QMessageBox::AcceptRole) : nullptr;
  const QPushButton* lose = box.addButton(tr("Go on without"), QMessageBox::DestructiveRole);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  if (save != nullptr && box.clickedButton() == save) saveAs();
  return box.clickedButton() == lose;
}

void MainWindow::start(const Wish& wish) {
  switch (wish.kind) {
    case WishKind::kLaunch:
      return chooseLaunch();
    case WishKind::kAttach:
      return chooseAttach();
    case WishKind::kRecordElsewhere:
      return chooseElsewhere();
    case WishKind::kClose:
      return closeSoon();
    case WishKind::kOpen:
    case WishKind::kOpenBeside:
      return;  // the session reads files itself
  }
}

// An open dialog or menu runs within a function of some window, so this window must not be destroyed before it ends.
void MainWindow::closeSoon() {
  const bool is_within =
      QApplication::activeModalWidget() != nullptr || QApplication::activePopupWidget() != nullptr || QThread::currentThread()->loopLevel() > 1;
  if (!is_within) return close(), void();
  QTimer::singleShot(kCloseInterval, this, &MainWindow::closeSoon);
}

void MainWindow::launch(const LaunchSettings& settings) {
  if (const QString problem = session_.launch(settings); !problem.isEmpty()) showFailure(problem);
}

void MainWindow::attach(const AttachSettings& settings) {
  session_.attach(settings, [this](const QString& problem) {
    if (!problem.isEmpty()) showFailure(problem);
  });
}

void MainWindow::launchElsewhere(const RemoteSettings& settings) {
  if (const QString problem = session_.launchElsewhere(settings); !problem.isEmpty()) showFailure(problem);
}

void MainWindow::chooseElsewhere() {
  RemoteDialog dialog(settings_, this);
  dialog.setStart([this](const RemoteSettings& settings) { return session_.launchElsewhere(settings); });
  dialog.exec();
}

void MainWindow::chooseLaunch() {
  LaunchDialog dialog(settings_, this);
  dialog.setStart([this](const LaunchSettings& settings) { return session_.launch(settings); });
  dialog.exec();
}

void MainWindow::chooseAttach() {
  AttachDialog dialog(settings_, this);
  connect(&dialog, &AttachDialog::requested, this, [this, &dialog](const AttachSettings& settings) {
    session_.attach(settings, [shown = QPointer<AttachDialog>(&dialog)](const QString& problem) {
      if (shown) shown->attachEnded(problem);
    });
  });
  connect(&dialog, &QDialog::rejected, this, [this] { session_.cancelAttach(); });
  dialog.exec();
}

void MainWindow::showTrace() {
  if (pages_->currentWidget() != timeline_) {
    pages_->setCurrentWidget(timeline_);
    timeline_->setFocus();
  }
}

void MainWindow::showTitle() {
  const QString& path = session_.file();
  setWindowFilePath(path);
  statistics_->setFiles(session_.paths());
  findings_->setFiles(session_.paths());
  QString name = QFileInfo(path).fileName();
  const std::size_t parts = state_.trace() ? state_.trace()->parts().size() : 0;
  if (pair().isOpen())
    name = tr("%1 | %2").arg(name, pair().second().name());
  else if (parts > 1 && !QFileInfo(path).isDir())
    name = tr("%1 and %n more", nullptr, static_cast<int>(parts) - 1).arg(name);
  setWindowTitle(path.isEmpty() ? tr("Lanescope") : tr("%1 — Lanescope").arg(name));
}

void MainWindow::showActivity() {
  if (!session_.isReading() && !isRecording()) status_->showIdle();
}

// Nothing is recorded any more: what was open is as long as it was when the recording ended.
void MainWindow::leaveClock() {
  timeline_->setClock(std::nullopt);
  state_.setOpenEvents({}, std::nullopt);
}

void MainWindow::showRecordingProgress(const session::RecordingStatistics& statistics) {
  const QString seconds = QString::number(std::chrono::duration<double>(statistics.elapsed).count(), 'f', 1);
  const QString dropped = QString::fromStdString(timeline::format_count(statistics.dropped));
  if (const auto elsewhere = session_.recording()->elsewhere()) return showProgressElsewhere(statistics, *elsewhere);
  const Nanoseconds epoch = state_.trace() ? state_.trace()->provenance().monotonic_epoch : 0;
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC, as in the trace
  if (statistics.has_ceased && !session_.recording()->isStopping()) {
    leaveClock();
    return status_->showRecording({tr("○ Not recording: the file has ended, the program runs"), events_text(state_.trace().get())});
  }
  const std::vector<EventRef> open = session_.recording()->openEvents(state_.trace().get());
  if (epoch != 0 && !session_.recording()->isStopping()) {
    timeline_->setClock(now.count() - epoch);
    state_.setOpenEvents(open, now.count() - epoch);
  }
  timeline_->setOpenEvents(open);
  const QString what = session_.recording()->isStopping() ? tr("Stopping") : tr("● Recording");
  QStringList parts = {what, tr("%1 s").arg(seconds), events_text(state_.trace().get()), tr("%1 dropped").arg(dropped)};
  if (const std::size_t left_out = session_.recording()->openLeftOut(); left_out > 0)
    parts += tr("%n open ranges not drawn", nullptr, static_cast<int>(left_out));
  status_->showRecording(parts);
}

// The present time of the other machine's clock is not known, only a lower bound from the time when the newest event arrived; from then on it advances like the
// local clock.
void MainWindow::showProgressElsewhere(const session::RecordingStatistics& statistics, const RecordingSource::Elsewhere& elsewhere) {
  constexpr std::chrono::seconds kWorthWords{2};
  const QString seconds = QString::number(std::chrono::duration<double>(statistics.elapsed).count(), 'f', 1);
  const bool has_begun = !session_.recording()->path().isEmpty();
  if (const std::shared_ptr<const Trace>& trace = state_.trace(); trace && trace->event_count() > 0 && !session_.recording()->isStopping()) {
    const Nanoseconds now = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    const Nanoseconds ahead = trace->extent().end - now;
    clock_elsewhere_ = std::max(clock_elsewhere_.value_or(ahead), ahead);
    timeline_->setClock(now + *clock_elsewhere_);
  }
  const QString what = session_.recording()->isStopping() ? tr("Stopping on %1") : has_begun ? tr("● Recording on %1") : tr("Starting on %1");
  QStringList parts = {what.arg(elsewhere.machine), tr("%1 s").arg(seconds)};
  const bool is_outlined = state_.trace() && state_.trace()->provenance().outline_only;
  if (is_outlined)
    parts += tr("outline only");
  else if (has_begun)
    parts += events_text(state_.trace().get());
  if (elsewhere.behind >= kWorthWords)
    parts += tr("%n s behind", nullptr, static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(elsewhere.behind).count()));
  status_->showRecording(parts);
}

void MainWindow::showFailure(const QString& sentence, MessageSubject subject) {
  messages_->showAnew(sentence, MessageWeight::kError, subject);
  emit failed(sentence);
}

}  // namespace lanescope::ui
