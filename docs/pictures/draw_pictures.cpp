// Draws the pictures of the documentation: opens the recordings of tests/data in the viewer, does what the user guide says, and grabs the
// window. Use: lanescope-pictures DATA OUT [NAME...]; without names, all are drawn. "dialogs" draws those of recording, in
// both themes, "forms" that of a recording and that of keys.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QScrollBar>
#include <QTableView>
#include <QTableWidget>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "base/state/settings.h"
#include "model/events/event_query.h"
#include "record/attach_dialog.h"
#include "record/launch_dialog.h"
#include "window/keys/key_bindings_dialog.h"
#include "window/look/theme.h"
#include "window/main_window.h"

using namespace lanescope;
using lanescope::ui::MainWindow;

namespace {

constexpr QSize kSize(1600, 900);
constexpr int kPatience = 30'000;       // ms
constexpr int kHighPanel = 520;         // px
constexpr int kPanelsComeToRest = 500;  // ms; panels that are hidden make room step by step
constexpr Nanoseconds kMicrosecond = 1'000, kMillisecond = 1'000'000;

struct Picture {
  QString name;
  QString trace;
  std::function<void(MainWindow&)> gestures;
  ui::Theme theme = ui::Theme::kLight;
  QString beside = {};  // trace on the same time axis, below; empty: none
};

bool settle(MainWindow& window) {
  return QTest::qWaitFor([&] { return window.isSettled(); }, kPatience);
}

// The first event by start whose name contains the text and that overlaps the window.
EventRef find_event(const Trace& trace, const std::string& text, EventKind kind, TimeRange window) {
  const EventValues values(std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace), EventScope::whole_trace(trace));
  const std::vector<EventRef> found = gather_events(trace, values.scope().lanes(), {.text = text, .window = window, .kind = kind});
  const std::vector<EventRef> first = first_events(values, found, EventColumn::kStart, SortDirection::kAscending, 1);
  return first.empty() ? EventRef{} : first.front();
}

EventRef find_event(MainWindow& window, const std::string& text, EventKind kind) {
  const std::shared_ptr<const Trace>& trace = window.state().trace();
  return find_event(*trace, text, kind, trace->extent());
}

TimeRange span_of(MainWindow& window, EventRef first, EventRef last) {
  const Trace& trace = *window.state().trace();
  return {trace.event(first).start, trace.event(last).end()};
}

TimeRange with_room(TimeRange range, double share) {
  const auto room = static_cast<Nanoseconds>(static_cast<double>(range.length()) * share);
  return {range.begin - room, range.end + room};
}

TimeRange range_of_steps(MainWindow& window, int first, int last) {
  const auto step = [&](int index) { return find_event(window, "step " + std::to_string(index), EventKind::kNvtxRange); };
  return with_room(span_of(window, step(first), step(last)), 0.02);
}

QDockWidget& panel(MainWindow& window, const char* name) { return *window.findChild<QDockWidget*>(QLatin1String(name)); }
void raise_panel(MainWindow& window, const char* name) { panel(window, name).raise(); }

// Clicks the first line of a table, then double-clicks it.
void choose_first_line(QTableView& table) {
  const QPoint line = table.visualRect(table.model()->index(0, 1)).center();
  QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, line);
  QTest::mouseDClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, line);
}

void show_only_timeline(MainWindow& window) {
  for (QDockWidget* panel : window.findChildren<QDockWidget*>()) panel->hide();
}

// The part in which the program uses the GPU's streams, from the first asynchronous copy on.
TimeRange range_of_stream_work(MainWindow& window) {
  const EventRef first = find_event(window, "cuMemcpyHtoDAsync", EventKind::kCudaApi);
  const EventRef last = find_event(*window.state().trace(), "cuCtxSynchronize", EventKind::kCudaApi,
                                   {window.state().trace()->event(first).start, window.state().trace()->extent().end});
  return with_room(span_of(window, first, last), 0.02);
}

void one_kernel_and_its_launch(MainWindow& window) {
  const TimeRange step = range_of_steps(window, 12, 12);
  const EventRef kernel = find_event(*window.state().trace(), "tn_n_tilesize32x32x8", EventKind::kKernel, step);
  const EventRef launch = *window.state().trace()->launch_of(kernel);
  window.timelineView().setVisibleRange(with_room(span_of(window, launch, kernel), 0.5));
  window.timelineView().selectEvent(kernel);
}

void longest_gap_of_the_loop(MainWindow& window) {
  window.timelineView().setSelectedRange(range_of_steps(window, 1, 19));
  window.actions().longest_gaps->trigger();
  settle(window);
  choose_first_line(*window.events().findChild<QTableView*>());
}

// A step of each trace, begun together, and what changed. What the GPU did and the ranges are pinned: A's above B's.
void two_steps_beside_each_other(MainWindow& window) {
  raise_panel(window, "diff");
  std::vector<std::string> pinned;
  for (const timeline::RowKind kind : {timeline::RowKind::kNvtx, timeline::RowKind::kGpuHardware})
    for (const timeline::Row& row : window.timelineView().rows().rows())
      if (row.kind == kind) pinned.push_back(row.key);
  for (const std::string& key : pinned) window.timelineView().pin(QString::fromStdString(key));
  window.timelineView().selectEvent(find_event(window, "step 12", EventKind::kNvtxRange));
  window.alignment().alignAtSelection();
  settle(window);
  window.timelineView().zoomBy(0.6);
  settle(window);
}

// The same step of both traces, each row of B below the row of A that stands for the same.
void interleaved_rows(MainWindow& window) {
  window.timelineView().setTraceSides(timeline::TraceSides::kInterleaved);
  window.timelineView().selectEvent(find_event(window, "step 12", EventKind::kNvtxRange));
  window.alignment().alignAtSelection();
  settle(window);
  window.timelineView().zoomBy(0.6);
  show_only_timeline(window);
}

// What takes longest, a line a family.
void families_of_events(MainWindow& window) {
  window.timelineView().setVisibleRange(range_of_steps(window, 8, 11));
  window.events().setFolding(ui::Folding::kFamilies);
  window.state().setFilter({.kind = EventKind::kNvtxRange});
  window.events().sortBy(EventColumn::kDuration, SortDirection::kDescending);
  settle(window);
  auto* table = window.events().findChild<QTableView*>();
  table->setFocus();
  table->setCurrentIndex(table->model()->index(0, 1));
  QTest::keyClick(table, Qt::Key_Right);
}

// The program's own lines, with how often each was seen.
void lines_with_counts(MainWindow& window) {
  window.timelineView().setVisibleRange(range_of_steps(window, 1, 19));
  window.state().setTimeBinding(ui::TimeBinding::kVisibleRange);
  window.samples().setSourceFolders({QStringLiteral("tests/programs/gpu")});
  window.samples().chooseView(ui::SamplesPanel::View::kLines);
  raise_panel(window, "samples");
  window.resizeDocks({&panel(window, "samples")}, {kHighPanel}, Qt::Vertical);
  settle(window);
  const std::vector<samples::LineWeight>& lines = window.samples().profile()->lines;
  const Trace& trace = *window.state().trace();
  const auto heaviest =
      std::find_if(lines.begin(), lines.end(), [&](const samples::LineWeight& line) { return trace.name(line.file).ends_with("torch_training.py"); });
  if (heaviest != lines.end()) window.samples().source().showLine(*heaviest);
  settle(window);
}

// A quarter of a second of the loop, above what ran in it.
void two_threads_and_their_code(MainWindow& window) {
  const Trace& trace = *window.state().trace();
  window.timelineView().setVisibleRange({trace.extent().end - 600 * kMillisecond, trace.extent().end - 350 * kMillisecond});
  window.timelineView().expandAll();
  window.state().setTimeBinding(ui::TimeBinding::kVisibleRange);
  raise_panel(window, "samples");
  settle(window);
  ui::FlameGraphView& flame = window.samples().flameGraph();
  const samples::CallTree& tree = window.samples().profile()->top_down;
  for (const samples::FlameBox& box : flame.boxes())  // the interpreter's own calls are above
    if (box.node != 0 && tree.function_of(box.node).name == "zlib_compress")
      return flame.verticalScrollBar()->setValue(flame.rectangle(box).top() - flame.viewport()->height() / 2);
}

// A loop that waits for its data, above what Python ran meanwhile.
void a_loop_and_its_python(MainWindow& window) {
  window.timelineView().setVisibleRange(range_of_steps(window, 1, 19));
  window.state().setTimeBinding(ui::TimeBinding::kVisibleRange);
  raise_panel(window, "samples");
}

// What the main thread ran: functions of Python below each other.
void calls_below_their_callers(MainWindow& window) {
  for (const timeline::Row& row : window.timelineView().rows().rows()) {
    if (row.kind != timeline::RowKind::kStackChart) continue;
    const QString key = QString::fromStdString(row.key);
    return window.timelineView().expandRow(key);
  }
}

// The padded transposition is the baseline of the one that writes along columns.
void what_a_kernel_could_win(MainWindow& window) {
  raise_panel(window, "kernel");
  const auto show = [&](const char* kernel) {
    const EventRef event = find_event(window, kernel, EventKind::kKernel);
    window.timelineView().setVisibleRange(with_room(span_of(window, event, event), 2));
    window.timelineView().selectEvent(event);
    settle(window);
  };
  show("transpose_padded");
  for (QToolButton* button : window.kernel().findChildren<QToolButton*>())
    if (button->text().startsWith(QLatin1String("Pin"))) button->click();
  show("transpose_naive");
  window.resizeDocks({&panel(window, "kernel")}, {kHighPanel}, Qt::Vertical);
}

void lines_of_a_kernel(MainWindow& window) {
  raise_panel(window, "source");
  window.source().setSourceFolders({QStringLiteral("tests/programs/gpu")});
  const EventRef event = find_event(window, "transpose_by_columns", EventKind::kKernel);
  window.timelineView().setVisibleRange(with_room(span_of(window, event, event), 20));
  window.timelineView().selectEvent(event);
  window.resizeDocks({&panel(window, "source")}, {kHighPanel}, Qt::Vertical);
}

// Of each family of ranges, how long it took, and what it was longest.
void a_question_in_sql(MainWindow& window) {
  window.timelineView().setVisibleRange(range_of_steps(window, 8, 11));
  raise_panel(window, "query");
  window.query().setText(
      QStringLiteral("SELECT family(name) AS family, count(*) AS ranges,\n       avg(duration) AS mean_duration, max(duration) AS longest\n"
                     "FROM nvtx_ranges\nGROUP BY 1 ORDER BY sum(duration) DESC"));
  window.query().ask();
}

// Four steps by NVTX range and kind; the kernels of one range are chosen.
void sums_by_columns(MainWindow& window) {
  window.timelineView().setVisibleRange(range_of_steps(window, 8, 11));
  window.timelineView().setSelectedRange(range_of_steps(window, 8, 11));
  window.statistics().chooseReport(QLatin1String(ui::StatisticsPanel::kColumns));
  raise_panel(window, "statistics");
  settle(window);
  ui::ResultTable& table = window.statistics().pivot().table();
  for (int row = 0; row < table.results().rowCount(); ++row)
    if (table.model()->index(row, 0).data() == QStringLiteral("forward") && table.model()->index(row, 1).data() == QStringLiteral("Kernel"))
      table.selectRow(row);
}

// Markers that are seen, and not written beside the recording.
void notes_on_a_loop(MainWindow& window) {
  window.timelineView().setVisibleRange(range_of_steps(window, 8, 11));
  const auto begin_of = [&](int step) {
    return window.state().trace()->event(find_event(window, "step " + std::to_string(step), EventKind::kNvtxRange)).start;
  };
  window.timelineView().setMarkers(
      {{begin_of(8), QStringLiteral("the loop is warm")}, {begin_of(10), QStringLiteral("data takes 14 of 16 ms: issue 12")}, {begin_of(11), {}}});
  raise_panel(window, "notes");
  settle(window);
  window.notes().table().selectRow(1);
}

// A kernel behind a lock that another thread holds, and the hops from one to the other.
void what_a_kernel_waited_for(MainWindow& window) {
  show_only_timeline(window);
  panel(window, "details").show();
  const Trace& trace = *window.state().trace();
  const TimeRange loop{trace.extent().begin + trace.extent().length() / 2, trace.extent().end};
  const EventRef lock = find_event(trace, "pthread_mutex_lock", EventKind::kOsRuntime, loop);
  const EventRef kernel = find_event(trace, "", EventKind::kKernel, {trace.event(lock).end(), loop.end});
  window.timelineView().setVisibleRange(with_room(span_of(window, lock, kernel), 0.3));
  window.timelineView().selectEvent(kernel);
  settle(window);
  for (int hop = 0; hop < 2; ++hop) {
    window.timelineView().askWhatItWaitedFor();
    settle(window);
  }
}

// Two ranks, one of which sleeps in each step: the GPU of the other waits in its collectives.
void a_rank_that_waits(MainWindow& window) {
  const EventRef step = find_event(window, "step 10", EventKind::kNvtxRange);
  const TimeRange range = span_of(window, step, step);
  for (const timeline::Row& row : window.timelineView().rows().rows())
    if (row.kind == timeline::RowKind::kGpuHardware) window.timelineView().pin(QString::fromStdString(row.key));
  window.timelineView().setVisibleRange(with_room(range, 0.6));
  window.timelineView().setSelectedRange(range);
}

std::vector<Picture> pictures() {
  const QString training = QStringLiteral("torch_training_workers0");
  return {
      {"training", training,
       [](MainWindow& w) {
         w.timelineView().setVisibleRange(range_of_steps(w, 8, 11));
         w.timelineView().selectEvent(find_event(*w.state().trace(), "data", EventKind::kNvtxRange, range_of_steps(w, 10, 10)));
       }},
      {"training-whole", training, [](MainWindow& w) { w.timelineView().zoomToFit(); }},
      {"training-loop", training, [](MainWindow&) {}},  // on which it opens
      {"training-step", training, [](MainWindow& w) { w.timelineView().setVisibleRange(range_of_steps(w, 12, 12)); }},
      {"kernel", training, one_kernel_and_its_launch},
      {"bubble", training, longest_gap_of_the_loop},
      {"training-fed", QStringLiteral("torch_training_workers4"),
       [](MainWindow& w) {
         show_only_timeline(w);
         w.timelineView().setVisibleRange(range_of_steps(w, 8, 11));
       }},
      {"statistics", training,
       [](MainWindow& w) {
         w.timelineView().setSelectedRange(range_of_steps(w, 1, 19));
         raise_panel(w, "statistics");
       }},
      {"bubbles", training,
       [](MainWindow& w) {
         w.timelineView().setVisibleRange(range_of_steps(w, 1, 19));
         w.timelineView().setSelectedRange(range_of_steps(w, 1, 19));
         raise_panel(w, "bubbles");
       }},
      {"findings", training,
       [](MainWindow& w) {
         raise_panel(w, "findings");
         settle(w);
         choose_first_line(*panel(w, "findings").findChild<QTableView*>());
       }},
      {"beside", training, two_steps_beside_each_other, ui::Theme::kLight, QStringLiteral("torch_training_workers4")},
      {"dark", training, [](MainWindow& w) { w.timelineView().setVisibleRange(range_of_steps(w, 8, 9)); }, ui::Theme::kDark},
      {"kernel-why", QStringLiteral("kernel_counters"), what_a_kernel_could_win},
      {"kernel-source", QStringLiteral("transpositions"), lines_of_a_kernel},
      {"kernel-source-dark", QStringLiteral("transpositions"), lines_of_a_kernel, ui::Theme::kDark},
      {"kernel-why-dark", QStringLiteral("kernel_counters"), what_a_kernel_could_win, ui::Theme::kDark},
      {"streams", QStringLiteral("cuda_streams"),
       [](MainWindow& w) {
         const EventRef first = find_event(w, "move data", EventKind::kNvtxRange);
         const Nanoseconds begin = w.state().trace()->event(first).start;
         w.timelineView().setVisibleRange({begin - 50 * kMicrosecond, begin + 2 * kMillisecond});
       }},
      {"interleaved", training, interleaved_rows, ui::Theme::kLight, QStringLiteral("torch_training_workers4")},
      {"interleaved-dark", training, interleaved_rows, ui::Theme::kDark, QStringLiteral("torch_training_workers4")},
      {"families", training, families_of_events},
      {"families-dark", training, families_of_events, ui::Theme::kDark},
      {"lines", QStringLiteral("torch_loader_samples"), lines_with_counts},
      {"lines-dark", QStringLiteral("torch_loader_samples"), lines_with_counts, ui::Theme::kDark},
      {"query", training, a_question_in_sql},
      {"query-dark", training, a_question_in_sql, ui::Theme::kDark},
      {"columns", training, sums_by_columns},
      {"columns-dark", training, sums_by_columns, ui::Theme::kDark},
      {"notes", training, notes_on_a_loop},
      {"notes-dark", training, notes_on_a_loop, ui::Theme::kDark},
      {"why-late", QStringLiteral("cause_lock"), what_a_kernel_waited_for},
      {"why-late-dark", QStringLiteral("cause_lock"), what_a_kernel_waited_for, ui::Theme::kDark},
      {"ranks", QStringLiteral("ranks_late0"), a_rank_that_waits, ui::Theme::kLight, QStringLiteral("ranks_late1")},
      {"ranks-dark", QStringLiteral("ranks_late0"), a_rank_that_waits, ui::Theme::kDark, QStringLiteral("ranks_late1")},
      {"cpu", QStringLiteral("cpu_loader"), two_threads_and_their_code},
      {"python", QStringLiteral("torch_loader_samples"), a_loop_and_its_python},
      {"stack-chart", QStringLiteral("torch_loader_samples"), calls_below_their_callers},
      {"stack-chart-dark", QStringLiteral("torch_loader_samples"), calls_below_their_callers, ui::Theme::kDark},
      {"numba", QStringLiteral("numba_streams"),
       [](MainWindow& w) {
         show_only_timeline(w);
         w.timelineView().setVisibleRange(range_of_stream_work(w));
       }},
      {"numba-bug", QStringLiteral("numba_streams_bug"),
       [](MainWindow& w) {
         show_only_timeline(w);
         w.timelineView().setVisibleRange(range_of_stream_work(w));
       }},
  };
}

bool draw(const Picture& picture, const QDir& data, const QDir& out) {
  ui::apply_theme(picture.theme);
  MainWindow window(ui::Layout::kPicture);
  window.resize(kSize);
  window.show();
  bool opened = false;
  QObject::connect(&window, &MainWindow::opened, [&] { opened = true; });
  window.openFile(data.filePath(picture.trace + QStringLiteral(".trace")));
  if (!picture.beside.isEmpty()) window.openBeside(data.filePath(picture.beside + QStringLiteral(".trace")));
  if (!QTest::qWaitFor([&] { return opened; }, kPatience) || !settle(window)) return false;
  picture.gestures(window);
  QTest::qWait(kPanelsComeToRest);
  return settle(window) && window.grab().save(out.filePath(picture.name + QStringLiteral(".png")));
}

// The dialogs of recording, page by page: "launch-1.png" and so on.
bool draw_dialog(QDialog& dialog, const QString& name, const QDir& out) {
  dialog.show();
  QTest::qWait(kPanelsComeToRest);
  auto* pages = dialog.findChild<QTabWidget*>();
  for (int page = 0; page < pages->count(); ++page) {
    pages->setCurrentIndex(page);
    if (!dialog.grab().save(out.filePath(QStringLiteral("%1-%2.png").arg(name).arg(page + 1)))) return false;
  }
  return true;
}

bool draw_dialogs(const QDir& out, ui::Theme theme, const QString& suffix) {
  ui::apply_theme(theme);
  ui::Settings settings;
  ui::LaunchDialog launch(settings);
  launch.setLaunch({.program = QStringLiteral("python"), .arguments = QStringLiteral("train.py --epochs 3")});
  ui::AttachDialog attach(settings);
  return draw_dialog(launch, "launch" + suffix, out) && draw_dialog(attach, "attach" + suffix, out);
}

// The form of a recording, and the dialog that changes keys, as they come up.
bool draw_form_and_keys(const QDir& out, ui::Theme theme, const QString& suffix) {
  ui::apply_theme(theme);
  ui::Settings settings;
  ui::LaunchDialog launch(settings);
  launch.setLaunch(
      {.program = QStringLiteral("python"), .arguments = QStringLiteral("train.py --epochs 3"), .working_directory = QStringLiteral("/home/me/training")});
  const MainWindow window(ui::Layout::kInitial);  // whose commands have keys
  ui::KeyBindingsDialog keys(ui::KeyBindings::ofProcess());
  keys.findChild<QTableWidget*>()->selectRow(4);
  for (QDialog* dialog : {static_cast<QDialog*>(&launch), static_cast<QDialog*>(&keys)}) dialog->show();
  QTest::qWait(kPanelsComeToRest);
  return launch.grab().save(out.filePath(QStringLiteral("record-form%1.png").arg(suffix))) &&
         keys.grab().save(out.filePath(QStringLiteral("keys%1.png").arg(suffix)));
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QTemporaryDir settings;  // those of whoever draws have no part in it
  qputenv("XDG_CONFIG_HOME", settings.path().toLocal8Bit());
  QApplication application(argc, argv);
  const QStringList arguments = QApplication::arguments();
  if (arguments.size() < 3) {
    std::fputs("Use: lanescope-pictures DATA OUT [NAME...]\n", stderr);
    return 2;
  }
  const QStringList wanted = arguments.mid(3);
  if (wanted.contains("dialogs"))
    return draw_dialogs(QDir(arguments[2]), ui::Theme::kLight, "") && draw_dialogs(QDir(arguments[2]), ui::Theme::kDark, "-dark") ? 0 : 1;
  if (wanted.contains("forms") || wanted.isEmpty()) {
    if (!draw_form_and_keys(QDir(arguments[2]), ui::Theme::kLight, "") ||
        (!wanted.isEmpty() && !draw_form_and_keys(QDir(arguments[2]), ui::Theme::kDark, "-dark")))
      return 1;
    std::printf("record-form.png\nkeys.png\n");
  }
  for (const Picture& picture : pictures()) {
    if (!wanted.isEmpty() && !wanted.contains(picture.name)) continue;
    if (!draw(picture, QDir(arguments[1]), QDir(arguments[2]))) {
      std::fprintf(stderr, "%s.png could not be drawn.\n", qPrintable(picture.name));
      return 1;
    }
    std::printf("%s.png\n", qPrintable(picture.name));
  }
  return 0;
}
