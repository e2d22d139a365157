// Tables that are filled again while a recording grows: the user's line and place stay in every panel.
#include <ctime>

#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QTextBrowser>

#include "../../../timeline/traces.h"
#include "base/jobs/while_shown.h"
#include "fixture/main_window_fixture.h"
#include "fixture/panel_tables.h"
#include "model/trace/load.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

constexpr int kKinds = 120;  // of kernels, by name
constexpr Nanoseconds kPeriod = 1'000'000;

// A loop over kernels of many names, each longer than the previous one, after this number of rounds. In front of each, the GPU is idle while the thread is in a
// call or runs code, longer from step to step. The last round has one more kernel, which is the longest.
std::shared_ptr<const Trace> after_rounds(int rounds) {
  SmallTrace trace;
  std::vector<Event> kernels, calls, ranges;
  Nanoseconds time = 0;
  for (int round = 0; round < rounds; ++round)
    for (int kind = 0; kind < kKinds + (round + 1 == rounds ? rounds : 0); ++kind) {
      const std::string name = "kernel" + std::string(kind < 10 ? "00" : kind < 100 ? "0" : "") + std::to_string(kind);
      const Nanoseconds idle = 20'000 + 500 * kind, launch = time + idle - 10'000;
      const auto correlation = static_cast<std::uint32_t>(calls.size() + 1);
      calls.push_back(trace.event(launch, launch + 5'000, kind % 2 == 0 ? "cudaLaunchKernel" : "cudaMemcpyAsync", correlation));
      kernels.push_back(trace.event(time + idle, time + idle + 100'000 + 1'000 * kind, name, correlation));
      ranges.push_back(trace.event(time, time + kPeriod - 1, "part " + std::string(1, static_cast<char>('a' + kind % 26))));
      time += kPeriod;
    }
  trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), ranges);
  trace.builder.add(trace.on_thread(TrackKind::kCudaApi), calls);
  trace.builder.add(trace.on_gpu(TrackKind::kKernels), kernels);
  return trace.builder.snapshot();
}

std::shared_ptr<const Trace> of_kernels(int count) {
  SmallTrace trace;
  std::vector<Event> kernels(static_cast<std::size_t>(count), trace.event(0, 500, "kernel"));
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].start = static_cast<Nanoseconds>(i) * 1'000;
  trace.builder.add(trace.on_gpu(TrackKind::kKernels), kernels);
  return trace.builder.snapshot();
}

// Processor time of this thread, in seconds.
double used_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void select_first_lines(QTableView& table, int count) {
  const QModelIndex last = table.model()->index(count - 1, table.model()->columnCount() - 1);
  table.selectionModel()->setCurrentIndex(table.model()->index(0, 0), QItemSelectionModel::NoUpdate);
  table.selectionModel()->select(QItemSelection(table.model()->index(0, 0), last), QItemSelectionModel::ClearAndSelect);
}

// A text of a line that does not change while the recording continues.
QString line(const QTableView& table, int row, const QString& title) { return cell(table, row, title); }

}  // namespace

class RefreshTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->resize(1'600, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowActive(window_.get(), kPatienceMs));
    window_->state().setTrace(after_rounds(2), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
  }
  void cleanup() { window_.reset(); }

  // Nobody knows how long a range that has not ended will take, so it is marked in the list and left out of what is counted.
  void aRangeThatIsOpenIsMarkedAndNotCounted() {
    const auto after_ticks = [](int ended) {
      SmallTrace trace;
      std::vector<Event> ranges;
      for (int i = 0; i < ended; ++i) ranges.push_back(trace.event(i * kPeriod, (i + 1) * kPeriod - 1'000, "tick"));
      ranges.push_back(trace.event(ended * kPeriod, ended * kPeriod, "tick"));
      trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), ranges);
      return trace.builder.snapshot();
    };
    ui::SelectionState& state = window_->state();
    state.setTrace(after_ticks(5), ui::TraceChange::kOther);
    const LaneId lane = state.trace()->tracks().front().lanes.front();
    state.setOpenEvents({{lane, 5}}, 90 * kPeriod);
    state.setTrace(after_ticks(5), ui::TraceChange::kSnapshot);
    window_->showPanel("statistics");
    QTableView& names = *window_->statistics().findChild<QTableView*>();
    QVERIFY(wait_for([&] { return settle(*window_) && names.model()->rowCount() == 1 && cell(names, 0, "Instances") == "5"; }, 10'000));
    QCOMPARE(cell(names, 0, "Min"), QString::fromUtf8("999.000 µs"));
    window_->showPanel("events");
    QTableView& table = *events_table(*window_);
    table.sortByColumn(ui::EventTableModel::columnOf(EventColumn::kDuration), Qt::DescendingOrder);
    QVERIFY(settle(*window_));
    QCOMPARE(cell(table, 0, "Duration"), QString("open, 85.000 ms"));
    // In a selected range, which the open one reaches into.
    state.setSelectedRange(TimeRange{2 * kPeriod, 40 * kPeriod});
    const auto* details = window_->findChild<ui::DetailsPanel*>()->findChild<QTextBrowser*>();
    QVERIFY(wait_for([&] { return settle(*window_) && details->toPlainText().contains("tick"); }, 10'000));
    const QString said = details->toPlainText().replace(QChar::Nbsp, u' ');
    QVERIFY2(said.contains("count 3") && said.contains(QString::fromUtf8("min 999.000 µs")), qPrintable(said));
    QVERIFY2(said.contains("Not counted, since they have not ended: 1 event") && !said.contains("Only partly"), qPrintable(said));
    state.setSelectedRange(std::nullopt);
    // It has ended, but the list was made before.
    state.setTrace(after_ticks(7), ui::TraceChange::kSnapshot);
    state.setOpenEvents({{lane, 7}}, 91 * kPeriod);
    QCOMPARE(cell(table, 0, "Duration"), QString("open, 85.000 ms"));
    state.setOpenEvents({}, std::nullopt);
  }

  void whoReadsATableStaysWhereTheyWere_data() {
    QTest::addColumn<QString>("panel");
    QTest::addColumn<QString>("choice");
    QTest::addColumn<QString>("title");  // of a column that distinguishes lines
    QTest::newRow("names") << "statistics"
                           << ""
                           << "Name";
    QTest::newRow("families") << "statistics"
                              << "families"
                              << "Name";
    QTest::newRow("sums by columns") << "statistics"
                                     << "columns"
                                     << "Name";
    QTest::newRow("sums of a report") << "statistics"
                                      << "cuda_gpu_kern_sum"
                                      << "Name";
    QTest::newRow("lines of a report") << "statistics"
                                       << "cuda_gpu_trace"
                                       << "Start";
    QTest::newRow("groups of idle time") << "bubbles"
                                         << "groups"
                                         << "NVTX Range";
    QTest::newRow("gaps") << "bubbles"
                          << "gaps"
                          << "Start";
    QTest::newRow("tables of a rule") << "findings"
                                      << "step_breakdown"
                                      << "NVTX Range";
    QTest::newRow("answers") << "query"
                             << "SELECT start, duration, name FROM kernels ORDER BY duration DESC"
                             << "name";
    QTest::newRow("events") << "events"
                            << ""
                            << "Start";
  }
  void whoReadsATableStaysWhereTheyWere() {
    QFETCH(QString, panel);
    QFETCH(QString, choice);
    QFETCH(QString, title);
    QTableView* table = tableOf(panel, choice);
    QVERIFY(table != nullptr && table->isVisible());
    QVERIFY2(table->model()->rowCount() > 20, qPrintable(QString::number(table->model()->rowCount())));
    window_->timelineView().setVisibleRange({0, 50 * kPeriod});  // if everything were visible, the visible range would grow with the trace
    // Some lines down, a visible line is clicked.
    table->verticalScrollBar()->setValue(std::min(9, table->verticalScrollBar()->maximum()));
    const int row = table->rowAt(table->viewport()->height() / 2);
    QVERIFY(row > 0);
    click(*table, row, Qt::NoModifier);
    QVERIFY(settle(*window_));
    const QString chosen = line(*table, row, title);
    QVERIFY(!chosen.isEmpty());
    const int place = table->visualRect(table->model()->index(row, 1)).top();
    const TimeRange visible = window_->timelineView().visibleRange();
    const auto* results = qobject_cast<const ui::ResultTable*>(table);
    const std::shared_ptr<const stats::Table> table_before = results != nullptr ? results->results().table() : nullptr;
    const int rows_before = table->model()->rowCount();

    for (const int rounds : {3, 4}) {
      window_->state().setTrace(after_rounds(rounds), ui::TraceChange::kSnapshot);
      QVERIFY(settle(*window_));
      QVERIFY(table->currentIndex().isValid());
      QCOMPARE(line(*table, table->currentIndex().row(), title), chosen);
      QCOMPARE(table->selectionModel()->selectedRows().size(), qsizetype{1});
      QCOMPARE(table->selectionModel()->selectedRows().front().row(), table->currentIndex().row());
      QCOMPARE(table->visualRect(table->model()->index(table->currentIndex().row(), 1)).top(), place);
    }
    QVERIFY2(results != nullptr ? results->results().table() != table_before : table->model()->rowCount() != rows_before, "the table was not filled anew");
    QCOMPARE(window_->timelineView().visibleRange() == visible, true);  // nobody chose anything
  }

  void workIsDoneWhileAPanelIsInSight() {
    QWidget window, panel(&window);
    int done = 0;
    ui::WhileShown work(panel, [&] { ++done; });
    work.soon();
    work.atOnce();
    QVERIFY(!work.isPending());
    QCOMPARE(done, 0);
    window.show();
    QCOMPARE(done, 1);
    work.soon();
    work.soon();
    QCOMPARE(done, 1);
    QTRY_VERIFY_WITH_TIMEOUT(!work.isPending(), kPatienceMs);
    QCOMPARE(done, 2);
    work.soon();
    work.atOnce();
    QVERIFY(!work.isPending());
    QCOMPARE(done, 3);
    work.soon();
    panel.hide();
    QVERIFY(!work.isPending());
    QCOMPARE(done, 3);
    panel.show();
    QCOMPARE(done, 4);
  }

  // Scrolled away from the chosen line, or without one: the number of lines above the visible part stays.
  void whoScrolledAwayIsNotBroughtBack_data() { whoReadsATableStaysWhereTheyWere_data(); }
  void whoScrolledAwayIsNotBroughtBack() {
    QFETCH(QString, panel);
    QFETCH(QString, choice);
    QTableView* table = tableOf(panel, choice);
    click(*table, 0, Qt::NoModifier);
    QVERIFY(settle(*window_));
    table->verticalScrollBar()->setValue(table->verticalScrollBar()->maximum());
    const int scrolled = table->verticalScrollBar()->value();
    QVERIFY(scrolled > 0);
    window_->state().setTrace(after_rounds(3), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QCOMPARE(table->verticalScrollBar()->value(), scrolled);
  }

  void severalLinesStaySelected() {
    for (const auto& [panel, choice, title] : {std::tuple("statistics", "cuda_gpu_kern_sum", "Name"), std::tuple("events", "", "Start")}) {
      QTableView* table = tableOf(panel, choice);
      click(*table, 2, Qt::NoModifier);
      click(*table, 4, Qt::ControlModifier);
      click(*table, 5, Qt::ControlModifier);
      QVERIFY(settle(*window_));
      const auto selected = [&, title = title] {
        QStringList lines;
        for (const QModelIndex& index : table->selectionModel()->selectedRows()) lines += line(*table, index.row(), title);
        lines.sort();
        return lines;
      };
      const QStringList before = selected();
      QCOMPARE(before.size(), qsizetype{3});
      window_->state().setTrace(after_rounds(3), ui::TraceChange::kSnapshot);
      QVERIFY(settle(*window_));
      QCOMPARE(selected(), before);
      window_->state().setTrace(after_rounds(2), ui::TraceChange::kOther);
      QVERIFY(settle(*window_));
    }
  }

  // The window is blocked while a list replaces another: that must not take longer for a long list.
  void toFindSelectedEventsAgainHoldsNothingUp() {
    QTableView* table = tableOf("events", "");
    auto* model = static_cast<ui::EventTableModel*>(table->model());
    double began = 0, took = 0;
    connect(model, &QAbstractItemModel::modelAboutToBeReset, this, [&] { began = used_time(); });
    connect(model, &ui::EventTableModel::orderChanged, this, [&] { took = used_time() - began; });
    const auto seconds = [&](int kernels) {
      window_->state().setTrace(of_kernels(kernels), ui::TraceChange::kOther);
      if (!settle(*window_)) return -1.0;
      select_first_lines(*table, 1'000);
      window_->state().setTrace(of_kernels(kernels + 1), ui::TraceChange::kSnapshot);
      return settle(*window_) && model->rowCount() == kernels + 1 && table->selectionModel()->selectedRows().size() == 1'000 ? took : -1.0;
    };
    const double of_few = seconds(10'000), of_many = seconds(3'000'000);
    disconnect(model, nullptr, this, nullptr);
    QVERIFY(of_few > 0 && of_many > 0);
    QVERIFY2(of_many < 2 * of_few + 0.05, qPrintable(QString("%1 s, and %2 s of many events").arg(of_few).arg(of_many)));
  }

  // Indistinguishable lines, for example of numbers only, are matched in their order.
  void toFindManyChosenLinesAgainTakesLittleLongerThanOne() {
    ui::ResultTable table({}, "Numbers");
    const auto numbers = [] {
      auto table_of = std::make_shared<stats::Table>(std::vector<stats::Column>{stats::integers("Duration", stats::Unit::kNanoseconds)});
      for (std::int64_t i = 0; i < 200'000; ++i) table_of->add_row(i % 7);
      return table_of;
    };
    const auto seconds = [&](int lines) {
      table.setTable(nullptr);
      table.setTable(numbers());
      select_first_lines(table, lines);
      const auto again = numbers();
      const double began = used_time();
      table.setTable(again);
      return used_time() - began;
    };
    const double one = seconds(1), many = seconds(1'000);
    QCOMPARE(table.selectionModel()->selectedRows().size(), qsizetype{1'000});
    QVERIFY(table.selectionModel()->isRowSelected(999) && !table.selectionModel()->isRowSelected(1'000));
    QVERIFY2(many < 2 * one + 0.1, qPrintable(QString("%1 s, and %2 s of many lines").arg(one).arg(many)));
  }

  // The answer to another query starts at its top, even if it has the same columns.
  void anotherQuestionBeginsAtTheTop() {
    QTableView* table = tableOf("query", "SELECT start, duration, name FROM kernels ORDER BY duration DESC");
    click(*table, 40, Qt::NoModifier);
    QVERIFY(settle(*window_));
    QVERIFY(table->verticalScrollBar()->value() > 0);
    QCOMPARE(tableOf("query", "SELECT start, duration, name FROM kernels ORDER BY start DESC"), table);
    QCOMPARE(table->verticalScrollBar()->value(), 0);
    QVERIFY(!table->selectionModel()->hasSelection());
  }

  // A line that no longer exists is deselected, and no other one is selected.
  void aLineThatIsGoneIsNotSelected() {
    QTableView* table = tableOf("statistics", "cuda_gpu_kern_sum");
    window_->state().setTimeBinding(ui::TimeBinding::kSelectedRange);
    click(*table, 3, Qt::NoModifier);
    QVERIFY(settle(*window_));
    window_->state().setSelectedRange(TimeRange{0, 10 * kPeriod});  // of the first ten kernels; the longest come first in the table
    QVERIFY(settle(*window_));
    QCOMPARE(table->model()->rowCount(), 10);
    QVERIFY(!table->currentIndex().isValid());
    QVERIFY(!table->selectionModel()->hasSelection());
  }

  // A group of idle time is identified by what it is about: ids of names differ in another state of a trace.
  void theGapsOfAGroupStayThoseOfTheGroup() {
    auto* groups = static_cast<ui::ResultTable*>(tableOf("bubbles", "groups"));
    click(*groups, 2, Qt::NoModifier);
    QVERIFY(settle(*window_));
    const QString range = line(*groups, 2, "NVTX Range"), call = line(*groups, 2, "Call");
    SmallTrace other;  // the same recording, from a file that names its events in another order
    for (const char* name : {"last", "part z", "part b", "part y", "cudaMemcpyAsync"}) other.builder.intern(name);
    const std::shared_ptr<const Trace> grown = after_rounds(3);
    for (const Track& track : grown->tracks())
      for (const LaneId lane : track.lanes) {
        std::vector<Event> events;
        for (EventIndex i = 0; i < grown->lane(lane).size(); ++i) {
          const Event event = grown->event({lane, i});
          events.push_back(other.event(event.start, event.end(), std::string(grown->name(event.name)), event.correlation));
        }
        other.builder.add(track.key, events);
      }
    window_->state().setTrace(other.builder.snapshot(), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QVERIFY(groups->currentIndex().isValid());
    QCOMPARE(line(*groups, groups->currentIndex().row(), "NVTX Range"), range);
    QCOMPARE(line(*groups, groups->currentIndex().row(), "Call"), call);
    const QString gaps_of_group = line(*groups, groups->currentIndex().row(), "Gaps");
    QCOMPARE(QString::number(window_->bubbles().gaps().model()->rowCount()), gaps_of_group);
  }

  // The text beside a chosen finding is about it.
  void theFindingThatIsReadStays() {
    const auto recording = [] { return *load_trace(data_file("torch_training_workers0.trace")); };
    window_->state().setTrace(recording(), ui::TraceChange::kOther);
    window_->showPanel("findings");
    QVERIFY(settle(*window_));
    ui::ResultTable& findings = window_->findings().findings();
    QVERIFY2(findings.model()->rowCount() > 1, qPrintable(window_->findings().answer()));
    click(findings, findings.model()->rowCount() - 1, Qt::NoModifier);
    QVERIFY(settle(*window_));
    const QString rule = line(findings, findings.currentIndex().row(), "Rule");
    const QString answer = window_->findings().answer();
    window_->state().setTrace(recording(), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QVERIFY(findings.currentIndex().isValid());
    QCOMPARE(line(findings, findings.currentIndex().row(), "Rule"), rule);
    QCOMPARE(window_->findings().answer(), answer);
  }

  // The page of a rule's table stays current, too.
  void thePageThatIsReadStays() {
    QTableView* table = tableOf("findings", "step_breakdown");
    const int page = window_->findings().pages().currentIndex();
    QVERIFY(page > 0);
    window_->state().setTrace(after_rounds(3), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QCOMPARE(window_->findings().pages().currentIndex(), page);
    QCOMPARE(window_->findings().pages().currentWidget(), static_cast<QWidget*>(table));
  }

 private:
  static void click(QTableView& table, int row, Qt::KeyboardModifiers keys) {
    table.scrollTo(table.model()->index(row, 0));
    int column = 0;
    while (table.isColumnHidden(column)) ++column;
    QTest::mouseClick(table.viewport(), Qt::LeftButton, keys, table.visualRect(table.model()->index(row, column)).center());
  }

  // The table of a panel after making a choice in it. Null if there is none.
  QTableView* tableOf(const QString& panel, const QString& choice) {
    window_->showPanel(panel);
    if (panel == "events") return settle(*window_) ? events_table(*window_) : nullptr;
    if (panel == "query") {
      window_->query().setText(choice);
      window_->query().ask();
      return settle(*window_) ? &window_->query().table() : nullptr;
    }
    if (panel == "bubbles") {
      if (!settle(*window_)) return nullptr;
      return choice == "groups" ? &window_->bubbles().groups() : &window_->bubbles().gaps();
    }
    if (panel == "findings") {
      window_->findings().chooseRule(choice);
      if (!settle(*window_)) return nullptr;
      window_->findings().pages().setCurrentIndex(window_->findings().pages().count() - 1);
      return qobject_cast<QTableView*>(window_->findings().pages().currentWidget());
    }
    window_->statistics().chooseReport(choice);
    if (choice == "columns") window_->statistics().pivot().chooseColumns({PivotColumn::kName});
    if (!settle(*window_)) return nullptr;
    if (choice == "columns") return &window_->statistics().pivot().table();
    if (choice.isEmpty() || choice == "families") {
      for (auto* table : window_->statistics().findChildren<QTableView*>())
        if (table->accessibleName() == "Statistics by name") return table;
      return nullptr;
    }
    return &window_->statistics().report().table();
  }

  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(RefreshTest)
#include "test_gui_refresh.moc"
