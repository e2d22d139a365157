#include "window/main_window.h"

#include <algorithm>
#include <utility>

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMimeData>
#include <QScreen>
#include <QTabBar>
#include <QTimer>
#include <QVBoxLayout>

#include "base/input/typing.h"
#include "base/room/screen_room.h"
#include "window/docks/panel_memory.h"
#include "window/docks/panel_room.h"
#include "window/look/theme.h"
#include "window/quitting.h"

namespace lanescope::ui {
namespace {

constexpr QSize kInitialSize(1600, 1000);  // limited by the screen
constexpr int kPanelHeight = 300;          // px initially, if the timeline keeps two thirds of the window
constexpr int kDetailsWidth = 360;         // px initially

constexpr QLatin1String kScreenSize("screen");  // of the screen that the window was on: among the kept sizes of panels

// For a window that was kept from a larger screen.
void fit_on_screen(QWidget& window) {
  const QSize size = window.size().boundedTo(room_on_screen(window));
  if (window.isMaximized() || window.isFullScreen() || size == window.size()) return;
  const QRect screen = window.screen()->availableGeometry();
  const QSize frame = screen.size() - room_on_screen(window);
  window.resize(size);
  window.move(std::clamp(window.x(), screen.left(), screen.left() + screen.width() - size.width() - frame.width()),
              std::clamp(window.y(), screen.top(), screen.top() + screen.height() - size.height() - frame.height()));
}

}  // namespace

MainWindow::MainWindow(Layout layout)
    : layout_(layout),
      shown_(state_),
      session_(state_),
      answered_(state_, session_.pair()),
      messages_(new MessageArea),
      alignment_(new AlignmentBar(session_.pair(), state_)),
      pages_(new QStackedWidget),
      start_(new StartPage),
      timeline_(new timeline::TimelineView(state_.selection())),
      binding_(new TimelineBinding(*timeline_, state_, this)),
      search_(new EventSearch(state_)),
      events_(new EventsPanel(state_, shown_)),
      statistics_(new StatisticsPanel(state_, answered_, shown_)),
      bubbles_(new BubblesPanel(state_, answered_)),
      findings_(new FindingsPanel(answered_)),
      diff_(new DiffPanel(state_, session_.pair())),
      samples_(new SamplesPanel(state_)),
      query_(new QueryPanel(state_, answered_, settings_)),
      notes_(new NotesPanel(*timeline_)),
      notes_keeper_(new NotesKeeper(*timeline_, this)),
      kernel_(new KernelPanel(state_)),
      source_(new SourcePanel(state_)),
      idle_(new IdleTimeSource(state_, this)),
      loop_(new LoopSource(state_, this)),
      waits_(new WaitSource(state_, this)),
      details_(new DetailsPanel(state_, *idle_, *waits_)),
      diagnostics_(new DiagnosticsPanel(state_)),
      status_(new TraceStatus(state_)),
      exports_(new Exports(settings_)),
      actions_(add_actions(*this, *search_)),
      recent_(new RecentFiles(settings_, *actions_.open_recent, *start_, this)) {
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(alignment_);
  column->addWidget(pages_, 1);
  pages_->addWidget(new PanelRoom(*start_));  // it is as high as there are recent files, which a small window need not be
  pages_->addWidget(timeline_);
  setCentralWidget(centre);
  messages_->lieOver(*centre);
  setStatusBar(status_);
  status_->addPermanentWidget(exports_);
  setAcceptDrops(true);

  resize(kInitialSize.boundedTo(room_on_screen(*this)));
  addPanels();
  connectFiles();
  connectSelection();
  connectPanels();
  connectWindow();
  connectAnalysis();
  connectViewActions();
  connectLoop();
  fillTimelineMenus();
  connectKeys();
  connectSession();
  connectNotes();
  connectPair();
  connectRecording();
  connectKernels();
  showTitle();
  enableActions();
  start_->setFocus();

  if (layout == Layout::kRemembered) {
    QVariantMap sizes = settings_.panelSizes();
    const QSize screen_before = sizes.take(kScreenSize).toSize();
    if (restoreGeometry(settings_.windowGeometry()) && screen_before != screen()->size()) fit_on_screen(*this);
    sizes_are_initial_ = !docks_->restore(settings_.windowState(), Settings::kLayoutVersion);
    if (!sizes_are_initial_) docks_->keepSizes(sizes);
    docks_->setFloatingPlaces(settings_.floatingPlaces());
    events_->restoreHeaderState(settings_.eventsHeader(), settings_.eventsColumns());
    restore_panels(*this, settings_);
    row_memory_ = std::make_unique<RowMemory>(*timeline_, state_, settings_);
  }
}

// Views must be destroyed before the state that they follow.
MainWindow::~MainWindow() {
  row_memory_.reset();
  telling_.reset();
  docks_.reset();
  delete takeCentralWidget();
}

QStringList MainWindow::panelNames() {
  return {"events", "statistics", "bubbles", "findings", "diff", "samples", "query", "notes", "kernel", "source", "diagnostics", "details"};
}

// A key that nobody handled is passed to the timeline, unless the focused widget takes typed text: there it would have had another meaning.
void MainWindow::keyPressEvent(QKeyEvent* event) {
  const QWidget* focus = QApplication::focusWidget();
  const bool is_for_timeline = pages_->currentWidget() == timeline_ && focus != nullptr && focus != timeline_ && !takes_typing(*focus);
  if (!is_for_timeline || !timeline_->actOn(*event)) QMainWindow::keyPressEvent(event);
}

void MainWindow::addPanels() {
  docks_ = std::make_unique<PanelDocks>(*this);
  telling_ = std::make_unique<TellingPanel>(*docks_);
  const QStringList titles = {tr("Events"), tr("Statistics"), tr("Bubbles"), tr("Findings"), tr("Diff"),        tr("Flame Graph"),
                              tr("Query"),  tr("Notes"),      tr("Kernel"),  tr("Source"),   tr("Diagnostics"), tr("Details")};
  QWidget* const panels[] = {events_, statistics_, bubbles_, findings_, diff_, samples_, query_, notes_, kernel_, source_, diagnostics_, details_};
  for (qsizetype i = 0; i < titles.size(); ++i) docks_->add(titles[i], panelNames()[i], panels[i], *actions_.panels);
  docks_->layOut(kPanelHeight, kInitialSize.width() - kDetailsWidth, kDetailsWidth);
}

void MainWindow::enableActions() {
  const bool has_trace = state_.trace() != nullptr;
  const bool has_event = state_.selectedEvent().valid();
  actions_.copy_details->setEnabled(has_event);
  for (QAction* action : {actions_.zoom_to_selection, actions_.clear_selection}) action->setEnabled(has_event || state_.selectedRange().has_value());
  actions_.stop->setEnabled(isRecording());
  actions_.follow_live->setEnabled(isRecording());
  actions_.back->setEnabled(timeline_->canGoBack());
  actions_.forward->setEnabled(timeline_->canGoForward());
  actions_.reload->setEnabled(has_trace && !isRecording() && !session_.file().isEmpty());
  for (QAction* action : {actions_.save_as, actions_.export_csv, actions_.copy_picture, actions_.save_picture, actions_.zoom_in, actions_.zoom_out,
                          actions_.fit, actions_.show_loop, actions_.go_to_time, actions_.mark, actions_.longest_gaps, actions_.find, actions_.find_next,
                          actions_.find_previous, actions_.filter_rows, actions_.filter_events, actions_.navigate->menuAction(), actions_.rows->menuAction()})
    action->setEnabled(has_trace);
  for (const auto& [action, command] : timeline_entries_) action->setEnabled(timeline::can_act(*command, *timeline_));
}

bool MainWindow::isSettled() const {
  return session_.isSettled() && !timeline_->isMakingReady() && !shown_.isGathering() && !events_->isSorting() && !events_->isCopying() &&
         !statistics_->isComputing() && !search_->isSearching() && !bubbles_->isComputing() && !findings_->isComputing() && !diff_->isComputing() &&
         !samples_->isComputing() && !query_->isComputing() && !kernel_->isComputing() && !source_->isComputing() && !exports_->isWriting() &&
         !alignment_->isAligning() && !idle_->isComputing() && !loop_->isComputing() && !waits_->isComputing() && !details_->isComputing() &&
         !diagnostics_->isLooking();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (!urls.isEmpty() && urls.first().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls()) paths += url.toLocalFile();
  openAll(paths, Several::kBeside);
}

void MainWindow::openAll(const QStringList& paths, Several several) {
  if (paths.isEmpty()) return;
  if (several == Several::kTogether || paths.size() > 2) return openTogether(paths);
  begin({WishKind::kOpen, paths.first(), {}, paths.value(1)});  // one wish, so that only one question is asked while a program is recorded
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (!std::exchange(sizes_are_initial_, false)) return;
  docks_->setSizes(std::min(kPanelHeight, height() / 3), kInitialSize.width() - kDetailsWidth, kDetailsWidth);
}

void MainWindow::resetLayout() {
  const QSize size_before = size();
  docks_->gather();
  const auto height_of_panels = [this] { return std::min(kPanelHeight, height() / 3); };
  docks_->layOut(height_of_panels(), kInitialSize.width() - kDetailsWidth, kDetailsWidth);
  // In a visible window, panels get sizes only after it has laid them out, for which it may have grown.
  QTimer::singleShot(0, this, [this, height_of_panels, size_before] {
    if (!isMaximized() && !isFullScreen()) resize(size_before);
    docks_->setSizes(height_of_panels(), kInitialSize.width() - kDetailsWidth, kDetailsWidth);
  });
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (isRecording()) {
    session_.wish({WishKind::kClose, {}});  // closes again when the recording has ended
    return event->ignore();
  }
  if (exports_->isWriting() && !endsExport()) {
    stay();
    return event->ignore();
  }
  if (const QString what = whatRunsOn(); !what.isEmpty() && std::exchange(closes_after_, what) != what) {
    messages_->show(tr("%1 The window closes then; close it again to end that at once.").arg(what), MessageWeight::kNote, MessageSubject::kClosing);
    return event->ignore();
  }
  if (!letsGo()) {
    stay();
    return event->ignore();
  }
  keepLayout();
  QMainWindow::closeEvent(event);
  go_on_quitting();
}

QByteArray MainWindow::placeToKeep() const { return beside_ && beside_->second == QRect(pos(), size()) ? beside_->first : saveGeometry(); }

void MainWindow::keepLayout() {
  if (layout_ != Layout::kRemembered) return;
  settings_.setWindowGeometry(placeToKeep());
  telling_->giveBack();
  settings_.setWindowState(docks_->state(Settings::kLayoutVersion));
  QVariantMap sizes = docks_->sizes();
  sizes[kScreenSize] = screen()->size();
  settings_.setPanelSizes(sizes);
  settings_.setFloatingPlaces(docks_->floatingPlaces());
  settings_.setEventsHeader(events_->headerState(), events_->columnCount());
  keep_panels(*this, settings_);
}

// Besides what the window shows; empty: nothing.
QString MainWindow::whatRunsOn() const {
  if (session_.isCompleting()) return tr("The recording before is still being completed.");
  if (profiling_.isRunning()) return tr("Counters of a kernel are still being read.");
  return {};
}

void MainWindow::closeWhenDone() {
  if (!closes_after_.isEmpty() && whatRunsOn().isEmpty()) closeSoon();
}

// The user wants to keep this window, and so the others.
void MainWindow::stay() {
  closes_after_.clear();
  call_off_quitting();
}

// Tabs that have no room beside each other get scroll buttons instead of being cut to their first letters, because then several would look the same. Qt creates
// such a tab bar whenever panels are stacked, and lets it cut them.
void MainWindow::childEvent(QChildEvent* event) {
  QMainWindow::childEvent(event);
  auto* names = event->polished() ? qobject_cast<QTabBar*>(event->child()) : nullptr;
  if (names == nullptr) return;
  names->setElideMode(Qt::ElideNone);
  names->setUsesScrollButtons(true);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && actions_.launch) paint_icons(actions_, palette());
  if (event->type() == QEvent::ActivationChange && isActiveWindow()) {
    recent_->readAgain();
    file_watch_->tellChanges();
  }
}

}  // namespace lanescope::ui
