// A real program, launched from the viewer and drawn while it runs.
#include <QClipboard>
#include <QComboBox>
#include <QHelpEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProcess>
#include <QToolTip>

#include <csignal>
#include <fstream>

#include "export/trace_writing.h"
#include "fixture/main_window_fixture.h"
#include "model/trace/completeness.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "programs/nvtx/nvtx_threads_facts.h"
#include "record/launch_dialog.h"
#include "support/small_files.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// True if one of the window's status lines contains the text.
bool shows(const MainWindow& window, const QString& text) {
  const QList<ui::PartsLabel*> labels = window.findChildren<ui::PartsLabel*>();
  return std::any_of(labels.begin(), labels.end(), [&](const ui::PartsLabel* label) { return label->isVisible() && label->text().contains(text); });
}

// Keeps all files from growing until the window says that its recording's file has ended; false if it never does.
bool ends_its_file_on_a_full_disk(const MainWindow& window) {
  const SmallFiles small(1);
  return wait_for([&] { return shows(window, "Not recording: the file has ended"); });
}

}  // namespace

class RecordingTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }

  void drawsAProgramWhileItRunsAndThenItsFile() {
    ui::Settings settings;
    ui::LaunchDialog dialog(settings);
    dialog.setLaunch(launchOf(folder_.path() / "live.trace"));
    dialog.accept();
    QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));

    MainWindow window(ui::Layout::kInitial);
    window.show();
    QSignalSpy grown(&window.state(), &ui::SelectionState::traceChanged);
    QSignalSpy ended(&window, &MainWindow::recordingEnded);
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(dialog.launch());
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    QVERIFY(ended.wait(kPatienceMs));
    QVERIFY(!grown.isEmpty());  // drawn before the file was opened
    const std::uint64_t drawn_live = window.state().trace()->event_count();
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(opened.first().first().toString(), QString::fromStdString((folder_.path() / "live.trace").string()));
    QCOMPARE(window.state().trace()->event_count(), drawn_live);
    QVERIFY(wait_for([&] { return window.isSettled(); }));

    const auto trace = window.state().trace();
    const EventScope all = EventScope::whole_trace(*trace);
    const auto steps = gather_events(*trace, all.lanes(), {.text = "step", .kind = EventKind::kNvtxRange});
    QCOMPARE(steps.size(), nvtx_threads::kWorkers * nvtx_threads::kSteps + nvtx_threads::kChildSteps);
    window.showPanel("diagnostics");
    QVERIFY(wait_for([&] { return window.findChild<ui::DiagnosticsPanel*>()->processes().topLevelItemCount() >= 2; }));  // the program and its forked child
  }

  // The status line of a running recording has the same content as that of its file.
  void countsEventsWhileItRunsAsAfterwards() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "counted.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.arguments.clear();
    launch.capture.thread_states = true;
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    QVERIFY(wait_for([&] { return shows(window, "Recording") && shows(window, "states and samples"); }));
    QVERIFY(wait_for([&] { return shows(window, ui::events_text(window.state().trace().get())); }));
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(settle(window));
    QVERIFY(shows(window, ui::events_text(window.state().trace().get())));
  }

  // It lacks what the program did later.
  void aCopyThatIsSavedWhileTheProgramRunsIsNotCalledComplete() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "goes_on.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.arguments.clear();
    launch.capture.program_at_end = ui::ProgramAtEnd::kEnds;
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    QVERIFY(wait_for([&] { return window.state().trace() && window.state().trace()->event_count() > 100; }));
    const std::shared_ptr<const Trace> live = window.state().trace();
    const std::string copy = (folder_.path() / "copy.trace").string();
    QVERIFY(ui::write_trace(live, {copy, Readers::kOwnerAlone}, {}).has_value());
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(settle(window));
    QCOMPARE(completeness_text(*window.state().trace()), std::string("complete: nothing dropped"));
    const auto copied = load_trace(copy);
    QVERIFY(copied.has_value());
    QCOMPARE((*copied)->event_count(), live->event_count());
    QCOMPARE(completeness_text(**copied), std::string("incomplete: the recording was cut off"));
    QCOMPARE((*copied)->provenance().condition, std::string("The recording was still running when this was saved: what came later is not here."));
  }

  void saysWhereARecordingIsWhoseFileWasReplaced() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "replaced.trace");
    launch.program = "sleep";
    launch.arguments = "100";
    launch.capture.program_at_end = ui::ProgramAtEnd::kEnds;
    QSignalSpy ended(&window, &MainWindow::recordingEnded);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    std::filesystem::rename(folder_.path() / "replaced.trace", folder_.path() / "kept.trace");
    std::ofstream(folder_.path() / "replaced.trace") << "other";
    window.actions().stop->trigger();
    QVERIFY(ended.wait(kPatienceMs));
    QVERIFY2(window.messages().text().contains("was moved to"), qPrintable(window.messages().text()));
    QVERIFY2(window.messages().text().contains("kept.trace"), qPrintable(window.messages().text()));
  }

  void remembersALaunchByItsProgram() {
    ui::Settings settings;
    const ui::LaunchSettings asked = launchOf(folder_.path() / "live.trace");
    QCOMPARE(settings.launchedPrograms().value(0), asked.program);
    ui::LaunchDialog dialog(settings);
    QCOMPARE(dialog.launch().arguments, asked.arguments);
    QCOMPARE(dialog.launch().environment, asked.environment);
    QCOMPARE(dialog.launch().capture.trace_cuda, false);
  }

  // If there is a GPU: LANESCOPE_CUDA_PROGRAM names the program cuda_streams of tests/programs; LANESCOPE_PICTURE names a file for a picture that is drawn
  // while it runs.
  void drawsACudaProgramWhileItRuns() {
    const QString cuda_program = qEnvironmentVariable("LANESCOPE_CUDA_PROGRAM");
    if (cuda_program.isEmpty()) QSKIP("LANESCOPE_CUDA_PROGRAM names no program that uses a GPU");
    constexpr int kLaunches = 1'000'000;
    MainWindow window(ui::Layout::kInitial);
    window.resize(1600, 1000);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "cuda.trace");
    launch.program = cuda_program;
    launch.arguments = QString::number(kLaunches);
    launch.capture.trace_cuda = true;
    QSignalSpy ended(&window, &MainWindow::recordingEnded);
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    const auto kernels_so_far = [&] { return window.state().trace() ? count_kernels(*window.state().trace(), "scale") : std::size_t{0}; };
    QVERIFY(wait_for([&] { return kernels_so_far() > 100'000; }, 60'000));
    QVERIFY(window.isRecording());  // it is drawn while the program runs
    if (const QString picture = qEnvironmentVariable("LANESCOPE_PICTURE"); !picture.isEmpty()) QVERIFY(window.grab().save(picture));
    QVERIFY(ended.wait(120'000));
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(kernels_so_far(), std::size_t{kLaunches});
  }

  void saysWhyAProgramCannotBeLaunched() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "never.trace");
    launch.program = "/nowhere/program";
    window.launch(launch);
    QVERIFY(!window.isRecording());
    QVERIFY2(window.messages().text().contains("/nowhere/program"), qPrintable(window.messages().text()));
    QVERIFY(!std::filesystem::exists(folder_.path() / "never.trace"));
  }

  void stopsARecordingAndKeepsWhatItHas() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "stopped.trace");
    launch.program = "sleep";
    launch.arguments = "3";  // longer than stopping takes
    launch.capture.program_at_end = ui::ProgramAtEnd::kRunsOn;
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(!window.isRecording());
    QVERIFY2(window.messages().text().contains("runs on"), qPrintable(window.messages().text()));
  }

  void saysThatNothingIsRecordedOnceTheFileHasEnded() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "full.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.arguments.clear();
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    QVERIFY(wait_for([&] { return shows(window, "● Recording"); }));
    QVERIFY(ends_its_file_on_a_full_disk(window));
    QVERIFY(window.isRecording());  // its program runs, and can be stopped
    QVERIFY(!shows(window, "● Recording"));
    QVERIFY2(window.messages().text().contains("nothing more is recorded"), qPrintable(window.messages().text()));
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
  }

  void whatTheProgramPrintsIsFollowedWhileItRuns() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "printing.trace");
    launch.program = "sh";
    launch.arguments = "-c 'i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo line $i; sleep 0.1; done'";
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    window.actions().output->trigger();
    const auto* output = window.findChild<ui::DiagnosticsPanel*>()->findChild<QPlainTextEdit*>();
    QVERIFY(output != nullptr && output->isVisible());
    QVERIFY(wait_for([&] { return output->toPlainText().contains("line 1\n"); }));
    const qsizetype lines = output->toPlainText().count(u'\n');
    QVERIFY(wait_for([&] { return output->toPlainText().count(u'\n') > lines + 3; }));
    QVERIFY(window.isRecording());
    const QTreeWidget& processes = window.findChild<ui::DiagnosticsPanel*>()->processes();
    QVERIFY(processes.topLevelItemCount() >= 1);
    QCOMPARE(processes.topLevelItem(0)->text(1), QString("still running"));
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(wait_for([&] { return processes.topLevelItemCount() >= 1 && processes.topLevelItem(0)->text(1).contains("signal"); }));
  }

  // It is in the trace before it has ended, and in the file once.
  void aRangeThatIsOpenIsShownBeforeItHasEnded() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "open.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_endless").string());
    launch.arguments.clear();
    launch.capture.program_at_end = ui::ProgramAtEnd::kEnds;
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    const auto ranges_open = [&] {
      const auto& trace = *window.state().trace();
      return gather_events(trace, EventScope::whole_trace(trace).lanes(), {.text = "left open", .kind = EventKind::kNvtxRange});
    };
    QVERIFY(wait_for([&] { return window.state().trace() && !ranges_open().empty(); }));
    QCOMPARE(ranges_open().size(), std::size_t{1});
    const EventRef open = ranges_open().front();
    const Nanoseconds known = window.state().trace()->event(open).end();

    // On the screen it goes on, while nothing more comes.
    timeline::TimelineView& view = window.timelineView();
    QVERIFY(wait_for([&] { return view.visibleRange().end > known + 500'000'000; }));
    view.revealEvent(open);
    view.setVisibleRange({known, view.visibleRange().end});
    QWidget* canvas = nullptr;
    for (QWidget* child : view.findChildren<QWidget*>())
      if (child->accessibleName() == "Timeline rows") canvas = child;
    QVERIFY(canvas != nullptr);
    const auto is_said = [&] {
      for (int y = 2; y < canvas->height(); y += 6) {
        const QPoint place(canvas->width() / 4, y);
        QHelpEvent help(QEvent::ToolTip, place, canvas->mapToGlobal(place));
        QToolTip::hideText();
        QApplication::sendEvent(canvas, &help);
        if (QToolTip::text().contains("left open") && QToolTip::text().contains("by now")) return true;
      }
      return false;
    };
    QVERIFY(wait_for(is_said));

    // In the list of events it is the longest one, and goes on.
    const auto in_list = [&](int row) {
      const QAbstractItemModel& events = *events_table(window)->model();
      return std::pair(events.index(row, ui::EventTableModel::columnOf(EventColumn::kName)).data().toString(),
                       events.index(row, ui::EventTableModel::columnOf(EventColumn::kDuration)).data().toString());
    };
    events_table(window)->sortByColumn(ui::EventTableModel::columnOf(EventColumn::kDuration), Qt::DescendingOrder);
    QVERIFY(wait_for([&] { return in_list(0).first == "left open" && in_list(0).second.startsWith("open, "); }));
    const QString by_then = in_list(0).second;
    QVERIFY(wait_for([&] { return in_list(0).second != by_then; }));
    QVERIFY2(in_list(0).second.startsWith("open, "), qPrintable(in_list(0).second));
    QVERIFY2(!in_list(1).second.startsWith("open"), qPrintable(in_list(1).second));

    // Details say how long it is open by now, and go on saying so; so does what is copied.
    window.showPanel("details");
    window.state().setSelectedEvent(ranges_open().front());
    window.actions().copy_details->trigger();
    QVERIFY2(QGuiApplication::clipboard()->text().contains("by now"), qPrintable(QGuiApplication::clipboard()->text()));
    const auto details = [&] { return window.findChild<ui::DetailsPanel*>()->text(); };
    QVERIFY(wait_for([&] { return details().contains("by now"); }));
    QVERIFY2(!details().contains("Duration"), qPrintable(details()));
    const QString before = details();
    QVERIFY(wait_for([&] { return details().contains("by now") && details() != before; }));

    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(settle(window));
    QVERIFY2(!details().contains("by now") && details().contains("Duration"), qPrintable(details()));
    QCOMPARE(ranges_open().size(), std::size_t{1});
    QVERIFY(window.state().trace()->event(ranges_open().front()).end() >= known);
  }

  // Each range lasts for a millisecond or more, but what is known of the one that is open may be nothing.
  void aRangeIsCountedOnceItHasEnded() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "ticks.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.arguments.clear();
    launch.capture.program_at_end = ui::ProgramAtEnd::kEnds;
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    window.showPanel("statistics");
    const QTableView& names = *window.statistics().findChild<QTableView*>();
    const auto of_ticks = [&](int column) {
      for (int row = 0; row < names.model()->rowCount(); ++row)
        if (names.model()->index(row, ui::StatisticsModel::kName).data() == "tick") return names.model()->index(row, column).data().toString();
      return QString();
    };
    QVERIFY(wait_for([&] { return window.state().openEvents().now != 0 && !of_ticks(ui::StatisticsModel::kCount).isEmpty(); }));
    for (int list = 0; list < 12; ++list) {
      const QString before = of_ticks(ui::StatisticsModel::kCount);
      QVERIFY(wait_for([&] { return of_ticks(ui::StatisticsModel::kCount) != before; }));
      const QString minimum = of_ticks(ui::StatisticsModel::kMinimum);
      if (list >= 2) QVERIFY2(minimum.endsWith(" ms"), qPrintable(minimum));  // the first lists may be of a time when the clock was not known
    }
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
  }

  // Of a program that runs on behind the end of its file, nobody knows what it does by now.
  void noRangeGoesOnOnceTheFileHasEnded() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "ended.trace");
    launch.program = "sh";
    launch.arguments = QString("-c '%1 & exec %2'")
                           .arg(QString::fromStdString(program("lanescope_program_nvtx_endless").string()),
                                QString::fromStdString(program("lanescope_program_nvtx_ticking").string()));
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    window.showPanel("details");
    const auto range = [&] {
      const auto& trace = window.state().trace();
      const auto found = trace ? gather_events(*trace, EventScope::whole_trace(*trace).lanes(), {.text = "left open"}) : std::vector<EventRef>();
      return found.empty() ? EventRef{} : found.front();
    };
    const auto details = [&] { return window.findChild<ui::DetailsPanel*>()->text(); };
    QVERIFY(wait_for([&] { return range().valid(); }));
    window.state().setSelectedEvent(range());
    QVERIFY(wait_for([&] { return details().contains("by now"); }));
    QVERIFY(ends_its_file_on_a_full_disk(window));
    QVERIFY(window.isRecording());
    QVERIFY(wait_for([&] { return !details().contains("by now"); }));
    QVERIFY(window.state().openEvents().events.empty());
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
  }

  // What repeats goes by the time that it is most of: of a program that stands still, the clock tells more of that than its events.
  void aProgramThatStandsStillHasNoLoopForNow() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "still.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.arguments.clear();
    launch.capture.program_at_end = ui::ProgramAtEnd::kEnds;
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    const auto has_loop = [&] { return !window.timelineView().loops().empty(); };
    QVERIFY(wait_for(has_loop));
    const pid_t pid = window.session().recording()->pid();
    QCOMPARE(kill(pid, SIGSTOP), 0);
    const bool went = wait_for([&] { return !has_loop(); });
    QCOMPARE(kill(pid, SIGCONT), 0);
    QVERIFY(went);
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(settle(window));
  }

  void followsALongRecordingUntilItsUserLooksElsewhere() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::LaunchSettings launch = launchOf(folder_.path() / "long.trace");
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.arguments = "5000";  // about 5 s
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    timeline::TimelineView& view = window.timelineView();
    const auto newest = [&] { return window.state().trace() ? window.state().trace()->extent().end : 0; };
    QVERIFY(wait_for([&] { return newest() > 500'000'000; }));
    QVERIFY(window.actions().follow_live->isChecked());

    constexpr Nanoseconds kWindow = 100'000'000;
    view.setVisibleRange({newest() - kWindow, newest()});
    view.setFollowLive(timeline::FollowLive::kYes);
    const TimeRange before = view.visibleRange();
    QVERIFY(wait_for([&] { return view.visibleRange().begin > before.end; }));  // the window has moved on
    QCOMPARE(view.visibleRange().length(), before.length());
    QVERIFY(view.visibleRange().contains(newest() - 1));

    QTest::keyClick(&view, Qt::Key_A);  // moves to earlier times
    QVERIFY(!window.actions().follow_live->isChecked());
    const TimeRange looked_at = view.visibleRange();
    const Nanoseconds then = newest();
    QVERIFY(wait_for([&] { return newest() > then + kWindow; }));
    QCOMPARE(view.visibleRange() == looked_at, true);  // nothing moves any more

    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(view.visibleRange() == looked_at, true);  // the complete file does not move the view, either
    const auto trace = window.state().trace();
    const auto ticks = gather_events(*trace, EventScope::whole_trace(*trace).lanes(), {.text = "tick", .kind = EventKind::kNvtxRange});
    QCOMPARE(ticks.size(), std::size_t{5'000});
  }

  void aRecordingOfMoreThanItsMemoryIsDrawnFromATemporaryFile() {
    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(4 << 20);
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    constexpr std::uint64_t kManySteps = 150'000;
    ui::LaunchSettings launch = launchOf(folder_.path() / "more.trace");
    launch.arguments = QString::number(kManySteps);
    MainWindow window(ui::Layout::kInitial);
    window.show();
    window.showPanel("diagnostics");
    QSignalSpy opened(&window, &MainWindow::opened);
    std::shared_ptr<const Trace> live;
    QString told;
    connect(&window.state(), &ui::SelectionState::traceChanged, &window, [&] {
      if (!window.isRecording() || !window.state().trace() || has_memory_for_events(*window.state().trace())) return;
      live = window.state().trace();
      told = ui::event_place_text(*live);
    });
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(live != nullptr);
    QVERIFY2(told.contains("in a temporary file"), qPrintable(told));
    // Events that arrived until then are the same as in the file.
    const auto steps = [](const Trace& trace) {
      return gather_events(trace, EventScope::whole_trace(trace).lanes(), {.text = "step", .kind = EventKind::kNvtxRange}).size();
    };
    QVERIFY(live->event_count() > 1'000'000);
    QVERIFY(steps(*live) * nvtx_threads::kRangesPerStep > live->event_count() * 9 / 10);
    QCOMPARE(steps(*window.state().trace()), nvtx_threads::kWorkers * kManySteps + nvtx_threads::kChildSteps);
    QVERIFY2(cache.problems().empty(), cache.problems().empty() ? "" : cache.problems().front().c_str());
  }

 private:
  static std::size_t count_kernels(const Trace& trace, std::string_view name) {
    return gather_events(trace, EventScope::whole_trace(trace).lanes(), {.text = std::string(name), .kind = EventKind::kKernel}).size();
  }

  static ui::LaunchSettings launchOf(const std::filesystem::path& output) {
    ui::LaunchSettings launch;
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_threads").string());
    launch.arguments = QString::number(nvtx_threads::kSteps);
    launch.environment = QStringList{"GREETING=hello"};
    launch.capture.trace_cuda = false;
    launch.output = QString::fromStdString(output.string());
    return launch;
  }

  TemporaryFolder folder_;
};

QTEST_MAIN(RecordingTest)
#include "test_gui_recording.moc"
