// The events view and the statistics: filters, the part of time, copied lines, and links between views.
#include <QAbstractItemModelTester>
#include <QChart>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>

#include "../../../timeline/traces.h"
#include "fixture/known_trace_test.h"
#include "fixture/menus.h"
#include "panels/duration_chart.h"
#include "panels/statistics_model.h"
#include "panels/utilisation_chart.h"
#include "timeline/core/view/viewport.h"
#include "timeline/core/words/format.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

template <typename Field>
Field* field(QWidget& panel, const QString& accessible_name) {
  for (Field* each : panel.findChildren<Field*>())
    if (each->accessibleName() == accessible_name) return each;
  return nullptr;
}

// Like a user: goes to the list and moves to the entry with keys.
void choose(QComboBox* list, const QString& entry) {
  list->setFocus();
  QTest::keyClick(list, Qt::Key_Home);
  for (int i = 0; i < list->count() && list->currentText() != entry; ++i) QTest::keyClick(list, Qt::Key_Down);
}

// Both clicks: QTest::mouseDClick() sends only the second one.
void double_click(QAbstractItemView& view, QPoint place) {
  QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, place);
  QTest::mouseDClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, place);
}

// Ranges "step 0", "step 1" and so on, `count` of them.
std::shared_ptr<const Trace> steps(int count) {
  SmallTrace trace;
  std::vector<Event> ranges;
  for (int i = 0; i < count; ++i) ranges.push_back(trace.event(i * 1'000, i * 1'000 + 500, "step " + std::to_string(i)));
  trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), ranges);
  return trace.builder.snapshot();
}

}  // namespace

class EventsTest : public KnownTraceTest {
  Q_OBJECT

 private slots:
  void init() {
    KnownTraceTest::init();
    if (window_) table_ = events_table(*window_);
  }

  // What ran on a processor is the state of a thread once more.
  void aStateOfAThreadIsListedOnce() {
    QVERIFY(open_and_settle(*window_, recorded("cpu_loader.trace")));
    const Trace& trace = *window_->state().trace();
    const auto count = [&](TrackKind kind) {
      int events = 0;
      for (const Track& track : trace.tracks())
        for (const LaneId lane : track.lanes) events += track.key.kind == kind ? static_cast<int>(trace.lane(lane).size()) : 0;
      return events;
    };
    QVERIFY(count(TrackKind::kProcessors) > 0);
    EventFilter filter;
    filter.kind = EventKind::kThreadState;
    window_->state().setFilter(filter);
    QVERIFY(settle(*window_));
    QCOMPARE(events_table(*window_)->model()->rowCount(), count(TrackKind::kThreadStates));
    filter.kind = EventKind::kProcessor;
    window_->state().setFilter(filter);
    QVERIFY(settle(*window_));
    QCOMPARE(events_table(*window_)->model()->rowCount(), count(TrackKind::kProcessors));
    QCOMPARE(cell(*events_table(*window_), 0, EventColumn::kKind), QString("Processor"));
  }

  // However long it takes: the sums of the whole trace are not shown as if they were those of the range.
  void whatIsStillCountedIsSaidInPlaceOfOtherSums() {
    window_->actions().statistics->trigger();
    QVERIFY(settle(*window_));
    ui::StatisticsPanel& statistics = window_->statistics();
    QWidget* const sums = statistics.findChild<QSplitter*>("statistics-parts");
    auto* const pages = qobject_cast<QStackedWidget*>(sums->parentWidget());
    QVERIFY(pages != nullptr && sums->isVisible());
    const auto kernels = [&] {
      std::uint64_t count = 0;
      for (int row = 0; row < statistics.model().rowCount(); ++row)
        if (statistics.model().entry(row).kind == EventKind::kKernel) count += statistics.model().entry(row).count;
      return count;
    };
    QCOMPARE(kernels(), std::uint64_t{kKernels});
    // It is out of patience before the events are gathered, which begins after a pause.
    for (const char* patience : {"statistics-patience", "events-patience"}) window_->findChild<QTimer*>(patience)->setInterval(0);
    QStringList said;
    connect(pages, &QStackedWidget::currentChanged, pages, [&] {
      const auto* label = qobject_cast<QLabel*>(pages->currentWidget());
      said += label ? label->text() : QString("%1 kernels").arg(kernels());
    });
    window_->state().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(settle(*window_));
    QCOMPARE(said, QStringList({"Counting the events of the selected range…", "1 kernels"}));
    QVERIFY(sums->isVisible());
    said.clear();
    statistics.chooseReport(ui::StatisticsPanel::kColumns);
    QVERIFY(settle(*window_));
    said.clear();
    window_->state().setSelectedRange(std::nullopt);
    QVERIFY(settle(*window_));
    QVERIFY2(said.size() == 2 && said.first() == "Counting the events…", qPrintable(said.join(u';')));
    QVERIFY(sums->isVisible());
  }

  // The range "step" encloses all kernels: the part of time of one kernel has all of that kernel, and a small part of the range.
  void statisticsSayHowManyEventsLieOnlyPartlyInThePartOfTime() {
    window_->resize(1'280, 800);
    window_->actions().statistics->trigger();
    QVERIFY(settle(*window_));
    const auto* said = window_->statistics().findChild<QLabel*>("statistics-partly-in");
    QVERIFY(said != nullptr);
    QCOMPARE(said->text(), QString());  // of all of the time
    window_->state().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(settle(*window_));
    QVERIFY(said->isVisible());
    QCOMPARE(said->text(), QString("Only partly in the selected range, but counted whole: 1 event"));
    QVERIFY(wait_for([&] { return said->width() >= said->fontMetrics().horizontalAdvance(said->text()); }));  // there is room for it
    window_->state().setSelectedRange(TimeRange{kFirstKernel + 1, kFirstKernel + kKernelDuration});           // the kernel begins before it, too
    QVERIFY(settle(*window_));
    QCOMPARE(said->text(), QString("Only partly in the selected range, but counted whole: 2 events"));
    window_->statistics().chooseReport("cuda_gpu_kern_sum");
    QVERIFY(!said->isVisible());
    window_->statistics().chooseReport({});
    window_->state().setSelectedRange(std::nullopt);
    QVERIFY(settle(*window_));
    QCOMPARE(said->text(), QString());
  }

  void aListOfOtherEventsIsNotCountedAsIfItWereOfTheRange() {
    const auto counts = [&] {
      QStringList texts;
      for (const QLabel* label : window_->findChild<ui::EventsPanel*>()->findChildren<QLabel*>()) texts += label->text();
      return texts;
    };
    const QString all = QString::fromStdString(timeline::format_counted(kEvents, "event").english());
    QVERIFY(counts().contains(all));
    QTimer* const patience = window_->findChild<QTimer*>("events-patience");
    patience->setInterval(0);
    QStringList meanwhile;
    connect(patience, &QTimer::timeout, patience, [&] { meanwhile = counts(); });
    window_->state().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(settle(*window_));
    QVERIFY2(meanwhile.contains("finding events…") && !meanwhile.contains(all), qPrintable(meanwhile.join(u';')));
    QVERIFY(!counts().contains("finding events…") && !counts().contains(all));
  }

  // However the list is sorted, because the sort indicator takes room beside a title.
  void titlesOfTheFirstColumnsAreReadWhole() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QHeaderView& header = *events_table(window)->horizontalHeader();
    for (int section = 1; section < header.count(); ++section) {
      if (header.isSectionHidden(section)) continue;
      header.setSortIndicator(section, Qt::AscendingOrder);
      const QByteArray title = header.model()->headerData(section, Qt::Horizontal).toString().toUtf8();
      QVERIFY2(header.sectionSize(section) >= header.sectionSizeHint(section), title);
    }
  }

  // A click on "Duration" asks for the longest event: it must not be above the visible lines.
  void aListThatIsSortedByItsHeaderBeginsAtItsTop() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    table_ = events_table(*window_);
    for (const EventColumn column : {EventColumn::kDuration, EventColumn::kName, EventColumn::kStart}) {
      const QModelIndex last = table_->model()->index(table_->model()->rowCount() - 1, 1);
      table_->scrollTo(last);
      QVERIFY(table_->indexAt({20, 2}).row() > 100);
      click_header(*table_, column);
      QVERIFY(settle(*window_));
      QCOMPARE(table_->indexAt({20, 2}).row(), 0);
    }
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    QTableView& gaps = window_->bubbles().gaps();
    gaps.scrollToBottom();
    QVERIFY(gaps.indexAt({20, 2}).row() > 10);
    QTest::mouseClick(gaps.horizontalHeader()->viewport(), Qt::LeftButton, Qt::NoModifier, {gaps.columnViewportPosition(0) + 8, 5});
    QCOMPARE(gaps.indexAt({20, 2}).row(), 0);
  }

  void filtersByKind() {
    auto* kinds = field<QComboBox>(window_->events(), "Kind of event");
    choose(kinds, "Kernel");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels);
    choose(kinds, "NVTX range");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{1});
    QCOMPARE(cell(*table_, 0, EventColumn::kName), QString("step"));
    choose(kinds, "All kinds");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kEvents);
  }

  void filtersByThreadAndByStream() {
    auto* sources = field<QComboBox>(window_->events(), "Thread or stream");
    choose(sources, "Stream 7");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels);
    choose(sources, sources->itemText(sources->count() - 1));  // the only thread: its calls and the range
    QVERIFY2(sources->currentText().startsWith("Thread"), qPrintable(sources->currentText()));
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels + 1);
  }

  void filtersByDurationWithAUnit() {
    auto* shortest = field<QLineEdit>(window_->events(), "Shortest duration");
    QTest::keyClicks(shortest, "0.1 ms");
    QTest::keyClick(shortest, Qt::Key_Return);
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels + 1);  // without the calls of 10 µs
    shortest->selectAll();
    QTest::keyClicks(shortest, "150us");
    QTest::keyClick(shortest, Qt::Key_Return);
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{1});
    shortest->selectAll();
    QTest::keyClicks(shortest, "long");
    QTest::keyClick(shortest, Qt::Key_Return);
    QCOMPARE(shortest->palette().color(QPalette::Text), QColor(Qt::red));
  }

  void zoomsToAnEventFromItsList() {
    QTableView* table = events_table(*window_);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Home);
    table->setFocus();
    table->setCurrentIndex(table->model()->index(table->model()->rowCount() - 1, 0));
    QVERIFY(settle(*window_));
    const Nanoseconds before = window_->timelineView().visibleRange().length();
    QTest::keyClick(table, Qt::Key_Z, Qt::ShiftModifier);
    QVERIFY(settle(*window_));
    QVERIFY(window_->timelineView().visibleRange().length() < before);
    // In a field, letters are typed.
    const TimeRange shown = window_->timelineView().visibleRange();
    auto* name = window_->events().findChild<QLineEdit*>();
    name->setFocus();
    QTest::keyClick(name, Qt::Key_Z, Qt::ShiftModifier);
    QCOMPARE(name->text().toUpper(), QStringLiteral("Z"));
    QCOMPARE(window_->timelineView().visibleRange(), shown);
    name->clear();
  }

  void listsThePartOfTimeThatASwitchSays() {
    auto* part_of_time = field<QComboBox>(window_->events(), "Part of time");
    window_->timelineView().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{2});  // the kernel and "step"
    choose(part_of_time, "All of the time");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kEvents);
    choose(part_of_time, "Visible range");
    QTest::keyClick(&window_->timelineView(), Qt::Key_Z, Qt::ShiftModifier);
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{2});
    QTest::keyClick(&window_->timelineView(), Qt::Key_Home);
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kEvents);
  }

  void saysWhyNothingIsListedAndHowToListAll() {
    auto* text = field<QLineEdit>(window_->events(), "Name contains");
    QTest::keyClicks(text, "no such name");
    QTest::keyClick(text, Qt::Key_Return);
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{0});
    QVERIFY(!table_->isVisible());
    QLabel* why = nullptr;
    for (QLabel* label : window_->events().findChildren<QLabel*>())
      if (label->text().contains("List all events")) why = label;
    QVERIFY(why != nullptr && why->isVisible());
    QVERIFY2(why->text().contains("that pass the filters"), qPrintable(why->text()));
    emit why->linkActivated("all");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kEvents);
    QVERIFY(table_->isVisible());
    QCOMPARE(text->text(), QString());
  }

  // A double-click on a name filters other names out of the statistics as well: they say so, and offer to undo it.
  void statisticsSayThatAFilterLeavesEventsOut() {
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    const QLabel& reason = window_->statistics().reason();
    QVERIFY(!reason.isVisible());
    auto* names = window_->statistics().findChild<QTableView*>();
    const int before = names->model()->rowCount();
    QVERIFY(before > 1);
    const QString name = names->model()->index(0, 0).data().toString();
    double_click(*names, names->visualRect(names->model()->index(0, 0)).center());
    QVERIFY(settle(*window_));
    QCOMPARE(names->model()->rowCount(), 1);
    QVERIFY(reason.isVisible());
    QVERIFY2(reason.text().contains(name.toHtmlEscaped()), qPrintable(reason.text()));
    emit window_->statistics().reason().linkActivated("all");
    QVERIFY(settle(*window_));
    QCOMPARE(names->model()->rowCount(), before);
    QVERIFY(!reason.isVisible());
  }

  void linesChosenWithTheMouseAreCopiedByKey() {
    QTest::mouseClick(table_->viewport(), Qt::LeftButton, Qt::NoModifier, row_position(*table_, 1));
    QTest::mouseClick(table_->viewport(), Qt::LeftButton, Qt::ShiftModifier, row_position(*table_, 3));
    QTest::mouseClick(table_->viewport(), Qt::LeftButton, Qt::ControlModifier, row_position(*table_, 5));
    table_->setFocus();
    QTest::keyClick(table_, Qt::Key_C, Qt::ControlModifier);
    const QStringList copied = copied_text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(copied.size(), 5);  // the titles, 1 to 3, and 5
    QCOMPARE(copied.front().section('\t', 0, 1), QString("Name\tStart (ns)"));
    for (const auto& [line, row] : {std::pair(1, 1), {2, 2}, {3, 3}, {4, 5}})
      QCOMPARE(copied[line].section('\t', 0, 0),
               table_->model()->index(row, ui::EventTableModel::columnOf(EventColumn::kName)).data(Qt::ToolTipRole).toString());
  }

  // Drag over the part of interest, ask for gaps, double-click.
  void aBubbleIsFoundInThreeGestures() {
    QWidget* ruler = part(*window_, "Time axis");
    const timeline::Viewport viewport{window_->timelineView().visibleRange(), ruler->width()};
    const auto mouse = [&](QEvent::Type type, double x, Qt::MouseButtons held) {
      QMouseEvent event(type, QPointF(x, 8), ruler->mapToGlobal(QPointF(x, 8)), type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton, held,
                        Qt::NoModifier);
      QApplication::sendEvent(ruler, &event);
    };
    const Nanoseconds end_of_last = window_->state().trace()->extent().end;
    mouse(QEvent::MouseButtonPress, viewport.x_at(kFirstKernel) - 4, Qt::LeftButton);
    mouse(QEvent::MouseMove, viewport.x_at(end_of_last) + 4, Qt::LeftButton);
    mouse(QEvent::MouseButtonRelease, viewport.x_at(end_of_last) + 4, Qt::NoButton);
    QTest::keyClick(&window_->timelineView(), Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels);
    double_click(*table_, row_position(*table_, 0));
    const Nanoseconds gap_end = kFirstKernel + 3 * kKernelDuration + kGaps[0] + kGaps[1] + kGaps[2];
    const TimeRange shown = window_->timelineView().visibleRange();
    QVERIFY(shown.begin <= gap_end - kGaps[2] && shown.end >= gap_end + kKernelDuration);
    QVERIFY(2 * shown.length() < 3 * (kGaps[2] + kKernelDuration));
  }

  void aBubbleIsFoundWithoutAMouse() {
    timeline::TimelineView& view = window_->timelineView();
    QTest::keySequence(&view, QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G));
    QVERIFY(settle(*window_));
    QTableView* table = events_table(*window_);
    QCOMPARE(QApplication::focusWidget(), table);
    QTest::keyClick(table, Qt::Key_Down);
    QTest::keyClick(table, Qt::Key_Return);
    const std::int64_t longest = *std::max_element(kGaps.begin(), kGaps.end());
    QVERIFY(view.visibleRange().length() > longest && view.visibleRange().length() < 2 * (longest + kKernelDuration));
    QTest::keySequence(table, QKeySequence(Qt::Key_F6));
    QCOMPARE(QApplication::focusWidget(), &view);
    QTest::keySequence(&view, QKeySequence(Qt::Key_F6));
    QCOMPARE(QApplication::focusWidget(), table);
  }

  void namesThatDifferInTheirCountersFoldIntoOneLine() {
    SmallTrace trace;
    std::vector<Event> ranges;
    for (int i = 0; i < 12; ++i) {
      ranges.push_back(trace.event(i * 1'000, i * 1'000 + 500 + i, "step " + std::to_string(i)));
      ranges.push_back(trace.event(i * 1'000 + 600, i * 1'000 + 700, "layer1"));
    }
    ranges.push_back(trace.event(20'000, 20'001, "once"));
    trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), ranges);
    window_->state().setTrace(trace.builder.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
    const auto names = [&] {
      QStringList list;
      for (int row = 0; row < table_->model()->rowCount(); ++row) list += cell(*table_, row, EventColumn::kName).trimmed();
      return list;
    };
    QCOMPARE(names().size(), 25);
    for (auto* button : window_->events().findChildren<QToolButton*>())
      if (button->text() == "Families") button->click();
    QVERIFY(settle(*window_));
    QCOMPARE(names(), QStringList({"▸ step *", "▸ layer1", "once"}));
    QCOMPARE(table_->model()->index(0, 0).data().toString(), QString("12"));
    const auto says = [&](const char* text) {
      const QList<QLabel*> labels = window_->events().findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == text; });
    };
    QVERIFY(says("3 families of 25 events"));
    QCOMPARE(cell(*table_, 0, EventColumn::kDuration), QString("6.066 µs"));  // 12 · 500 + 66 ns
    click_header(*table_, EventColumn::kDuration);                            // the longest sum first
    QVERIFY(settle(*window_));
    QCOMPARE(names(), QStringList({"▸ step *", "▸ layer1", "once"}));
    click_header(*table_, EventColumn::kDuration);
    QVERIFY(settle(*window_));
    QCOMPARE(names(), QStringList({"once", "▸ layer1", "▸ step *"}));

    // With keys as in a tree; lines of events keep the chosen order.
    table_->setFocus();
    QTest::mouseClick(table_->viewport(), Qt::LeftButton, Qt::NoModifier, row_position(*table_, 2));
    QTest::keyClick(table_, Qt::Key_Right);
    QCOMPARE(table_->model()->rowCount(), 15);
    QCOMPARE(names()[3], QString("step 0"));
    QCOMPARE(names()[14], QString("step 11"));
    QTest::keyClick(table_, Qt::Key_Down);
    QCOMPARE(window_->state().trace()->event(window_->state().selectedEvent()).duration, Nanoseconds{500});
    // An event that is selected elsewhere is found in its family.
    window_->timelineView().selectEvent({0, 6});  // step 3
    QCOMPARE(table_->currentIndex().row(), 6);
    const EventRef chosen = window_->state().selectedEvent();
    QTest::keyClick(table_, Qt::Key_Left);
    QCOMPARE(table_->currentIndex().row(), 2);
    QTest::keyClick(table_, Qt::Key_Left);
    QCOMPARE(table_->model()->rowCount(), 3);
    QCOMPARE(window_->state().selectedEvent(), chosen);  // lines that disappear choose nothing
    QCOMPARE(table_->currentIndex().row(), 2);
    QTest::keySequence(table_, QKeySequence::Copy);
    QCOMPARE(copied_text().count(u'\n'), 13);  // its events, below a line of titles

    double_click(*table_, row_position(*table_, 1));
    QCOMPARE(table_->model()->rowCount(), 15);
    QAbstractItemModelTester tester(table_->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    click_header(*table_, EventColumn::kName);
    QVERIFY(settle(*window_));
    window_->state().setFilter({.text = "step"});
    QVERIFY(settle(*window_));
    QCOMPARE(names(), QStringList({"▸ step *"}));
    window_->state().setFilter({});
    QVERIFY(settle(*window_));
    QCOMPARE(names()[0], QString("▾ layer1"));  // opened families stay open
    for (auto* button : window_->events().findChildren<QToolButton*>())
      if (button->text() == "Families") button->click();
    QVERIFY(settle(*window_));
    QCOMPARE(names().size(), 25);
  }

  void aNumberWithoutAUnitSaysInWhichItIs() {
    auto* field = window_->events().findChild<QLineEdit*>(QString(), Qt::FindChildrenRecursively);
    for (auto* each : window_->events().findChildren<QLineEdit*>())
      if (each->accessibleName() == "Shortest duration") field = each;
    field->setFocus();
    QTest::keyClicks(field, "5");
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(field->text(), QString("5 ns"));
    QCOMPARE(window_->state().filter().minimum_duration, Nanoseconds{5});
    field->selectAll();
    QTest::keyClicks(field, "2 us");
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(field->text(), QString("2 us"));
    QCOMPARE(window_->state().filter().minimum_duration, Nanoseconds{2'000});
    field->clear();
    QTest::keyClick(field, Qt::Key_Return);
  }

  void aFamilyOfCallsIsCalledAsItsCallsAre() {
    SmallTrace trace;
    trace.builder.add(trace.on_thread(TrackKind::kCudaApi), {trace.event(0, 10, "cudaMalloc_v3020"), trace.event(20, 30, "cudaMalloc_v3020")});
    window_->state().setTrace(trace.builder.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
    QCOMPARE(cell(*table_, 0, EventColumn::kName), QString("cudaMalloc"));
    window_->events().setFolding(ui::Folding::kFamilies);
    QVERIFY(settle(*window_));
    QCOMPARE(table_->model()->rowCount(), 1);
    QCOMPARE(cell(*table_, 0, EventColumn::kName), QString("▸ cudaMalloc"));
  }

  // Snapshots of a recording arrive ten times a second, faster than anybody types a word.
  void aRecordingThatGoesOnLeavesWhatIsTyped() {
    window_->state().setTrace(steps(5), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
    auto* text = field<QLineEdit>(window_->events(), "Name contains");
    text->setFocus();
    QTest::keyClicks(text, "step 4");
    window_->state().setTrace(steps(6), ui::TraceChange::kSnapshot);  // before the pause after the last letter is over
    QCOMPARE(text->text(), QString("step 4"));
    QVERIFY(wait_for([&] { return window_->state().filter().text == "step 4" && window_->isSettled(); }));
    QCOMPARE(table_->model()->rowCount(), 1);
  }

  // "step 1" must not match "step 10".
  void aNameThatIsChosenIsThatNameAlone() {
    window_->state().setTrace(steps(12), ui::TraceChange::kOther);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    auto* names = window_->statistics().findChild<QTableView*>();
    const QAbstractItemModel& model = *names->model();
    int row = 0;
    while (row < model.rowCount() && model.index(row, 0).data().toString() != "step 1") ++row;
    QVERIFY(row < model.rowCount());
    emit names->doubleClicked(model.index(row, 0));
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{1});
    QCOMPARE(model.rowCount(), 1);
    // The button above the list removes the condition.
    auto* chip = [&]() -> QToolButton* {
      for (QToolButton* each : window_->events().findChildren<QToolButton*>())
        if (each->accessibleName().contains("step 1")) return each;
      return nullptr;
    }();
    QVERIFY(chip != nullptr);
    chip->click();
    window_->state().setFilter({});
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), std::size_t{12});
  }

  // Faster, too, than anybody moves to a line.
  void aRecordingThatGoesOnLeavesTheFamilyThatIsChosen() {
    window_->state().setTrace(steps(5), ui::TraceChange::kOther);
    window_->events().setFolding(ui::Folding::kFamilies);
    QVERIFY(settle(*window_));
    QCOMPARE(table_->model()->rowCount(), 1);
    table_->setFocus();
    QTest::mouseClick(table_->viewport(), Qt::LeftButton, Qt::NoModifier, row_position(*table_, 0));
    window_->state().setTrace(steps(6), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QCOMPARE(table_->model()->index(0, 0).data().toString(), QString("6"));
    QCOMPARE(table_->currentIndex().row(), 0);
    QTest::keyClick(table_, Qt::Key_Right);
    QCOMPARE(table_->model()->rowCount(), 7);
    window_->state().setTrace(steps(7), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QCOMPARE(table_->model()->rowCount(), 8);  // the family stays open
    QCOMPARE(table_->currentIndex().row(), 0);
  }

  void entriesOfALineLeadToItsCallItsNameAndItsLikes() {
    window_->state().setFilter({.kind = EventKind::kKernel});
    QVERIFY(settle(*window_));
    const auto menu = [&](const QString& choice) { return menu_after([&] { emit table_->customContextMenuRequested(row_position(*table_, 1)); }, choice); };
    const EventRef relu = qobject_cast<const ui::EventTableModel*>(table_->model())->event(1);
    table_->selectRow(1);
    menu("Copy as TSV");
    QVERIFY(copied_text().section('\n', 1).startsWith("relu\t"));
    menu("Go to the launching call");
    QCOMPARE(window_->state().selectedEvent(), *window_->state().trace()->launch_of(relu));
    menu("Filter to this name");
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels / 2);
    QCOMPARE(window_->state().filter().values, std::vector<ColumnValue>({{PivotColumn::kName, "relu"}}));
  }

  void chartsFollowTheSelectionTheRangeAndTheFilter() {
    window_->actions().statistics->trigger();
    QVERIFY(settle(*window_));
    const auto title = [](QChartView* chart) { return chart->chart()->title(); };
    auto* durations = window_->statistics().findChild<ui::DurationChart*>();
    auto* utilisation = window_->statistics().findChild<ui::UtilisationChart*>();
    QCOMPARE(title(durations), QString("Durations of all listed events"));
    window_->timelineView().selectEvent(kernelNumber(1));
    QVERIFY(settle(*window_));
    QCOMPARE(title(durations), QString("Durations of relu"));

    const auto busy = [&](TimeRange range) {  // two kernels and the gap between them
      window_->timelineView().setSelectedRange(range);
      return settle(*window_) ? title(utilisation) : QString();
    };
    const Nanoseconds two_kernels = 2 * kKernelDuration + kGaps[0];
    QCOMPARE(busy({kFirstKernel, kFirstKernel + two_kernels}),
             QString("GPU 0 busy in %1: %2")
                 .arg(QString::fromStdString(timeline::format_duration(two_kernels)),
                      QString::fromStdString(timeline::format_share(2.0 * kKernelDuration / static_cast<double>(two_kernels)))));
    QCOMPARE(busy({kFirstKernel, kFirstKernel + kKernelDuration}), QString("GPU 0 busy in 100.000 µs: 100.0 %"));
    window_->timelineView().setSelectedRange(std::nullopt);
    window_->timelineView().selectEvent({});
    window_->state().setFilter({.text = "relu"});
    QVERIFY(settle(*window_));
    QCOMPARE(window_->statistics().model().rowCount(), 1);
    QCOMPARE(window_->statistics().model().entry(0).count, kKernels / 2);
  }

  // A hint that appears whenever the cursor rests would cover the numbers; it is in the header.
  void numbersOfTheStatisticsAreNotCoveredByHints() {
    window_->actions().statistics->trigger();
    QVERIFY(settle(*window_));
    const QList<QTableView*> tables = window_->statistics().findChildren<QTableView*>();
    const auto found = std::find_if(tables.begin(), tables.end(), [](const QTableView* each) { return each->accessibleName() == "Statistics by name"; });
    QVERIFY(found != tables.end());
    const QTableView* table = *found;
    QVERIFY(table->toolTip().isEmpty());
    const QAbstractItemModel& model = *table->model();
    QVERIFY(model.rowCount() > 0);
    QCOMPARE(model.index(0, ui::StatisticsModel::kTotal).data(Qt::ToolTipRole), QVariant());
    QVERIFY(model.headerData(ui::StatisticsModel::kName, Qt::Horizontal, Qt::ToolTipRole).toString().contains("double-click"));
  }

  void aNameOfTheStatisticsListsAllOfItOnADoubleClick() {
    window_->actions().statistics->trigger();
    QVERIFY(settle(*window_));
    auto* names = window_->statistics().findChild<QTableView*>();
    const ui::StatisticsModel& model = window_->statistics().model();
    for (int row = 0; row < model.rowCount(); ++row)
      if (model.nameOf(model.entry(row)) == u"relu") double_click(*names, names->visualRect(model.index(row, 0)).center());
    QVERIFY(settle(*window_));
    QCOMPARE(lines(), kKernels / 2);
  }

 private:
  // The content of the clipboard when copying has finished, which runs in the background.
  [[nodiscard]] QString copied_text() const {
    return wait_for([this] { return !window_->events().isCopying(); }) ? QGuiApplication::clipboard()->text() : QString();
  }
  [[nodiscard]] std::size_t lines() const { return static_cast<std::size_t>(table_->model()->rowCount()); }
  [[nodiscard]] EventRef kernelNumber(EventIndex index) const {
    for (const Track& track : window_->state().trace()->tracks())
      if (track.key.kind == TrackKind::kKernels) return {track.lanes.front(), index};
    return {};
  }

  QTableView* table_ = nullptr;
};

QTEST_MAIN(EventsTest)
#include "test_gui_events.moc"
