// The comparison of two traces: its rows, where they lead, and counters of kernels.
#include "../../../timeline/traces.h"
#include "analysis/longest.h"
#include "base/text/texts.h"
#include "export/trace_writing.h"
#include "fixture/known_trace_test.h"
#include "fixture/menus.h"
#include "fixture/panel_tables.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/trace/trace_builder.h"
#include "timeline/core/words/describe.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class DiffTest : public TwoRunsTest {
  Q_OBJECT

 private slots:
  void aFileBesideItselfIsSaidToBeOne() {
    window_->showPanel("diff");
    const auto says = [&] {
      const auto labels = window_->diff().findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains("A and B are the same file."); });
    };
    QVERIFY(open_beside_and_settle(*window_, faster_));
    QVERIFY(!says());
    window_->session().closeSecond();
    QVERIFY(settled());
    QVERIFY(open_beside_and_settle(*window_, known_));
    QVERIFY(says());
  }

  // The longest gaps of both traces start together when their row is chosen in Diff: each is selected, and distinguished from the other.
  void gapsOfBothTracesAreGoneToAlike() {
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = window_->diff().table();
    const int idle = rowOf("GPU idle", "Running CPU code");
    QVERIFY(idle >= 0);
    table.setFocus();
    table.selectRow(idle);
    const auto selected = [&] { return window_->state().selection().gap(); };
    QVERIFY(wait_for([&] { return window_->isSettled() && selected(); }));
    const auto side_of = [](const timeline::Selection::Gap& gap) { return gap.gpu == 0 ? 'A' : 'B'; };
    QCOMPARE(side_of(*selected()), 'A');
    for (const char side : {'B', 'A'}) {
      const QString choice = QString("Select it in %1").arg(QChar::fromLatin1(side));
      const QStringList offered = menu_after([&] { emit table.customContextMenuRequested(table.visualRect(table.currentIndex()).center()); }, choice);
      QVERIFY2(offered.contains(choice), qPrintable(offered.join(u'\n')));
      QVERIFY(wait_for([&] { return window_->isSettled() && selected() && side_of(*selected()) == side; }));
      QVERIFY(!window_->state().selectedEvent().valid());
      QVERIFY(selected()->range == (TimeRange{kLongestGapEnd - kGaps[2], kLongestGapEnd}));  // on the axis of A, with which B is aligned
      const TimeRange visible = window_->timelineView().visibleRange();
      QVERIFY(visible.begin < selected()->range.begin && visible.end > selected()->range.end);
    }

    timeline::TimelineView& view = window_->timelineView();
    view.setFocus();
    const std::optional<timeline::Gap> first = view.selectedGap();
    QVERIFY(first);
    const auto details = [&] {
      static_cast<void>(settled());
      return window_->findChild<ui::DetailsPanel*>()->text().replace(QChar::Nbsp, u' ');
    };
    const auto title = [](const timeline::Gap& gap) { return QString(gap.gpu == 0 ? "A" : "B") + " GPU 0 idle for 900.000 µs"; };
    QVERIFY2(details().contains(title(*first)), qPrintable(details()));
    QTest::keyClick(&view, Qt::Key_G);
    const std::optional<timeline::Gap> second = view.selectedGap();
    QVERIFY(second && second->gpu != first->gpu && second->range == first->range);
    QVERIFY2(details().contains(title(*second)), qPrintable(details()));
  }

  // Where two domains have a family of ranges, the row of each says its domain; its events have no such name.
  void aRowAboutRangesOfADomainListsThem() {
    const auto run = [&](const char* name, Nanoseconds duration) {
      SmallTrace trace;
      trace.builder.set_domain(trace.process, 5, "loader");
      std::vector<Event> steps, loads, loaded;
      for (int i = 0; i < 20; ++i) {
        const Nanoseconds begin = i * 1'000'000;
        steps.push_back(trace.event(begin, begin + 900'000, "step " + std::to_string(i)));
        loads.push_back(trace.event(begin + 10'000, begin + 20'000, "load " + std::to_string(i)));
        loaded.push_back(trace.event(begin + 100'000, begin + 100'000 + duration, "load " + std::to_string(i)));
      }
      trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), steps, std::vector<std::uint32_t>(steps.size(), 0));
      trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), loads, std::vector<std::uint32_t>(loads.size(), 1));
      trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges, 5), loaded, std::vector<std::uint32_t>(loaded.size(), 0));
      const std::shared_ptr<const Trace> whole = trace.builder.snapshot();
      const QString path = pathOf(name);
      return ui::write_trace(whole, {path.toStdString(), Readers::kAsUsual, whole, 0}, {}).has_value() ? path : QString();
    };
    const QString a = run("domains-a.trace", 300'000), b = run("domains-b.trace", 150'000);
    QVERIFY(!a.isEmpty() && !b.isEmpty());
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, a));
    window.showPanel("diff");
    QVERIFY(open_beside_and_settle(window, b));
    ui::ResultTable& table = window.diff().table();
    const int row = row_with(table, "Name", "load *@loader");
    QVERIFY2(row >= 0, qPrintable(window.diff().summary()));
    table.selectRow(row);
    QVERIFY(settle(window));
    const EventRef selected = window.state().selectedEvent();
    QVERIFY2(selected.valid(), qPrintable(window.messages().text()));
    const Trace& trace = *window.state().trace();
    QVERIFY(trace.name(trace.event(selected).name).starts_with("load "));
    for (QAction* action : table.actions())
      if (action->text() == "Show in Events View") action->trigger();
    QVERIFY(settle(window));
    QVERIFY2(events_table(window)->model()->rowCount() == 40,
             qPrintable(QString::number(events_table(window)->model()->rowCount())));  // of this domain, in both runs
  }

  // Three steps of 10, 20 and 90 us; the mean is 40.
  void anIterationOfAboutTheMeanIsNotTheOneThatWasDisturbed() {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(7);
    const TrackKey ranges{.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, 7)};
    for (const auto& [begin, duration] : {std::pair{0, 10'000}, {100'000, 20'000}, {200'000, 90'000}})
      builder.add(ranges, {Event{begin, duration, builder.intern("step"), 0, 0}}, std::vector<std::uint32_t>{0});
    const std::shared_ptr<const Trace> trace = builder.snapshot();
    const auto typical = ui::event_like(*trace, {.text = "step"}, ui::Compared::kWholeTraces, 40'000, {});
    QVERIFY(typical && typical->range == (TimeRange{100'000, 120'000}));
    const auto longest = ui::longest_event(*trace, {.text = "step"}, ui::Compared::kWholeTraces, {});
    QVERIFY(longest && longest->range == (TimeRange{200'000, 290'000}));
  }

  // A panel that is closed while it searches the longest event of a row stops searching.
  void whatIsNoLongerWantedIsNotLookedFor() {
    const std::shared_ptr<const Trace>& trace = window_->state().trace();
    std::stop_source stop;
    QVERIFY(ui::longest_event(*trace, {.text = "gemm"}, ui::Compared::kIterations, stop.get_token()).has_value());
    QVERIFY(ui::longest_idle(*trace, std::string(ui::kAllIdle), stop.get_token()).has_value());
    stop.request_stop();
    QVERIFY(!ui::longest_event(*trace, {.text = "gemm"}, ui::Compared::kIterations, stop.get_token()).has_value());
    QVERIFY(!ui::longest_idle(*trace, std::string(ui::kAllIdle), stop.get_token()).has_value());
  }

  void aRowOfTheComparisonZoomsBothTraces() {
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = window_->diff().table();
    const int gemm = rowOf("Kernel", "gemm");
    QVERIFY2(gemm >= 0, qPrintable(window_->diff().summary()));
    QCOMPARE(cell(table, gemm, "A"), QString("300.000 µs"));
    QCOMPARE(cell(table, gemm, "B"), QString("150.000 µs"));
    QCOMPARE(cell(table, gemm, "Change"), QString("-50.0 %"));
    table.selectRow(gemm);
    QVERIFY(wait_for([&] { return window_->state().selectedEvent().valid() && window_->isSettled(); }));
    const Trace& trace = *window_->state().trace();
    QCOMPARE(trace.name(trace.event(window_->state().selectedEvent()).name), std::string_view("gemm"));
    QCOMPARE(startOf("gemm", 0), startOf("gemm", 1));  // all have the same duration, so the first of each is shown
    TimeRange visible = window_->timelineView().visibleRange();
    QVERIFY(visible.contains(startOf("gemm", 1)) && visible.length() < 3 * kKernelDuration);

    const int idle = rowOf("GPU idle", "Running CPU code");
    QVERIFY(idle >= 0);
    table.selectRow(idle);
    const Nanoseconds longest_gap = kLongestGapEnd - kGaps[2];
    QVERIFY(wait_for([&] {
      visible = window_->timelineView().visibleRange();
      return window_->isSettled() && visible.contains(longest_gap) && visible.length() > kGaps[2];
    }));
    QCOMPARE(window_->pair().shift(), 3 * kKernelDuration / 2);  // three kernels are in front of the gap
  }

  // The same steps in FP32 and in TF32, with counters of some launches.
  void countersOfKernelsOfBothTracesAreComparedInATableOfTheirOwn() {
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    QVERIFY(!window_->diff().counters().isVisible());  // no kernel was measured
    QCOMPARE(window_->diff().pages().count(), 1);
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    QVERIFY(open_and_settle(*window_, recorded("transformer_fp32.trace")));
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, recorded("transformer_tf32.trace")));
    QCOMPARE(window_->diff().pages().count(), 2);
    window_->diff().pages().setCurrentIndex(1);
    ui::ResultTable& table = window_->diff().counters();
    QVERIFY(table.isVisible());
    // Changes come first: one kernel reads a third more, with two launches on each side.
    QCOMPARE(cell(table, 0, "Change"), QString("31.8 %"));
    QCOMPARE(cell(table, 0, "Verdict"), QString("more"));
    QCOMPARE(cell(table, 0, "Metric"), QString("DRAM: read"));
    QCOMPARE(cell(table, 0, "A"), QString("35.87 MiB"));
    QCOMPARE(cell(table, 0, "B"), QString("47.28 MiB"));
    QCOMPARE(cell(table, 0, "Launches A"), QString("2"));
    const QString kernel = cell(table, 0, "Kernel");
    QVERIFY2(kernel.startsWith("elementwise_kernel<128, 2, "), qPrintable(kernel));
    // A measured launch of each trace; both start together.
    table.selectRow(0);
    QVERIFY(wait_for([&] { return window_->state().selectedEvent().valid() && window_->isSettled(); }));
    const Trace& trace = *window_->state().trace();
    const EventRef selected = window_->state().selectedEvent();
    QVERIFY(kernels::is_measured(trace, selected));
    QCOMPARE(compact_name(trace, selected), kernel);
    QCOMPARE(window_->pair().alignment(), ui::TracePair::Alignment::kPlace);
    std::size_t measured_in_b = 0;
    for (TrackId id = trace.parts()[1].first_track; id < trace.parts()[1].end_track; ++id)
      for (const LaneId lane : trace.tracks()[id].lanes)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
          if (trace.lane(lane).start(i) == trace.event(selected).start && compact_name(trace, {lane, i}) == kernel)
            measured_in_b += kernels::is_measured(trace, {lane, i});
    QCOMPARE(measured_in_b, std::size_t{1});
    // Enter shows all facts about the launch.
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_Return);
    QVERIFY(settled());
    QVERIFY(window_->kernel().isVisible());
    QVERIFY(window_->kernel().facts() != nullptr);
    QCOMPARE(window_->kernel().facts()->event, selected);
  }

  void swappedTracesAreComparedTheOtherWayRound() {
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    const QString a = cell(window_->diff().table(), 0, "A"), b = cell(window_->diff().table(), 0, "B");
    QVERIFY(a != b);
    window_->pair().swap();
    QVERIFY(settled());
    QCOMPARE(window_->pair().first().path, faster_);
    QCOMPARE(cell(window_->diff().table(), 0, "A"), b);
    QCOMPARE(cell(window_->diff().table(), 0, "B"), a);
  }

  // Start-up was not compared. Outside of it, no batch took 2 ms in either run, but in one of them the first took 32 ms (docs: a loader that has workers).
  void aRowOfTheComparisonLeadsToWhatWasCompared() {
    QVERIFY(open_and_settle(*window_, recorded("torch_training_workers0.trace")));
    QVERIFY(open_beside_and_settle(*window_, recorded("torch_training_workers4.trace")));
    window_->showPanel("diff");
    QVERIFY(settled());
    const stats::Table& table = *window_->diff().table().results().table();
    const stats::Column& names =
        *std::find_if(table.columns().begin(), table.columns().end(), [](const stats::Column& column) { return column.title == "Name"; });
    ui::TableRow row = 0;
    while (row < table.row_count() && table.text(names.text(row)) != "data") ++row;
    QVERIFY(row < table.row_count());
    window_->diff().table().chooseRow(row);
    QVERIFY(settled());
    QVERIFY(window_->state().selectedEvent().valid());
    const QList<QAction*> actions = window_->diff().table().actions();
    const auto in_second = std::find_if(actions.begin(), actions.end(), [](const QAction* action) { return action->text() == "Select it in B"; });
    QVERIFY(in_second != actions.end());
    (*in_second)->trigger();
    QVERIFY(settled());
    const Event batch = window_->state().trace()->event(window_->state().selectedEvent());
    QCOMPARE(QString::fromStdString(std::string(window_->state().trace()->name(batch.name))), QString("data"));
    QVERIFY2(batch.duration < 2'000'000, qPrintable(QString::number(batch.duration)));
  }

  // Both have ranges "item 1" of 100 us in the domain loader, at other times; B has some of 700 us in the default domain as well.
  void aRowAboutRangesOfADomainLeadsToThem() {
    const auto write = [&](const QString& name, Nanoseconds loaded, bool has_others) {
      TraceBuilder builder;
      const ProcessId process = builder.process_of_instance(7);
      builder.set_domain(process, 5, "loader");
      const auto add = [&](const char* range, Nanoseconds begin, Nanoseconds duration, std::uint32_t depth, std::uint32_t domain) {
        const TrackKey key{.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, 7), .domain = domain};
        builder.add(key, {Event{begin, duration, builder.intern(range), 0, 0}}, std::vector<std::uint32_t>{depth});
      };
      for (Nanoseconds begin = 0; begin < 10'000'000; begin += 1'000'000) {
        add("step 1", begin, 990'000, 0, 0);
        add("item 1", begin + loaded, 100'000, 0, 5);
        if (has_others) add("item 1", begin + 200'000, 700'000, 1, 0);
      }
      const std::shared_ptr<const Trace> trace = builder.snapshot();
      const QString path = pathOf(name);
      return ui::write_trace(trace, {path.toStdString(), Readers::kAsUsual, trace, 0}, {}).has_value() ? path : QString();
    };
    QVERIFY(open_and_settle(*window_, write("loader.trace", 50'000, false)));
    QVERIFY(open_beside_and_settle(*window_, write("both.trace", 70'000, true)));
    window_->showPanel("diff");
    QVERIFY(settled());
    ui::ResultTable& table = window_->diff().table();
    const int row = row_with(table, "Name", "item *@loader");
    QVERIFY(row >= 0);
    table.selectRow(row);
    QVERIFY(wait_for([&] { return window_->state().selectedEvent().valid() && window_->isSettled(); }));
    const Trace& trace = *window_->state().trace();
    QCOMPARE(trace.event(window_->state().selectedEvent()).duration, Nanoseconds{100'000});
    QCOMPARE(window_->pair().shift() % 1'000'000, Nanoseconds{-20'000});  // B's item of the loader begins when A's does
    emit table.rowActivated(table.results().tableRow(row));
    QVERIFY(settled());
    const std::vector<ColumnValue> expected{{PivotColumn::kFamily, "item *"}, {PivotColumn::kDomain, "loader"}};
    QCOMPARE(window_->state().filter().values, expected);
    const std::vector<EventRef> listed = gather_events(trace, EventScope::whole_trace(trace).lanes(), window_->state().filter());
    QCOMPARE(listed.size(), std::size_t{20});
    for (const EventRef event : listed) QCOMPARE(trace.event(event).duration, Nanoseconds{100'000});
  }

 private:
  // In the comparison; -1 if there is none.
  [[nodiscard]] int rowOf(const QString& kind, const QString& name) const {
    const ui::ResultTable& table = window_->diff().table();
    for (int row = 0; row < table.model()->rowCount(); ++row)
      if (cell(table, row, "Kind") == kind && cell(table, row, "Name") == name) return row;
    return -1;
  }
  static QString compact_name(const Trace& trace, EventRef event) { return ui::text_of(timeline::compact_kernel_name(trace.name(trace.event(event).name))); }
};

QTEST_MAIN(DiffTest)
#include "test_gui_diff.moc"
