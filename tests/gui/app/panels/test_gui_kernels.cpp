// The panels Kernel and Source with real recordings, and the second run of a program that reads the counters of one of its kernels.
#include <QFile>
#include <QHeaderView>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSplitter>
#include <QTextBrowser>
#include <QTextStream>
#include <QToolButton>
#include <QUrl>

#include <algorithm>
#include <fstream>
#include <set>

#include "analysis/findings_panel.h"
#include "fixture/gestures.h"
#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "kernels/code_table.h"
#include "kernels/count_columns.h"
#include "kernels/disassembler.h"
#include "kernels/kernel_html.h"
#include "kernels/kernel_panel.h"
#include "kernels/kernel_profiling.h"
#include "kernels/memory_chart.h"
#include "kernels/source_panel.h"
#include "model/export/trace_file_export.h"
#include "model/trace/combining/combine.h"
#include "model/trace/combining/parts.h"
#include "model/trace/load.h"
#include "timeline/core/words/format.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::KernelPanel;
using lanescope::ui::KernelProfiling;
using lanescope::ui::SourcePanel;

namespace {

std::shared_ptr<const Trace> recording(const char* name) {
  const auto trace = load_trace(data_file(name));
  return trace ? *trace : nullptr;
}

EventRef kernel_named(const Trace& trace, std::string_view name) {
  for (const Track& track : trace.tracks())
    for (const LaneId lane : track.lanes)
      if (track.key.kind == TrackKind::kKernels)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
          if (trace.name(trace.lane(lane).name(i)).starts_with(name)) return {lane, i};
  return {};
}

// Writes a program with this name into the folder; the shell runs it.
void write_script(const std::filesystem::path& path, const QString& text) {
  QFile file(QString::fromStdString(path.string()));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(("#!/bin/sh\n" + text).toUtf8());
  file.close();
  QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
}

template <typename Panel>
bool settled(Panel& panel) {
  return wait_for([&] { return !panel.isComputing(); });
}

}  // namespace

class KernelsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }

  // Who opens the panel wants to see a kernel: of a recording with counters, one that has them.
  void thePanelLeadsToAKernelThatTells() {
    const auto leads_to = [](const char* file, const QString& link) -> std::string {
      auto window = window_of(recorded(file));
      if (!window) return "no window";
      window->showPanel("kernel");
      if (!settle(*window)) return "not settled";
      Gestures gestures(*window);
      auto* page = window->kernel().findChild<QTextBrowser*>();
      if (!gestures.click_link(*page, link)) return "no link in " + page->toPlainText().toStdString();
      const EventRef selected = window->state().selectedEvent();
      const Trace& trace = *window->state().trace();
      if (!selected.valid()) return "nothing";
      Nanoseconds longest = 0;
      for (const Track& track : trace.tracks())
        for (const LaneId lane : track.lanes)
          for (EventIndex i = 0; track.key.kind == TrackKind::kKernels && i < trace.lane(lane).size(); ++i)
            longest = std::max(longest, trace.lane(lane).duration(i));
      return trace.event(selected).duration == longest ? "the longest" : std::string(trace.name(trace.event(selected).name));
    };
    QCOMPARE(leads_to("cuda_streams.trace", "longest"), std::string("the longest"));
    const std::string with_counters = leads_to("kernel_counters.trace", "counters");
    QVERIFY2(with_counters != "nothing" && !with_counters.starts_with("no"), with_counters.c_str());
  }

  void aDoubleClickOnAKernelShowsWhatIsKnownOfIt() {
    auto window = window_of(recorded("cuda_streams.trace"));
    QVERIFY(window && settle(*window));
    QVERIFY(window->kernel().visibleRegion().isEmpty());
    auto& view = window->timelineView();
    QWidget* canvas = part(*window, "Timeline rows");
    const auto double_click = [&](EventRef event) {
      window->state().activate(event);  // so that it is in sight
      if (!settle(*window)) return false;
      for (int y = 1; y < canvas->height(); y += 3)
        for (int x = canvas->width() / 4; x < canvas->width(); x += canvas->width() / 8) {
          QTest::mouseMove(canvas, QPoint(x, y));
          if (view.hoveredEvent() != event) continue;
          QTest::mouseDClick(canvas, Qt::LeftButton, Qt::NoModifier, QPoint(x, y));
          return settle(*window);
        }
      return false;
    };
    const Trace& trace = *window->state().trace();
    EventRef kernel, call;
    for (const Track& track : trace.tracks()) {
      if (track.key.kind == TrackKind::kKernels) kernel = {track.lanes.front(), 0};
      if (track.key.kind == TrackKind::kCudaApi) call = {track.lanes.front(), 0};
    }
    QVERIFY(double_click(call));
    QVERIFY(window->kernel().visibleRegion().isEmpty());
    QVERIFY(double_click(kernel));
    QVERIFY(wait_for([&] { return !window->kernel().visibleRegion().isEmpty(); }));
    const QString told = window->kernel().findChild<QTextBrowser*>()->toPlainText();
    QVERIFY2(told.contains("ccupancy"), qPrintable(told));
  }

  // The splitters between the text and the charts stay where the user put them, whichever kernels are chosen: with counters, with samples, or with neither.
  void choosingAKernelMovesNoEdge() {
    ui::SelectionState state;
    KernelPanel panel(state);
    panel.resize(1300, 360);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel, kPatienceMs));
    auto* parts = panel.findChild<QSplitter*>(QStringLiteral("kernelParts"));
    QSplitter* charts = nullptr;
    for (QSplitter* each : panel.findChildren<QSplitter*>())
      if (each != parts) charts = each;
    QVERIFY(parts != nullptr && charts != nullptr);
    const auto with_counters = recording("kernel_counters.trace"), with_samples = recording("transpositions.trace"), without = recording("cuda_streams.trace");
    const auto choose = [&](const std::shared_ptr<const Trace>& trace, std::string_view kernel) {
      if (state.trace() != trace) state.setTrace(trace, ui::TraceChange::kOther);
      const EventRef event = kernel_named(*trace, kernel);
      if (!event.valid()) return false;
      state.setSelectedEvent(event);
      return settled(panel);
    };
    const int least = panel.minimumSizeHint().height();  // a limit of the splitter below the timeline
    QVERIFY(choose(with_counters, "transpose_shared"));
    QCOMPARE(panel.minimumSizeHint().height(), least);
    // Initially, both charts are readable: two bars, and the whole memory chart.
    const auto* memory = panel.findChild<ui::MemoryChart*>();
    QVERIFY2(wait_for([&] { return memory->visibleRegion().boundingRect().height() >= memory->minimumSizeHint().height() && charts->sizes()[0] >= 60; }),
             qPrintable(QStringLiteral("%1 of %2").arg(memory->visibleRegion().boundingRect().height()).arg(memory->minimumSizeHint().height())));
    const auto drag = [](QSplitter& splitter, int pixels) {
      QSplitterHandle* handle = splitter.handle(1);
      const QPoint from = handle->rect().center(), to = from + (splitter.orientation() == Qt::Horizontal ? QPoint(pixels, 0) : QPoint(0, pixels));
      QTest::mousePress(handle, Qt::LeftButton, {}, from);
      QTest::mouseMove(handle, to);
      QTest::mouseRelease(handle, Qt::LeftButton, {}, from);
    };
    drag(*parts, 400);  // more than the minimum that the facts about some kernels would require
    drag(*charts, 60);
    QCoreApplication::sendPostedEvents();
    const QList<int> across = parts->sizes(), down = charts->sizes();
    QVERIFY(across[0] > 0 && down[0] > 0 && down[1] > 0);
    const auto said = [&] {
      return QStringLiteral("%5 %6: %1 %2 | %3 %4")
          .arg(parts->sizes()[0])
          .arg(parts->sizes()[1])
          .arg(charts->sizes()[0])
          .arg(charts->sizes()[1])
          .arg(across[0])
          .arg(across[1]);
    };
    for (const auto& [trace, kernel] :
         {std::pair{with_counters, "saxpy"}, {with_samples, "transpose"}, {with_counters, "gemm"}, {without, ""}, {with_counters, "saxpy"}}) {
      QVERIFY2(choose(trace, kernel), kernel);
      QCOMPARE(panel.minimumSizeHint().height(), least);
      if (memory->isVisible()) QVERIFY2(wait_for([&] { return charts->sizes() == down; }), qPrintable(said()));
      if (charts->isVisible()) QVERIFY2(wait_for([&] { return parts->sizes() == across; }), qPrintable(said()));
    }
  }

  void aKernelWithCountersSaysWhatItCouldWin() {
    ui::SelectionState state;
    KernelPanel panel(state);
    panel.resize(1200, 500);
    panel.show();
    const auto trace = recording("kernel_counters.trace");
    QVERIFY(trace);
    state.setTrace(trace, ui::TraceChange::kOther);
    QVERIFY(panel.text().contains("Select a kernel"));
    state.setSelectedEvent(kernel_named(*trace, "transpose_shared"));
    QVERIFY(settled(panel));
    QVERIFY(panel.text().contains("Bound by L1 cache and shared memory"));
    QVERIFY(panel.text().contains("conflicts of shared memory's banks"));
    QVERIFY(panel.text().contains("Theoretical occupancy"));
    QVERIFY(panel.text().contains("Measured at the clock that the GPU had (1.98 GHz), with caches as they were."));  // the highest clock of an H200
    QVERIFY(panel.text().contains("Shared memory: bank conflicts"));
    QVERIFY(panel.text().contains("No samples tell where its warps waited"));
    QVERIFY(!panel.text().contains("counters were not read"));
    auto* stalls = panel.findChild<ui::StallChart*>();
    QVERIFY(stalls->isVisible());  // of the counters' warp states

    // It reads a matrix of 8192 x 4096 floats once.
    auto* memory = panel.findChild<ui::MemoryChart*>();
    QVERIFY(memory->isVisible());
    QVERIFY(memory->accessibleDescription().contains("L2 cache to L1 cache: Read 128.00 MiB"));
    QVERIFY(memory->accessibleDescription().contains("Kernel to Shared: Bank conflicts"));
    auto* pages = panel.findChild<QTabWidget*>();
    pages->setCurrentWidget(panel.findChild<ui::RooflineChart*>());
    QVERIFY(panel.findChild<ui::RooflineChart*>()->isVisible());

    // Another kernel beside it.
    const auto first = panel.facts();
    for (QToolButton* each : panel.findChildren<QToolButton*>())
      if (each->text() == "Pin as baseline") QTest::mouseClick(each, Qt::LeftButton);
    state.setSelectedEvent(kernel_named(*trace, "transpose_padded"));
    QVERIFY(settled(panel));
    QCOMPARE(panel.baseline(), first);
    QVERIFY(panel.text().contains("Bound by DRAM bandwidth"));
    QVERIFY(panel.text().contains("Baseline: transpose_shared"));

    // Selecting something that is not a kernel leaves it.
    state.setSelectedEvent({});
    QVERIFY(settled(panel));
    QVERIFY(panel.text().contains("transpose_padded"));
  }

  // Two programs in one trace: what is proposed and started is the program of the kernel's own recording.
  void aKernelOfSeveralRecordingsHasTheProgramOfItsOwn() {
    const auto streams = recording("cuda_streams.trace"), zoo = recording("kernel_counters.trace");
    QVERIFY(streams && zoo);
    const auto both = combine_traces(std::vector<TraceSource>{{streams, "cuda_streams.trace", 0}, {zoo, "kernel_counters.trace", 0}});
    const auto facts = ui::kernel_facts(*ui::read_kernel_records(both), kernel_named(*both, "saxpy"), {});
    const KernelProfiling::Run run = KernelProfiling::plan(*facts, {});
    QCOMPARE(run.command.last(), QStringLiteral("./zoo"));
    QCOMPARE(QString::fromStdString(facts->program->recorded_folder), QString::fromStdString(zoo->provenance().working_directory));
    QVERIFY(ui::kernel_html(*facts, nullptr, {}).contains("lanescope profile --kernels=pc ./zoo"));
  }

  // A launch is found by its number in the program, which a recording that begins later does not know.
  void ofARecordingThatBeginsLaterAnotherLaunchMayBeMeasured() {
    const auto whole = recording("kernel_counters.trace");
    const auto caution = [](const std::shared_ptr<const Trace>& trace) {
      return KernelProfiling::plan(*ui::kernel_facts(*ui::read_kernel_records(trace), kernel_named(*trace, "saxpy"), {}), {}).caution;
    };
    QCOMPARE(caution(whole), QString());
    const TemporaryFolder folder;
    ExportSelection selection;
    selection.window = TimeRange{whole->event(kernel_named(*whole, "saxpy")).start, whole->extent().end};
    QVERIFY(export_trace_file(*whole, folder.path() / "part.trace", Overwrite::kRefuse, selection));
    const auto part = load_trace(folder.path() / "part.trace");
    QVERIFY(part);
    QVERIFY(caution(*part).contains("another launch of the kernel may be measured"));
    const auto both = combine_traces(std::vector<TraceSource>{{whole, "A", 0}, {*part, "B", 0}});
    QCOMPARE(caution(both), QString());  // of the first
  }

  // Both runs launch the kernel often, and counters were read of some of its launches only.
  void aKernelOfARunHasTheCountersOfThatRun() {
    const auto before = recording("transformer_fp32.trace"), after = recording("transformer_tf32.trace");
    QVERIFY(before && after);
    const auto both = combine_traces(std::vector<TraceSource>{{before, "A", 0, {}, false, {}, "A"}, {after, "B", 0, {}, false, {}, "B"}});
    const auto records = ui::read_kernel_records(both);
    std::set<std::string> of_b;  // what is said of its measured launches, whose times are told to the ns
    for (const kernels::Measurement& one : records->counters.measurements)
      if (run_of(*both, both->track_of(one.event.lane)) == "B") of_b.insert("of the launch at " + timeline::format_time(both->event(one.event).start));
    std::size_t compared = 0;
    for (const Track& track : both->tracks()) {
      if (track.key.kind != TrackKind::kKernels || run_of(*both, track) != "B") continue;
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < both->lane(lane).size(); i += 50) {
          const auto facts = ui::kernel_facts(*records, {lane, i}, {});
          if (!facts->counters || facts->counters->where.english() == "of this launch") continue;
          QVERIFY2(of_b.contains(facts->counters->where.english()), facts->name.c_str());
          ++compared;
        }
    }
    QVERIFY(compared > 10);
  }

  // Counters of one run, and counts of instructions of another, in one trace.
  void aCauseNamesItsLineWhichTheSourceShows() {
    const auto counters = recording("kernel_counters.trace"), counts = recording("zoo_counts.trace");
    QVERIFY(counters && counts);
    const auto both = combine_traces(std::vector<TraceSource>{{counters, "A", 0}, {counts, "B", 0}});
    QVERIFY(both);
    ui::SelectionState state;
    KernelPanel panel(state);
    ui::SourcePanel source(state);
    panel.resize(1200, 500);
    panel.show();
    source.show();
    state.setTrace(both, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*both, "transpose_naive"));
    QVERIFY(settled(panel));
    QVERIFY(panel.facts() && panel.facts()->counters);
    QVERIFY(
        panel.text().contains("100 % of the sectors beyond those that are needed are of zoo.cu:6, where threads access memory as with a stride of 8 or more "
                              "elements of 4 B, or scattered."));
    QVERIFY(panel.text().contains("No pipe of a multiprocessor is used much"));
    QVERIFY(panel.text().contains("Instructions by opcode, as warps executed them"));
    QCOMPARE(panel.facts()->opcodes.size(), std::size_t{10});
    QVERIFY(panel.text().contains("LDG"));

    QSignalSpy asked(&panel, &KernelPanel::sourceLineRequested);
    emit panel.findChild<QTextBrowser*>()->anchorClicked(QUrl(QStringLiteral("source:zoo.cu%3A6%20%3C%20main.cu%3A40")));
    QCOMPARE(asked.size(), 1);
    const QString place = asked.first().first().toString();
    QCOMPARE(place, QStringLiteral("zoo.cu:6 < main.cu:40"));
    QTRY_VERIFY(!source.isComputing());
    source.showLine(place);
    const int row = source.lines().chosenRow();
    QVERIFY(row >= 0);
    QCOMPARE(source.lines().code().rows()[static_cast<std::size_t>(row)].place, QStringLiteral("6"));
    const auto& instructions = source.instructions().code().rows();
    const auto strided = std::count_if(instructions.begin(), instructions.end(),
                                       [](const ui::CodeRow& each) { return each.tip.contains("stride between threads: 8 or more elements of 4 B"); });
    QCOMPARE(strided, 1);  // the store
    // For a kernel whose code is not read yet, as soon as it is.
    source.showLine(QStringLiteral("zoo.cu:10"));
    state.setSelectedEvent(kernel_named(*both, "strided"));
    source.showLine(QStringLiteral("zoo.cu:10"));
    QTRY_COMPARE(source.lines().chosenRow() >= 0 ? source.lines().code().rows()[static_cast<std::size_t>(source.lines().chosenRow())].place : QString(),
                 QStringLiteral("10"));
  }

  // Returning to a kernel before the code of another one was read shows the code of the former.
  void theCodeIsThatOfTheSelectedKernel() {
    const auto trace = recording("zoo_counts.trace");
    QVERIFY(trace);
    ui::SelectionState state;
    ui::SourcePanel source(state);
    source.show();
    state.setTrace(trace, ui::TraceChange::kOther);
    const EventRef strided = kernel_named(*trace, "strided"), naive = kernel_named(*trace, "transpose_naive");
    QVERIFY(strided.valid() && naive.valid());
    state.setSelectedEvent(strided);
    QVERIFY(settled(source));
    QVERIFY2(source.note().startsWith("strided"), qPrintable(source.note()));
    state.setSelectedEvent(naive);
    QVERIFY(wait_for([&] { return source.isReading(); }));  // it has started
    state.setSelectedEvent(strided);
    QVERIFY(settled(source));
    QVERIFY2(source.note().startsWith("strided"), qPrintable(source.note()));
    // A later state of the trace keeps the line that the user reads.
    source.lines().chooseRow(1);
    const auto again = recording("zoo_counts.trace");
    state.setTrace(again, ui::TraceChange::kSnapshot);
    QVERIFY(settled(source));
    QCOMPARE(source.lines().chosenRow(), 1);
  }

  void aDoubleClickOnAFindingOpensItsLine() {
    ui::MainWindow window(ui::Layout::kInitial);
    window.resize(1400, 900);
    window.show();
    QSignalSpy opened(&window, &ui::MainWindow::opened);
    window.openTogether({recorded("kernel_counters.trace"), recorded("zoo_counts.trace")});
    QVERIFY(opened.wait(kPatienceMs) && settle(window));
    auto* findings = window.findChild<ui::FindingsPanel*>();
    auto* source = window.findChild<SourcePanel*>();
    findings->parentWidget()->show();
    for (QWidget* each = findings; each != nullptr && each != &window; each = each->parentWidget()) each->show();
    findings->chooseRule(QStringLiteral("kernel_bounds"));
    QVERIFY(settle(window));
    QVERIFY(findings->findings().model()->rowCount() > 0);
    // The most costly kernel is spill, whose array is in local memory.
    findings->findings().chooseRow(0);
    QVERIFY(findings->answer().contains("most at zoo.cu:14"));
    emit findings->findings().rowActivated(0);
    QVERIFY(settle(window));
    QVERIFY(source->isVisible());
    const int row = source->lines().chosenRow();
    QVERIFY(row >= 0);
    QCOMPARE(source->lines().code().rows()[static_cast<std::size_t>(row)].place, QStringLiteral("14"));
    QVERIFY(source->note().contains("spill"));
  }

  void amountsOfMemoryAreRoundedAndNeverCutWhereThereIsLittleRoom() {
    kernels::MemoryWay way{};
    way.unit = kernels::ValueUnit::kBytes;
    way.amount = 12.35 * 1024 * 1024;
    const QFontMetrics metrics(QApplication::font());
    QStringList shown;
    for (int room = 0; room < 200; ++room) {
      const QString text = ui::fitting_amount(way, metrics, room);
      QVERIFY2(metrics.horizontalAdvance(text) <= room, qPrintable(text));
      if (shown.isEmpty() || shown.last() != text) shown += text;
    }
    QCOMPARE(shown, (QStringList{"", "12 MiB", "12.35 MiB"}));
  }

  void eachMeasuredKernelShowsItsSections() {
    ui::SelectionState state;
    KernelPanel panel(state);
    panel.resize(1200, 500);
    panel.show();
    const auto trace = recording("kernel_counters.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    for (const char* kernel : {"transpose_naive", "transpose_shared", "transpose_padded", "saxpy", "strided", "gemm_naive", "divergent", "atomics", "spill",
                               "fp64", "small_grid", "low_occ"}) {
      state.setSelectedEvent(kernel_named(*trace, kernel));
      QVERIFY(settled(panel));
      QVERIFY(panel.facts() && panel.facts()->counters);
      QCOMPARE(panel.facts()->brief_name, std::string(kernel));
      QVERIFY(panel.facts()->counters->sections.size() >= 8);
      QVERIFY(panel.facts()->counters->verdict.bound != kernels::Bound::kUnknown);
    }
  }

  void aKernelWithoutCountersSaysHowToReadThem() {
    ui::SelectionState state;
    KernelPanel panel(state);
    panel.show();
    const auto trace = recording("transpositions.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*trace, "transpose_by_columns"));
    QVERIFY(settled(panel));
    QVERIFY(panel.text().contains("lanescope kernels --set full -k transpose_by_columns -s 0 -c 1 --save kernel.trace -- ./transpositions"));
    QVERIFY(panel.facts()->stalls);
    QCOMPARE(panel.facts()->all.count, std::uint64_t{100});
    QVERIFY(panel.findChild<ui::StallChart*>()->isVisible());
    QVERIFY(!panel.findChild<ui::RooflineChart*>()->isVisible());
    QVERIFY(!panel.findChild<ui::MemoryChart*>()->isVisible());
  }

  void aNodeOfAGraphIsNotOfferedToBeProfiled() {
    ui::SelectionState state;
    KernelPanel panel(state);
    panel.show();
    const auto trace = recording("torch_graph.trace");
    QVERIFY(trace);
    state.setTrace(trace, ui::TraceChange::kOther);
    QToolButton* profile = nullptr;
    for (QToolButton* const button : panel.findChildren<QToolButton*>())
      if (button->text().startsWith("Profile this kernel")) profile = button;
    QVERIFY(profile != nullptr);
    // Profiling is offered for direct launches, not for launches by a graph.
    EventRef of_graph, alone;
    for (const Track& track : trace->tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; track.key.kind == TrackKind::kKernels && i < trace->lane(lane).size(); ++i) {
          const KernelDetail& detail = trace->kernel_detail(trace->lane(lane).detail(i));
          (detail.graph != 0 || detail.graph_node != 0 ? of_graph : alone) = {lane, i};
        }
    QVERIFY(of_graph.valid());
    QVERIFY(alone.valid());
    state.setSelectedEvent(alone);
    QVERIFY(settled(panel));
    QVERIFY(profile->isEnabled());
    state.setSelectedEvent(of_graph);
    QVERIFY(settled(panel));
    QVERIFY(!profile->isEnabled());
    QVERIFY(panel.text().contains("a node of a CUDA graph"));
  }

  void nothingIsComputedWhileItIsHidden() {
    ui::SelectionState state;
    KernelPanel panel(state);
    SourcePanel source(state);
    const auto trace = recording("transpositions.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*trace, "transpose_by_columns"));
    QTest::qWait(400);
    QVERIFY(!panel.isComputing() && !panel.facts());
    QVERIFY(!source.isComputing());
    QCOMPARE(source.lines().code().rowCount(), 0);
  }

  void theHottestLineIsChosenWithItsInstructions() {
    qputenv("PATH", "/nonexistent");  // no disassembler
    ui::SelectionState state;
    SourcePanel panel(state);
    panel.resize(1200, 400);
    panel.show();
    panel.setSourceFolders({QString::fromStdString(data_file("../programs/gpu").string())});
    const auto trace = recording("transpositions.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*trace, "transpose_by_columns"));
    QVERIFY(settled(panel));
    QVERIFY(panel.lines().chosenRow() >= 0);
    const ui::CodeRow& hottest = panel.lines().code().rows()[static_cast<std::size_t>(panel.lines().chosenRow())];
    QVERIFY(hottest.text.contains("out[place(column, row + i, kRows)] ="));
    QVERIFY(hottest.share > 0.5);
    const ui::CodeRow& instruction = panel.instructions().code().rows()[static_cast<std::size_t>(panel.instructions().chosenRow())];
    QVERIFY(instruction.share > 0);
    QVERIFY(panel.note().contains("nvdisasm"));
    // Both tables fill their parts, and notes are shown whole, also in a narrow panel.
    for (const int width : {600, 1'200}) {
      panel.resize(width, 400);
      const auto is_filled = [](const ui::CodeTable& table) { return table.horizontalHeader()->length() >= table.viewport()->width(); };
      QVERIFY(wait_for([&] { return is_filled(panel.lines()) && is_filled(panel.instructions()); }));
      for (const auto* label : panel.findChildren<QLabel*>())
        if (label->text() == panel.note()) QVERIFY(wait_for([&] { return label->heightForWidth(label->width()) <= label->height(); }));
    }

    // A click on a long line keeps its samples in sight.
    panel.resize(500, 400);
    const QModelIndex line = panel.lines().code().index(panel.lines().chosenRow() - 1, ui::CodeTableModel::kText);
    QVERIFY(panel.lines().horizontalScrollBar()->maximum() > 0);
    panel.lines().horizontalScrollBar()->setValue(0);
    QTest::mouseClick(panel.lines().viewport(), Qt::LeftButton, {}, {panel.lines().viewport()->width() - 5, panel.lines().visualRect(line).center().y()});
    QCOMPARE(panel.lines().chosenRow(), line.row());
    QCOMPARE(panel.lines().horizontalScrollBar()->value(), 0);
    panel.resize(1200, 400);
    panel.lines().chooseRow(line.row() + 1);

    // The next hot spot is cooler; choosing an instruction chooses its line.
    const int first = panel.lines().chosenRow();
    QTest::keyClick(&panel.lines(), Qt::Key_N);
    QVERIFY(panel.lines().chosenRow() != first);
    panel.instructions().chooseRow(panel.instructions().find("LDG"));
    QVERIFY(panel.lines().code().rows()[static_cast<std::size_t>(panel.lines().chosenRow())].text.contains("in[place("));

    // The search covers the text of the lines.
    auto* search = panel.findChild<QLineEdit*>();
    QTest::keyClicks(search, "transpose_by_columns(");
    QTest::keyClick(search, Qt::Key_Return);
    QVERIFY(panel.lines().code().rows()[static_cast<std::size_t>(panel.lines().chosenRow())].text.contains("__global__ void transpose_by_columns"));

    // For a kernel that was not sampled, a note says why there is nothing.
    const auto other = recording("kernel_counters.trace");
    state.setTrace(other, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*other, "saxpy"));
    QVERIFY(wait_for([&] { return panel.note().contains("--kernels=pc"); }));
  }

  void countsAreColumnsThatAreWarmWhereALineCostsMost() {
    using kernels::Count;
    kernels::Counts store, load, both;
    store.set(Count::kExecuted, 1'048'576);
    store.set(Count::kThreads, 16 * 1'048'576);
    store.set(Count::kGlobalSectors, 33'554'432);
    store.set(Count::kGlobalSectorsIdeal, 4'194'304);
    load.set(Count::kExecuted, 2'097'152);
    load.set(Count::kThreads, 32 * 2'097'152);
    load.set(Count::kGlobalSectors, 4'194'304);
    load.set(Count::kGlobalSectorsIdeal, 4'194'304);
    both += store;
    both += load;
    const ui::CountColumns columns(both);
    QCOMPARE(columns.titles(), QStringList({"Executed", "Threads", "Global sectors"}));  // the other counts are all 0
    ui::CodeTable table("Source lines");
    ui::CodeTableModel& model = table.code();
    model.setRows(
        {{"1", "heading", 0, {}, {}, false}, {"2", "load", 0, {}, {}, true, columns.numbers(load)}, {"3", "store", 0, {}, {}, true, columns.numbers(store)}},
        columns.titles());
    const int first = ui::CodeTableModel::kColumns;
    QCOMPARE(model.columnCount(), first + 3);
    QCOMPARE(model.headerData(first + 2, Qt::Horizontal, Qt::DisplayRole).toString(), QString("Global sectors"));
    QCOMPARE(model.data(model.index(2, first), Qt::DisplayRole).toString(), QString::fromUtf8("1.05 M"));
    QCOMPARE(model.data(model.index(2, first + 1), Qt::DisplayRole).toString(), QString("16.0"));
    QCOMPARE(model.data(model.index(2, first + 2), Qt::DisplayRole).toString(), QString::fromUtf8("33.6 M (8.0×)"));
    QCOMPARE(model.data(model.index(1, first + 2), Qt::DisplayRole).toString(), QString::fromUtf8("4.19 M"));
    QVERIFY(model.data(model.index(0, first), Qt::DisplayRole).toString().isEmpty());
    // Warm colours mark costs: the load ran more often, the store accessed more than it needed, with half of its threads.
    const auto heat = [&](int row, int column) { return model.data(model.index(row, column), Qt::BackgroundRole).value<QColor>().alphaF(); };
    QVERIFY(heat(1, first) > heat(2, first));
    QVERIFY(heat(2, first + 2) > 0.5);
    QVERIFY(!model.data(model.index(1, first + 2), Qt::BackgroundRole).isValid());
    QVERIFY(!model.data(model.index(1, first + 1), Qt::BackgroundRole).isValid());
    // Nothing was sampled: the columns of samples are hidden, the code comes last, and the hottest row is the one that ran most.
    QVERIFY(table.isColumnHidden(ui::CodeTableModel::kSamples));
    QCOMPARE(table.horizontalHeader()->visualIndex(ui::CodeTableModel::kText), first + 2);
    QCOMPARE(table.nextHotRow(), 1);
    model.setRows({{"2", "load", 0.25, "wait", {}, true}});
    QVERIFY(!table.isColumnHidden(ui::CodeTableModel::kSamples));
    QCOMPARE(model.columnCount(), first);
    QCOMPARE(table.horizontalHeader()->visualIndex(ui::CodeTableModel::kText), ui::CodeTableModel::kText);
  }

  void sourcesWithoutLineEndsAreCut() {
    qputenv("PATH", "/nonexistent");
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "transpositions.cu") << std::string(40, '\n') << std::string(4 << 20, 'x');
    ui::SelectionState state;
    SourcePanel panel(state);
    panel.resize(1200, 400);
    panel.show();
    panel.setSourceFolders({QString::fromStdString(folder.path().string())});
    const auto trace = recording("transpositions.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*trace, "transpose_by_columns"));
    QVERIFY(settled(panel));
    qsizetype longest = 0;
    for (const ui::CodeRow& row : panel.lines().code().rows()) longest = std::max(longest, row.text.size());
    QCOMPARE(longest, qsizetype{1000});
  }

  void theUsersDisassemblerSaysOperands() {
    const TemporaryFolder folder;
    // The output of the real one for the requested kernel, with two instructions; for all kernels, it would fail if one of them consists of zeros.
    write_script(folder.path() / "nvdisasm",
                 "[ \"$1 $2\" = '-c -fun' ] && [ \"$3\" -gt 0 ] || exit 1\n"
                 "echo '.text._Z20transpose_by_columnsPfPKf:'\necho '        /*0000*/                   LDC R1, c[0x0][0x28] ;'\n"
                 "echo '        /*0010*/                   S2R R0, SR_TID.X ;'\n");
    qputenv("PATH", QByteArray::fromStdString(folder.path().string()) + ":/usr/bin:/bin");
    QCOMPARE(ui::find_disassembler(), QString::fromStdString((folder.path() / "nvdisasm").string()));
    ui::SelectionState state;
    SourcePanel panel(state);
    panel.show();
    const auto trace = recording("transpositions.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    state.setSelectedEvent(kernel_named(*trace, "transpose_by_columns"));
    QVERIFY(settled(panel));
    QCOMPARE(panel.instructions().code().rows()[1].text, QString("S2R R0, SR_TID.X"));
    QVERIFY(!panel.note().contains("nvdisasm"));

    // A disassembler that fails, or never ends and does not print the kernel, is not used.
    write_script(folder.path() / "nvdisasm", "exit 1\n");
    QVERIFY(!ui::disassemble(ui::find_disassembler(), "x", {}, {}));
    state.setSelectedEvent(kernel_named(*trace, "transpose_padded"));
    QVERIFY(settled(panel));
    QVERIFY(panel.note().contains("nvdisasm could not read this code"));
    std::stop_source stop;
    stop.request_stop();
    write_script(folder.path() / "nvdisasm", "exec sleep 60\n");
    QVERIFY(!ui::disassemble(ui::find_disassembler(), "x", {}, stop.get_token()));
  }

  // Whether to read counters is asked about the kernel of which they were wanted, not about one that is selected before it is known.
  void countersAreWantedOfOneKernelAlone() {
    ui::SelectionState state;
    KernelPanel panel(state);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel, kPatienceMs));
    const auto trace = recording("kernel_counters.trace");
    state.setTrace(trace, ui::TraceChange::kOther);
    QStringList asked;
    connect(&panel, &KernelPanel::profileRequested, this,
            [&](const std::shared_ptr<const ui::KernelFacts>& facts) { asked += QString::fromStdString(facts->brief_name); });
    state.setSelectedEvent(kernel_named(*trace, "saxpy"));
    panel.profileSelected();
    QVERIFY(settled(panel));
    QCOMPARE(asked, QStringList("saxpy"));
    state.setSelectedEvent(kernel_named(*trace, "transpose_naive"));
    panel.profileSelected();
    state.setSelectedEvent(kernel_named(*trace, "transpose_padded"));
    QVERIFY(settled(panel));
    QCOMPARE(panel.facts()->event, kernel_named(*trace, "transpose_padded"));
    QCOMPARE(asked, QStringList("saxpy"));
  }

  void anotherRunBringsTheCounters() {
    const TemporaryFolder folder;
    const auto trace = recording("kernel_counters.trace");
    const auto records = ui::read_kernel_records(trace);
    const auto facts = ui::kernel_facts(*records, kernel_named(*trace, "saxpy"), {});
    const QString place = QString::fromStdString((folder.path() / "run.trace").string());
    KernelProfiling::Run run = KernelProfiling::plan(*facts, place);
    QCOMPARE(run.file, QString::fromStdString((folder.path() / "run.saxpy.trace").string()));
    const QStringList words = run.command.mid(1);
    QCOMPARE(words, QStringList({"kernels", "--set", "full", "-k", "saxpy", "-s", "0", "-c", "1", "--save", run.file, "--", "./zoo"}));

    // A recorder that writes the file of such a run to the requested path.
    const auto recorder = folder.path() / "lanescope";
    write_script(recorder, QStringLiteral("while [ \"$1\" != --save ]; do shift; done\ncp '%1' \"$2\"\n").arg(recorded("kernel_counters.trace")));
    run.command.front() = QString::fromStdString(recorder.string());
    run.folder = QString::fromStdString(folder.path().string());
    KernelProfiling profiling;
    QStringList failures;
    std::shared_ptr<const Trace> measured;
    connect(&profiling, &KernelProfiling::failed, this, [&](const QString& sentence) { failures += sentence; });
    connect(&profiling, &KernelProfiling::measured, this,
            [&](std::shared_ptr<const Trace> result, const QString&, const std::shared_ptr<const Trace>&) { measured = result; });
    profiling.start(facts, run);
    QVERIFY(wait_for([&] { return !profiling.isRunning(); }));
    QCOMPARE(failures, QStringList());
    QVERIFY(measured);

    // The panel uses them for a trace without counters.
    auto bare = std::make_shared<ui::KernelRecordsOfTrace>(*records);
    bare->counters = kernels::RecordedMetrics{kernels::KernelMetrics({}), {}, {}};
    const auto with = ui::kernel_facts(*bare, facts->event, {ui::read_kernel_records(measured)});
    QVERIFY(with->counters);
    QVERIFY(with->counters->verdict.bound == kernels::Bound::kDram);
    QVERIFY(!ui::kernel_facts(*bare, facts->event, {})->counters);

    // Its own message if it fails, and ours if it prints nothing, does not start, or is cancelled.
    write_script(recorder, "echo 'some noise' >&2; echo 'lanescope: Counters of kernels are for administrators here.' >&2; exit 1\n");
    run.file += QStringLiteral(".none");
    profiling.start(facts, run);
    QVERIFY(wait_for([&] { return !profiling.isRunning(); }));
    QCOMPARE(failures.last(), QString("Counters of kernels are for administrators here."));
    write_script(recorder, "exit 3\n");
    profiling.start(facts, run);
    QVERIFY(wait_for([&] { return !profiling.isRunning(); }));
    QVERIFY(failures.last().contains("ended with 3"));
    write_script(recorder, "exec sleep 60\n");
    profiling.start(facts, run);
    QVERIFY(wait_for([&] { return profiling.isRunning(); }));
    profiling.cancel();
    QVERIFY(wait_for([&] { return !profiling.isRunning(); }));
    QVERIFY(failures.last().contains("no counters were read"));
    // Cancelled while its file is read, too.
    write_script(recorder, QStringLiteral("while [ \"$1\" != --save ]; do shift; done\ncp '%1' \"$2\"\n").arg(recorded("kernel_counters.trace")));
    run.command[static_cast<qsizetype>(run.command.indexOf("--save")) + 1] = run.file;
    measured.reset();
    QStringList progress;
    connect(&profiling, &KernelProfiling::progressed, this, [&](const QString& sentence) { progress += sentence; });
    profiling.start(facts, run);
    QVERIFY(wait_for([&] { return progress.contains("Reading what was recorded…") || !profiling.isRunning(); }));
    QVERIFY(profiling.isRunning());
    profiling.cancel();
    QVERIFY(!profiling.isRunning());
    QVERIFY2(failures.last().contains("were not read"), qPrintable(failures.last()));
    QTest::qWait(100);
    QVERIFY(!measured);
    run.command.front() = QStringLiteral("/nonexistent/lanescope");
    profiling.start(facts, run);
    QVERIFY(wait_for([&] { return !profiling.isRunning(); }));
    QVERIFY(failures.last().contains("could not be started"));
  }
};

QTEST_MAIN(KernelsTest)
#include "test_gui_kernels.moc"
