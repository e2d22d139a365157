// The panel of call chains: flame graph, call trees and functions, for the chosen part of time and threads.
#include <functional>
#include <map>

#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QTextDocument>
#include <QTimer>
#include <QTreeView>

#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "model/export/trace_file_export.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/load.h"
#include "samples/call_tree_model.h"
#include "samples/flame_graph_view.h"
#include "samples/samples_panel.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;
using lanescope::ui::SamplesPanel;

namespace {

// Thread 10 of a Python program: 60 samples in train > forward, 30 in train > load > inflate, 10 in train itself; the first half of them in the first
// millisecond. Thread 11: 20 samples in load > inflate. One call to poll, from load.
std::shared_ptr<const Trace> program() {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 10;
  builder.process(process).executable = "/usr/bin/python3";
  const auto python = [&](const char* name, std::uint32_t line) {
    return builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern(name), builder.intern("/home/user/train.py"), line});
  };
  const CodeLocationId inflate = builder.code_location({CodeKind::kNative, builder.intern("/lib/libz.so.1"), 0, 0x10}, {builder.intern("inflate"), 0, 0});
  const CallNodeId train = builder.call_node({0, python("train", 5)});
  const CallNodeId forward = builder.call_node({train, python("forward", 7)});
  const CallNodeId load = builder.call_node({train, python("load", 30)});
  const CallNodeId unpack = builder.call_node({load, inflate});
  const CallNodeId loader = builder.call_node({builder.call_node({0, python("load", 30)}), inflate});
  std::vector<SampleEvent> samples, others;
  for (int i = 0; i < 100; ++i)
    samples.push_back({Nanoseconds{i} * 20'000, 0, {i % 10 < 6 ? forward : i % 10 < 9 ? unpack : train, SampleOrigin::kTimer, 0, 20'000}});
  for (int i = 0; i < 20; ++i) others.push_back({Nanoseconds{i} * 100'000, 0, {loader, SampleOrigin::kTimer, 1, 20'000}});
  add_samples(builder, process, 10, samples);
  add_samples(builder, process, 11, others);
  TrackKey calls{TrackKind::kOsRuntime, process};
  calls.thread = builder.thread(process, 11);
  builder.add(calls, {{500'000, 4'000, builder.intern("poll"), 0, kWholeCall}});
  const SampleEvent backtrace[] = {{500'000, 4'000, {load, SampleOrigin::kOsCall}}};
  add_samples(builder, process, 11, backtrace);
  builder.provenance().finished = true;
  return builder.snapshot();
}

// The bold name in a tool tip.
QString text_behind_tags(const QString& tool_tip) {
  QTextDocument document;
  document.setHtml(tool_tip.section("<br>", 0, 0));
  return document.toPlainText();
}

QComboBox* choice(QWidget& panel, const QString& accessible_name) {
  for (QComboBox* each : panel.findChildren<QComboBox*>())
    if (each->accessibleName() == accessible_name) return each;
  return nullptr;
}

// Like a user: opens the list and moves to the entry with keys.
void choose(QComboBox* list, int index) {
  list->setFocus();
  QTest::keyClick(list, Qt::Key_Home);
  for (int i = 0; i < index; ++i) QTest::keyClick(list, Qt::Key_Down);
}

}  // namespace

class SamplesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    state_ = std::make_unique<ui::SelectionState>();
    panel_ = std::make_unique<SamplesPanel>(*state_);
    panel_->resize(1000, 400);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get(), kPatienceMs));
    state_->setTrace(program(), ui::TraceChange::kOther);
    QVERIFY(settled());
  }
  void cleanup() {
    panel_.reset();
    state_.reset();
  }

  void boxesAreAsWideAsTheirShares() {
    const int width = panel_->flameGraph().viewport()->width();
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{120});
    QVERIFY(near(boxOf({"train"}).width(), width * 100 / 120));
    QVERIFY(near(boxOf({"train", "forward"}).width(), width * 60 / 120));
    QVERIFY(near(boxOf({"train", "load", "inflate"}).width(), width * 30 / 120));
    QVERIFY(near(boxOf({"load"}).width(), width * 20 / 120));
    // Callers are above their callees.
    QVERIFY(boxOf({"train"}).bottom() < boxOf({"train", "load"}).top());
  }

  void aClickShowsACallOverTheWholeWidthAndEscapeItsCaller() {
    ui::FlameGraphView& flame = panel_->flameGraph();
    QTest::mouseClick(flame.viewport(), Qt::LeftButton, {}, boxOf({"train", "load"}).center());
    QVERIFY(near(boxOf({"train", "load"}).width(), flame.viewport()->width()));
    QVERIFY(boxOf({"train", "forward"}).isNull());
    QTest::keyClick(&flame, Qt::Key_Escape);
    QVERIFY(near(boxOf({"train"}).width(), flame.viewport()->width()));
    QVERIFY(near(boxOf({"train", "load"}).width(), flame.viewport()->width() * 30 / 100));
    QTest::keyClick(&flame, Qt::Key_Home);
    QCOMPARE(flame.focus(), 0u);
  }

  void arrowKeysWalkFromCallToCall() {
    ui::FlameGraphView& flame = panel_->flameGraph();
    flame.setFocus();
    QTest::keyClick(&flame, Qt::Key_Down);   // train
    QTest::keyClick(&flame, Qt::Key_Down);   // forward, the heaviest
    QTest::keyClick(&flame, Qt::Key_Right);  // load
    QTest::keyClick(&flame, Qt::Key_Return);
    QVERIFY(near(boxOf({"train", "load"}).width(), flame.viewport()->width()));
  }

  void aRightClickOnACallCopiesItsNameOrTheCallsThatLeadToIt() {
    ui::FlameGraphView& flame = panel_->flameGraph();
    const auto menu = [&](const QString& chosen) {
      return menu_after([&] { right_click(*flame.viewport(), boxOf({"train", "load", "inflate"}).center()); }, chosen);
    };
    menu("Copy the function's name");
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("inflate"));
    menu("Copy the calls that lead to it");
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("train\nload\ninflate"));
    QSignalSpy activated(&flame, &ui::FlameGraphView::functionActivated);
    menu("Find its samples on the rows");
    QCOMPARE(activated.size(), 1);
    menu("Zoom to it");
    QCOMPARE(flame.focus(), nodeOf({"train", "load", "inflate"}));
  }

  void hoveringTellsCountsAndShares() {
    const QString text = panel_->flameGraph().toolTipOf(nodeOf({"train", "load", "inflate"}));
    QVERIFY2(text.contains("libz.so.1") && text.contains("30 samples") && text.contains("25.0 %"), qPrintable(text));
    const QString of_load = panel_->flameGraph().toolTipOf(nodeOf({"train", "load"}));
    QVERIFY2(of_load.contains("train.py:30") && of_load.contains("Itself: 0 samples"), qPrintable(of_load));
  }

  void theTimeThatIsSelectedIsCounted() {
    state_->setSelectedRange(TimeRange{0, 1'000'000});
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{60});
    choose(choice(*panel_, "Part of time"), 2);  // the visible range
    QCOMPARE(state_->timeBinding(), ui::TimeBinding::kVisibleRange);
    state_->setVisibleRange({0, 200'000});
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{12});
    choose(choice(*panel_, "Part of time"), 0);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{120});
  }

  void theFocusStaysOnTheSameCallWhileTheTimeChanges() {
    QTest::mouseClick(panel_->flameGraph().viewport(), Qt::LeftButton, {}, boxOf({"train", "load"}).center());
    state_->setSelectedRange(TimeRange{0, 1'000'000});
    QVERIFY(settled());
    QCOMPARE(panel_->flameGraph().focus(), nodeOf({"train", "load"}));
  }

  void aThreadOrAProcessCanBeChosen() {
    QComboBox* threads = choice(*panel_, "Process or thread");
    QCOMPARE(threads->count(), 4);  // all, the process, its two threads
    choose(threads, 3);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{20});
    choose(threads, 1);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{120});
  }

  void theThreadOfOneTraceIsNotChosenInAnother() {
    QComboBox* threads = choice(*panel_, "Threads that are counted");
    if (threads == nullptr)
      for (QComboBox* each : panel_->findChildren<QComboBox*>())
        if (each->itemText(0) == "All threads") threads = each;
    QVERIFY(threads != nullptr);
    choose(threads, threads->count() - 1);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{20});
    // A running recording does not change the list while the user looks at it.
    const QString chosen = threads->currentText();
    threads->showPopup();
    state_->setTrace(program(), ui::TraceChange::kSnapshot);
    QVERIFY(settled());
    QCOMPARE(threads->currentText(), chosen);
    QVERIFY(threads->view()->isVisible());
    threads->hidePopup();
    state_->setTrace(program(), ui::TraceChange::kOther);
    QVERIFY(settled());
    QCOMPARE(threads->currentIndex(), 0);
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{120});
  }

  // Calls that the user expanded stay expanded while the trace grows and the time changes, and the current call stays current.
  void callsThatWereOpenedStayOpen() {
    choose(choice(*panel_, "View of the call chains"), 1);  // top-down
    QVERIFY(settled());
    QTreeView& tree = panel_->tree(samples::CallTreeOrder::kTopDown);
    const auto call = [&](const QStringList& names) {
      QModelIndex found;
      for (const QString& name : names) {
        QModelIndex next;
        for (int row = 0; row < tree.model()->rowCount(found); ++row)
          if (tree.model()->index(row, 0, found).data() == name) next = tree.model()->index(row, 0, found);
        found = next;
      }
      return found;
    };
    tree.collapseAll();
    tree.expand(call({"train"}));
    tree.expand(call({"train", "load"}));
    tree.setCurrentIndex(call({"train", "load", "inflate"}));
    const auto is_as_left = [&] {
      return tree.isExpanded(call({"train"})) && tree.isExpanded(call({"train", "load"})) && !tree.isExpanded(call({"load"})) &&
             tree.currentIndex() == call({"train", "load", "inflate"});
    };
    QVERIFY(is_as_left());
    state_->setTrace(program(), ui::TraceChange::kSnapshot);
    QVERIFY(settled());
    QVERIFY(is_as_left());
    state_->setSelectedRange(TimeRange{0, 1'000'000});
    QVERIFY(settled());
    QVERIFY(is_as_left());
  }

  // The entries of a menu refer to the call on which it was opened, whatever is shown by then.
  void theMenuOfACallOutlivesItsProfile() {
    ui::FlameGraphView& flame = panel_->flameGraph();
    const QPoint place = boxOf({"train", "load", "inflate"}).center();
    QTimer::singleShot(0, this, [&] { state_->setTrace(nullptr, ui::TraceChange::kOther); });
    menu_after([&] { right_click(*flame.viewport(), place); }, "Copy the calls that lead to it");
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("train\nload\ninflate"));
  }

  void backtracesAreWeighedByTheTimeOfTheirCalls() {
    choose(choice(*panel_, "Which call chains"), 1);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total(), (samples::Weight{1, 4'000}));
    QVERIFY(near(boxOf({"train", "load"}).width(), panel_->flameGraph().viewport()->width()));
  }

  void timeOfGpusLiesBelowWhatLaunchedItDownToTheLineOfTheKernel() {
    const auto loaded = load_trace(data_file("transpositions.trace"));
    QVERIFY(loaded.has_value());
    state_->setTrace(*loaded, ui::TraceChange::kOther);
    choose(choice(*panel_, "Which call chains"), 2);
    QVERIFY(settled());
    const samples::CallTree& tree = panel_->profile()->top_down;
    Nanoseconds busy = 0;
    for (const Track& track : (*loaded)->tracks())
      if (is_gpu_work(track.key.kind))
        for (const LaneId lane : track.lanes)
          for (EventIndex i = 0; i < (*loaded)->lane(lane).size(); ++i) busy += (*loaded)->lane(lane).duration(i);
    QCOMPARE(tree.total().time, busy);
    // The kernel that writes columns waits at its store.
    std::uint32_t line = 0;
    for (std::uint32_t node = 1; node < tree.nodes().size() && line == 0; ++node)
      if (tree.function_of(node).kind == samples::FrameKind::kLine) line = node;
    QVERIFY(line != 0);
    const samples::CallTreeNode& kernel = tree.node(tree.node(line).parent);
    QCOMPARE(tree.function_of(tree.node(line).parent).kind, samples::FrameKind::kOperation);
    QVERIFY(kernel.total.count > 0);
    const QString of_line = panel_->flameGraph().toolTipOf(line);
    QVERIFY2(of_line.contains("transpositions.cu:") && of_line.contains("about "), qPrintable(of_line));
    const QString of_state = panel_->flameGraph().toolTipOf(tree.node(line).first_child);
    QVERIFY2(of_state.contains("Warps wait for:"), qPrintable(of_state));
    QVERIFY(std::any_of(panel_->flameGraph().boxes().begin(), panel_->flameGraph().boxes().end(),
                        [line](const samples::FlameBox& box) { return box.node == line; }));
  }

  void treesShowTheSameTopDownAndBottomUp() {
    choose(choice(*panel_, "View of the call chains"), 2);  // bottom-up
    QVERIFY(settled());
    for (const auto order : {samples::CallTreeOrder::kTopDown, samples::CallTreeOrder::kBottomUp})
      QAbstractItemModelTester(panel_->tree(order).model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModel& down = *panel_->tree(samples::CallTreeOrder::kTopDown).model();
    QCOMPARE(down.rowCount(), 2);
    const QModelIndex train = down.index(0, 0);
    QCOMPARE(train.data().toString(), QString("train"));
    QCOMPARE(down.index(0, ui::CallTreeModel::kTotalShare).data().toString(), QString("83.3 %"));
    QCOMPARE(down.rowCount(train), 2);
    QCOMPARE(down.index(0, 0, train).data().toString(), QString("forward"));
    QCOMPARE(down.index(1, ui::CallTreeModel::kTotal, train).data().toString(), QString("30"));
    const QAbstractItemModel& up = *panel_->tree(samples::CallTreeOrder::kBottomUp).model();
    const QModelIndex inflate = up.index(1, 0);
    QCOMPARE(inflate.data().toString(), QString("inflate"));
    QCOMPARE(up.index(1, ui::CallTreeModel::kTotal).data().toString(), QString("50"));
    QCOMPARE(up.index(0, 0, inflate).data().toString(), QString("load"));
    // All 50 come from load, 30 of them through train.
    QCOMPARE(up.index(0, ui::CallTreeModel::kTotal, inflate).data().toString(), QString("50"));
    QCOMPARE(up.index(0, ui::CallTreeModel::kTotal, up.index(0, 0, inflate)).data().toString(), QString("30"));
  }

  void aTreeIsOpenDownToWhereItsCallsPart() {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    const auto call = [&](CallNodeId caller, const std::string& name) {
      return builder.call_node({caller, builder.code_location({CodeKind::kNative, 0, 0, 0}, {builder.intern(name), 0, 0})});
    };
    CallNodeId deep = 0;
    for (int level = 0; level < 8; ++level) deep = call(deep, "level" + std::to_string(level));
    std::vector<SampleEvent> samples;
    for (int i = 0; i < 9; ++i)  // three branches from there, a third for each
      samples.push_back({Nanoseconds{i}, 0, {call(call(deep, "way" + std::to_string(i % 3)), "end"), SampleOrigin::kTimer, 0, 1}});
    add_samples(builder, process, 10, samples);
    state_->setTrace(builder.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settled());
    const QTreeView& tree = panel_->tree(samples::CallTreeOrder::kTopDown);
    QModelIndex at = tree.model()->index(0, 0);
    for (int level = 0; level < 8; ++level, at = tree.model()->index(0, 0, at)) QVERIFY2(tree.isExpanded(at), qPrintable(at.data().toString()));
    QCOMPARE(at.data().toString(), QString("way0"));
    QVERIFY(!tree.isExpanded(at));
  }

  void theInterpreterIsLeftOutUnlessAllCallsAreAskedFor() {
    QComboBox* calls = choice(*panel_, "Which calls of a chain");
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    const auto native = [&](CallNodeId caller, const char* module, const char* name) {
      return builder.call_node({caller, builder.code_location({CodeKind::kNative, builder.intern(module), 0, 0}, {builder.intern(name), 0, 0})});
    };
    const CallNodeId run = native(native(0, "/lib/libpython3.12.so", "Py_RunMain"), "/lib/libpython3.12.so", "PyEval_EvalCode");
    const CallNodeId train =
        builder.call_node({run, builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern("train"), builder.intern("t.py"), 5})});
    const CallNodeId add = native(native(train, "/lib/libpython3.12.so", "cfunction_call"), "/lib/libtorch.so", "add");
    const SampleEvent samples[] = {{0, 0, {add, SampleOrigin::kTimer}}, {1, 0, {train, SampleOrigin::kTimer}}};
    add_samples(builder, process, 10, samples);
    state_->setTrace(builder.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settled());
    QVERIFY(calls->isVisible());
    QVERIFY(nodeOf({"train", "add"}) != 0);
    QVERIFY(nodeOf({"Py_RunMain"}) == 0);
    choose(calls, 1);  // Python only
    QVERIFY(settled());
    QVERIFY(nodeOf({"train"}) != 0);
    QVERIFY(nodeOf({"train", "add"}) == 0);
    choose(calls, 2);  // all
    QVERIFY(settled());
    QVERIFY(nodeOf({"Py_RunMain", "PyEval_EvalCode", "train", "cfunction_call", "add"}) != 0);
    choose(calls, 0);
    QVERIFY(settled());
    QVERIFY(nodeOf({"train", "add"}) != 0);

    TraceBuilder without;
    const CallNodeId work = without.call_node({0, without.code_location({CodeKind::kNative, 0, 0, 1}, {without.intern("work"), 0, 0})});
    const SampleEvent sample[] = {{0, 0, {work, SampleOrigin::kTimer}}};
    add_samples(without, without.process_of_instance(1), 10, sample);
    state_->setTrace(without.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settled());
    QVERIFY(!calls->isVisible());  // there is nothing to choose
    QVERIFY(nodeOf({"work"}) != 0);
  }

  void searchMakesFunctionsStandOut() {
    QLineEdit* field = panel_->findChild<QLineEdit*>();
    QTest::keyClicks(field, "INFLATE");
    QCOMPARE(panel_->flameGraph().foundShare(), 50.0 / 120);
    field->clear();
    QCOMPARE(panel_->flameGraph().foundShare(), 0.0);
  }

  void searchFiltersTheTableOfFunctionsHoweverItIsSorted() {
    panel_->chooseView(SamplesPanel::View::kFunctions);
    QLineEdit* field = panel_->findChild<QLineEdit*>();
    ui::ResultTable& table = panel_->functions();
    const auto shown = [&] {
      QStringList names;
      for (int row = 0; row < table.model()->rowCount(); ++row)
        if (!table.isRowHidden(row)) names += table.model()->index(row, 4).data().toString();
      names.sort();
      return names;
    };
    QCOMPARE(shown(), QStringList({"forward", "inflate", "load", "train"}));
    QTest::keyClicks(field, "LIBZ");  // the module of inflate
    QCOMPARE(shown(), QStringList({"inflate"}));
    table.sortByColumn(1, Qt::AscendingOrder);
    QCOMPARE(shown(), QStringList({"inflate"}));
    field->clear();
    QCOMPARE(shown().size(), 4);
  }

  // 60 samples of 120 are in forward, which is line 7; train's line 5 is in the chains of all 100 of its thread. load is line 30 of both threads, and its
  // callee inflate has no lines.
  void linesAreCountedShownWithTheirTextAndOpened() {
    panel_->chooseView(SamplesPanel::View::kLines);
    choose_calls(samples::CallChoice::kAll);
    QVERIFY(settled());
    ui::ResultTable& table = panel_->lines();
    const auto row_of = [&](const QString& place) {
      QStringList cells;
      for (int row = 0; row < table.model()->rowCount(); ++row)
        if (table.model()->index(row, 4).data().toString() == place)
          for (int column = 0; column < table.model()->columnCount(); ++column) cells += table.model()->index(row, column).data().toString();
      return cells.join(u'|');
    };
    QCOMPARE(table.model()->rowCount(), 3);
    QCOMPARE(row_of("train.py:7"), QString("50.0 %|50.0 %|60|60|train.py:7||forward|/home/user/train.py"));
    QCOMPARE(row_of("train.py:5"), QString("8.3 %|83.3 %|10|100|train.py:5||train|/home/user/train.py"));
    QCOMPARE(row_of("train.py:30"), QString("0.0 %|41.7 %|0|50|train.py:30||load|/home/user/train.py"));

    // Python only: samples in inflate count for the line that calls it.
    choose_calls(samples::CallChoice::kPythonOnly);
    QVERIFY(settled());
    QCOMPARE(row_of("train.py:30"), QString("41.7 %|41.7 %|50|50|train.py:30||load|/home/user/train.py"));

    const TemporaryFolder folder;
    QFile source(QString::fromStdString((folder.path() / "train.py").string()));
    QVERIFY(source.open(QIODevice::WriteOnly));
    source.write("1\n2\n3\n4\n5\n6\n    return self.layers(x)\n");
    source.close();
    panel_->setSourceFolders({QString::fromStdString(folder.path().string())});
    QVERIFY(settled());
    QVERIFY2(row_of("train.py:7").contains("|return self.layers(x)|"), qPrintable(row_of("train.py:7")));
    QVERIFY(row_of("train.py:30").contains("|train.py:30||load|"));  // the file here is shorter: no text

    // The whole file with the counts beside its lines.
    const auto source_line = [&](std::size_t i) {
      const ui::CodeRow& row = panel_->source().code().code().rows()[i];
      QStringList cells{row.place, row.text};
      for (const ui::CodeNumber& number : row.numbers) cells += number.text;
      return cells.join(u'|');
    };
    QVERIFY(panel_->source().title().endsWith("/train.py"));
    QCOMPARE(panel_->source().code().code().rows().size(), std::size_t{9});  // seven lines, the empty one at the end, and line 30
    QCOMPARE(source_line(0), QString("1|1"));
    QCOMPARE(source_line(4), QString("5|5|8.3 %|83.3 %"));
    QCOMPARE(source_line(6), QString("7|    return self.layers(x)|50.0 %|50.0 %"));
    QCOMPARE(source_line(8), QString("30||41.7 %|41.7 %"));
    table.setFocus();
    for (int row = 0; row < table.model()->rowCount(); ++row)
      if (table.model()->index(row, 4).data().toString() == "train.py:5")
        QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, table.visualRect(table.model()->index(row, 4)).center());
    QCOMPARE(panel_->source().code().chosenRow(), 4);
    panel_->source().code().setFocus();
    QTest::keyClick(&panel_->source().code(), Qt::Key_N);
    QCOMPARE(panel_->source().code().chosenRow(), 6);  // the hottest, because the chosen line comes last
    QSignalSpy opened_here(panel_.get(), &SamplesPanel::lineActivated);
    QTest::keyClick(&panel_->source().code(), Qt::Key_Return);
    QCOMPARE(opened_here.size(), 1);
    QCOMPARE(opened_here[0][1].toUInt(), 7u);

    QLineEdit* field = panel_->findChild<QLineEdit*>();
    QTest::keyClicks(field, "layers");
    int shown = 0;
    for (int row = 0; row < table.model()->rowCount(); ++row) shown += table.isRowHidden(row) ? 0 : 1;
    QCOMPARE(shown, 1);
    field->clear();

    QSignalSpy opened(panel_.get(), &SamplesPanel::lineActivated);
    table.sortByColumn(2, Qt::DescendingOrder);
    table.selectRow(0);
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_Return);
    QCOMPARE(opened.size(), 1);
    QCOMPARE(opened[0][0].toString(), QString("/home/user/train.py"));
    QCOMPARE(opened[0][1].toUInt(), 7u);
  }

  void withoutSamplesItSaysHowToRecordThem() {
    TraceBuilder builder;
    state_->setTrace(builder.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settled());
    bool said = false;
    for (const QLabel* label : panel_->findChildren<QLabel*>()) said |= label->isVisible() && label->text().contains("--sample");
    QVERIFY(said);
  }

  void aTraceThatHasBacktracesAloneShowsThose() {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    const CodeLocationId place = builder.code_location({CodeKind::kNative, 0, 0, 1}, {builder.intern("wait_for_all"), 0, 0});
    const SampleEvent backtrace[] = {{100, 50, {builder.call_node({0, place}), SampleOrigin::kOsCall}}};
    add_samples(builder, process, 10, backtrace);
    state_->setTrace(builder.snapshot(), ui::TraceChange::kOther);  // after one with samples
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total(), (samples::Weight{1, 50}));
    state_->setTrace(program(), ui::TraceChange::kOther);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{120});  // it has both: samples come first
    choose(choice(*panel_, "Which call chains"), 1);
    QVERIFY(settled());
    QCOMPARE(panel_->profile()->top_down.total().count, std::uint64_t{1});
  }

  // As on the timeline and in lists; whole names would fill a box with "void at::native::", with which all of them begin.
  void kernelsHaveTheirShortNames() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
    window.showPanel("samples");
    QVERIFY(settle(window));
    std::map<QString, QString> wholes;  // of labels
    const auto take = [&](const QString& label, const QString& whole) {
      QVERIFY2(!label.startsWith("void "), qPrintable(label));
      QVERIFY2(wholes.emplace(label, whole).first->second == whole, qPrintable(label));  // one function per label
    };
    const std::function<void(const QAbstractItemModel&, const QModelIndex&)> look = [&](const QAbstractItemModel& tree, const QModelIndex& above) {
      for (int row = 0; row < tree.rowCount(above); ++row) {
        const QModelIndex call = tree.index(row, ui::CallTreeModel::kFunction, above);
        take(call.data().toString(), call.data(Qt::ToolTipRole).toString());
        look(tree, tree.index(row, 0, above));
      }
    };
    for (const QTreeView* tree : window.samples().findChildren<QTreeView*>())
      if (const auto* calls = qobject_cast<const ui::CallTreeModel*>(tree->model())) look(*calls, {});
    const auto* flame = window.samples().findChild<ui::FlameGraphView*>();
    for (const samples::FlameBox& box : flame->boxes())
      if (box.node != 0) take(flame->labelOf(box.node), text_behind_tags(flame->toolTipOf(box.node)));
    QVERIFY(std::count_if(wholes.begin(), wholes.end(), [](const auto& each) { return each.second.startsWith("void at::native::"); }) > 5);
  }

  void inTheWindowADoubleClickedFunctionIsFoundOnTheRows() {
    const QString path = folder_.path().c_str() + QStringLiteral("/program.trace");
    QVERIFY(export_trace_file(*program(), path.toStdString(), Overwrite::kAllow).has_value());
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, path));
    // Samples must not hide other events: they are listed only if their kind is chosen.
    QCOMPARE(events_table(window)->model()->rowCount(), 1);
    EventFilter filter;
    filter.kind = EventKind::kCpuSample;
    window.state().setFilter(filter);
    QVERIFY(wait_for([&] { return window.isSettled() && events_table(window)->model()->rowCount() == 120; }));
    window.state().setFilter({});

    window.showPanel("samples");
    QVERIFY(wait_for([&] { return window.isSettled() && window.samples().profile() != nullptr; }));
    window.samples().chooseView(SamplesPanel::View::kFunctions);
    ui::ResultTable& functions = window.samples().functions();
    functions.sortByColumn(-1, Qt::AscendingOrder);
    functions.chooseRow(1);
    QCOMPARE(functions.model()->index(1, 4).data().toString(), QString("inflate"));
    QSignalSpy activated(&window.samples(), &SamplesPanel::functionActivated);
    const auto place = [&] { return functions.visualRect(functions.model()->index(1, 0)).center(); };
    QVERIFY(wait_for([&] { return functions.isVisible() && functions.viewport()->rect().contains(place()); }));
    QTest::mouseClick(functions.viewport(), Qt::LeftButton, {}, place());
    QTest::mouseDClick(functions.viewport(), Qt::LeftButton, {}, place());
    QCOMPARE(activated.size(), 1);
    QVERIFY(wait_for([&] { return window.isSettled() && window.timelineView().highlightedText() == "inflate"; }));
    QCOMPARE(window.timelineView().highlightedCount(), std::uint64_t{50});
  }

 private:
  void choose_calls(samples::CallChoice choice) {
    for (auto* box : panel_->findChildren<QComboBox*>())
      if (box->accessibleName() == "Which calls of a chain") box->setCurrentIndex(box->findData(static_cast<int>(choice)));
  }
  bool settled() {
    return wait_for([this] { return !panel_->isComputing(); });
  }
  static bool near(int a, int b) { return std::abs(a - b) <= 1; }
  std::uint32_t nodeOf(const std::vector<std::string>& path) const {
    const samples::CallTree& tree = panel_->profile()->top_down;
    std::uint32_t node = 0;
    for (const std::string& name : path) {
      const samples::CallTreeNode parent = tree.node(node);
      std::uint32_t child = parent.first_child;
      while (child < parent.first_child + parent.child_count && tree.function_of(child).name != name) ++child;
      if (child == parent.first_child + parent.child_count) return 0;
      node = child;
    }
    return node;
  }
  // Null if the call is not drawn.
  QRect boxOf(const std::vector<std::string>& path) const {
    for (const samples::FlameBox& box : panel_->flameGraph().boxes())
      if (box.node == nodeOf(path)) return panel_->flameGraph().rectangle(box);
    return {};
  }

  TemporaryFolder folder_;
  std::unique_ptr<ui::SelectionState> state_;
  std::unique_ptr<SamplesPanel> panel_;
};

QTEST_MAIN(SamplesTest)
#include "test_gui_samples.moc"
