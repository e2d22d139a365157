// A timeline while a recording grows: what later snapshots keep, and what they show.
#include <optional>
#include <random>
#include <set>

#include <QAccessible>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolTip>

#include "../../../timeline/widget/painting/theme.h"
#include "timeline_window.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::kPatienceMs;
using lanescope::test::Window;

TEST_CASE("a later snapshot keeps range, selection and rows") {
  Window window;
  window.view->setVisibleRange({200'000, 600'000});
  window.view->selectEvent({window.lane(TrackKind::kKernels), 0});
  window.view->collapseRow("process:1");
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(5'000'000, 6'000'000, "late")});
  window.view->updateTrace(window.recording.builder.snapshot());
  REQUIRE(window.view->visibleRange() == TimeRange{200'000, 600'000});
  REQUIRE(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kKernels), 0});
  REQUIRE_FALSE(window.view->isExpanded("process:1"));
}

TEST_CASE("a view is not ready while its overview lacks what came since") {
  Window window;
  REQUIRE(QTest::qWaitFor([&] { return !window.view->isMakingReady(); }, kPatienceMs));
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(5'000'000, 6'000'000, "late")});
  window.view->updateTrace(window.recording.builder.snapshot());
  REQUIRE(window.view->isMakingReady());
  REQUIRE(QTest::qWaitFor([&] { return !window.view->isMakingReady(); }, kPatienceMs));
}

TEST_CASE("an update whose lanes are others is drawn as if it were opened, where the user looks") {
  Window window;
  window.view->setVisibleRange({200'000, 600'000});
  const QImage before = window.picture();
  TraceBuilder part;  // only one thread's calls: fewer lanes, and other content under the same ids
  const ProcessId process = part.process_of_instance(1);
  TrackKey calls{TrackKind::kCudaApi, process};
  calls.thread = part.thread(process, 4711);
  const NameId name = part.intern("cudaMemcpy_v3020");
  part.add(calls, {{0, 100'000, name, 0, 0}, {250'000, 100'000, name, 0, 0}, {900'000, 100'000, name, 0, 0}});
  const auto trace = part.snapshot();
  REQUIRE(trace->lanes().size() < window.view->trace()->lanes().size());
  window.view->updateTrace(trace);
  REQUIRE(window.view->visibleRange() == TimeRange{200'000, 600'000});

  TimelineView fresh;
  fresh.resize(window.view->size());
  fresh.setTrace(trace);
  fresh.setVisibleRange({200'000, 600'000});
  fresh.show();
  const auto rows_of = [](const TimelineView& view) {
    const auto children = view.findChildren<QWidget*>();
    const auto is_canvas = [](const QWidget* child) { return child->accessibleName() == "Timeline rows"; };
    return (*std::find_if(children.begin(), children.end(), is_canvas))->grab().toImage();
  };
  REQUIRE(QTest::qWaitFor([&] { return window.picture() == rows_of(fresh); }, kPatienceMs));
  REQUIRE(window.picture() != before);
}

TEST_CASE("a view of everything keeps showing everything while the recording grows") {
  Window window;
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(5'000'000, 6'000'000, "late")});
  window.view->updateTrace(window.recording.builder.snapshot());
  REQUIRE(window.view->visibleRange().begin <= 0);
  REQUIRE(window.view->visibleRange().end >= 6'000'000);
}

TEST_CASE("the overview of a recording that grows is drawn anew soon, and until then stands where it belongs") {
  Window window;
  const auto overview = [](TimelineView& view) {
    for (QWidget* part : view.findChildren<QWidget*>())
      if (part->accessibleName() == "Overview of the whole trace") return part->grab().toImage();
    return QImage();
  };
  const QImage before = overview(*window.view);
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(1'800'000, 2'000'000, "late")});
  window.view->updateTrace(window.recording.builder.snapshot());
  const QImage shrunk = overview(*window.view);
  REQUIRE(shrunk != before);

  TimelineView fresh;
  fresh.resize(window.view->size());
  fresh.setTrace(window.recording.builder.snapshot());
  fresh.show();
  const QImage whole = overview(fresh);
  REQUIRE(shrunk != whole);
  REQUIRE(QTest::qWaitFor([&] { return overview(*window.view) == whole; }, kPatienceMs));
}

TEST_CASE("a snapshot that was made ready on another thread is shown as any other") {
  Window window, other;
  for (Window* each : {&window, &other}) {
    each->view->setFollowLive(FollowLive::kYes);
    each->recording.builder.add(each->recording.on_gpu(TrackKind::kKernels), {each->recording.event(5'000'000, 6'000'000, "late")});
  }
  other.view->updateTrace(other.recording.builder.snapshot());

  const std::shared_ptr<const Trace> snapshot = window.recording.builder.snapshot();
  std::shared_ptr<const Trace> ready;
  QObject::connect(window.view.get(), &TimelineView::traceReady, window.view.get(), [&](const std::shared_ptr<const Trace>& trace) {
    REQUIRE(window.view->trace() != trace);
    window.view->updateTrace(ready = trace);
  });
  window.view->makeReady(snapshot);
  REQUIRE(QTest::qWaitFor([&] { return ready != nullptr; }, kPatienceMs));
  REQUIRE(ready == snapshot);
  REQUIRE(window.view->trace() == snapshot);
  REQUIRE(window.view->visibleRange() == other.view->visibleRange());
  REQUIRE(window.canvas->grab().toImage() == other.canvas->grab().toImage());
}

TEST_CASE("nothing is heard of a snapshot once another trace is shown") {
  Window window;
  QSignalSpy ready(window.view.get(), &TimelineView::traceReady);
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(5'000'000, 6'000'000, "late")});
  window.view->makeReady(window.recording.builder.snapshot());
  lanescope::test::SmallTrace another;
  const std::shared_ptr<const Trace> shown = another.builder.snapshot();
  window.view->setTrace(shown);
  const std::shared_ptr<const Trace> later = another.builder.snapshot();
  window.view->makeReady(later);  // comes after the first on the same thread
  REQUIRE(ready.wait(kPatienceMs));
  REQUIRE(ready.count() == 1);
  REQUIRE(ready.front().front().value<std::shared_ptr<const Trace>>() == later);
  REQUIRE(window.view->trace() == shown);
}

TEST_CASE("following keeps the newest event in sight until the user moves the view") {
  Window window;
  window.view->setVisibleRange({800'000, 900'000});
  window.view->setFollowLive(FollowLive::kYes);
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(5'000'000, 6'000'000, "late")});
  window.view->updateTrace(window.recording.builder.snapshot());
  REQUIRE(window.view->visibleRange().end >= 6'000'000);
  REQUIRE(window.view->visibleRange().length() == 100'000);
  window.wheel(window.canvas, {100, 100}, 120);
  REQUIRE(window.view->followLive() == FollowLive::kNo);
}

TEST_CASE("a range that is open is drawn up to the clock, and says since when") {
  Window window;
  TrackKey ranges = window.recording.on_thread(TrackKind::kNvtxRanges);
  const NameId name = window.recording.builder.intern("load model");
  window.recording.builder.set_open({{ranges, 0, {1'100'000, 100'000, name, 0, 0}}});
  window.view->updateTrace(window.recording.builder.snapshot());
  const std::vector<EventRef> open = window.recording.builder.open_events();
  REQUIRE(open.size() == 1);
  constexpr Nanoseconds kNow = 3'000'000;
  window.view->setClock(kNow);
  REQUIRE(QTest::qWaitFor([&] { return !window.view->isMakingReady(); }, kPatienceMs));
  window.view->setVisibleRange({0, 4'000'000});

  const int y = static_cast<int>(window.position_of(open.front()).y());
  const auto at = [&](Nanoseconds time) { return QPoint(static_cast<int>(window.viewport().x_at(time)), y); };
  const auto hover = [&](QPoint place) {
    QHelpEvent help(QEvent::ToolTip, place, window.canvas->mapToGlobal(place));
    QApplication::sendEvent(window.canvas, &help);
    return QToolTip::text();
  };
  const auto is_hovered = [&](Nanoseconds time) {
    window.move(at(time));
    return window.view->hoveredEvent() == open.front();
  };
  const Nanoseconds later = kNow + (window.view->visibleRange().end - kNow) / 2;
  REQUIRE(later > kNow);
  const auto color = [&](Nanoseconds time) { return Window::color_at(window.picture(), at(time)); };
  const QColor ended = color(2'600'000);
  CHECK(color(later) == ended);  // nothing is there
  CHECK_FALSE(is_hovered(2'600'000));

  window.view->setOpenEvents(open);
  const QColor inside = color(2'600'000);
  CHECK(inside != ended);
  CHECK(color(2'300'000) == inside);
  CHECK(color(later) == ended);
  CHECK(is_hovered(2'600'000));
  CHECK_FALSE(is_hovered(later));
  const QString said = hover(at(2'600'000));
  CAPTURE(said.toStdString());
  CHECK(said.contains("load model"));
  CHECK(said.contains("since 0.001100000 s: for 1.900 ms by now"));
  CHECK_FALSE(said.contains("Duration"));
  window.move(at(2'600'000));
  const QImage unselected = window.picture();
  window.click(at(2'600'000));
  CHECK(window.view->selectedEvent() == open.front());
  const QImage selected = window.picture();
  int frame_end = 0;
  for (int x = 0; x < selected.width(); ++x)
    for (int row = 0; row < selected.height(); ++row)
      if (selected.pixel(x, row) != unselected.pixel(x, row)) frame_end = x;
  CHECK(std::abs(frame_end / selected.devicePixelRatio() - window.viewport().x_at(kNow)) <= 3);

  // Once it has ended, it lasts as long as it did, and no clock runs.
  window.recording.builder.set_open({});
  window.recording.builder.add(ranges, {{1'100'000, 900'000, name, 0, 0}}, std::vector<std::uint32_t>{0});
  window.view->updateTrace(window.recording.builder.snapshot());
  window.view->setOpenEvents({});
  CHECK_FALSE(is_hovered(2'600'000));
  CHECK(is_hovered(1'500'000));
  CHECK(window.view->selectedEvent() == open.front());
  CHECK(hover(at(1'500'000)).contains("900.000 µs"));
}

// Of so many events that their union is not made while a frame is painted.
TEST_CASE("rows of very many events are painted in outline at once when they are opened, and exactly soon after") {
  lanescope::test::start_application();
  lanescope::test::SmallTrace small;
  std::mt19937 random(11);
  for (const std::uint32_t stream : {1u, 2u})
    small.builder.add(small.on_gpu(TrackKind::kKernels, stream), lanescope::test::random_events(small, random, 600'000, 6'000'000'000));
  TimelineView view;
  view.resize(1'000, 600);
  view.setTrace(small.builder.snapshot());
  view.collapseAll();
  view.show();
  const auto settle = [&] {
    (void)view.grab();
    REQUIRE(QTest::qWaitFor([&] { return !view.isMakingReady(); }, kPatienceMs));
  };
  settle();
  REQUIRE_FALSE(view.showsOutline());
  view.setSelectedRange(TimeRange{1'000'000, 4'000'000'000});  // then every row shows the content of the range
  view.expandAll();
  const QImage at_once = view.grab().toImage();
  REQUIRE(view.showsOutline());
  REQUIRE(view.isMakingReady());
  settle();
  REQUIRE_FALSE(view.showsOutline());
  const QImage exact = view.grab().toImage();
  CHECK(exact != at_once);

  // A view that had enough time makes the same picture.
  view.collapseAll();
  settle();
  view.expandAll();
  CHECK(view.grab().toImage() == exact);
  CHECK_FALSE(view.showsOutline());
}
