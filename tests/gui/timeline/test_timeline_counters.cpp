// Rows of counters: painting, tooltips, and accessible texts.
#include <QAccessible>
#include <QHelpEvent>
#include <QToolTip>

#include "timeline_window.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// "SMs active": 90 % from 0 to 300 µs, 10 % to 500 µs, then nothing to 700 µs, then 100 samples of 1 µs that alternate between 20 % and 60 %.
class CounterWindow : public Window {
 public:
  CounterWindow() {
    Counter counter;
    counter.gpu = recording.gpu;
    counter.name = "SMs active";
    counter.unit = "%";
    counter.maximum = 100;
    counter.group = "SM";
    counter.description = "How busy they are.";
    const std::vector<CounterId> counters{recording.builder.counter(counter)};
    REQUIRE(recording.builder.add_samples(counters, std::vector<Nanoseconds>{0, 300'000}, std::vector<std::vector<std::int64_t>>{{90, 10}}, 500'000));
    std::vector<Nanoseconds> times;
    std::vector<std::vector<std::int64_t>> values(1);
    for (int i = 0; i < 100; ++i) {
      times.push_back(700'000 + i * 1'000);
      values[0].push_back(i % 2 == 0 ? 20 : 60);
    }
    REQUIRE(recording.builder.add_samples(counters, times, values, 800'000));
    view->setTrace(recording.builder.snapshot());
    view->expandRow("gpu:0/metrics");  // collapsed by default, because a thread launches
    QApplication::processEvents();     // places the rows in the window
    const QAccessibleInterface* rows = QAccessible::queryAccessibleInterface(canvas);
    for (int i = 0; i < rows->childCount(); ++i)
      if (rows->child(i)->text(QAccessible::Name) == "SMs active") row = rows->child(i);
    REQUIRE(row != nullptr);
    const QRect place = row->rect();
    top = canvas->mapFromGlobal(place.topLeft()).y();
    height = place.height();
  }

  // At a time, and a share of the row's height from its bottom.
  [[nodiscard]] QPointF at(Nanoseconds time, double share) const { return {viewport().x_at(time), top + 2 + (1 - share) * (height - 4)}; }
  [[nodiscard]] QString hover(Nanoseconds time) const {
    const QPoint place = at(time, 0.5).toPoint();
    move(place);
    QHelpEvent help(QEvent::ToolTip, place, canvas->mapToGlobal(place));
    QApplication::sendEvent(canvas, &help);
    return QToolTip::text();
  }

  QAccessibleInterface* row = nullptr;
  int top = 0;
  int height = 0;
};

}  // namespace

TEST_CASE("a counter is as high as its value, and nothing where it has none") {
  const CounterWindow window;
  const QImage picture = window.picture();  // examined between the lines of the ruler's ticks
  const QColor empty = Window::color_at(picture, window.at(633'000, 0.5));
  const auto is_filled = [&](Nanoseconds time, double share) { return Window::color_at(picture, window.at(time, share)) != empty; };
  CHECK(is_filled(157'000, 0.2));
  CHECK(is_filled(157'000, 0.8));
  CHECK_FALSE(is_filled(437'000, 0.4));
  CHECK_FALSE(is_filled(633'000, 0.02));
  // The band between 20 and 60 % has another colour than the area below the minimum.
  CHECK(is_filled(757'000, 0.5));
  CHECK(Window::color_at(picture, window.at(757'000, 0.55)) != Window::color_at(picture, window.at(757'000, 0.1)));
  CHECK_FALSE(is_filled(757'000, 0.8));
}

TEST_CASE("hovering a counter tells its exact value, or what a pixel with many of them holds") {
  const CounterWindow window;
  CHECK(window.hover(150'000).contains("90.0 %"));
  CHECK(window.hover(150'000).contains("300.000 µs"));
  CHECK(window.hover(400'000).contains("10.0 %"));
  CHECK(window.hover(600'000).contains("not known here"));
  const QString many = window.hover(750'000);  // about 1 µs per pixel: more than one sample
  CHECK(many.contains("SMs active"));
  CHECK(many.contains("How busy they are."));
}

TEST_CASE("clicking a counter selects no event, and dragging over it selects time") {
  const CounterWindow window;
  window.click(window.at(150'000, 0.5));
  CHECK_FALSE(window.view->selectedEvent().valid());
  window.drag(window.at(200'000, 0.5), window.at(400'000, 0.5), Qt::LeftButton);
  REQUIRE(window.view->selectedRange());
  CHECK(window.row->text(QAccessible::Value).startsWith("5"));  // half of the range at 90 %, half at 10 %
}

TEST_CASE("a screen reader reads a counter's mean, least and most, and what it is") {
  const CounterWindow window;
  CHECK(window.row->text(QAccessible::Value).contains("10.0 % to 90.0 %"));
  CHECK(window.row->text(QAccessible::Description) == "How busy they are.");
  CHECK(window.row->childCount() == 0);
}
