// Two traces in one window: aligned, answered about, interleaved, pinned, swapped.
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "fixture/known_trace_test.h"
#include "fixture/menus.h"
#include "fixture/panel_tables.h"
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
};

QTEST_MAIN(CompareTest)
#include "test_gui_compare.moc"
