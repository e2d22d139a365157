// What Details, the tooltip and the waits of an event say about gaps, with the same words and working links; and what the shares of rows are relative to.
#include <cmath>

#include <QAbstractTextDocumentLayout>
#include <QDockWidget>
#include <QHelpEvent>
#include <QLabel>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextLayout>
#include <QTextTable>
#include <QToolTip>

#include "../../../timeline/traces.h"
#include "analysis/wait_source.h"
#include "base/text/catalogue_translator.h"
#include "fixture/gestures.h"
#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "fixture/panel_tables.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/threads/critical_path.h"
#include "model/text/language.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/words/format.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// Each millisecond, a call in a range that grows with them launches a kernel; the last one waits for it.
std::shared_ptr<const Trace> step_of(int milliseconds) {
  constexpr Nanoseconds kMillisecond = 1'000'000;
  SmallTrace trace;
  std::vector<Event> calls, kernels;
  for (int i = 0; i < milliseconds; ++i) {
    const Nanoseconds begin = i * kMillisecond;
    const auto correlation = static_cast<std::uint32_t>(i + 1);
    calls.push_back(trace.event(begin + 10'000, begin + 20'000, "cudaLaunchKernel", correlation));
    kernels.push_back(trace.event(begin + 30'000, begin + 900'000, "kernel", correlation));
  }
  trace.builder.add(trace.on_thread(TrackKind::kCudaApi), calls);
  trace.builder.add(trace.on_gpu(TrackKind::kKernels), kernels);
  trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), {trace.event(0, milliseconds * kMillisecond, "step")}, std::vector<std::uint32_t>{0});
  return trace.builder.snapshot();
}

// 100 kernels of 10 us, 5 us apart, but 55 us in the middle. In front of the first and behind the last there is no work.
std::shared_ptr<const Trace> close_kernels() {
  SmallTrace trace;
  std::vector<Event> calls, kernels;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds begin = 1'000'000 + i * 15'000 + (i < 50 ? 0 : 50'000);
    const auto correlation = static_cast<std::uint32_t>(i + 1);
    calls.push_back(trace.event(begin - 4'000, begin - 1'000, "cudaLaunchKernel", correlation));
    kernels.push_back(trace.event(begin, begin + 10'000, "kernel", correlation));
  }
  trace.builder.add(trace.on_thread(TrackKind::kCudaApi), calls);
  trace.builder.add(trace.on_gpu(TrackKind::kKernels), kernels);
  trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), {trace.event(0, 4'000'000, "all")}, std::vector<std::uint32_t>{0});
  return trace.builder.snapshot();
}

// Two ranks reduce in a step of the first, which the second makes wait.
std::shared_ptr<const Trace> step_of_two_ranks() {
  constexpr Nanoseconds kMillisecond = 1'000'000;
  SmallTrace trace;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const Nanoseconds start = (rank == 0 ? 1 : 5) * kMillisecond;
    const auto process = trace.process = trace.builder.process_of_instance(1 + rank);
    trace.thread = trace.builder.thread(process, 4711 + rank);
    trace.gpu = trace.builder.gpu_of_device(process, rank);
    trace.builder.process(process).pid = 4711 + rank;
    trace.builder.process(process).place.rank = rank;
    trace.builder.add(trace.on_thread(TrackKind::kCudaApi), {trace.event(start - 20'000, start - 10'000, "cudaLaunchKernel", 1)});
    trace.builder.add(trace.on_gpu(TrackKind::kKernels), {trace.event(start, 6 * kMillisecond, "ncclDevKernel_AllReduce", 1)});
    trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), {trace.event(0, 5 * kMillisecond, rank == 0 ? "step" : "other")}, std::vector<std::uint32_t>{0});
  }
  return trace.builder.snapshot();
}

EventRef only_range(const Trace& trace) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) return {track.lanes.front(), 0};
  return {};
}

EventRef last_kernel(const Trace& trace) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kKernels) return {track.lanes.front(), trace.lane(track.lanes.front()).size() - 1};
  return {};
}

}  // namespace

class DetailsTest : public QObject {
  Q_OBJECT

 private slots:
  // Chinese letters may come from another font, which reaches higher.
  void labelsAndValuesStandOnOneLine() {
    const ui::CatalogueTranslator translator;
    show_in(chinese());
    QCoreApplication::installTranslator(const_cast<ui::CatalogueTranslator*>(&translator));
    const auto back = qScopeGuard([&] {
      QCoreApplication::removeTranslator(const_cast<ui::CatalogueTranslator*>(&translator));
      show_in(english());
    });
    MainWindow window(ui::Layout::kInitial);
    window.show();
    const std::shared_ptr<const Trace> trace = step_of(3);
    window.state().setTrace(trace, ui::TraceChange::kOther);
    window.state().setSelectedEvent(last_kernel(*trace));
    QVERIFY(settle(window));
    const auto* details = window.findChild<ui::DetailsPanel*>()->findChild<QTextBrowser*>();
    const QAbstractTextDocumentLayout* layout = details->document()->documentLayout();
    const auto baseline = [&](const QTextTableCell& cell) {
      const QTextBlock block = cell.firstCursorPosition().block();
      const QTextLine line = block.layout()->lineAt(0);
      return layout->blockBoundingRect(block).top() + line.position().y() + line.ascent();
    };
    int rows = 0;
    for (QTextFrame* frame : details->document()->rootFrame()->childFrames()) {
      const auto* table = qobject_cast<QTextTable*>(frame);
      for (int row = 0; table != nullptr && row < table->rows(); ++row, ++rows)
        QVERIFY2(std::abs(baseline(table->cellAt(row, 0)) - baseline(table->cellAt(row, 1))) < 1,
                 qPrintable(QString("row %1: %2 and %3").arg(row).arg(baseline(table->cellAt(row, 0))).arg(baseline(table->cellAt(row, 1)))));
    }
    QVERIFY(rows >= 5);
  }

  void initTestCase() { use_empty_settings(); }
  void init() {
    window_ = window_of(known_trace_in(folder_));
    QVERIFY(window_);
    window_->resize(1400, 900);
  }
  void cleanup() { window_.reset(); }

  // The thread of this loader is blocked for two thirds of each gap, in pieces that are shorter than the one in which it ran code.
  void whatAThreadDidInAGapIsSaidAlikeOfTheGapAndOfTheEventBehindIt() {
    window_ = window_of(recorded("torch_loader_samples.trace"));
    QVERIFY(window_);
    Gestures hands(*window_);
    // The range is dragged over the middle of the trace, which is wholly visible.
    window_->timelineView().zoomToFit();
    QWidget* canvas = part(*window_, "Timeline rows");
    drag(canvas->width() / 4, canvas->width() * 3 / 4);
    QVERIFY(window_->state().selectedRange());
    QVERIFY(hands.press(Qt::CTRL | Qt::SHIFT | Qt::Key_G));
    QVERIFY(wait_for([&] { return window_->isSettled(); }));
    QTableView& table = *events_table(*window_);
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    const analysis::Bubbles bubbles = analysis::find_bubbles(*trace, 10'000);
    int blocked = 0;
    for (int row = 0; row < 5; ++row) {
      QVERIFY(hands.click_row(table, row));
      const EventRef event = window_->state().selectedEvent();
      const auto bubble = std::find_if(bubbles.bubbles.begin(), bubbles.bubbles.end(), [&](const analysis::Bubble& each) { return each.gap.next == event; });
      QVERIFY(bubble != bubbles.bubbles.end());
      if (bubble->main_cause() != analysis::IdleCause::kOsBlocked) continue;
      ++blocked;
      const QString details = said();
      QVERIFY2(!details.contains("which ran code"), qPrintable(details));
      QVERIFY2(details.contains("Blocked in the operating system"), qPrintable(details));
    }
    QVERIFY(blocked > 0);
  }

  // In a small window, the details beside the tables are a narrow column.
  void noTimeIsBrokenWithinItselfInASmallWindow() {
    window_ = window_of(recorded("torch_loader_samples.trace"));
    QVERIFY(window_);
    window_->resize(800, 600);
    window_->showPanel("details");
    window_->findChild<QDockWidget*>("details")->setFixedWidth(200);
    window_->state().setSelectedRange(TimeRange{9'916'952'978, 10'230'876'123});
    QVERIFY(wait_for([&] { return settle(*window_) && said().contains("busy"); }));
    const QTextDocument& page = *window_->details().findChild<QTextBrowser*>()->document();
    int times = 0;
    for (QTextBlock block = page.begin(); block.isValid(); block = block.next()) {
      static const QRegularExpression time(QStringLiteral("^[0-9.]+.(s|ms|µs|ns)"));
      if (block.text().size() > 24 || !time.match(block.text()).hasMatch()) continue;
      ++times;
      QVERIFY2(block.layout()->lineCount() == 1, qPrintable(block.text()));
    }
    QVERIFY2(times >= 4, qPrintable(page.toPlainText()));  // start, end, duration, and how long the GPU was busy
  }

  // In both languages, at the width that the panel has at first in a small window: words stay whole, and nothing is cut at the right.
  void labelsOfARangeKeepTheirWordsWhole() {
    ui::CatalogueTranslator translator;
    QCoreApplication::installTranslator(&translator);
    const auto as_before = qScopeGuard([] { show_in(english()); });
    for (const Language* language : languages()) {
      show_in(*language);
      window_ = window_of(recorded("ranks_compute.trace"));
      QVERIFY(window_);
      window_->resize(1'366, 720);
      window_->showPanel("details");
      window_->findChild<QDockWidget*>("details")->setFixedWidth(305);
      window_->state().setSelectedRange(TimeRange{7'758'638'954, 7'896'048'321});
      QVERIFY(wait_for([&] { return settle(*window_) && said().contains("52.4 %"); }));
      const auto& browser = *window_->details().findChild<QTextBrowser*>();
      QVERIFY2(!browser.horizontalScrollBar()->isVisible(), qPrintable(said()));
      for (QTextBlock block = browser.document()->begin(); block.isValid(); block = block.next())
        for (int line = 1; line < block.layout()->lineCount(); ++line) {
          const QChar before = block.text()[block.layout()->lineAt(line).textStart() - 1];
          QVERIFY2(!(before.isLetter() && before.unicode() < 0x100), qPrintable(block.text()));
        }
    }
  }

  // Half a screen, for example.
  void theSmallestWindowHasRoomForATime() {
    window_->resize(window_->minimumSizeHint());
    window_->showPanel("details");
    QVERIFY(settle(*window_));
    const QWidget& details = window_->details();
    QVERIFY(wait_for([&] { return details.width() >= details.fontMetrics().horizontalAdvance("133.978 ms"); }, 5'000));
    QVERIFY(window_->rect().contains(QRect(details.mapTo(window_.get(), QPoint()), details.size())));
  }

  void tooltipsOfGapsAreAsWideAsPeopleRead() {
    window_ = window_of(recorded("torch_loader_samples.trace"));
    QVERIFY(window_);
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    const analysis::Bubbles bubbles = analysis::find_bubbles(*trace, 10'000);
    const auto longest = std::max_element(bubbles.bubbles.begin(), bubbles.bubbles.end(),
                                          [](const auto& a, const auto& b) { return a.gap.range.length() < b.gap.range.length(); });
    const QPoint place = placeOfGap(longest->gap.range);
    QWidget* canvas = part(*window_, "Timeline rows");
    QHelpEvent help(QEvent::ToolTip, place, canvas->mapToGlobal(place));
    QApplication::sendEvent(canvas, &help);
    const auto tips = [] {
      QWidgetList shown;
      for (QWidget* each : QApplication::topLevelWidgets())
        if (each->inherits("QTipLabel") && each->isVisible()) shown += each;
      return shown;
    };
    QVERIFY(wait_for([&] { return !tips().isEmpty(); }));
    QVERIFY2(QToolTip::text().contains("Blocked in the operating system"), qPrintable(QToolTip::text()));
    const int character = QFontMetrics(QToolTip::font()).averageCharWidth();
    QVERIFY2(tips().front()->width() <= 80 * character, qPrintable(QString::number(tips().front()->width())));
    QToolTip::hideText();
  }

  void aGapThatIsClickedLeavesTheDraggedRange() {
    const TimeRange gap = longestGap();
    window_->timelineView().setVisibleRange({gap.begin - gap.length(), gap.end + gap.length()});
    QVERIFY(settle(*window_));
    QWidget* canvas = part(*window_, "Timeline rows");
    const QPoint place = placeOfGap(gap);
    // Without a range, the gap becomes the selected range, because lists cover that.
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, place);
    QVERIFY(window_->state().selectedRange() == gap);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Escape);

    drag(canvas->width() / 10, canvas->width() / 5);
    const std::optional<TimeRange> dragged = window_->state().selectedRange();
    QVERIFY(dragged && *dragged != gap);
    const QImage before = canvas->grab().toImage();
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, place);
    QVERIFY(window_->state().selectedRange() == dragged);
    QVERIFY(window_->timelineView().selectedGap() && window_->timelineView().selectedGap()->range == gap);
    QVERIFY2(said().contains("GPU 0 idle for 900.000 µs"), qPrintable(said()));
    QVERIFY(canvas->grab().toImage() != before);  // it has a frame
    // G moves on from it, and the range stays.
    QTest::keyClick(&window_->timelineView(), Qt::Key_G);
    QVERIFY(window_->state().selectedRange() == dragged);
    QVERIFY(window_->timelineView().selectedGap()->range != gap);
    // Selecting an event replaces it; when nothing else is selected, Details is about the range again.
    window_->state().setSelectedEvent(kernel_number(*window_, 1));
    QVERIFY(!window_->timelineView().selectedGap());
    QVERIFY2(said().startsWith("relu"), qPrintable(said()));
    QVERIFY(window_->state().selectedRange() == dragged);
    window_->state().setSelectedEvent({});
    QVERIFY2(said().startsWith("Selected range"), qPrintable(said()));
    QTest::keyClick(&window_->timelineView(), Qt::Key_Escape);
    QVERIFY(!window_->state().selectedRange() && !window_->timelineView().selectedGap());
  }

  // 98 gaps of 5 us have no cause each; without them, a GPU that starves would look as if it were hardly idle.
  void theDetailsOfARangeCountShortGaps() {
    window_->state().setTrace(close_kernels(), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
    window_->state().setSelectedRange(TimeRange{0, 4'000'000});
    QVERIFY(wait_for([&] { return said().contains("in gaps below"); }));
    QVERIFY2(said().contains(QRegularExpression("GPU 0 busy\\s+1\\.000 ms")), qPrintable(said()));
    QVERIFY2(said().contains(QRegularExpression("GPU 0 idle\\s+490\\.000 µs\\s+in gaps below 10\\.000 µs")), qPrintable(said()));
    // Bubbles of the range agree: the gap in the middle, and the shorter ones.
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    QStringList lines;
    for (const QLabel* label : window_->bubbles().findChildren<QLabel*>()) lines += label->text();
    // All that is not busy is named: 1 ms + 545 us + 2.455 ms.
    const QString inside = QString::fromUtf8("Within 4.000 ms: 545.000 µs idle; shorter gaps take 490.000 µs of it");
    const QString outside = QString::fromUtf8("; 2.455 ms before the first or after the last operation of a GPU");
    QVERIFY2(lines.contains(inside + outside), qPrintable(lines.join(u'|')));
    // Half of the gap in the middle, and ten gaps behind it.
    window_->state().setSelectedRange(TimeRange{1'000'000 + 50 * 15'000 + 20'000, 1'000'000 + 60 * 15'000 + 50'000});
    QVERIFY(wait_for([&] { return said().contains(QRegularExpression("GPU 0 idle\\s+50\\.000 µs\\s+in gaps below")); }));
  }

  // The GPU works from 1 ms on, and to 2.545 ms.
  void theDetailsOfARangeSayWhatIsOutsideOfTheWorkOfAGpu() {
    window_->state().setTrace(close_kernels(), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
    window_->state().setSelectedRange(TimeRange{200'000, 900'000});
    QVERIFY(wait_for([&] { return said().contains(QRegularExpression("GPU 0 idle\\s+700\\.000 µs\\s+before its first operation")); }));
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    QStringList lines;
    for (const QLabel* label : window_->bubbles().findChildren<QLabel*>()) lines += label->text();
    const QString told = QString::fromUtf8("700.000 µs before the first or after the last operation of a GPU");
    QVERIFY2(lines.join(u'|').contains(told), qPrintable(lines.join(u'|')));
    window_->state().setSelectedRange(TimeRange{3'500'000, 3'800'000});
    QVERIFY(wait_for([&] { return said().contains(QRegularExpression("GPU 0 idle\\s+300\\.000 µs\\s+after its last operation")); }));
  }

  // The lowest row is cut by the edge of the window: the second click must hit what the first one hit.
  void aDoubleClickOnACutRowZoomsToWhatWasClicked() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_ && settle(*window_));
    QWidget* canvas = part(*window_, "Timeline rows");
    auto& view = window_->timelineView();
    EventRef lowest;
    QPoint place;
    for (int y = canvas->height() - 1; y > canvas->height() / 2 && !lowest.valid(); --y)
      for (int x = 1; x < canvas->width() && !lowest.valid(); x += 7) {
        QTest::mouseMove(canvas, QPoint(x, y));
        lowest = view.hoveredEvent();
        place = QPoint(x, y);
      }
    QVERIFY(lowest.valid());
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, place);
    QVERIFY(window_->state().selectedEvent() == lowest);
    QTest::mouseMove(canvas, place + QPoint(0, -1));
    QTest::mouseMove(canvas, place);
    QVERIFY(view.hoveredEvent() == lowest);
    QTest::mouseDClick(canvas, Qt::LeftButton, Qt::NoModifier, place);
    QVERIFY(window_->state().selectedEvent() == lowest);
  }

  // Names that differ in their numbers are one line where there are several of them in the range, as in Statistics.
  void theDetailsOfARangeListFamilies() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    std::map<std::string, TimeRange> steps;
    for (const Track& track : trace->tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; track.key.kind == TrackKind::kNvtxRanges && i < trace->lane(lane).size(); ++i)
          steps[std::string(trace->name(trace->lane(lane).name(i)))] = {trace->lane(lane).start(i), trace->lane(lane).end(i)};
    window_->state().setSelectedRange(TimeRange{steps.at("step 5").begin, steps.at("step 8").end});
    QVERIFY(wait_for([&] { return said().contains("step *"); }));
    QVERIFY2(said().contains(QRegularExpression("step \\* NVTX range\\s+count 4 ")) && !said().contains("step 5"), qPrintable(said()));
    window_->state().setSelectedRange(TimeRange{steps.at("step 7").begin + 1, steps.at("step 7").end - 1});
    QVERIFY(wait_for([&] { return said().contains("step 7"); }));
    QVERIFY2(!said().contains("step *"), qPrintable(said()));
  }

  // A selected range begins and ends within a step: durations are those of whole steps.
  void theDetailsOfARangeSayWhatIsOnlyPartlyInIt() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    const EventScope listed = ui::listed_scope(*trace);
    for (const TimeRange range : {TimeRange{9'600'000'000, 9'700'000'000}, TimeRange{9'630'000'000, 9'630'001'000}}) {
      std::uint64_t partly = 0;
      for (const LaneId id : listed.lanes())
        for (EventIndex i = 0; i < trace->lane(id).size(); ++i) {
          const Nanoseconds start = trace->lane(id).start(i), end = trace->lane(id).end(i);
          partly += start < range.end && end > range.begin && (start < range.begin || end > range.end) ? 1 : 0;
        }
      QVERIFY(partly >= 2);
      window_->state().setSelectedRange(range);
      const QString wanted = QString("Only partly in the selected range, but counted whole: %1 events").arg(partly);
      QVERIFY2(wait_for([&] { return said().contains(wanted); }, 20'000), qPrintable(wanted + "\n" + said()));
    }
  }

  // A step of a training, and a part of time: the way back through either is drawn, and its parts are told.
  void theWayThroughAStepIsDrawnAndTold() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    EventRef step;
    for (const Track& track : trace->tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; track.key.kind == TrackKind::kNvtxRanges && i < trace->lane(lane).size(); ++i)
          if (trace->name(trace->lane(lane).name(i)) == "step 7") step = {lane, i};
    QVERIFY(step.valid());
    const TimeRange time{trace->event(step).start, trace->event(step).end()};
    auto* waits = window_->findChild<ui::WaitSource*>();
    QWidget* canvas = part(*window_, "Timeline rows");
    for (const bool is_range : {false, true}) {
      window_->timelineView().setVisibleRange(time);
      if (is_range)
        window_->state().setSelectedRange(time);
      else
        window_->state().setSelectedEvent(step);
      QVERIFY(settle(*window_));
      const QImage before = canvas->grab().toImage();
      QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
      QVERIFY(wait_for([&] { return settle(*window_) && waits->stepPath() != nullptr; }));
      const analysis::CriticalPath known = is_range ? analysis::critical_path(*trace, time) : analysis::critical_path(*trace, step);
      QCOMPARE(waits->stepPath()->path.parts.size(), known.parts.size());
      const QString whole = QString("Critical path of %1").arg(QString::fromStdString(timeline::format_duration(known.range.length())));
      QVERIFY2(said().contains(whole) && said().contains("In order of time"), qPrintable(said()));
      QVERIFY2(said().contains("Between recorded calls, running or waiting"), qPrintable(said()));  // neither states nor samples were recorded
      QVERIFY(canvas->grab().toImage() != before);
      // It stays while one of its events is selected, and goes with another.
      window_->state().setSelectedEvent(waits->stepPath()->places().front().event);
      QVERIFY(settle(*window_) && waits->stepPath());
      QTest::keyClick(&window_->timelineView(), Qt::Key_Escape);
      window_->state().setSelectedEvent(kernel_before(*trace, time.begin));
      QVERIFY(settle(*window_));
      QVERIFY(!waits->stepPath());
      window_->state().setSelectedEvent({});
    }
    // Where no GPU worked, it is what the thread did that enqueues its work; where nothing was recorded, it says so.
    const TimeRange early{trace->extent().begin, trace->extent().begin + 1'000};
    window_->state().setSelectedRange(early);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
    QVERIFY(wait_for([&] { return settle(*window_) && waits->stepPath() != nullptr; }));
    QVERIFY2(said().contains("Critical path of"), qPrintable(said()));
    window_->state().setTrace(SmallTrace().builder.snapshot(), ui::TraceChange::kOther);
    window_->state().setSelectedRange(TimeRange{0, 1'000});
    QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
    QVERIFY(settle(*window_));
    QVERIFY2(window_->messages().text().contains("Nothing was recorded in it"), qPrintable(window_->messages().text()));
  }

  // Each part says of which rank it is.
  void thePartsOfAStepNameTheirRanks() {
    window_->state().setTrace(step_of_two_ranks(), ui::TraceChange::kOther);
    window_->state().setSelectedEvent(only_range(*window_->state().trace()));
    QVERIFY(settle(*window_));
    QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
    auto* waits = window_->findChild<ui::WaitSource*>();
    QVERIFY(wait_for([&] { return settle(*window_) && waits->stepPath() != nullptr; }));
    QVERIFY2(said().contains("Between recorded calls, running or waiting, thread 4712, rank 1"), qPrintable(said()));
    QVERIFY2(said().contains("Work of the GPU, GPU 0, rank 0"), qPrintable(said()));
  }

  // The numbers are those that `lanescope stats -r critical_path` gives: the thread of the backward pass, and the GPU of the other rank.
  void thePartsOfAStepNameTheirThreadsAndGpus() {
    const auto way_through = [&](const QString& file, const std::string& name) {
      window_ = window_of(file);
      if (!window_) return QString();
      const std::shared_ptr<const Trace> trace = window_->state().trace();
      const std::vector<EventRef> steps = gather_events(*trace, EventScope::whole_trace(*trace).lanes(), {.text = name, .kind = EventKind::kNvtxRange});
      window_->state().setSelectedEvent(steps.empty() ? EventRef{} : steps.front());
      if (!settle(*window_)) return QString();
      QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
      wait_for([&] { return settle(*window_) && said().contains("Critical path"); });
      return said();
    };
    const QString threads = way_through(recorded("torch_loader_samples.trace"), "step 5");
    QVERIFY2(threads.contains("Running CPU code, thread 5905") && threads.contains("Running CPU code, thread 5086"), qPrintable(threads));
    const QString gpus = way_through(recorded("ranks_compute.trace"), "step 7");
    QVERIFY2(gpus.contains("Work of the GPU, GPU 1"), qPrintable(gpus));
  }

  // While a program is recorded, the way through a step, and the chain behind an event, are followed as the trace grows.
  void theWayThroughAStepGrowsWithIt() {
    window_->state().setTrace(step_of(5), ui::TraceChange::kOther);
    window_->timelineView().zoomToFit();
    window_->state().setSelectedEvent(only_range(*window_->state().trace()));
    QVERIFY(settle(*window_));
    QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
    auto* waits = window_->findChild<ui::WaitSource*>();
    QVERIFY(wait_for([&] { return settle(*window_) && waits->stepPath() != nullptr; }));
    for (const int milliseconds : {6, 9}) {
      QSignalSpy followed(waits, &ui::WaitSource::followed);
      window_->state().setTrace(step_of(milliseconds), ui::TraceChange::kSnapshot);
      const std::shared_ptr<const Trace> trace = window_->state().trace();
      QVERIFY(said().contains("Critical path of"));  // of the earlier state, until it is known of this one
      QVERIFY(settle(*window_));
      QVERIFY(waits->stepPath() && waits->stepPath()->trace == trace);
      const analysis::CriticalPath known = analysis::critical_path(*trace, only_range(*trace));
      QCOMPARE(waits->stepPath()->path.range.length(), milliseconds * Nanoseconds{1'000'000});
      QCOMPARE(waits->stepPath()->path.parts.size(), known.parts.size());
      QVERIFY2(said().contains(QString("Critical path of %1.000 ms").arg(milliseconds)), qPrintable(said()));
      for (const QList<QVariant>& shown : followed) QVERIFY(!shown.front().value<std::vector<timeline::PathPlace>>().empty());  // the arrows never go
      QVERIFY(!followed.isEmpty());
    }
    const EventRef last = last_kernel(*window_->state().trace());
    window_->state().setSelectedEvent({});
    window_->state().setSelectedEvent(last);
    QVERIFY(settle(*window_) && waits->chain());
    QTest::keyClick(&window_->timelineView(), Qt::Key_Escape);
    window_->state().setSelectedEvent(last);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
    QVERIFY(settle(*window_));
    const std::size_t hops = waits->chain()->waits.size();
    QVERIFY(hops > 1);
    QSignalSpy followed(waits, &ui::WaitSource::followed);
    window_->state().setTrace(step_of(12), ui::TraceChange::kSnapshot);
    QVERIFY(settle(*window_));
    QVERIFY(waits->chain()->trace == window_->state().trace());
    QCOMPARE(waits->chain()->waits.size(), hops);
    QVERIFY(!followed.isEmpty() && !followed.back().front().value<std::vector<timeline::PathPlace>>().empty());
  }

  // Between the calls in a range its code goes on, again and again: the arrows come by each part of it, where it is.
  void theWayComesByTheCodeOfARangeAtEachOfItsParts() {
    QVERIFY(open_and_settle(*window_, recorded("torch_training_workers0.trace")));
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    const std::vector<EventRef> steps = gather_events(*trace, EventScope::whole_trace(*trace).lanes(), {.text = "step 12", .kind = EventKind::kNvtxRange});
    QVERIFY(!steps.empty());
    const EventRef step = steps.front();
    std::map<EventRef, std::vector<TimeRange>> parts;
    for (const analysis::PathPart& part : analysis::critical_path(*trace, step).parts)
      if (part.event.valid() && part.event != step && event_kind(*trace, part.event) == EventKind::kNvtxRange) parts[part.event].push_back(part.range);
    QVERIFY(std::any_of(parts.begin(), parts.end(), [](const auto& each) { return each.second.size() > 2; }));
    window_->state().setSelectedEvent(step);
    QVERIFY(settle(*window_));
    QSignalSpy followed(window_->findChild<ui::WaitSource*>(), &ui::WaitSource::followed);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Y);
    QVERIFY(wait_for([&] { return settle(*window_) && !followed.isEmpty(); }));
    std::map<EventRef, std::vector<TimeRange>> drawn;
    const auto places = followed.back().front().value<std::vector<timeline::PathPlace>>();
    for (auto place = places.rbegin(); place != places.rend(); ++place)
      if (event_kind(*trace, place->event) == EventKind::kNvtxRange) drawn[place->event].push_back(place->time);
    QCOMPARE(drawn, parts);
  }

  void whatEndedAGapAndLaunchedThatIsALink() {
    const TimeRange gap = longestGap();
    window_->timelineView().setVisibleRange({gap.begin - gap.length(), gap.end + gap.length()});
    QVERIFY(settle(*window_));
    QWidget* canvas = part(*window_, "Timeline rows");
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    auto* page = window_->details().findChild<QTextBrowser*>();
    Gestures hands(*window_);
    for (const bool is_launch : {false, true}) {
      QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, placeOfGap(gap));
      QVERIFY(settle(*window_));
      QVERIFY2(said().contains("Ended by") && said().contains("Launched by"), qPrintable(said()));
      QVERIFY2(hands.click_link(*page, is_launch ? "cudaLaunchKernel" : "relu"), qPrintable(page->toHtml()));
      const EventRef event = window_->state().selectedEvent();
      QVERIFY(event.valid());
      const EventRef kernel = kernel_number(*window_, 3);
      QCOMPARE(event, is_launch ? *trace->launch_of(kernel) : kernel);
      QCOMPARE(trace->event(kernel).start, gap.end);
    }
  }

  // A thread's share is relative to its own time, those of kernels and memory to each other's work.
  void theTooltipOfARowSaysWhatItsShareIsOf() {
    window_ = window_of(recorded("torch_loader_samples.trace"));
    QVERIFY(window_);
    const timeline::RowTree& rows = window_->timelineView().rows();
    QStringList said;
    QWidget* header = part(*window_, "Row names");
    for (int y = 2; y < header->height(); y += 6) {
      QToolTip::hideText();
      const QPoint place(header->width() / 2, y);
      QHelpEvent help(QEvent::ToolTip, place, header->mapToGlobal(place));
      QApplication::sendEvent(header, &help);
      if (QToolTip::isVisible() && (said.isEmpty() || said.last() != QToolTip::text())) said += QToolTip::text();
    }
    QToolTip::hideText();
    int threads = 0, others = 0;
    for (const timeline::Row& row : rows.rows()) {
      if (!row.share) continue;
      const QString share = QString::fromStdString(timeline::format_share(*row.share)), name = QString::fromStdString(row.label.english());
      for (const QString& tip : said) {
        if (!tip.startsWith(name + "\n")) continue;
        threads += row.kind == timeline::RowKind::kThread && tip.contains("It ran for " + share + " of its own time, in the whole recording") ? 1 : 0;
        others += row.kind == timeline::RowKind::kKernels && tip.contains(share + " of the work of the rows beside it, in the whole recording") ? 1 : 0;
      }
    }
    QVERIFY2(threads > 0 && others == 1, qPrintable(said.join("\n---\n")));
  }

 private:
  static EventRef kernel_before(const Trace& trace, Nanoseconds time) {
    EventRef last;
    for (const Track& track : trace.tracks())
      for (const LaneId lane : track.lanes)
        if (const EventIndex behind = trace.lane(lane).lower_bound(time); track.key.kind == TrackKind::kKernels && behind > 20) last = {lane, behind - 20};
    return last;
  }
  TimeRange longestGap() const { return {kLongestGapEnd - kGaps[2], kLongestGapEnd}; }
  QString said() {
    static_cast<void>(settle(*window_));
    return window_->details().text().replace(QChar::Nbsp, u' ');
  }
  void drag(int from, int to) {
    QWidget* canvas = part(*window_, "Timeline rows");
    const int y = canvas->height() - 5;
    QTest::mousePress(canvas, Qt::LeftButton, Qt::NoModifier, {from, y});
    for (const int x : {(from + to) / 2, to}) {
      QMouseEvent move(QEvent::MouseMove, QPointF(x, y), canvas->mapToGlobal(QPointF(x, y)), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
      QApplication::sendEvent(canvas, &move);
    }
    QTest::mouseRelease(canvas, Qt::LeftButton, Qt::NoModifier, {to, y});
    static_cast<void>(settle(*window_));
  }
  // On the first row whose tooltip is about a gap.
  QPoint placeOfGap(TimeRange gap) {
    QWidget* canvas = part(*window_, "Timeline rows");
    window_->timelineView().setVisibleRange({gap.begin - gap.length(), gap.end + gap.length()});
    static_cast<void>(wait_for([&] { return window_->isSettled(); }));
    const timeline::Viewport viewport{window_->timelineView().visibleRange(), canvas->width()};
    const int x = static_cast<int>(viewport.x_at(gap.begin + gap.length() / 2));
    const auto is_on_gap = [&](int y) {
      QToolTip::hideText();
      QHelpEvent help(QEvent::ToolTip, {x, y}, canvas->mapToGlobal(QPoint(x, y)));
      QApplication::sendEvent(canvas, &help);
      return QToolTip::isVisible() && QToolTip::text().contains("idle for");
    };
    for (int y = 2; y < canvas->height(); y += 4)
      if (is_on_gap(y)) return {x, y};
    return {};
  }

  TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(DetailsTest)
#include "test_gui_details.moc"
