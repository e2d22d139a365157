// One selection and one navigation: the selection stays while the trace grows, and only actions of the user select something or move the view.
#include <QMenuBar>
#include <QScrollBar>
#include <QStyle>
#include <QWheelEvent>

#include "../../../timeline/traces.h"
#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "model/trace/outline.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;
using lanescope::ui::TraceChange;

namespace {

constexpr Nanoseconds kPeriod = 10'000;  // of the kernels
constexpr int kMany = 2'000;             // more than the lines of a screen

// Kernels of 1 to 5 µs, one in each period, "kernel 0" to "kernel 6" in turn.
void add_kernels(SmallTrace& trace, int first, int count) {
  std::vector<Event> events;
  for (int i = first; i < first + count; ++i) events.push_back(trace.event(i * kPeriod, i * kPeriod + 1'000 * (1 + i % 5), "kernel " + std::to_string(i % 7)));
  trace.builder.add(trace.on_gpu(TrackKind::kKernels), events);
}

}  // namespace

class TestGuiSelection : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    trace_ = std::make_unique<SmallTrace>();
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get(), kPatienceMs));
  }
  void cleanup() { window_.reset(); }

  // Late records of a GPU are inserted before known ones.
  void anEventStaysSelectedWhereOthersComeInFrontOfIt() {
    add_kernels(*trace_, 10, 20);
    show(TraceChange::kOther);
    const EventRef selected{lane(), 5};
    window_->timelineView().selectEvent(selected);
    window_->state().setHoveredEvent({lane(), 6});
    const Event before = trace().event(selected);
    QSignalSpy changed(&window_->state(), &ui::SelectionState::selectedEventChanged);
    add_kernels(*trace_, 0, 10);
    show(TraceChange::kSnapshot);
    QCOMPARE(trace().lane(lane()).size(), EventIndex{30});
    QCOMPARE(window_->state().selectedEvent(), (EventRef{lane(), 15}));
    QCOMPARE(window_->timelineView().selectedEvent(), window_->state().selectedEvent());
    QCOMPARE(trace().event(window_->state().selectedEvent()).start, before.start);
    QCOMPARE(window_->state().hoveredEvent(), (EventRef{lane(), 16}));
    QCOMPARE(changed.size(), 0);  // the user did not select anything
    QVERIFY(settle(*window_));
    QCOMPARE(shownName(), QString::fromStdString("kernel " + std::to_string(15 % 7)));
    QCOMPARE(events_table(*window_)->currentIndex().row(), 15);
  }

  void aLineOfAnEarlierListSelectsTheEventThatItShows() {
    add_kernels(*trace_, 10, 20);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    add_kernels(*trace_, 0, 10);
    show(TraceChange::kSnapshot);  // the list is updated a little later
    QTableView* table = events_table(*window_);
    const QString start = cell(*table, 3, EventColumn::kStart);
    QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier, row_position(*table, 3));
    QCOMPARE(cell(*table, 3, EventColumn::kStart), start);  // it still shows the earlier state
    QCOMPARE(trace().event(window_->state().selectedEvent()).start, 13 * kPeriod);
  }

  void thePartOfTimeThatListsCoverIsSaidToChangeOnlyWhenItDoes() {
    ui::SelectionState state;
    QSignalSpy changed(&state, &ui::SelectionState::boundRangeChanged);
    add_kernels(*trace_, 0, 10);
    state.setTrace(trace_->builder.snapshot(), TraceChange::kOther);
    state.setVisibleRange({100, 200});
    QCOMPARE(changed.size(), 0);  // the binding is to the selected range
    state.setSelectedRange(TimeRange{10, 20});
    QCOMPARE(changed.size(), 1);
    state.setTimeBinding(ui::TimeBinding::kVisibleRange);
    QCOMPARE(changed.size(), 2);
    state.setSelectedRange(std::nullopt);
    QCOMPARE(changed.size(), 2);
    state.setVisibleRange({100, 300});
    QCOMPARE(changed.size(), 3);
    add_kernels(*trace_, 10, 10);
    state.setTrace(trace_->builder.snapshot(), TraceChange::kOther);  // all of another trace is visible
    QCOMPARE(changed.size(), 3);
    state.setVisibleRange({100, 300});  // which was visible of the trace before
    QCOMPARE(changed.size(), 4);
  }

  void whatIsSelectedInTheOutlineStaysSelected() {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "long.trace";
    write_long_trace(path, kOutlineFromEvents / kLongChunk + 2);
    Event in_outline;
    connect(&window_->state(), &ui::SelectionState::traceChanged, this, [&] {
      if (!trace().provenance().outline_only || in_outline.duration > 0) return;
      const EventRef some{0, trace().lane(0).size() / 2};
      in_outline = trace().event(some);
      window_->state().setSelectedEvent(some);
    });
    QVERIFY(open_and_settle(*window_, QString::fromStdString(path.string())));
    QVERIFY(in_outline.duration > 0);
    const EventRef selected = window_->state().selectedEvent();
    QVERIFY(selected.valid() && !trace().provenance().outline_only);
    const Event event = trace().event(selected);
    QVERIFY(event.start >= in_outline.start && event.start < in_outline.start + kLongPeriod + 1);  // the first event that it stood for
  }

  void focusNeitherSelectsNorMovesTheView() {
    add_kernels(*trace_, 0, kMany);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    timeline::TimelineView& view = window_->timelineView();
    view.setVisibleRange({5'000'000, 6'000'000});
    const TimeRange before = view.visibleRange();
    const auto is_as_before = [&] { return view.visibleRange() == before && !window_->state().selectedEvent().valid(); };
    view.setFocus();
    QTest::keySequence(&view, QKeySequence(Qt::Key_F6));
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(events_table(*window_)));
    QVERIFY(is_as_before());
    menu_after([&] { emit events_table(*window_)->horizontalHeader()->customContextMenuRequested({20, 5}); });  // closed by Esc
    QVERIFY(is_as_before());
    view.setFocus();
    window_->actions().longest_gaps->trigger();
    QVERIFY(settle(*window_));
    QVERIFY(is_as_before());
    for (const char* panel : {"statistics", "bubbles", "findings", "diff", "samples", "diagnostics"}) {
      view.setFocus();
      window_->showPanel(panel);
      QTest::keySequence(&view, QKeySequence(Qt::Key_F6));
      QVERIFY2(is_as_before(), panel);
    }
  }

  void sortingStatisticsKeepsTheNameThatIsSelected() {
    add_kernels(*trace_, 0, 70);
    show(TraceChange::kOther);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    auto* table = window_->statistics().findChild<QTableView*>();
    const auto name_of = [&](const QModelIndex& index) { return table->model()->index(index.row(), 0).data().toString(); };
    table->selectRow(2);
    const QString name = name_of(table->currentIndex());
    for (const int column : {int(ui::StatisticsModel::kName), int(ui::StatisticsModel::kAverage), int(ui::StatisticsModel::kName)}) {
      table->sortByColumn(column, Qt::DescendingOrder);
      QCOMPARE(name_of(table->currentIndex()), name);
      QCOMPARE(name_of(table->selectionModel()->selectedRows().front()), name);
    }
  }

  // Esc selects nothing, in every panel.
  void statisticsSelectNothingWhenTheEventIsLeft() {
    add_kernels(*trace_, 0, 20);
    show(TraceChange::kOther);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    auto* table = window_->statistics().findChild<QTableView*>();
    window_->state().setSelectedEvent({lane(), 3});
    QCOMPARE(table->selectionModel()->selectedRows().size(), 1);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Escape);
    QVERIFY(!window_->state().selectedEvent().valid());
    QVERIFY(table->selectionModel()->selectedRows().isEmpty());
  }

  // Families are listed to see how many events each has.
  void theNumbersOfEventsOfFamiliesAreWhole() {
    add_kernels(*trace_, 0, 120'000);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    QTableView* table = events_table(*window_);
    table->setColumnWidth(0, 24);  // enough for the numbers of a few lines
    for (QAbstractButton* button : window_->events().findChildren<QAbstractButton*>())
      if (button->text() == "Families") button->click();
    QVERIFY(wait_for([&] { return settle(*window_) && table->model()->rowCount() < 10; }));
    const QString count = table->model()->index(0, 0).data().toString();
    QCOMPARE(count, QString("120,000"));
    QVERIFY(table->columnWidth(0) >= table->sizeHintForIndex(table->model()->index(0, 0)).width());
  }

  // The recording continues while a menu is open.
  void theMenuOfALineKeepsWhatItIsAbout() {
    add_kernels(*trace_, 0, 20);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    QTableView* table = events_table(*window_);
    const QPoint line = row_position(*table, 4);
    bool came = false;
    const auto another_trace = [&] {
      SmallTrace other;
      add_kernels(other, 0, 3);
      window_->state().setTrace(other.builder.snapshot(), TraceChange::kOther);
      trace_ = std::make_unique<SmallTrace>();
      came = wait_for([&] { return table->model()->rowCount() == 3; });
    };
    menu_after([&] { emit table->customContextMenuRequested(line); }, "Filter to this name", another_trace);
    QVERIFY(came);
    QCOMPARE(window_->state().filter().values, std::vector<ColumnValue>({{PivotColumn::kName, "kernel 4"}}));
  }

  void theLongestGapsBeginAtTheTop() {
    add_kernels(*trace_, 0, kMany);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    QTableView* table = events_table(*window_);
    table->selectRow(kMany - 1);  // with the shortest duration, and so the longest gap: somewhere in the middle of the list sorted by gaps
    table->scrollToBottom();
    window_->actions().longest_gaps->trigger();
    QVERIFY(settle(*window_));
    QCOMPARE(table->verticalScrollBar()->value(), 0);
  }

  // With a filter that was set for something else, the list would not have the longest gaps.
  void theLongestGapsAreThoseOfAllEvents() {
    add_kernels(*trace_, 0, 50);
    show(TraceChange::kOther);
    window_->state().setFilter({.text = "kernel 3", .minimum_duration = 1});
    QVERIFY(settle(*window_));
    window_->actions().longest_gaps->trigger();
    QVERIFY(settle(*window_));
    QVERIFY(window_->state().filter() == EventFilter{});
    QCOMPARE(events_table(*window_)->model()->rowCount(), 50);
  }

  void aFilteredListBeginsAtTheTopAndAGrowingOneStaysWhereItIs() {
    add_kernels(*trace_, 0, kMany);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    QTableView* table = events_table(*window_);
    table->verticalScrollBar()->setValue(500);
    add_kernels(*trace_, kMany, 10);
    show(TraceChange::kSnapshot);
    QVERIFY(wait_for([&] { return table->model()->rowCount() == kMany + 10; }));
    QCOMPARE(table->verticalScrollBar()->value(), 500);
    table->scrollToBottom();
    window_->state().setFilter({.text = "kernel 3"});
    QVERIFY(wait_for([&] { return settle(*window_) && table->model()->rowCount() < kMany / 2; }));
    QCOMPARE(table->verticalScrollBar()->value(), 0);
  }

  void followingEndsWithEveryJump() {
    add_kernels(*trace_, 0, 200);
    show(TraceChange::kOther);
    timeline::TimelineView& view = window_->timelineView();
    const EventRef event{lane(), 100};
    const auto ends_following = [&](const std::function<void()>& jump) {
      view.setFollowLive(timeline::FollowLive::kYes);
      jump();
      return view.followLive() == timeline::FollowLive::kNo;
    };
    QVERIFY(ends_following([&] { window_->state().reveal(event); }));
    QVERIFY(ends_following([&] { window_->state().activate({lane(), 3}); }));
    QVERIFY(ends_following([&] { window_->state().activate({lane(), 4}, TimeRange{0, 50'000}); }));
    QVERIFY(ends_following([&] { view.setVisibleRange({100, 100'000}); }));
    QVERIFY(ends_following([&] { view.goToTime(500'000); }));
    QVERIFY(ends_following([&] { view.zoomBy(2); }));
    QVERIFY(ends_following([&] { view.goBack(); }));
    view.setFollowLive(timeline::FollowLive::kYes);
    add_kernels(*trace_, 200, 10);
    show(TraceChange::kSnapshot);
    QCOMPARE(view.followLive(), timeline::FollowLive::kYes);  // growth does not count as a jump
  }

  void altWithTheWheelLeavesTheMenuBarAlone() {
    if (QApplication::style()->styleHint(QStyle::SH_MenuBar_AltKeyNavigation) == 0) QSKIP("the style of this desktop opens no menu bar by Alt");
    add_kernels(*trace_, 0, 20);
    show(TraceChange::kOther);
    timeline::TimelineView& view = window_->timelineView();
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Alt);
    QVERIFY(window_->menuBar()->activeAction());
    QTest::keyClick(window_->menuBar(), Qt::Key_Escape);
    view.setFocus();
    QVERIFY(!window_->menuBar()->activeAction());
    QWidget* rows = part(*window_, "Timeline rows");
    QTest::keyPress(&view, Qt::Key_Alt);
    QWheelEvent wheel(QPointF(50, 50), rows->mapToGlobal(QPointF(50, 50)), {}, {-120, 0}, Qt::NoButton, Qt::AltModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(rows, &wheel);
    QTest::keyRelease(&view, Qt::Key_Alt);
    QVERIFY(!window_->menuBar()->activeAction());
  }

  // They belong to the file in which the user chose them. Another file may not have these rows, and its events have the previous order.
  void filtersOfRowsAndTheOrderOfGapsEndWithTheirFile() {
    add_kernels(*trace_, 0, 20);
    show(TraceChange::kOther);
    window_->actions().filter_rows->trigger();
    QTest::keyClicks(window_->actions().row_filter, "GPU");
    const QHeaderView* header = events_table(*window_)->horizontalHeader();
    const int start = header->sortIndicatorSection(), gap = ui::EventTableModel::columnOf(EventColumn::kGapBefore);
    QVERIFY(start != gap);
    window_->actions().longest_gaps->trigger();
    QVERIFY(settle(*window_));
    QCOMPARE(header->sortIndicatorSection(), gap);
    QHeaderView kept(Qt::Horizontal);
    kept.setModel(events_table(*window_)->model());
    QVERIFY(kept.restoreState(window_->events().headerState()));
    QCOMPARE(kept.sortIndicatorSection(), start);  // for the next start
    add_kernels(*trace_, 20, 20);
    show(TraceChange::kSnapshot);
    QCOMPARE(header->sortIndicatorSection(), gap);
    QCOMPARE(window_->actions().row_filter->text(), QString("GPU"));
    trace_ = std::make_unique<SmallTrace>();
    add_kernels(*trace_, 0, 10);
    show(TraceChange::kOther);
    QVERIFY(window_->actions().row_filter->text().isEmpty());
    QCOMPARE(header->sortIndicatorSection(), start);
    click_header(*events_table(*window_), EventColumn::kDuration);  // chosen by the user
    const int chosen = header->sortIndicatorSection();
    show(TraceChange::kOther);
    QCOMPARE(header->sortIndicatorSection(), chosen);
  }

  // Past the visible row above it, not past rows that the filter hides.
  void aRowIsMovedPastTheRowsThatAreShown() {
    trace_->builder.add(trace_->on_gpu(TrackKind::kKernels),
                        {trace_->event(0, 3'000, "gemm long"), trace_->event(4'000, 6'000, "relu"), trace_->event(7'000, 8'000, "gemm short")});
    show(TraceChange::kOther);
    timeline::TimelineView& view = window_->timelineView();
    view.expandAll();
    const auto key_of = [&](const std::string& name) {
      for (const timeline::Row& row : view.rows().rows())
        if (row.label.english() == name) return QString::fromStdString(row.key);
      return QString();
    };
    const auto below = [&](const QString& row) {
      view.setCurrentRow(row);
      view.stepRow(timeline::TimelineView::RowDirection::kDown);
      return view.currentRow();
    };
    const QString longest = key_of("gemm long"), shortest = key_of("gemm short");
    QCOMPARE(below(longest), key_of("relu"));
    window_->actions().filter_rows->trigger();
    QTest::keyClicks(window_->actions().row_filter, "gemm");
    QCOMPARE(below(longest), shortest);
    view.setFocus();
    view.setCurrentRow(shortest);
    QTest::keyClick(&view, Qt::Key_Up, Qt::AltModifier);
    QCOMPARE(below(shortest), longest);
  }

  void escapeLeavesTheFilterOfRowsAndEndsIt() {
    add_kernels(*trace_, 0, 20);
    show(TraceChange::kOther);
    window_->actions().filter_rows->trigger();
    QLineEdit* field = window_->actions().row_filter;
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(field));
    QTest::keyClicks(field, "no row is called like this");
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(field->text().isEmpty());
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&window_->timelineView()));
  }

  void escapeEndsTheFiltersOfTheEventsAndLeavesThem() {
    add_kernels(*trace_, 0, 20);
    show(TraceChange::kOther);
    QVERIFY(settle(*window_));
    for (const char* const name : {"Name contains", "Shortest duration"}) {
      QLineEdit* field = nullptr;
      for (QLineEdit* each : window_->events().findChildren<QLineEdit*>())
        if (each->accessibleName() == QLatin1String(name)) field = each;
      QVERIFY(field != nullptr);
      field->setFocus();
      QTest::keyClicks(field, "100 s");
      QVERIFY(wait_for([&] { return settle(*window_) && events_table(*window_)->model()->rowCount() == 0; }));
      QTest::keyClick(field, Qt::Key_Escape);
      QVERIFY2(field->text().isEmpty(), name);
      QVERIFY(settle(*window_));
      QCOMPARE(events_table(*window_)->model()->rowCount(), 20);
      QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(events_table(*window_)));
      QVERIFY(!window_->state().selectedEvent().valid());
    }
  }

 private:
  // Shows the present state of the recording, as a session does.
  void show(TraceChange change) { window_->state().setTrace(trace_->builder.snapshot(), change); }
  [[nodiscard]] const Trace& trace() const { return *window_->state().trace(); }
  [[nodiscard]] LaneId lane() const {
    for (LaneId id = 0; id < trace().lanes().size(); ++id)
      if (trace().track_of(id).key.kind == TrackKind::kKernels) return id;
    return 0;
  }
  [[nodiscard]] QString shownName() const { return window_->findChild<ui::DetailsPanel*>()->text().section(u'\n', 0, 0).trimmed(); }

  std::unique_ptr<SmallTrace> trace_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(TestGuiSelection)
#include "test_gui_selection.moc"
