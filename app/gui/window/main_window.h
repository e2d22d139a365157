// The viewer's window: the timeline, its panels, and the menus. Its SessionController decides what it shows.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>

#include <QMainWindow>
#include <QStackedWidget>

#include "analysis/alignment_bar.h"
#include "analysis/bubbles_panel.h"
#include "analysis/diff_panel.h"
#include "analysis/findings_panel.h"
#include "analysis/idle_time_source.h"
#include "analysis/loop_source.h"
#include "analysis/wait_source.h"
#include "base/input/key_bindings.h"
#include "base/input/wheel_rule.h"
#include "base/state/selection_state.h"
#include "base/state/settings.h"
#include "events/events_panel.h"
#include "events/shown_events.h"
#include "export/exports.h"
#include "fleet/fleet_opening.h"
#include "kernels/kernel_panel.h"
#include "kernels/kernel_profiling.h"
#include "kernels/source_panel.h"
#include "notes/notes_keeper.h"
#include "notes/notes_panel.h"
#include "panels/details_panel.h"
#include "panels/diagnostics_panel.h"
#include "panels/statistics_panel.h"
#include "query/query_panel.h"
#include "samples/samples_panel.h"
#include "session/session_controller.h"
#include "tables/result_table.h"
#include "timeline/widget/timeline_command.h"
#include "timeline/widget/timeline_view.h"
#include "window/docks/panel_docks.h"
#include "window/docks/telling_panel.h"
#include "window/file_watch.h"
#include "window/message_area.h"
#include "window/start/recent_files.h"
#include "window/start/start_page.h"
#include "window/timeline/event_search.h"
#include "window/timeline/row_memory.h"
#include "window/timeline/timeline_binding.h"
#include "window/trace_status.h"
#include "window/window_actions.h"

namespace lanescope::ui {

// How several files are opened: two for comparison, the second beside the first; or all as one trace.
enum class Several { kBeside, kTogether };
// kInitial: the layout of the first start, which is not stored at the end. kPicture: the same, and opened files are not added to the recent files, because
// nobody sees the window.
enum class Layout { kRemembered, kInitial, kPicture };

class MainWindow : public QMainWindow, public TableFiles {
  Q_OBJECT

 public:
  explicit MainWindow(Layout layout = Layout::kRemembered);
  ~MainWindow() override;

  // Carries out a wish, or first asks what becomes of the running recording. A file of a fleet is shown as by openFleet().
  void begin(const Wish& wish);
  // Shows the content of the file while it is read, instead of what was shown. Ends with opened() or failed().
  void openFile(const QString& path) { begin({WishKind::kOpen, path}); }
  // Shows several files as one trace, for example those of the ranks of a job. Requires: at least one.
  void openTogether(const QStringList& paths) { begin({WishKind::kOpen, paths.first(), paths.mid(1)}); }
  // Does nothing if there are none. At most two are shown beside each other; more are one trace.
  void openAll(const QStringList& paths, Several several);
  // Shows another trace on the same time axis, below the one that is open or being loaded, and compares the two. Opens it if no trace is open.
  void openBeside(const QString& path) { begin({WishKind::kOpenBeside, path}); }
  // Shows the result of `lanescope fleet` in a window of its own. Returns null if the file cannot be shown; a message says why.
  FleetWindow* openFleet(const QString& path);
  // Starts a program and draws what it does. A recording that runs is stopped and completed without being drawn. Ends with recordingEnded(), then opened() for
  // its file.
  void launch(const LaunchSettings& settings);
  // The same for a running process. Returns early: later, the process is recorded or a message says why not.
  void attach(const AttachSettings& settings);
  void launchElsewhere(const RemoteSettings& settings);
  void stopRecording() { session_.stop(); }
  [[nodiscard]] bool isRecording() const { return session_.isRecording(); }

  // Places this window a little beside another one. Until the user moves it, the position of the other one is stored.
  void standBeside(const MainWindow& other) { beside_ = {{other.placeToKeep(), QRect(pos(), size())}}; }
  void keepLayout();  // stores the layout for the next start if this window does so; closing the window does the same

  // Brings a panel to the front by its name: one of panelNames().
  void showPanel(const QString& name) { docks_->raise(name); }
  static QStringList panelNames();

  // True if nothing is being loaded, recorded, gathered, sorted or counted.
  [[nodiscard]] bool isSettled() const;

  // Asks for a file and writes the whole table to it as CSV.
  void saveTable(const ResultTable& table) override;

  [[nodiscard]] SelectionState& state() { return state_; }
  [[nodiscard]] timeline::TimelineView& timelineView() { return *timeline_; }
  [[nodiscard]] EventsPanel& events() { return *events_; }
  [[nodiscard]] StatisticsPanel& statistics() { return *statistics_; }
  [[nodiscard]] BubblesPanel& bubbles() { return *bubbles_; }
  [[nodiscard]] FindingsPanel& findings() { return *findings_; }
  [[nodiscard]] DiffPanel& diff() { return *diff_; }
  [[nodiscard]] SamplesPanel& samples() { return *samples_; }
  [[nodiscard]] QueryPanel& query() { return *query_; }
  [[nodiscard]] NotesPanel& notes() { return *notes_; }
  [[nodiscard]] DetailsPanel& details() { return *details_; }
  [[nodiscard]] KernelPanel& kernel() { return *kernel_; }
  [[nodiscard]] SourcePanel& source() { return *source_; }
  [[nodiscard]] SessionController& session() { return session_; }
  [[nodiscard]] TracePair& pair() { return session_.pair(); }
  [[nodiscard]] AlignmentBar& alignment() { return *alignment_; }
  [[nodiscard]] Exports& exports() { return *exports_; }
  [[nodiscard]] const MessageArea& messages() const { return *messages_; }
  void showFailure(const QString& sentence, MessageSubject subject = MessageSubject::kItself);  // shows it in the window and emits failed()
  [[nodiscard]] const WindowActions& actions() const { return actions_; }

 signals:
  void opened(const QString& path);
  void failed(const QString& sentence);
  void recordingEnded();
  void windowWished(const std::optional<lanescope::ui::Wish>& wish);  // a new window is wanted, which carries out this wish

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void childEvent(QChildEvent* event) override;

 private:
  void addPanels();
  void resetLayout();  // of the panels, to that of the first start
  void connectFiles();
  void connectSelection();
  void connectPanels();
  void connectWindow();
  void connectAnalysis();
  void connectViewActions();
  void fillTimelineMenus();
  void connectSession();
  void connectNotes();
  void connectPair();
  void remember(const Wish& opened);  // adds it to the recent files
  void connectRecording();
  void connectKernels();
  void enableActions();

  void showTrace();
  void showTitle();
  void showActivity();
  void showProgressElsewhere(const session::RecordingStatistics& statistics, const RecordingSource::Elsewhere& elsewhere);
  void leaveClock();
  void showRecordingProgress(const session::RecordingStatistics& statistics);
  void ask(const Wish& wish);
  void start(const Wish& wish);
  void closeSoon();
  void closeWhenDone();
  void stay();
  [[nodiscard]] QString whatRunsOn() const;
  [[nodiscard]] QString whatIsOnlyHere();
  [[nodiscard]] bool letsGo();  // asks, if needed, whether the user gives up what is in no file
  [[nodiscard]] QByteArray placeToKeep() const;
  void showSwapped();
  void placeNotes();
  void profileKernel(std::shared_ptr<const KernelFacts> facts);

  void chooseFile();
  void chooseLaunch();
  void chooseAttach();
  void chooseElsewhere();
  void chooseBeside();
  void chooseFleet();
  void saveAs();
  void exportEvents();
  // Writes a file of what is shown. It gets the permissions of the files that hold the trace, and cannot replace one of them.
  void writeExport(const QString& path, Exports::Write write, Exports::Lack lacks = {});
  [[nodiscard]] QString exportName(const QString& what) const;
  [[nodiscard]] bool endsExport();  // asks whether the user gives up the file that is being written
  void showLongestGaps();
  void showFlameGraph();  // of the bound part of time
  void showKeys();
  void showAbout();
  void chooseTheme(Theme theme);
  void connectKeys();
  void applyKeys();  // the keys that the user chose
  void showEdits();
  void chooseEditor();
  void openSource(const QString& recorded_path, std::uint32_t line);
  void savePicture();
  void lookForGaps();
  void sayNoGap(timeline::IdleTime::Direction direction);
  void connectLoop();
  void fillLanguages();
  void chooseLanguage(const QString& code);  // empty: the language of the desktop
  void chooseMemory();
  void tellLeftOut();

  WheelRule wheel_rule_;
  Layout layout_;
  Settings settings_;
  SelectionState state_;
  ShownEvents shown_;
  SessionController session_;
  AnsweredTrace answered_;
  FleetOpening fleet_opening_{session_, state_};
  KernelProfiling profiling_;

  MessageArea* messages_;
  AlignmentBar* alignment_;
  QStackedWidget* pages_;
  StartPage* start_;
  timeline::TimelineView* timeline_;
  TimelineBinding* binding_;
  EventSearch* search_;
  EventsPanel* events_;
  StatisticsPanel* statistics_;
  BubblesPanel* bubbles_;
  FindingsPanel* findings_;
  DiffPanel* diff_;
  SamplesPanel* samples_;
  QueryPanel* query_;
  NotesPanel* notes_;
  NotesKeeper* notes_keeper_;
  KernelPanel* kernel_;
  SourcePanel* source_;
  IdleTimeSource* idle_;
  LoopSource* loop_;
  WaitSource* waits_;
  DetailsPanel* details_;
  DiagnosticsPanel* diagnostics_;
  TraceStatus* status_;
  Exports* exports_;
  WindowActions actions_;
  RecentFiles* recent_;
  std::vector<QAction*> bound_actions_;                                                  // with keys that work in the whole window
  std::vector<std::pair<QAction*, const timeline::TimelineCommand*>> timeline_entries_;  // entries of menus, which show keys of the timeline
  std::unique_ptr<PanelDocks> docks_;
  std::unique_ptr<TellingPanel> telling_;
  FileWatch* file_watch_;
  struct {
    TimeRange visible;
    EventRef event;
    std::optional<TimeRange> range;
    EventFilter filter;
    std::shared_ptr<const Trace> trace;  // the trace that the ids belong to
  } before_swap_;
  bool is_shown_alone_ = false;                         // the recording is in no file
  std::optional<std::pair<QByteArray, QRect>> beside_;  // the position of another window, and where this one was placed then
  QString saved_whole_;                                 // the file to which the whole trace is being written
  std::optional<Nanoseconds> clock_elsewhere_;          // of a recording on another machine: a lower bound of its offset from CLOCK_MONOTONIC here
  QString closes_after_;                                // what the window waits for, as the user was told who closed it; empty: it stays open
  bool sizes_are_initial_ = true;                       // of the panels, until the window is first shown
  std::unique_ptr<RowMemory> row_memory_;               // null if nothing is remembered
};

}  // namespace lanescope::ui
