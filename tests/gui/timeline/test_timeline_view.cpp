// Real mouse, wheel and key events on the widget, offscreen, and their effects.
#include <optional>
#include <set>

#include <QAccessible>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTextDocument>
#include <QToolTip>

#include "../../../timeline/widget/painting/theme.h"
#include "timeline/widget/selection.h"
#include "timeline_window.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::Window;

TEST_CASE("a new trace is shown whole, with nothing selected") {
  const Window window;
  REQUIRE(window.view->visibleRange().begin <= 0);
  REQUIRE(window.view->visibleRange().end >= 1'000'000);
  REQUIRE_FALSE(window.view->selectedEvent().valid());
  REQUIRE_FALSE(window.view->canGoBack());
}

TEST_CASE("the wheel zooms at the cursor, with and without Ctrl") {
  const Window window;
  const auto modifier = GENERATE(Qt::NoModifier, Qt::ControlModifier);
  const QPointF cursor(200, 100);
  const Nanoseconds time = window.viewport().time_at(200);
  const Nanoseconds length = window.view->visibleRange().length();
  window.wheel(window.canvas, cursor, 240, modifier);
  REQUIRE(window.view->visibleRange().length() < length);
  REQUIRE(window.viewport().x_at(time) == Approx(200).margin(1));
  window.wheel(window.canvas, cursor, -240, modifier);
  REQUIRE(window.view->visibleRange().length() == Approx(length).margin(4));
}

TEST_CASE("the wheel scrolls where that is wished, and zooms with Ctrl") {
  const Window window;
  window.view->setWheelUse(WheelUse::kScroll);
  window.view->expandAll();
  window.view->resize(window.view->width(), 120);  // so that there is something to scroll
  const TimeRange before = window.view->visibleRange();
  const auto* const bar = window.view->findChild<QScrollBar*>();
  REQUIRE(bar->maximum() > 0);
  window.wheel(window.canvas, {200, 60}, -240);
  CHECK(bar->value() > 0);
  CHECK(window.view->visibleRange() == before);
  window.wheel(window.canvas, {200, 60}, 240, Qt::ControlModifier);
  CHECK(window.view->visibleRange().length() < before.length());
}

TEST_CASE("keys of a keyboard of another script do what the Latin ones in their places do") {
  const Window window;
  const Nanoseconds length = window.view->visibleRange().length();
  const auto press = [&](int key, quint32 scan_code, const QString& text) {
    QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier, scan_code, 0, 0, text);
    QApplication::sendEvent(window.view.get(), &event);
  };
  press(0x0426, 25, QStringLiteral("ц"));  // at the place of W: zooms in
  const Nanoseconds nearer = window.view->visibleRange().length();
  CHECK(nearer < length);
  press(0x042b, 39, QStringLiteral("ы"));  // S: zooms out
  CHECK(window.view->visibleRange().length() > nearer);
  press(0x0416, 200, QStringLiteral("ж"));    // a place without a letter: nothing happens
  press(Qt::Key_W, 53, QStringLiteral("w"));  // a Latin key means its letter wherever it is
  CHECK(window.view->visibleRange().length() < length);
}

TEST_CASE("Shift+wheel and the middle button pan without zooming") {
  const Window window;
  window.view->setVisibleRange({400'000, 600'000});
  window.wheel(window.canvas, {200, 100}, -120, Qt::ShiftModifier);
  REQUIRE(window.view->visibleRange().begin > 400'000);
  REQUIRE(window.view->visibleRange().length() == 200'000);

  window.view->setVisibleRange({400'000, 600'000});
  const Nanoseconds grabbed = window.viewport().time_at(300);
  window.drag({300, 100}, {200, 100}, Qt::MiddleButton);
  REQUIRE(window.viewport().x_at(grabbed) == Approx(200).margin(1));
  REQUIRE(window.view->visibleRange().length() == 200'000);
}

TEST_CASE("dragging selects a range that snaps to the edges of events; Shift+Z zooms into it") {
  const Window window;
  const QPointF kernel = window.position_of({window.lane(TrackKind::kKernels), 0});
  QSignalSpy changes(window.view.get(), &TimelineView::selectedRangeChanged);
  const double from = window.viewport().x_at(300'000) + 3;
  const double to = window.viewport().x_at(700'000) - 3;
  window.drag({from, kernel.y()}, {to, kernel.y()}, Qt::LeftButton);
  REQUIRE(window.view->selectedRange() == TimeRange{300'000, 700'000});  // the gap between two kernels, exactly
  REQUIRE(changes.count() > 0);
  REQUIRE_FALSE(window.view->selectedEvent().valid());
  window.key(Qt::Key_Z, Qt::ShiftModifier);
  REQUIRE(window.view->visibleRange() == TimeRange{300'000, 700'000});
}

TEST_CASE("keys are about what was selected last: an event, a part of time, or a gap") {
  const Window window;
  const EventRef kernel{window.lane(TrackKind::kKernels), 1};
  const QPointF place = window.position_of(kernel);  // 700 to 900 µs
  const auto zoomed_to = [&] {
    window.key(Qt::Key_Z, Qt::ShiftModifier);
    const TimeRange range = window.view->visibleRange();
    window.key(Qt::Key_Backspace);
    return range;
  };
  const auto marked_at = [&] {
    window.key(Qt::Key_M);
    std::vector<Nanoseconds> times;
    for (const TimelineView::Marker& marker : window.view->markers()) times.push_back(marker.time);
    window.view->clearMarkers();
    return times;
  };
  window.view->setSelectedRange(TimeRange{100'000, 200'000});
  window.click(place);
  REQUIRE(window.view->selectedRange() == TimeRange{100'000, 200'000});
  CHECK(zoomed_to().contains(800'000));
  CHECK(marked_at() == std::vector<Nanoseconds>{700'000});
  window.view->setSelectedRange(TimeRange{110'000, 200'000});
  CHECK(zoomed_to() == TimeRange{110'000, 200'000});
  CHECK(marked_at() == std::vector<Nanoseconds>{110'000, 200'000});
  window.click(place);  // it is selected already, and chosen again
  CHECK(marked_at() == std::vector<Nanoseconds>{700'000});
  window.view->selection().selectGap({{300'000, 700'000}, 0});
  CHECK(zoomed_to() == TimeRange{300'000, 700'000});
  window.click(place);
  window.view->selectEvent({});
  CHECK(zoomed_to() == TimeRange{110'000, 200'000});
}

TEST_CASE("the time at the cursor stands beside how long the selected range is") {
  const Window window;
  QWidget* ruler = nullptr;
  for (QWidget* child : window.view->findChildren<QWidget*>())
    if (child->accessibleName() == "Time axis") ruler = child;
  REQUIRE(ruler != nullptr);
  window.view->setSelectedRange(TimeRange{300'000, 700'000});
  const QImage without = ruler->grab().toImage();
  const double ratio = without.devicePixelRatio();
  const int middle = static_cast<int>(window.viewport().x_at(500'000));
  const QRgb badge = without.pixel((QPointF(middle, 4) * ratio).toPoint());
  int begin = middle, end = middle;
  while (begin > 0 && without.pixel((QPointF(begin - 1, 4) * ratio).toPoint()) == badge) --begin;
  while (end + 1 < ruler->width() && without.pixel((QPointF(end + 1, 4) * ratio).toPoint()) == badge) ++end;
  REQUIRE(end - begin > 20);
  REQUIRE(end - begin < 200);
  for (const int x : {begin - 10, begin + 5, middle, end - 5, end + 10}) {
    window.move({static_cast<double>(x), 100});
    const QImage hovered = ruler->grab().toImage();
    int changed = 0, beside = 0;
    for (int pixel = 0; pixel < ruler->width(); ++pixel) {
      bool differs = false;
      for (int y = 3; y < ruler->height() - 5; ++y) {
        const QPoint at = (QPointF(pixel, y) * ratio).toPoint();
        differs = differs || hovered.pixel(at) != without.pixel(at);
      }
      const bool is_within = begin <= pixel && pixel <= end;
      if (differs) ++(is_within ? changed : beside);
    }
    INFO("cursor at " << x << ", badge from " << begin << " to " << end);
    CHECK(changed <= 1);  // the line of the cursor
    CHECK(beside > 10);   // its time
  }
}

TEST_CASE("Backspace and Alt+arrows walk the view history") {
  const Window window;
  const TimeRange whole = window.view->visibleRange();
  window.view->setSelectedRange(TimeRange{300'000, 700'000});
  window.key(Qt::Key_Z, Qt::ShiftModifier);
  window.key(Qt::Key_Backspace);
  REQUIRE(window.view->visibleRange() == whole);
  REQUIRE(window.view->canGoForward());
  window.key(Qt::Key_Right, Qt::AltModifier);
  REQUIRE(window.view->visibleRange() == TimeRange{300'000, 700'000});
  window.key(Qt::Key_Left, Qt::AltModifier);
  REQUIRE(window.view->visibleRange() == whole);
}

TEST_CASE("Home shows everything; W, S, A and D zoom and pan") {
  const Window window;
  const TimeRange whole = window.view->visibleRange();
  window.key(Qt::Key_W);
  REQUIRE(window.view->visibleRange().length() < whole.length());
  const TimeRange zoomed_in = window.view->visibleRange();
  window.key(Qt::Key_D);
  REQUIRE(window.view->visibleRange().begin > zoomed_in.begin);
  REQUIRE(window.view->visibleRange().length() == zoomed_in.length());
  window.key(Qt::Key_A);
  REQUIRE(window.view->visibleRange() == zoomed_in);
  window.key(Qt::Key_S);
  window.key(Qt::Key_Home);
  REQUIRE(window.view->visibleRange() == whole);
}

TEST_CASE("a click selects an event with its launch or its work, once") {
  const Window window;
  const EventRef kernel{window.lane(TrackKind::kKernels), 1};
  const EventRef launch{window.lane(TrackKind::kCudaApi), 1};
  const QPointF place = window.position_of(kernel);
  QSignalSpy selected(window.view.get(), &TimelineView::selectedEventChanged);
  window.click(place);
  window.click(place);
  REQUIRE(selected.count() == 1);
  REQUIRE(window.view->selectedEvent() == kernel);
  REQUIRE(window.view->correlatedEvents() == std::vector{launch});
  window.click(window.position_of(launch));
  REQUIRE(window.view->correlatedEvents() == std::vector{kernel});
}

TEST_CASE("a click where nothing is, and Esc, clear the selection") {
  const Window window;
  window.click(window.position_of({window.lane(TrackKind::kKernels), 0}));
  window.click(window.empty_place());
  REQUIRE_FALSE(window.view->selectedEvent().valid());
  window.view->setSelectedRange(TimeRange{1'000, 2'000});
  window.key(Qt::Key_Escape);
  REQUIRE_FALSE(window.view->selectedRange());
}

TEST_CASE("a double click and F zoom to the event") {
  const Window window;
  const EventRef kernel{window.lane(TrackKind::kKernels), 2};
  const QPointF place = window.position_of(kernel);
  QSignalSpy activated(window.view.get(), &TimelineView::eventActivated);
  const auto gesture = GENERATE(0, 1);
  if (gesture == 0) {
    window.mouse(window.canvas, QEvent::MouseButtonDblClick, place, Qt::LeftButton);
    REQUIRE(activated.count() == 1);
  } else {
    window.click(place);
    window.key(Qt::Key_F);
  }
  const TimeRange range = window.view->visibleRange();
  REQUIRE(range.begin < 920'000);
  REQUIRE(range.end >= 1'000'000);
  REQUIRE(range.length() < 3 * 80'000);
}

TEST_CASE("arrow keys hop along the row and the nesting") {
  const Window window;
  const LaneId kernels = window.lane(TrackKind::kKernels);
  window.view->selectEvent({kernels, 0});
  window.key(Qt::Key_Right);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 1});
  window.key(Qt::Key_Left, Qt::ShiftModifier);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 0});
  const LaneId calls = window.lane(TrackKind::kCudaApi);
  window.view->selectEvent({calls, 1});
  window.key(Qt::Key_Right, Qt::ShiftModifier);
  REQUIRE(window.view->selectedEvent() == EventRef{calls, 2});
  window.key(Qt::Key_Right, Qt::ShiftModifier);  // the next call has another name
  REQUIRE(window.view->selectedEvent() == EventRef{calls, 2});
  window.view->selectEvent({kernels, 0});
  window.key(Qt::Key_Left);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 0});  // there is none before
  const LaneId ranges = window.lane(TrackKind::kNvtxRanges);
  window.view->selectEvent({ranges, 0});
  window.key(Qt::Key_Down);
  REQUIRE(window.view->trace()->name(window.view->trace()->event(window.view->selectedEvent()).name) == "forward");
  window.key(Qt::Key_Up);
  REQUIRE(window.view->selectedEvent() == EventRef{ranges, 0});
}

TEST_CASE("selecting an event out of sight brings it into sight") {
  const Window window;
  window.view->setVisibleRange({0, 50'000});
  window.view->selectEvent({window.lane(TrackKind::kKernels), 2});
  REQUIRE(window.view->visibleRange().begin < 960'000);
  REQUIRE(window.view->visibleRange().end > 960'000);
  REQUIRE(window.view->visibleRange().length() == 50'000);
}

TEST_CASE("M marks the ends of the selected range") {
  const Window window;
  window.view->setSelectedRange(TimeRange{300'000, 700'000});
  window.key(Qt::Key_M);
  REQUIRE(window.view->markers().size() == 2);
  REQUIRE(window.view->markers()[1].time == 700'000);
}

TEST_CASE("M marks the beginning of the selected event; a name given later takes the place of what is there") {
  const Window window;
  window.view->selectEvent({window.lane(TrackKind::kKernels), 2});
  window.key(Qt::Key_M);
  window.key(Qt::Key_M);
  REQUIRE(window.view->markers().size() == 1);
  REQUIRE(window.view->markers()[0].time == 920'000);
  REQUIRE(window.view->markers()[0].text == "relu");
  window.key(Qt::Key_M, Qt::ControlModifier);
  auto* prompt = window.view->findChild<QLineEdit*>();
  QTest::keyClicks(prompt, "last");
  QTest::keyClick(prompt, Qt::Key_Return);
  REQUIRE(window.view->markers().size() == 1);
  REQUIRE(window.view->markers()[0].text == "last");
}

TEST_CASE("Ctrl+M asks for a name and marks with it; Esc marks nothing") {
  const Window window;
  window.view->selectEvent({window.lane(TrackKind::kKernels), 1});
  window.key(Qt::Key_M, Qt::ControlModifier);
  auto* prompt = window.view->findChild<QLineEdit*>();
  REQUIRE(prompt->isVisible());
  QTest::keyClicks(prompt, "second wave");
  QTest::keyClick(prompt, Qt::Key_Return);
  REQUIRE_FALSE(prompt->isVisible());
  REQUIRE(window.view->markers().size() == 1);
  REQUIRE(window.view->markers()[0].text == "second wave");
  REQUIRE(window.view->markers()[0].time == 700'000);
  window.key(Qt::Key_M, Qt::ControlModifier);
  QTest::keyClick(prompt, Qt::Key_Escape);
  REQUIRE_FALSE(prompt->isVisible());
  REQUIRE(window.view->markers().size() == 1);
}

TEST_CASE("Ctrl+G goes to a time or a range, and waits for one that can be read") {
  const Window window;
  window.view->setVisibleRange({0, 100'000});
  auto* prompt = window.view->findChild<QLineEdit*>();
  const auto go_to = [&](const QString& text) {
    window.key(Qt::Key_G, Qt::ControlModifier);
    QTest::keyClicks(prompt, text);
    QTest::keyClick(prompt, Qt::Key_Return);
  };
  go_to("0.5 ms");
  REQUIRE(window.view->visibleRange() == TimeRange{450'000, 550'000});
  go_to("100us:0.3ms");
  REQUIRE(window.view->visibleRange() == TimeRange{100'000, 300'000});
  window.view->setVisibleRange({0, 100'000});
  go_to("0.3ms:100us");  // from its end to its begin
  REQUIRE(window.view->visibleRange() == TimeRange{100'000, 300'000});
  go_to("noon");
  REQUIRE(prompt->isVisible());
  CHECK(QToolTip::text().contains("A time is a number and its unit"));
  REQUIRE(window.view->visibleRange() == TimeRange{100'000, 300'000});
}

TEST_CASE("a pinned row is shown above all others, also when they are scrolled") {
  const Window window;
  const QString api = "process:1/thread:4711/api";
  const EventRef launch{window.lane(TrackKind::kCudaApi), 0};
  const double before = window.position_of(launch).y();
  QSignalSpy arranged(window.view.get(), &TimelineView::rowArrangementChanged);
  window.view->pin(api);
  REQUIRE(arranged.count() == 1);
  REQUIRE(window.position_of(launch).y() < std::min(before, 12.0));
  window.view->resize(1'000, 200);
  window.key(Qt::Key_PageDown);
  REQUIRE(window.view->findChild<QScrollBar*>()->value() > 0);
  REQUIRE(window.position_of(launch).y() < 12);
  window.view->selectEvent(launch);
  window.move({-1, -1});
  window.key(Qt::Key_P);
  REQUIRE_FALSE(window.view->isPinned(api));
}

TEST_CASE("hidden rows can be shown again; a row is dragged in front of its neighbour") {
  const Window window;
  window.view->hideRow("gpu:0");
  REQUIRE(window.view->hasHiddenRows());
  const EventRef launch{window.lane(TrackKind::kCudaApi), 0};
  const EventRef range{window.lane(TrackKind::kNvtxRanges), 0};
  const double api = window.position_of(launch).y();
  const double nvtx = window.position_of(range).y();
  REQUIRE(nvtx < api);
  window.mouse(window.header, QEvent::MouseButtonPress, {150, api}, Qt::LeftButton);
  window.mouse(window.header, QEvent::MouseMove, {150, nvtx}, Qt::LeftButton);
  window.mouse(window.header, QEvent::MouseButtonRelease, {150, nvtx}, Qt::LeftButton);
  REQUIRE(window.position_of(launch).y() < window.position_of(range).y());
  window.view->showHiddenRows();
  REQUIRE(window.position_of(launch).y() > api);
}

TEST_CASE("a search highlights what it finds, everywhere, and N walks through it") {
  const Window window;
  const QPointF relu = window.position_of({window.lane(TrackKind::kKernels), 2});
  const QPointF gemm = window.position_of({window.lane(TrackKind::kKernels), 0});
  window.move({-1, -1});
  const auto color_at = [&](QPointF place) { return Window::color_at(window.picture(), place + QPointF(0, 4)); };
  const QColor relu_before = color_at(relu), gemm_before = color_at(gemm);
  window.view->setHighlightedText("GEMM");
  REQUIRE(window.view->highlightedCount() == 2);
  REQUIRE(color_at(gemm) == gemm_before);
  REQUIRE(color_at(relu).lightness() > relu_before.lightness());  // paler on a light background
  const LaneId kernels = window.lane(TrackKind::kKernels);
  window.key(Qt::Key_N);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 0});
  window.key(Qt::Key_N);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 1});
  window.key(Qt::Key_N);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 0});  // from the last to the first
  window.key(Qt::Key_N, Qt::ShiftModifier);
  REQUIRE(window.view->selectedEvent() == EventRef{kernels, 1});
  window.view->setHighlightedText("");
  window.view->selectEvent({});
  REQUIRE(color_at(relu) == relu_before);
}

TEST_CASE("what a search finds stands out on every row that shows it") {
  const Window window;
  const EventRef relu{window.lane(TrackKind::kKernels), 2};
  const double x = std::floor(window.viewport().x_at(960'000));
  std::vector<double> rows;  // at which they show the event
  bool before_was_it = false;
  for (double y = 0; y < window.canvas->height(); y += 1) {
    window.move({x, y});
    const bool is_it = window.view->hoveredEvent() == relu;
    if (is_it && !before_was_it) rows.push_back(y);
    before_was_it = is_it;
  }
  REQUIRE(rows.size() == 3);  // CUDA HW, Kernels, Stream 7
  window.move({-1, -1});
  const auto colors = [&] {
    const QImage picture = window.picture();
    std::vector<QColor> found;
    for (const double y : rows) found.push_back(Window::color_at(picture, {x, y + 4}));
    return found;
  };
  const std::vector<QColor> before = colors();
  window.view->setHighlightedText("relu");
  REQUIRE(colors() == before);
  window.view->setHighlightedText("gemm");
  for (std::size_t row = 0; row < rows.size(); ++row) REQUIRE(colors()[row].lightness() > before[row].lightness());
}

TEST_CASE("the wheel over the row names scrolls the rows") {
  const Window window;
  window.view->resize(1'000, 200);
  const TimeRange range = window.view->visibleRange();
  const QImage before = window.header->grab().toImage();
  window.wheel(window.header, {50, 50}, -240);
  REQUIRE(window.header->grab().toImage() != before);
  REQUIRE(window.view->visibleRange() == range);
}

TEST_CASE("a click on a triangle closes a row and opens it again") {
  const Window window;
  REQUIRE(window.view->isExpanded("gpu:0"));
  window.mouse(window.header, QEvent::MouseButtonPress, {8, 10}, Qt::LeftButton);
  REQUIRE_FALSE(window.view->isExpanded("gpu:0"));
  window.mouse(window.header, QEvent::MouseButtonPress, {8, 10}, Qt::LeftButton);
  REQUIRE(window.view->isExpanded("gpu:0"));
}

TEST_CASE("a right click asks for the menu of the event or of the row") {
  const Window window;
  QSignalSpy events(window.view.get(), &TimelineView::eventContextMenuRequested);
  QSignalSpy rows(window.view.get(), &TimelineView::rowContextMenuRequested);
  const QPoint kernel = window.position_of({window.lane(TrackKind::kKernels), 0}).toPoint();
  QContextMenuEvent on_event(QContextMenuEvent::Mouse, kernel, window.canvas->mapToGlobal(kernel));
  QApplication::sendEvent(window.canvas, &on_event);
  REQUIRE(events.count() == 1);
  REQUIRE(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kKernels), 0});
  QContextMenuEvent on_row(QContextMenuEvent::Mouse, QPoint(60, 10), window.header->mapToGlobal(QPoint(60, 10)));
  QApplication::sendEvent(window.header, &on_row);
  REQUIRE(rows.count() == 1);
  REQUIRE(rows.front().front().toString() == "gpu:0");
  REQUIRE(window.view->rowTitle("gpu:0") == "GPU 0  NVIDIA H200");
  REQUIRE(window.view->rowEvents("gpu:0").size() == 1);
}

TEST_CASE("the tooltip tells what an event knows") {
  const Window window;
  const QPoint kernel = window.position_of({window.lane(TrackKind::kKernels), 1}).toPoint();
  QHelpEvent help(QEvent::ToolTip, kernel, window.canvas->mapToGlobal(kernel));
  QApplication::sendEvent(window.canvas, &help);
  REQUIRE(QToolTip::text().contains("gemm"));
  REQUIRE(QToolTip::text().contains("200.000 µs"));
  REQUIRE(QToolTip::text().contains("640.000 µs"));  // from the launching call's start to the kernel's
}

TEST_CASE("a long name without separators does not make the tooltip wider than a line of text") {
  Window window;
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), {window.recording.event(2'000'000, 3'000'000, std::string(1'000, 'k'))});
  window.view->setTrace(window.recording.builder.snapshot());
  const QPoint kernel = window.position_of({window.lane(TrackKind::kKernels), 3}).toPoint();
  QHelpEvent help(QEvent::ToolTip, kernel, window.canvas->mapToGlobal(kernel));
  QApplication::sendEvent(window.canvas, &help);
  QTextDocument document;
  document.setDefaultFont(QToolTip::font());
  document.setHtml(QToolTip::text());
  document.adjustSize();
  REQUIRE(document.toPlainText().contains("kkk"));
  CHECK(document.size().width() < 100 * QFontMetrics(QToolTip::font()).averageCharWidth());
}

TEST_CASE("a click into a row that is cut at the bottom moves no row away from under the mouse") {
  Window window;
  const EventRef kernel{window.lane(TrackKind::kKernels), 1};
  // As a window does with events that lists select.
  QObject::connect(window.view.get(), &TimelineView::selectedEventChanged, window.view.get(), &TimelineView::revealEvent);
  const int below = window.canvas->height() - static_cast<int>(window.position_of(kernel).y());
  window.view->resize(window.view->width(), window.view->height() - below + 2);
  const QPointF place = window.position_of(kernel);
  REQUIRE(place.y() < window.canvas->height());
  window.click(place);
  CHECK(window.view->selectedEvent() == kernel);
  CHECK(window.position_of(kernel) == place);
  window.view->selectEvent({});
  window.view->selectEvent(kernel);  // by another way than the mouse
  CHECK(window.position_of(kernel).y() < place.y());
}

TEST_CASE("the tooltip of a pixel with several events tells how many, how busy, which mostly, and the longest") {
  Window window;
  std::vector<Event> many;  // 1 µs in every 2, from 2 ms on: several in a pixel of 1.2 µs or more
  for (Nanoseconds start = 2'000'000; start < 6'000'000; start += 2'000)
    many.push_back(window.recording.event(start, start + 1'000, start % 8'000 == 0 ? "relu" : "gemm"));
  window.recording.builder.add(window.recording.on_gpu(TrackKind::kKernels), many);
  window.view->setTrace(window.recording.builder.snapshot());
  const double y = window.position_of({window.lane(TrackKind::kKernels), 0}).y();
  const QPoint place = QPointF(window.viewport().x_at(4'000'000), y).toPoint();
  QHelpEvent help(QEvent::ToolTip, place, window.canvas->mapToGlobal(place));
  QApplication::sendEvent(window.canvas, &help);
  const QString text = QToolTip::text();
  for (const char* said : {"events in this pixel", "Busy", "Mostly", "gemm", "Longest", "1.000 µs"}) {
    INFO(text.toStdString());
    REQUIRE(text.contains(QString::fromUtf8(said)));
  }
  REQUIRE(QRegularExpression("[345]\\d\\.\\d %").match(text).hasMatch());  // half of the time, except for the part of an event in a pixel

  // Either click chooses one of them.
  window.mouse(window.canvas, QEvent::MouseButtonPress, place, Qt::LeftButton);
  window.mouse(window.canvas, QEvent::MouseButtonRelease, place, Qt::LeftButton);
  const EventRef chosen = window.view->selectedEvent();
  REQUIRE(chosen.valid());
  window.view->selectEvent({});
  QSignalSpy events(window.view.get(), &TimelineView::eventContextMenuRequested);
  QContextMenuEvent menu(QContextMenuEvent::Mouse, place, window.canvas->mapToGlobal(place));
  QApplication::sendEvent(window.canvas, &menu);
  REQUIRE(events.count() == 1);
  REQUIRE(events.front().front().value<EventRef>() == chosen);
  REQUIRE(window.view->selectedEvent() == chosen);
}

TEST_CASE("the overview is gone through with the mouse: a click, a drag, the wheel") {
  const Window window;
  QWidget* overview = nullptr;
  for (QWidget* part : window.view->findChildren<QWidget*>())
    if (part->accessibleName() == "Overview of the whole trace") overview = part;
  REQUIRE(overview != nullptr);
  const TimeRange whole = window.view->visibleRange();
  const Viewport all{whole, overview->width()};
  const auto middle = [&] { return window.view->visibleRange().begin + window.view->visibleRange().length() / 2; };
  window.view->setVisibleRange({0, 100'000});
  window.mouse(overview, QEvent::MouseButtonPress, {all.x_at(700'000), 20}, Qt::LeftButton);
  REQUIRE(middle() == Approx(700'000).margin(3'000));
  REQUIRE(window.view->visibleRange().length() == 100'000);
  window.mouse(overview, QEvent::MouseMove, {all.x_at(400'000), 20}, Qt::LeftButton);
  window.mouse(overview, QEvent::MouseButtonRelease, {all.x_at(400'000), 20}, Qt::LeftButton);
  REQUIRE(middle() == Approx(400'000).margin(3'000));
  window.wheel(overview, {10, 20}, 120);
  REQUIRE(window.view->visibleRange().length() < 100'000);
  REQUIRE(middle() == Approx(400'000).margin(3'000));
}

TEST_CASE("the time axis zooms and pans, and a drag over it selects a range") {
  const Window window;
  QWidget* axis = nullptr;
  for (QWidget* part : window.view->findChildren<QWidget*>())
    if (part->accessibleName() == "Time axis") axis = part;
  REQUIRE(axis != nullptr);
  window.view->setVisibleRange({400'000, 600'000});
  const Nanoseconds fixed = window.viewport().time_at(200);
  window.wheel(axis, {200, 8}, 120);
  REQUIRE(window.view->visibleRange().length() < 200'000);
  REQUIRE(window.viewport().x_at(fixed) == Approx(200).margin(1));
  const Nanoseconds from = window.viewport().time_at(300), to = window.viewport().time_at(100);
  window.mouse(axis, QEvent::MouseButtonPress, {300, 8}, Qt::LeftButton);
  window.mouse(axis, QEvent::MouseMove, {100, 8}, Qt::LeftButton);
  window.mouse(axis, QEvent::MouseButtonRelease, {100, 8}, Qt::LeftButton);
  REQUIRE(window.view->selectedRange() == TimeRange{to, from});  // whichever end came first
}

TEST_CASE("texts of markers give each other room, and labels of the axis give them room") {
  const Window window;
  QWidget* axis = nullptr;
  for (QWidget* part : window.view->findChildren<QWidget*>())
    if (part->accessibleName() == "Time axis") axis = part;
  REQUIRE(axis != nullptr);
  window.move({-1, -1});
  const auto written_between = [&](double left, double right) {  // pixels of the markers' colour, without their lines
    const QImage picture = axis->grab().toImage();
    const Theme theme = Theme::from(window.view->palette(), window.view->font());
    const QColor behind = picture.pixelColor(picture.width() - 1, picture.height() - 2);
    const double ratio = picture.devicePixelRatio();
    int count = 0;
    for (int x = static_cast<int>((left + 2) * ratio); x < static_cast<int>((right - 1) * ratio); ++x)
      for (int y = 0; y < picture.height(); ++y) count += test::is_written_in(theme.marker, behind, picture.pixelColor(x, y)) ? 1 : 0;
    return count;
  };
  const double first = window.viewport().x_at(500'000), near_by = first + 60, close = first + 66;
  window.view->addMarker(500'000, "a name that is too long for sixty pixels");
  REQUIRE(written_between(near_by, near_by + 60) > 0);
  window.view->addMarker(window.viewport().time_at(static_cast<std::int64_t>(near_by)), "x");
  window.view->addMarker(window.viewport().time_at(static_cast<std::int64_t>(close)), "");
  REQUIRE(written_between(first, near_by) > 0);
  REQUIRE(written_between(near_by, close) == 0);         // no room for a letter
  REQUIRE(written_between(close + 1, close + 60) == 0);  // nothing of the long name is drawn behind the others
}

// Otherwise twenty neighbouring steps would all read "iterat…".
TEST_CASE("a counted name that has no room whole keeps its counter") {
  constexpr int kPixels = 48;             // of each
  const int from = GENERATE(111, 1'111);  // there is room for the beginning and the counter; for the counter alone
  const Nanoseconds length = kPixels * 1'000;
  Window window;
  test::SmallTrace small;
  std::vector<Event> ranges;
  for (Nanoseconds i = 0; i < 20; ++i) ranges.push_back(small.event(i * length, (i + 1) * length, ("iteration " + std::to_string(from + i)).c_str()));
  small.builder.add(small.on_thread(TrackKind::kNvtxRanges), ranges);
  window.view->setTrace(small.builder.snapshot());
  window.view->setVisibleRange({0, window.canvas->width() * 1'000});
  const LaneId lane = window.lane(TrackKind::kNvtxRanges);
  const QPointF first = window.position_of({lane, 2}), second = window.position_of({lane, 5});
  window.move({-1, -1});
  const QImage picture = window.picture();
  const double ratio = picture.devicePixelRatio();
  const auto part = [&](QPointF middle) {  // only of the label
    return picture.copy(QRectF((middle.x() - kPixels / 2 + 4) * ratio, (middle.y() - 3) * ratio, (kPixels - 8) * ratio, 14 * ratio).toRect());
  };
  REQUIRE(part(first) != part(second));
}

TEST_CASE("what is busy is painted in its colour, and idle time is left empty") {
  const Window window;
  const QPointF kernel = window.position_of({window.lane(TrackKind::kKernels), 0});
  window.move({-1, -1});
  const QImage picture = window.canvas->grab().toImage();
  const double ratio = picture.devicePixelRatio();
  const auto color_at = [&](Nanoseconds time) {
    return QColor(picture.pixel(static_cast<int>(window.viewport().x_at(time) * ratio), static_cast<int>((kernel.y() + 4) * ratio)));
  };
  const QColor busy = color_at(250'000);
  REQUIRE(busy.blue() > busy.red());
  REQUIRE(color_at(280'000) == busy);
  REQUIRE(color_at(500'000) == window.view->palette().color(QPalette::Base));
}

TEST_CASE("a dark palette gives a dark timeline") {
  const Window window;
  QPalette palette = window.view->palette();
  palette.setColor(QPalette::Base, QColor(0x1b, 0x1e, 0x22));
  palette.setColor(QPalette::Text, QColor(0xdd, 0xe2, 0xe7));
  window.view->setPalette(palette);
  const QImage picture = window.canvas->grab().toImage();
  REQUIRE(QColor(picture.pixel(picture.width() / 2, picture.height() - 2)).lightness() < 60);
}

TEST_CASE("the row filter leaves what matches") {
  const Window window;
  const QAccessibleInterface* const rows = QAccessible::queryAccessibleInterface(window.canvas);
  const int all = rows->childCount();
  window.view->setRowFilter("CUDA API");
  const QPointF launch = window.position_of({window.lane(TrackKind::kCudaApi), 0});
  REQUIRE(rows->childCount() < all);
  window.view->setRowFilter("");
  REQUIRE(rows->childCount() == all);
  REQUIRE(window.position_of({window.lane(TrackKind::kCudaApi), 0}).y() > launch.y());
}

TEST_CASE("assistive technology finds the rows in sight, their values and their events") {
  const Window window;
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(window.canvas);
  REQUIRE(canvas->role() == QAccessible::Table);
  REQUIRE(canvas->text(QAccessible::Name) == "Timeline rows");
  QStringList names;
  QAccessibleInterface* api = nullptr;
  for (int index = 0; index < canvas->childCount(); ++index) {
    QAccessibleInterface* row = canvas->child(index);
    REQUIRE(row->parent() == canvas);
    REQUIRE(canvas->indexOfChild(row) == index);
    names += row->text(QAccessible::Name);
    if (names.back() == "CUDA API") api = row;
  }
  REQUIRE(names == QStringList{"GPU 0  NVIDIA H200", "CUDA HW", "100.0 % Kernels", "100.0 % Stream 7", "NVTX", "Processes (1)", "[4711] python", "[4711] main",
                               "NVTX", "CUDA API"});
  REQUIRE(api->text(QAccessible::Value) == "64.0 % busy, 4 events");  // 50 + 30 + 20 + 540 of 1000 µs
  REQUIRE(api->childCount() == 4);
  QAccessibleInterface* launch = api->child(1);
  REQUIRE(launch->text(QAccessible::Name) == "cudaLaunchKernel");
  REQUIRE(launch->text(QAccessible::Value) == "30.000 µs");
  REQUIRE_FALSE(launch->state().selected);
  window.click(window.canvas->mapFromGlobal(launch->rect().center()));  // its rectangle is at the right place
  REQUIRE(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kCudaApi), 1});
  REQUIRE(launch->state().selected);
  REQUIRE(canvas->childAt(launch->rect().center().x(), launch->rect().center().y()) == api);
  REQUIRE(api->childAt(launch->rect().center().x(), launch->rect().center().y()) == launch);
  window.view->collapseRow("process:1");
  REQUIRE_FALSE(api->isValid());
  REQUIRE(canvas->child(canvas->childCount() - 1)->state().collapsed);
}
