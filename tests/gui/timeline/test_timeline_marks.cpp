// Drawings over events: gaps, waiting parts of collectives, corners of launches whose counters were read, and what is marked and measured at the cursor.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <QAccessible>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QLineEdit>
#include <QPaintEvent>
#include <QRegularExpression>
#include <QScreen>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolTip>

#include "../../../timeline/widget/painting/theme.h"
#include "support/cost.h"
#include "timeline_window.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::Window;

TEST_CASE("a gap of a GPU is shaded, hovered, chosen with the mouse, and walked through with keys") {
  Window window;
  const QPointF gap = window.empty_place();  // 300 to 700 µs
  const QColor before = Window::color_at(window.picture(), gap + QPointF(100, 0));
  window.click(gap);
  CHECK_FALSE(window.view->selectedRange());  // an unknown gap cannot be selected
  window.view->setIdleTime(std::make_shared<const IdleTime>(window.view->trace(), 10'000));
  CHECK(Window::color_at(window.picture(), gap + QPointF(100, 0)) != before);
  window.click(gap);
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
  REQUIRE(window.view->selectedGap());
  CHECK(window.view->selectedGap()->range == TimeRange{300'000, 700'000});
  CHECK_FALSE(window.view->selectedEvent().valid());

  window.key(Qt::Key_G);
  CHECK(window.view->selectedRange() == TimeRange{900'000, 920'000});
  window.key(Qt::Key_G);  // there is no further one
  CHECK(window.view->selectedRange() == TimeRange{900'000, 920'000});
  window.key(Qt::Key_G, Qt::ShiftModifier);
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
  // If nothing is selected, from the edge of the visible range.
  window.key(Qt::Key_Escape);
  CHECK_FALSE(window.view->selectedRange());
  window.key(Qt::Key_G, Qt::ShiftModifier);
  CHECK(window.view->selectedRange() == TimeRange{900'000, 920'000});
  // A click beside it selects nothing.
  window.click({window.viewport().x_at(200'000), static_cast<double>(window.canvas->height() - 4)});
  CHECK_FALSE(window.view->selectedRange());
}

TEST_CASE("a large trace is searched beside the window, and a text that came meanwhile counts") {
  lanescope::test::start_application();
  lanescope::test::SmallTrace small;
  std::vector<Event> events;
  constexpr int kEvents = 600'000;
  for (int i = 0; i < kEvents; ++i) events.push_back(small.event(i * 1'000, i * 1'000 + 500, i % 3 == 0 ? "gemm" : "relu"));
  small.builder.add(small.on_gpu(TrackKind::kKernels), events);
  TimelineView view;
  view.resize(1'000, 600);
  view.setTrace(small.builder.snapshot());
  view.show();
  const auto settle = [&] { return QTest::qWaitFor([&] { return !view.isMakingReady(); }, lanescope::test::kPatienceMs); };
  REQUIRE(settle());
  view.setHighlightedText("gemm");
  CHECK(view.isMakingReady());
  CHECK(view.highlightedText() == "gemm");
  view.setHighlightedText("relu");
  REQUIRE(settle());
  CHECK(view.highlightedCount() == kEvents - kEvents / 3);
  // It grows while it is searched: what came is found, too.
  view.setHighlightedText("gemm");
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(kEvents * 1'000, kEvents * 1'000 + 500, "gemm")});
  view.updateTrace(small.builder.snapshot());
  REQUIRE(settle());
  CHECK(view.highlightedCount() == kEvents / 3 + 1);
  view.setHighlightedText("");
  CHECK(view.highlightedCount() == 0);
}

TEST_CASE("a gap that was clicked is the range until an event elsewhere is selected") {
  Window window;
  window.view->setIdleTime(std::make_shared<const IdleTime>(window.view->trace(), 10'000));
  const LaneId kernels = window.lane(TrackKind::kKernels);
  window.click(window.empty_place());
  REQUIRE(window.view->selectedRange() == TimeRange{300'000, 700'000});
  window.view->selectEvent({kernels, 0});  // the ones in front of it and behind it are of lists of that time
  window.view->selectEvent({kernels, 1});
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
  window.view->selectEvent({kernels, 2});
  CHECK_FALSE(window.view->selectedRange());
  CHECK_FALSE(window.view->selectedGap());
  CHECK(window.view->selectedEvent() == EventRef{kernels, 2});
  // A range that somebody chose stays.
  window.view->setSelectedRange(TimeRange{300'000, 700'000});
  window.view->selectEvent({kernels, 0});
  window.view->selectEvent({kernels, 2});
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
}

TEST_CASE("the next gap is brought in sight at the zoom that is, and gaps too narrow to see are passed over") {
  Window window;
  window.view->setIdleTime(std::make_shared<const IdleTime>(window.view->trace(), 10'000));
  window.view->setVisibleRange({0, 100'000});
  window.key(Qt::Key_G);
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
  CHECK(window.view->visibleRange().length() == 100'000);
  CHECK(window.view->visibleRange().contains(500'000));

  window.view->setTrace(window.recording.builder.snapshot());  // setTrace() removes the idle time
  CHECK_FALSE(window.view->selectedGap());
}

TEST_CASE("the part of a collective in which it waits for another rank is hatched, named, and said of its row apart from the rest") {
  Window window;
  test::SmallTrace ranks;
  constexpr const char* kReduce = "ncclKernel";
  Gpu description;
  description.ordinal = 1;
  ranks.builder.set_device(ranks.process, 1, description);
  TrackKey second = ranks.on_gpu(TrackKind::kKernels, 9);
  second.gpu = ranks.builder.gpu_of_device(ranks.process, 1);
  ranks.builder.add(ranks.on_gpu(TrackKind::kKernels), {ranks.event(0, 100'000, "gemm"), ranks.event(100'000, 1'000'000, kReduce)});
  ranks.builder.add(second, {ranks.event(0, 750'000, "gemm"), ranks.event(750'000, 1'000'000, kReduce)});
  window.view->setTrace(ranks.builder.snapshot());
  window.view->expandAll();  // both GPUs, which are collapsed by default
  const QPointF hardware = window.empty_place();
  const QPointF waits(window.viewport().x_at(400'000), hardware.y()), moves(window.viewport().x_at(950'000), hardware.y());
  const auto colors_around = [&](QPointF place) {  // along a line that crosses the hatching
    const QImage picture = window.picture();
    std::set<QRgb> colors;
    for (int x = -12; x <= 12; ++x) colors.insert(Window::color_at(picture, place + QPointF(x, 0)).rgb());
    return colors;
  };
  CHECK(colors_around(waits) == colors_around(moves));  // nothing is known yet
  window.view->setCommunicationTime(std::make_shared<const CommunicationTime>(*window.view->trace()));
  CHECK(colors_around(waits).size() == 2);
  CHECK(colors_around(moves).size() == 1);

  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(window.canvas);
  QStringList values;
  for (int index = 0; index < canvas->childCount(); ++index)
    if (canvas->child(index)->text(QAccessible::Name) == "CUDA HW") values += canvas->child(index)->text(QAccessible::Value);
  REQUIRE(values.size() == 2);
  CHECK(values[0] == "100.0 % busy, 65.0 % of that waiting for another rank, 2 events");
  CHECK(values[1] == "100.0 % busy, 2 events");

  window.view->setTrace(ranks.builder.snapshot());  // setTrace() removes the communication time
  window.view->expandAll();
  CHECK(colors_around(waits).size() == 1);
}

TEST_CASE("long notes stand behind their markers, and leave the axis in front of them") {
  Window window;
  QWidget* ruler = nullptr;
  for (QWidget* child : window.view->findChildren<QWidget*>())
    if (child->accessibleName() == "Time axis") ruler = child;
  REQUIRE(ruler != nullptr);
  window.view->setVisibleRange({0, 1'000'000});
  const QImage before = ruler->grab().toImage();
  std::vector<TimelineView::Marker> markers;
  for (const Nanoseconds time : {600'000, 620'000, 640'000, 660'000}) markers.push_back({time, "note number 700 with a long text that goes on and on and on"});
  window.view->setMarkers(markers);
  const QImage after = ruler->grab().toImage();
  CHECK(before != after);
  const int first = static_cast<int>(window.viewport().x_at(600'000));
  const QRect in_front(0, 0, first - 120, ruler->height());  // less the room of a label that begins in front of it
  CHECK(before.copy(in_front) == after.copy(in_front));
}

TEST_CASE("thousands of long notes take hardly longer to paint than short ones") {
  Window window;
  constexpr Nanoseconds kNotes = 5'000, kApart = 200;
  const auto seconds = [&window](const QString& text) {
    std::vector<TimelineView::Marker> markers;
    for (Nanoseconds i = 0; i < kNotes; ++i) markers.push_back({i * kApart, text});
    window.view->setMarkers(std::move(markers));
    double least = std::numeric_limits<double>::max();
    for (int time = 0; time < 3; ++time) least = std::min(least, test::cost_of([&] { static_cast<void>(window.view->grab()); }).seconds);
    return least;
  };
  const double of_short = seconds("short"), of_long = seconds(QString(4'000, u'w'));
  CHECK(of_long < 10 * of_short);  // measuring all of them would take a hundred times as long
}

TEST_CASE("a launch whose counters were read has a marked corner, and one whose were not has none") {
  Window window;
  test::SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels),
                    {small.event(0, 300'000, "gemm", 5), small.event(400'000, 700'000, "gemm", 6), small.event(750'000, 1'000'000, "gemm", 7)});
  const auto line_at = [&window](Nanoseconds time) {  // of pixels, left of a label, from above a box to below it
    const QImage picture = window.picture();
    const QPointF place(window.viewport().x_at(time) + 2, window.empty_place().y());
    std::vector<QRgb> line;
    for (int y = -12; y <= 12; ++y) line.push_back(Window::color_at(picture, place + QPointF(0, y)).rgb());
    return line;
  };
  const auto marked_pixels = [&](Nanoseconds begin, const std::vector<QRgb>& unmarked) {
    const std::vector<QRgb> line = line_at(begin);
    std::size_t count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) count += line[i] != unmarked[i] ? 1 : 0;
    return count;
  };
  window.view->setTrace(small.builder.snapshot());
  const std::vector<QRgb> unmarked = line_at(400'000);
  CHECK(marked_pixels(0, unmarked) == 0);
  MeasuredLaunch launch;
  launch.process = small.process;
  launch.correlation = 6;
  launch.other_launches = {7};  // measured in other passes
  small.builder.add(launch);
  window.view->setTrace(small.builder.snapshot());
  for (const Nanoseconds begin : {400'000, 750'000}) {
    CHECK(marked_pixels(begin, unmarked) >= 2);  // a corner, and no more
    CHECK(marked_pixels(begin, unmarked) <= 8);
  }
  CHECK(marked_pixels(0, unmarked) == 0);
}

namespace {

// The maximum of a widget's pixels that were painted at once.
class PaintedPixels : public QObject {
 public:
  explicit PaintedPixels(QWidget* of) { of->installEventFilter(this); }
  [[nodiscard]] int take_most() { return std::exchange(most_, 0); }
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() != QEvent::Paint) return false;
    int pixels = 0;
    for (const QRect& rect : static_cast<QPaintEvent*>(event)->region()) pixels += rect.width() * rect.height();
    most_ = std::max(most_, pixels);
    return false;
  }

 private:
  int most_ = 0;
};

}  // namespace

TEST_CASE("the cursor has repainted what it leaves and what it comes to, and nothing of it stays behind") {
  Window window;
  const auto on_screen = [&] {
    QApplication::processEvents();
    return window.view->screen()->grabWindow(window.view->winId()).toImage();
  };
  REQUIRE_FALSE(on_screen().isNull());
  PaintedPixels painted(window.canvas);
  for (int step = 0; step < 40; ++step) {
    if (step == 20) window.view->zoomBy(2);  // then outlines are elsewhere
    const QImage before = on_screen();
    (void)painted.take_most();
    window.move(QPointF(40 + 4 * step, 6 + 9 * step % 200));  // stays on the screen, which is 400 pixels wide at a scale of 2
    const QImage after = on_screen();
    INFO(step);
    CHECK(after != before);
    CHECK(painted.take_most() < window.canvas->width() * window.canvas->height() / 4);
    window.canvas->update();
    CHECK(on_screen() == after);
  }
}

TEST_CASE("brackets measure between two edges of events") {
  const Window window;
  const QPointF kernel = window.position_of({window.lane(TrackKind::kKernels), 0});
  window.move({window.viewport().x_at(300'000) + 3, kernel.y()});
  window.key(Qt::Key_BracketLeft);
  window.move({window.viewport().x_at(700'000) - 4, kernel.y()});
  window.key(Qt::Key_BracketRight);
  REQUIRE(window.view->selectedRange() == TimeRange{300'000, 700'000});
}

TEST_CASE("brackets measure between two edges also if the later one is set first") {
  const Window window;
  const QPointF kernel = window.position_of({window.lane(TrackKind::kKernels), 0});
  const QPointF earlier{window.viewport().x_at(300'000) + 3, kernel.y()}, later{window.viewport().x_at(700'000) - 4, kernel.y()};
  window.move(later);
  window.key(Qt::Key_BracketLeft);
  window.move(earlier);
  window.key(Qt::Key_BracketRight);
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
  window.view->setSelectedRange(std::nullopt);
  window.move(earlier);
  window.key(Qt::Key_BracketRight);
  window.move(later);
  window.key(Qt::Key_BracketLeft);
  CHECK(window.view->selectedRange() == TimeRange{300'000, 700'000});
}

TEST_CASE("a marker asked for by key is at the cursor if what is selected is out of sight") {
  const Window window;
  window.view->selectEvent({window.lane(TrackKind::kKernels), 0});  // from 100 us on
  window.view->setVisibleRange({600'000, 1'000'000});
  const QPointF kernel = window.position_of({window.lane(TrackKind::kKernels), 1});
  window.move({window.viewport().x_at(700'000) + 2, kernel.y()});
  window.key(Qt::Key_M, Qt::ControlModifier);
  auto* prompt = window.view->findChild<QLineEdit*>();
  REQUIRE(prompt);
  QTest::keyClicks(prompt, "here");
  QTest::keyClick(prompt, Qt::Key_Return);
  REQUIRE(window.view->markers().size() == 1);
  CHECK(window.view->markers().front().time == 700'000);
}
