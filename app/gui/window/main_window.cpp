#include "window/main_window.h"

#include <algorithm>
#include <utility>

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QVBoxLayout>

#include "analysis/place.h"
#include "timeline/core/format.h"
#include "window/panel_memory.h"
#include "window/theme.h"

namespace lanescope::ui {
namespace {

constexpr int kLayoutVersion = 2;          // of the panels, for saveState()
constexpr QSize kInitialSize(1600, 1000);  // as far as the screen has room
constexpr int kPanelHeight = 300;          // px at first, as far as the timeline keeps two thirds of the window
constexpr int kDetailsWidth = 360;         // px at first

}  // namespace

MainWindow::MainWindow(Layout layout)
    : layout_(layout),
      shown_(state_),
      answered_(state_, pair_),
      messages_(new MessageArea),
      alignment_(new AlignmentBar(pair_, state_)),
      pages_(new QStackedWidget),
      start_(new StartPage),
      timeline_(new timeline::TimelineView),
      binding_(new TimelineBinding(*timeline_, state_, this)),
      search_(new EventSearch(state_)),
      events_(new EventsPanel(state_, shown_)),
      statistics_(new StatisticsPanel(state_, answered_, shown_)),
      bubbles_(new BubblesPanel(state_, answered_)),
      findings_(new FindingsPanel(answered_)),
      diff_(new DiffPanel(state_, pair_)),
      samples_(new SamplesPanel(state_)),
      details_(new DetailsPanel(state_)),
      diagnostics_(new DiagnosticsPanel(state_)),
      status_(new TraceStatus(state_)),
      actions_(add_actions(*this, *search_)) {
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(messages_);
  column->addWidget(alignment_);
  column->addWidget(pages_, 1);
  pages_->addWidget(start_);
  pages_->addWidget(timeline_);
  setCentralWidget(centre);
  setStatusBar(status_);
  setAcceptDrops(true);

  resize(screen() ? kInitialSize.boundedTo(screen()->availableSize()) : kInitialSize);
  addPanels();
  connectActions();
  connectAnalysis();
  connectViewActions();
  fillTimelineMenus();
  connectLoader();
  connectPair();
  showRecentFiles();
  showTitle({});
  enableActions();
  start_->setFocus();

  if (layout == Layout::kRemembered) {
    restoreGeometry(settings_.windowGeometry());
    sizes_are_initial_ = !restoreState(settings_.windowState(), kLayoutVersion);
    events_->restoreHeaderState(settings_.eventsHeader());
    restore_panels(*this, settings_);
    row_memory_ = std::make_unique<RowMemory>(*timeline_, state_, settings_);
  }
}

// Views go before the state that they follow.
MainWindow::~MainWindow() {
  row_memory_.reset();
  docks_.reset();
  delete takeCentralWidget();
}

QStringList MainWindow::panelNames() {
  return {"events", "statistics", "bubbles", "findings", "diff", "samples", "diagnostics", "details"};
}

void MainWindow::addPanels() {
  docks_ = std::make_unique<PanelDocks>(*this);
  const QStringList titles = {tr("Events"), tr("Statistics"),  tr("Bubbles"),     tr("Findings"),
                              tr("Diff"),   tr("Flame Graph"), tr("Diagnostics"), tr("Details")};
  QWidget* const panels[] = {events_, statistics_, bubbles_, findings_, diff_, samples_, diagnostics_, details_};
  for (qsizetype i = 0; i < titles.size(); ++i) docks_->add(titles[i], panelNames()[i], panels[i], *actions_.panels);
  docks_->layOut(kPanelHeight, kInitialSize.width() - kDetailsWidth, kDetailsWidth);
}

void MainWindow::connectLoader() {
  connect(&loader_, &TraceLoader::started, this, [this](const QString& path) {
    messages_->clear();
    status_->showLoading(QFileInfo(path).fileName());
  });
  connect(&loader_, &TraceLoader::progressed, status_, &TraceStatus::showProgress);
  connect(&loader_, &TraceLoader::partlyLoaded, this, [this](const std::shared_ptr<const Trace>& trace) {
    if (std::exchange(next_change_, TraceChange::kSnapshot) == TraceChange::kOther) return showTrace(trace, TraceChange::kOther);
    if (loader_.path() != recorded_) timeline_->makeReady(trace);
  });
  connect(&loader_, &TraceLoader::loaded, this, [this](const std::shared_ptr<const Trace>& trace) {
    status_->showIdle();
    showTrace(trace, next_change_);
    showTitle(loader_.path());
    settings_.addRecentFile(loader_.path());
    showRecentFiles();
    if (!trace->provenance().condition.empty())
      messages_->show(QString::fromStdString(trace->provenance().condition), MessageWeight::kNote);
    emit opened(loader_.path());
    if (!beside_.isEmpty()) beside_loader_.load(std::exchange(beside_, {}));  // not openBeside(): loader_ is at work until this returns
  });
  connect(&loader_, &TraceLoader::failed, this, [this](const QString& sentence) {
    beside_.clear();
    status_->showIdle();
    forgetIfGone(loader_.path());
    showFailure(sentence);
  });
  connect(&loader_, &TraceLoader::cancelled, this, [this] {
    beside_.clear();
    status_->showIdle();
    if (!state_.trace() || next_change_ == TraceChange::kOther) return;  // nothing of it has come
    if (loader_.path() == recorded_) return;                             // all is shown
    showTitle(loader_.path());
    messages_->show(tr("Loading was cancelled: a part of the trace is shown."), MessageWeight::kNote);
  });
  connect(status_, &TraceStatus::cancelRequested, &loader_, &TraceLoader::cancel);
}

void MainWindow::connectPair() {
  connect(&beside_loader_, &TraceLoader::started, this, [this](const QString& path) { status_->showLoading(QFileInfo(path).fileName()); });
  connect(&beside_loader_, &TraceLoader::progressed, status_, &TraceStatus::showProgress);
  connect(&beside_loader_, &TraceLoader::loaded, this, [this](const std::shared_ptr<const Trace>& trace) {
    status_->showIdle();
    const TracePair::Side first = pair_.isOpen() ? pair_.first() : TracePair::Side{state_.trace(), windowFilePath()};
    pair_.open(first, {trace, beside_loader_.path()});
    settings_.addRecentFile(beside_loader_.path());
    showRecentFiles();
  });
  connect(&beside_loader_, &TraceLoader::failed, this, [this](const QString& sentence) {
    status_->showIdle();
    forgetIfGone(beside_loader_.path());
    showFailure(sentence);
  });
  connect(&beside_loader_, &TraceLoader::cancelled, status_, &TraceStatus::showIdle);
  connect(status_, &TraceStatus::cancelRequested, &beside_loader_, &TraceLoader::cancel);
  connect(&pair_, &TracePair::combined, this, [this](const std::shared_ptr<const Trace>& trace, TraceChange change) {
    showTrace(trace, change);
    showTitle(pair_.first().path);
  });
  connect(&pair_, &TracePair::placed, this, [this](TimeRange range, EventRef event) { show_place(state_, range, event); });
  connect(alignment_, &AlignmentBar::closeRequested, this, &MainWindow::closeBeside);
  connect(alignment_, &AlignmentBar::refused, this, [this](const QString& sentence) { messages_->show(sentence, MessageWeight::kNote); });
}

void MainWindow::openBeside(const QString& path) {
  if (recording_) return showFailure(tr("Stop the recording first; then open another trace beside it."));
  if (loader_.isLoading()) {
    beside_ = path;
    return;
  }
  if (!state_.trace()) return openFile(path);
  beside_loader_.load(path);
}

void MainWindow::closeBeside() {
  const TracePair::Side first = pair_.first();
  pair_.close();
  showTrace(first.trace, TraceChange::kSnapshot);
  showTitle(first.path);
}

void MainWindow::openFile(const QString& path) {
  beside_loader_.abandon();
  beside_.clear();
  recorded_.clear();
  pair_.close();
  next_change_ = TraceChange::kOther;
  loader_.load(path);
}

void MainWindow::launch(const LaunchSettings& settings) {
  pair_.close();
  loader_.abandon();
  recording_.reset();
  follow(LiveRecording::launch(settings));
}

void MainWindow::attach(const AttachSettings& settings) {
  beginAttach(settings, [this](const QString& problem) {
    if (!problem.isEmpty()) showFailure(problem);
  });
}

void MainWindow::beginAttach(const AttachSettings& settings, std::function<void(const QString& problem)> done) {
  pair_.close();
  loader_.abandon();
  recording_.reset();
  enableActions();
  LiveRecording::attach(settings, attach_job_, [this, done = std::move(done)](LiveRecording::Started started) {
    const QString problem = started ? QString() : QString::fromStdString(started.error().text);
    if (started) follow(std::move(started));
    done(problem);
  });
}

void MainWindow::follow(Result<std::unique_ptr<LiveRecording>> started) {
  enableActions();
  if (!started) return showFailure(QString::fromStdString(started.error().text));
  messages_->clear();
  recording_ = std::move(*started);
  next_change_ = TraceChange::kOther;
  connect(recording_.get(), &LiveRecording::grown, this, [this](const std::shared_ptr<const Trace>& snapshot) {
    if (std::exchange(next_change_, TraceChange::kSnapshot) == TraceChange::kSnapshot) return timeline_->makeReady(snapshot);
    showTrace(snapshot, TraceChange::kOther);
    timeline_->setFollowLive(timeline::FollowLive::kYes);
  });
  connect(recording_.get(), &LiveRecording::progressed, this, &MainWindow::showRecordingProgress);
  connect(recording_.get(), &LiveRecording::message, this,
          [this](const QString& sentence) { messages_->show(sentence, MessageWeight::kNote); });
  connect(recording_.get(), &LiveRecording::ended, this, &MainWindow::finishRecording, Qt::QueuedConnection);
  showTitle(recording_->path());
  enableActions();
}

void MainWindow::stopRecording() {
  if (recording_) recording_->stop();
}

void MainWindow::finishRecording(const session::RecordingOutcome& outcome) {
  const QString path = recording_->path();
  recording_.reset();
  timeline_->setFollowLive(timeline::FollowLive::kNo);
  enableActions();
  status_->showIdle();
  if (path.isEmpty()) {
    messages_->show(tr("The recording ended before it began: nothing was recorded."), MessageWeight::kNote);
    return emit recordingEnded();
  }
  recorded_ = path;
  loader_.load(path);  // next_change_ stays: the file is a later state of what was drawn live
  if (!outcome.target) messages_->show(tr("The recording was stopped. The program runs on."), MessageWeight::kNote);
  if (outcome.failure)
    messages_->show(QString::fromStdString(outcome.failure->text), MessageWeight::kError);
  else if (outcome.target && outcome.target->signal != 0)
    messages_->show(tr("The program was ended by signal %1. What it did until then is shown.").arg(outcome.target->signal),
                    MessageWeight::kNote);
  emit recordingEnded();
}

void MainWindow::showRecordingProgress(const session::RecordingStatistics& statistics) {
  const QString seconds = QString::number(std::chrono::duration<double>(statistics.elapsed).count(), 'f', 1);
  const QString events = QString::fromStdString(timeline::format_count(statistics.events));
  const QString dropped = QString::fromStdString(timeline::format_count(statistics.dropped));
  status_->showRecording((recording_ && recording_->isStopping() ? tr("Stopping · %1 s · %2 events · %3 dropped")
                                                                 : tr("● Recording · %1 s · %2 events · %3 dropped"))
                             .arg(seconds, events, dropped));
}

void MainWindow::showTrace(std::shared_ptr<const Trace> trace, TraceChange change) {
  state_.setTrace(std::move(trace), change);
  if (pages_->currentWidget() != timeline_) {
    pages_->setCurrentWidget(timeline_);
    timeline_->setFocus();
  }
  enableActions();
}

void MainWindow::showTitle(const QString& path) {
  setWindowFilePath(path);
  statistics_->setFile(path);
  findings_->setFile(path);
  QString name = QFileInfo(path).fileName();
  if (pair_.isOpen()) name = tr("%1 | %2").arg(name, pair_.second().name());
  setWindowTitle(path.isEmpty() ? tr("Lanescope") : tr("%1 – Lanescope").arg(name));
}

void MainWindow::showFailure(const QString& sentence) {
  messages_->show(sentence, MessageWeight::kError);
  emit failed(sentence);
}

void MainWindow::showRecentFiles() {
  const QStringList paths = settings_.recentFiles();
  start_->setRecentFiles(paths);
  actions_.open_recent->clear();
  for (const QString& path : paths) {
    QAction* entry = actions_.open_recent->addAction(QFileInfo(path).fileName(), this, [this, path] { openFile(path); });
    entry->setToolTip(path);
    entry->setStatusTip(path);
  }
  actions_.open_recent->addSeparator();
  actions_.open_recent->addAction(tr("Clear the list"), this, [this] {
    settings_.clearRecentFiles();
    showRecentFiles();
  });
  actions_.open_recent->setEnabled(!paths.isEmpty());
}

// A recent file that somebody removed is offered once more, not for ever.
void MainWindow::forgetIfGone(const QString& path) {
  if (QFileInfo::exists(path)) return;
  settings_.removeRecentFile(path);
  showRecentFiles();
}

void MainWindow::enableActions() {
  const bool has_trace = state_.trace() != nullptr;
  const bool has_event = state_.selectedEvent().valid();
  actions_.copy_details->setEnabled(has_event);
  for (QAction* action : {actions_.zoom_to_selection, actions_.clear_selection})
    action->setEnabled(has_event || state_.selectedRange().has_value());
  actions_.stop->setEnabled(recording_ != nullptr);
  actions_.follow_live->setEnabled(recording_ != nullptr);
  actions_.back->setEnabled(timeline_->canGoBack());
  actions_.forward->setEnabled(timeline_->canGoForward());
  for (QAction* action : {actions_.export_csv, actions_.zoom_in, actions_.zoom_out, actions_.fit, actions_.go_to_time, actions_.mark,
                          actions_.longest_gaps, actions_.find, actions_.find_next, actions_.find_previous, actions_.filter_rows,
                          actions_.filter_events, actions_.navigate->menuAction(), actions_.rows->menuAction()})
    action->setEnabled(has_trace);
}

bool MainWindow::isSettled() const {
  return !loader_.isLoading() && !beside_loader_.isLoading() && !timeline_->isMakingReady() && beside_.isEmpty() && !pair_.isCombining() &&
         !recording_ && !shown_.isGathering() && !events_->isSorting() && !statistics_->isComputing() && !search_->isSearching() &&
         !bubbles_->isComputing() && !findings_->isComputing() && !diff_->isComputing() && !samples_->isComputing() &&
         !details_->isComputing();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (!urls.isEmpty() && urls.first().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  const QList<QUrl> urls = event->mimeData()->urls();
  openFile(urls.first().toLocalFile());
  if (urls.size() > 1) openBeside(urls[1].toLocalFile());
  if (urls.size() > 2)
    messages_->show(tr("Two traces are shown beside each other at most: the first two were opened."), MessageWeight::kNote);
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (!std::exchange(sizes_are_initial_, false)) return;
  docks_->setSizes(std::min(kPanelHeight, height() / 3), kInitialSize.width() - kDetailsWidth, kDetailsWidth);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (recording_ &&
      QMessageBox::question(this, tr("Recording"),
                            tr("A recording is running. Stop it and close? What was recorded is kept in %1.").arg(recording_->path())) !=
          QMessageBox::Yes)
    return event->ignore();
  if (layout_ == Layout::kRemembered) {
    settings_.setWindowGeometry(saveGeometry());
    settings_.setWindowState(saveState(kLayoutVersion));
    settings_.setEventsHeader(events_->headerState());
    keep_panels(*this, settings_);
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && actions_.launch) paint_icons(actions_, palette());
}

}  // namespace lanescope::ui
