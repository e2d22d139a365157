// Two traces in one window: aligned, compared, interleaved, pinned.
#include <set>

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

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
#include "window/timeline/event_search.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class CompareTest : public TwoRunsTest {
  Q_OBJECT

 private slots:
  void twoTracesLieOnOneAxisUnderTheirHeadings() {
    const std::size_t alone = window_->state().trace()->event_count();
    QVERIFY(!window_->alignment().isVisible());
    QVERIFY(open_beside_and_settle(*window_, faster_));
    QVERIFY(window_->alignment().isVisible());
    QCOMPARE(window_->state().trace()->event_count(), 2 * alone);
    const timeline::RowTree& rows = window_->timelineView().rows();
    const timeline::Row& a = rows.row(*rows.find("part:0"));
    const timeline::Row& b = rows.row(*rows.find("part:1"));
    QCOMPARE(a.label.english(), std::string("A  known.trace"));
    QCOMPARE(b.label.english(), std::string("B  faster.trace"));
    QCOMPARE(a.children.size(), b.children.size());
    QVERIFY(!a.children.empty());
    QVERIFY(window_->windowTitle().contains("known.trace | faster.trace"));

    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settled());
    QCOMPARE(window_->state().trace()->event_count(), alone);
    QVERIFY(!window_->alignment().isVisible());
  }

  void bothNamesAreThereInANarrowWindow() {
    const QString long_name = pathOf("a_recording_of_the_training_with_a_long_name_and_workers4.trace");
    QVERIFY(QFile::copy(faster_, long_name));
    window_->resize(1'280, 640);
    QVERIFY(open_beside_and_settle(*window_, long_name));
    const auto* names = window_->alignment().findChild<QLabel*>("names_of_traces");
    QVERIFY(names != nullptr);
    const auto fits = [&] { return names->fontMetrics().horizontalAdvance(names->text()) <= names->width(); };
    QVERIFY2(wait_for(fits, 5'000), qPrintable(names->text()));
    QVERIFY2(names->text().contains("A  ") && names->text().contains("B  ") && names->text().endsWith("race"), qPrintable(names->text()));
    window_->resize(1'900, 640);
    QVERIFY(wait_for([&] { return names->text().contains("long_name"); }));
  }

  void ofTwoTracesOneIsCountedUnlessBothAreAskedFor() {
    window_->showPanel("bubbles");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    auto* choice = window_->bubbles().findChild<ui::AnsweredTraceBox*>();
    QVERIFY(choice->isVisible());
    QCOMPARE(choice->currentText(), QString("A  known.trace"));
    ui::ResultTable& groups = window_->bubbles().groups();
    QCOMPARE(column_sum(groups, 0), kIdle);

    // B's gaps are as long as A's, so both together have twice as many.
    const auto choose = [&](QWidget& panel, int index) {
      auto* box = panel.findChild<ui::AnsweredTraceBox*>();
      box->setCurrentIndex(index);
      emit box->activated(index);
      return settled();
    };
    QVERIFY(choose(window_->bubbles(), 2));
    QCOMPARE(column_sum(groups, 0), 2 * kIdle);
    QVERIFY(choose(window_->bubbles(), 1));
    QCOMPARE(column_sum(groups, 0), kIdle);
    window_->bubbles().gaps().chooseRow(0);
    const auto& selected = window_->state().selection().gap();
    QVERIFY(selected);
    QVERIFY(selected->gpu >= window_->pair().first().trace->gpus().size());  // that of B, where it lies on the axis
    const Nanoseconds longest_gap_end_in_b = kLongestGapEnd - 3 * kKernelDuration / 2;
    QCOMPARE(selected->range.end, longest_gap_end_in_b + window_->pair().shift());
    window_->state().setSelectedRange(std::nullopt);  // of which other panels would be

    // Every panel with answers uses the same trace, and shows it in its command.
    window_->showPanel("findings");
    QVERIFY(settled());
    QCOMPARE(window_->findings().findChild<ui::AnsweredTraceBox*>()->currentText(), QString("B  faster.trace"));
    QVERIFY2(window_->findings().command().endsWith("faster.trace"), qPrintable(window_->findings().command()));
    window_->showPanel("statistics");
    window_->statistics().chooseReport("cuda_gpu_kern_sum");
    QVERIFY(settled());
    QVERIFY2(window_->statistics().command().endsWith("faster.trace"), qPrintable(window_->statistics().command()));
    const std::int64_t in_b = column_sum(window_->statistics().report().table(), 2);
    QVERIFY(choose(window_->statistics(), 2));
    QCOMPARE(column_sum(window_->statistics().report().table(), 2), 2 * in_b);
    window_->statistics().chooseReport({});
    QVERIFY(choose(window_->statistics(), 0));
    const auto count_of_all = [&] {
      const ui::StatisticsModel& names = window_->statistics().model();
      std::uint64_t count = 0;
      for (int row = 0; row < names.rowCount(); ++row) count += names.entry(row).count;
      return count;
    };
    const std::uint64_t in_a = count_of_all();
    QVERIFY(in_a > 0);
    QVERIFY(choose(window_->statistics(), 2));
    QCOMPARE(count_of_all(), 2 * in_a);

    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settled());
    QVERIFY(!window_->statistics().findChild<ui::AnsweredTraceBox*>()->isVisible());
    QCOMPARE(count_of_all(), in_a);
  }

  // The table that is shown when B is closed belongs to B: clicking it then must not lead to a place in A.
  void aRowOfATraceThatIsGoneLeadsNowhere_data() {
    QTest::addColumn<QString>("panel");
    QTest::addColumn<int>("choice");
    for (const char* panel : {"bubbles", "report", "query"}) {
      QTest::newRow(qPrintable(QString("%1 of B").arg(panel))) << panel << 1;
      QTest::newRow(qPrintable(QString("%1 of both").arg(panel))) << panel << 2;
    }
  }
  void aRowOfATraceThatIsGoneLeadsNowhere() {
    QFETCH(QString, panel);
    QFETCH(int, choice);
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = tableOf(panel);
    QVERIFY(chooseAnswered(choice));
    const int row = table.model()->rowCount() - 1;  // if both are counted, a row of B
    QVERIFY(row > 0);
    table.scrollTo(table.model()->index(row, 0));
    const QPoint place = table.visualRect(table.model()->index(row, 0)).center();
    window_->timelineView().setVisibleRange({kFirstKernel, kFirstKernel + 10'000});
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    const TimeRange visible = window_->timelineView().visibleRange();
    QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, place);  // before anything was computed for A
    const auto nothing_was_gone_to = [&] { return !window_->state().selectedEvent().valid() && window_->timelineView().visibleRange() == visible; };
    QVERIFY(nothing_was_gone_to());
    QVERIFY(settled());
    QVERIFY(nothing_was_gone_to());
    // Then the table belongs to A.
    table.chooseRow(0);
    QVERIFY(settled());
    QVERIFY(window_->state().selectedEvent().valid() || window_->state().selection().gap());
  }

  // While traces are being swapped, the previous state is shown until they are combined again; until then, rows lead to their own trace.
  void aRowLeadsToItsTraceWhileThatIsBeingSwapped() {
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = tableOf("bubbles");
    window_->pair().swap();
    table.chooseRow(0);
    const auto& selected = window_->state().selection().gap();
    QVERIFY(selected && selected->range == TimeRange(kLongestGapEnd - kGaps[2], kLongestGapEnd));
    QCOMPARE(selected->gpu, GpuId{0});  // not that of the other
  }

  void aIsAnsweredAboutAgainWhenAnotherTraceIsOpenedBeside() {
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = tableOf("bubbles");
    QVERIFY(chooseAnswered(1));
    const QString third = pathOf("third.trace");
    write_known_trace(third.toStdString(), kKernelDuration / 4);
    QVERIFY(open_beside_and_settle(*window_, third));
    QCOMPARE(window_->bubbles().findChild<ui::AnsweredTraceBox*>()->currentText(), QString("A  known.trace"));
    table.chooseRow(0);
    const auto& selected = window_->state().selection().gap();
    QVERIFY(selected && selected->range == TimeRange(kLongestGapEnd - kGaps[2], kLongestGapEnd));
  }

  // The longest gaps of both traces start together when their row is chosen in Diff: each is selected, and distinguished from the other.
  void gapsOfBothTracesAreGoneToAlike() {
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = window_->diff().table();
    int idle = 0;
    while (idle < table.model()->rowCount() && !(cell(table, idle, "Kind") == "GPU idle" && cell(table, idle, "Name") == "Running CPU code")) ++idle;
    QVERIFY(idle < table.model()->rowCount());
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

  void aTraceIsOpenedBesideOneThatIsStillBeingLoaded() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    window.openFile(known_);
    QVERIFY(open_beside_and_settle(window, faster_));
    QCOMPARE(window.pair().first().path, known_);
    QCOMPARE(window.pair().second().path, faster_);
    QCOMPARE(window.state().trace()->parts().size(), std::size_t{2});
  }

  void theShiftOfBIsSeenTypedAndReset() {
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::TracePair& pair = window_->pair();
    const Nanoseconds initial = pair.shift();
    auto* shift = window_->alignment().findChild<QLineEdit*>();
    shift->setFocus();
    shift->selectAll();
    QTest::keyClicks(shift, "-1.5ms");
    QTest::keyClick(shift, Qt::Key_Return);
    QVERIFY(settled());
    QCOMPARE(pair.shift(), Nanoseconds{-1'500'000});
    QCOMPARE(pair.alignment(), ui::TracePair::Alignment::kHand);
    QCOMPARE(startOf("gemm", 1), kFirstKernel - 1'500'000);
    QCOMPARE(startOf("gemm", 0), kFirstKernel);  // A does not move
    QCOMPARE(shift->text(), QString("-1.500 ms"));

    shift->selectAll();
    QTest::keyClicks(shift, "soon");
    QTest::keyClick(shift, Qt::Key_Return);
    QVERIFY2(window_->messages().text().contains("soon"), qPrintable(window_->messages().text()));
    QCOMPARE(pair.shift(), Nanoseconds{-1'500'000});

    QTest::mouseClick(window_->alignment().findChild<QPushButton*>("reset_alignment"), Qt::LeftButton);
    QVERIFY(settled());
    QCOMPARE(pair.shift(), initial);
    QCOMPARE(startOf("gemm", 1), kFirstKernel + initial);
    QVERIFY2(window_->messages().messages().empty(), qPrintable(window_->messages().text()));  // the message about the invalid time was removed
  }

  // Two trainings that were started one after the other: what comes before the steps takes 0.7 s longer in one of them, and its steps are shorter.
  void runsAreAlignedByTheLoopThatBothHave() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    window.openFile(recorded("torch_training_workers0.trace"));
    QVERIFY(open_beside_and_settle(window, recorded("torch_training_workers4.trace")));
    ui::TracePair& pair = window.pair();
    const auto starts_of = [&](const char* name) {
      const Trace& trace = *window.state().trace();
      std::vector<Nanoseconds> starts;
      for (const Track& track : trace.tracks())
        for (const LaneId lane : track.key.kind == TrackKind::kNvtxRanges ? std::span(track.lanes) : std::span<const LaneId>())
          for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
            if (trace.name(trace.lane(lane).name(i)) == name) starts.push_back(trace.lane(lane).start(i));
      return starts;
    };
    QCOMPARE(pair.alignment(), ui::TracePair::Alignment::kLoop);
    std::vector<Nanoseconds> steps = starts_of("step 1");  // step 0 warms up in both
    QCOMPARE(steps.size(), std::size_t{2});
    QCOMPARE(steps[0], steps[1]);
    const Nanoseconds by_loop = pair.shift();

    auto* choice = window.alignment().findChild<QComboBox*>();
    const auto choose = [&](const char* text) {
      choice->setCurrentIndex(choice->findText(text));
      emit choice->activated(choice->currentIndex());
      return settle(window);
    };
    QVERIFY(choose("by start"));
    QVERIFY(pair.shift() != by_loop);
    QVERIFY(choose("by loop"));
    QCOMPARE(pair.shift(), by_loop);
    window.alignment().findChild<QPushButton*>("reset_alignment")->click();
    QVERIFY(settle(window));
    QCOMPARE(pair.alignment(), ui::TracePair::Alignment::kLoop);
    QCOMPARE(pair.shift(), by_loop);
    pair.swap();
    QVERIFY(settle(window));
    steps = starts_of("step 1");
    QCOMPARE(steps[0], steps[1]);
  }

  // Where two domains have a family of ranges, the row of each says its domain; its events have no such name.
  void aRowAboutRangesOfADomainLeadsToThem() {
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
    int row = 0;
    while (row < table.results().rowCount() && cell(table, row, "Name") != "load *@loader") ++row;
    QVERIFY2(row < table.results().rowCount(), qPrintable(window.diff().summary()));
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

  void theSelectedEventAndItsCounterpartCanBeAligned() {
    QVERIFY(open_beside_and_settle(*window_, faster_));
    // The third "gemm" of A starts later than that of B, whose kernels are shorter.
    const EventRef third = eventsNamed("gemm", 0)[2];
    window_->state().setSelectedEvent(third);
    window_->alignment().alignAtSelection();
    QVERIFY(settled());
    QCOMPARE(window_->pair().alignment(), ui::TracePair::Alignment::kPlace);
    const Trace& trace = *window_->state().trace();
    const Event a = trace.event(eventsNamed("gemm", 0)[2]), b = trace.event(eventsNamed("gemm", 1)[2]);
    QCOMPARE(a.start, b.start);
    QCOMPARE(window_->pair().shift(), 4 * kKernelDuration / 2);  // four kernels are in front, each with half the duration in B
    QCOMPARE(window_->state().selectedEvent(), third);
    const TimeRange visible = window_->timelineView().visibleRange();
    QVERIFY(visible.contains(a.start) && visible.contains(a.end()));
    QVERIFY(visible.length() < 3 * kKernelDuration);
  }

  void aRowOfTheComparisonZoomsBothTraces() {
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    ui::ResultTable& table = window_->diff().table();
    const auto row_of = [&](const char* kind, const char* name) {
      for (int row = 0; row < table.results().rowCount(); ++row)
        if (cell(table, row, "Kind") == kind && cell(table, row, "Name") == name) return row;
      return -1;
    };
    const int gemm = row_of("Kernel", "gemm");
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

    const int idle = row_of("GPU idle", "Running CPU code");
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

  void aRowIsPinnedWithTheSameRowOfTheOtherTrace() {
    timeline::TimelineView& view = window_->timelineView();
    const auto ask = [&](const QString& key, const QString& choice) {
      view.setCurrentRow(key);
      return menu_after([&] { view.askForMenu(); }, choice);
    };
    const QString entry = "Pin with the same row of the other trace";
    QVERIFY(!ask("gpu:0/hw", {}).contains(entry));
    QVERIFY(open_beside_and_settle(*window_, faster_));
    view.edits().clear();
    const auto key_in_b = [&] {
      for (const timeline::Row& row : view.rows().rows())
        if (row.kind == timeline::RowKind::kGpuHardware && row.key != "gpu:0/hw") return QString::fromStdString(row.key);
      return QString();
    };
    QVERIFY(ask(key_in_b(), entry).contains(entry));  // requested on B's row, but A's comes first
    const std::vector<std::string> expected{"gpu:0/hw", key_in_b().toStdString()};
    QVERIFY(view.rowArrangement().pinned == expected);
    view.edits().undo();  // both at once
    QVERIFY(view.rowArrangement().pinned.empty());
    view.pin("process:1");
    QVERIFY(ask("gpu:0/hw", entry).contains(entry));
    QCOMPARE(view.rowArrangement().pinned.size(), std::size_t{3});
    QVERIFY(!ask("part:0", {}).contains(entry));
  }

  void rowsOfBothTracesAreInterleavedByOneKey() {
    timeline::TimelineView& view = window_->timelineView();
    auto* button = window_->alignment().findChild<QPushButton*>("interleave_rows");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    view.setTraceSides(timeline::TraceSides::kApart);
    view.edits().clear();
    const auto order = [&] {
      QStringList rows;
      view.setCurrentRow({});
      window_->state().setSelectedEvent({});
      for (QString last; view.stepRow(timeline::TimelineView::RowDirection::kDown), view.currentRow() != last;) rows += last = view.currentRow();
      view.setCurrentRow({});
      return rows;
    };
    const QStringList apart = order();
    QCOMPARE(apart.first(), QString("part:0"));
    QVERIFY(apart.indexOf("part:1") > apart.indexOf("gpu:0/hw"));
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_I);
    QVERIFY(button->isChecked());
    const QStringList together = order();
    QCOMPARE(QSet<QString>(together.begin(), together.end()), QSet<QString>(apart.begin(), apart.end()));
    QCOMPARE(together.mid(0, 2), QStringList({"part:0", "part:1"}));
    QCOMPARE(together[together.indexOf("gpu:0/hw") + 1], QString("gpu:1/hw"));
    // A row is expanded and collapsed together with its partner.
    QVERIFY(view.isExpanded("gpu:1/hw"));
    view.collapseRow("gpu:0/hw");
    QVERIFY(!view.isExpanded("gpu:1/hw"));
    view.expandRow("gpu:1/hw");
    QVERIFY(view.isExpanded("gpu:0/hw"));
    window_->pair().swap();
    QVERIFY(settled());
    QVERIFY(button->isChecked());  // the traces differ, the choice stays
    QCOMPARE(order().mid(0, 2), QStringList({"part:0", "part:1"}));
    button->click();
    QCOMPARE(order(), apart);
    view.edits().undo();
    QVERIFY(button->isChecked());
    QTest::keyClick(&view, Qt::Key_I);
    QCOMPARE(order(), apart);
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

  void rowsOfOneTraceAreNotInterleavedAndLeaveNothingToUndo() {
    QTest::keyClick(&window_->timelineView(), Qt::Key_I);
    QVERIFY(!window_->timelineView().edits().canUndo());
  }

  void swappedTracesKeepTheirNamesTheirNotesAndWhatIsInSight() {
    for (const QString& path : {known_, faster_}) QFile::remove(path + ".notes");
    QVERIFY(open_beside_and_settle(*window_, faster_));
    timeline::TimelineView& view = window_->timelineView();
    view.addMarker(kFirstKernel, "of known");
    QVERIFY(QFile::exists(known_ + ".notes"));
    const EventRef third = eventsNamed("gemm", 1)[2];
    const Nanoseconds start = window_->state().trace()->event(third).start, shift = window_->pair().shift();
    window_->state().setSelectedEvent(third);
    window_->state().setSelectedRange(TimeRange{start, start + 500});
    view.setVisibleRange({start - 1'000, start + 9'000});

    window_->pair().swap();
    QVERIFY(settled());
    QVERIFY2(window_->windowTitle().startsWith("faster.trace | known.trace"), qPrintable(window_->windowTitle()));
    QCOMPARE(window_->session().file(), faster_);
    QCOMPARE(window_->state().selectedEvent(), eventsNamed("gemm", 0)[2]);
    QCOMPARE(view.visibleRange().begin, start - 1'000 - shift);  // the axis now has the times of the other trace
    QCOMPARE(view.visibleRange().length(), Nanoseconds{10'000});
    QVERIFY(window_->state().selectedRange() == TimeRange({start - shift, start - shift + 500}));
    // Notes of both are on the axis. New ones belong to the file of the first trace.
    QCOMPARE(texts_of(view), QStringList{"of known"});
    QCOMPARE(view.markers().front().time, kFirstKernel - shift);
    view.addMarker(kFirstKernel + 1'000, "of faster");
    QVERIFY(content(faster_ + ".notes").contains("of faster") && !content(faster_ + ".notes").contains("of known"));
    const QByteArray of_known = content(known_ + ".notes");
    QVERIFY(of_known.contains("of known") && !of_known.contains("of faster"));
    // If the second trace is shifted, its notes move with it, and stay unchanged in its file; also if all are removed and restored.
    window_->pair().setShift(window_->pair().shift() + 70'000);
    QVERIFY(settled());
    const auto of_text = [&](const QString& text) {
      const auto found = std::find_if(view.markers().begin(), view.markers().end(), [&](const auto& marker) { return marker.text == text; });
      return found == view.markers().end() ? Nanoseconds{-1} : found->time;
    };
    QCOMPARE(of_text("of known"), kFirstKernel - shift + 70'000);
    QCOMPARE(of_text("of faster"), kFirstKernel + 1'000);
    QCOMPARE(content(known_ + ".notes"), of_known);
    view.clearMarkers();
    QVERIFY(!QFile::exists(known_ + ".notes") && !QFile::exists(faster_ + ".notes"));
    view.edits().undo();
    QCOMPARE(view.markers().size(), std::size_t{2});
    QVERIFY(content(known_ + ".notes").contains("of known") && !content(known_ + ".notes").contains("of faster"));
    QVERIFY(content(faster_ + ".notes").contains("of faster"));

    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settled());
    QVERIFY2(window_->windowTitle().startsWith(QString::fromUtf8("faster.trace — ")), qPrintable(window_->windowTitle()));
    window_->showPanel("findings");
    QVERIFY(settled());
    QVERIFY2(window_->findings().command().endsWith("faster.trace"), qPrintable(window_->findings().command()));
    QCOMPARE(texts_of(view), QStringList{"of faster"});
    // Opened beside it again, the other trace is B with its own name, and has its notes.
    QVERIFY(open_beside_and_settle(*window_, known_));
    QCOMPARE(window_->pair().first().path, faster_);
    QCOMPARE(window_->pair().second().path, known_);
    QCOMPARE(view.markers().size(), std::size_t{2});
    window_->pair().swap();
    QVERIFY(settled());
    QCOMPARE(view.markers().size(), std::size_t{2});
    QCOMPARE(of_text("of known"), kFirstKernel);
    for (const QString& path : {known_, faster_}) QFile::remove(path + ".notes");
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
  void aRowAboutRangesOfADomainLeadsToThese() {
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
    int row = 0;
    while (row < table.results().rowCount() && cell(table, row, "Name") != "item *@loader") ++row;
    QVERIFY(row < table.results().rowCount());
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

  void swappedTracesKeepTheFilter() {
    QVERIFY(open_beside_and_settle(*window_, faster_));
    EventFilter filter;
    filter.text = "gemm";
    window_->state().setFilter(filter);
    QVERIFY(settled());
    const int listed = events_table(*window_)->model()->rowCount();
    window_->pair().swap();
    QVERIFY(settled());
    QCOMPARE(QString::fromStdString(window_->state().filter().text), QString("gemm"));
    QCOMPARE(events_table(*window_)->model()->rowCount(), listed);
  }

  void aTraceIsNamedAloneOnceTheOtherIsClosed() {
    QVERIFY(open_beside_and_settle(*window_, faster_));
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settled());
    QVERIFY2(window_->windowTitle().startsWith(QString::fromUtf8("known.trace — ")), qPrintable(window_->windowTitle()));
  }

  void aSearchIsOfTheTracesThatAreShown() {
    auto* search = window_->findChild<ui::EventSearch*>();
    auto* field = search->findChild<QLineEdit*>();
    const auto* position = search->findChild<QLabel*>();
    QVERIFY(open_beside_and_settle(*window_, faster_));
    search->searchFor("gemm");
    QVERIFY(settled());
    QCOMPARE(position->text(), QString("%1 found").arg(kKernels));  // half of the kernels, in both traces
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settled());
    QCOMPARE(position->text(), QString("%1 found").arg(kKernels / 2));
    const std::weak_ptr<const Trace> before = window_->state().trace();
    QVERIFY(open_and_settle(*window_, recorded("cuda_streams.trace")));
    QCOMPARE(field->text(), QString("gemm"));
    QCOMPARE(position->text(), QString("0 found"));
    QVERIFY(wait_for([&] { return before.expired(); }));  // nothing references what is no longer shown
  }

  void saysWhyATraceCannotBeOpenedBeside() {
    QSignalSpy failed(window_.get(), &MainWindow::failed);
    window_->openBeside(pathOf("missing.trace"));
    QVERIFY(failed.wait(kPatienceMs));
    QVERIFY2(window_->messages().text().contains("missing.trace"), qPrintable(window_->messages().text()));
    QVERIFY(!window_->pair().isOpen());
  }

 private:
  // With lines about events that both kinds of trace have.
  ui::ResultTable& tableOf(const QString& panel) {
    window_->showPanel(panel == "report" ? "statistics" : panel);
    if (panel == "report") window_->statistics().chooseReport("cuda_gpu_trace");
    if (panel == "query") {
      window_->query().setText("SELECT start, duration, name FROM kernels");
      window_->query().ask();
    }
    static_cast<void>(settled());
    return panel == "report" ? window_->statistics().report().table() : panel == "query" ? window_->query().table() : window_->bubbles().gaps();
  }
  static QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static QStringList texts_of(const timeline::TimelineView& view) {
    QStringList texts;
    for (const auto& marker : view.markers()) texts += marker.text;
    return texts;
  }

  // In the current panel.
  bool chooseAnswered(int index) {
    for (auto* box : window_->findChildren<ui::AnsweredTraceBox*>()) {
      if (!box->isVisible()) continue;
      box->setCurrentIndex(index);
      emit box->activated(index);
      return settled();
    }
    return false;
  }
  bool settled() {
    return wait_for([this] { return window_->isSettled(); });
  }
  static QString compact_name(const Trace& trace, EventRef event) { return ui::text_of(timeline::compact_kernel_name(trace.name(trace.event(event).name))); }
  // By start, of one of the two traces.
  std::vector<EventRef> eventsNamed(std::string_view name, std::size_t part) const {
    const Trace& trace = *window_->state().trace();
    std::vector<EventRef> found;
    for (TrackId id = trace.parts()[part].first_track; id < trace.parts()[part].end_track; ++id)
      for (const LaneId lane : trace.tracks()[id].lanes)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
          if (trace.name(trace.lane(lane).name(i)) == name) found.push_back({lane, i});
    return found;
  }
  Nanoseconds startOf(std::string_view name, std::size_t part) const { return window_->state().trace()->event(eventsNamed(name, part).front()).start; }
};

QTEST_MAIN(CompareTest)
#include "test_gui_compare.moc"
