// Rows by keyboard, trackpads, arrows that leave the window, and positions on screens of other densities.
#include <set>

#include <QAccessible>
#include <QContextMenuEvent>
#include <QFontDatabase>
#include <QHelpEvent>
#include <QInputDevice>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolTip>

#include "../../../timeline/widget/painting/theme.h"
#include "model/trace/building/thread_states.h"
#include "timeline/widget/timeline_command.h"
#include "timeline_window.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::Window;

namespace {

const QString kApi = "process:1/thread:4711/api";

// Two fingers on a trackpad, as reported by Wayland and macOS.
void two_fingers(const Window& window, QPoint moved, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
  const QPointF at(200, 100);
  QWheelEvent event(at, window.canvas->mapToGlobal(at), moved, moved * 2, Qt::NoButton, modifiers, Qt::ScrollUpdate, false);
  QApplication::sendEvent(window.canvas, &event);
}

// The names of the rows in sight, from top to bottom.
QStringList titles(const Window& window) {
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(window.canvas);
  QStringList names;
  for (int index = 0; index < canvas->childCount(); ++index) names += canvas->child(index)->text(QAccessible::Name);
  return names;
}

int pixels_of(const QImage& picture, const QColor& color, int first_line, int end_line) {
  int count = 0;
  for (int y = std::max(0, first_line); y < std::min(end_line, picture.height()); ++y)
    for (int x = 0; x < picture.width(); ++x) count += picture.pixelColor(x, y) == color ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("two fingers on a trackpad move time and rows with them, pixel by pixel") {
  const Window window;
  window.view->resize(1'000, 200);
  window.view->setVisibleRange({400'000, 600'000});
  const Nanoseconds touched = window.viewport().time_at(300);
  two_fingers(window, {-40, -30});
  REQUIRE(window.viewport().x_at(touched) == Approx(260).margin(0.5));
  REQUIRE(window.view->visibleRange().length() == 200'000);
  REQUIRE(window.view->findChild<QScrollBar*>()->value() == 30);
  two_fingers(window, {40, 30});
  REQUIRE(window.view->visibleRange() == TimeRange{400'000, 600'000});
  REQUIRE(window.view->findChild<QScrollBar*>()->value() == 0);
}

TEST_CASE("with Ctrl, and by pinching, a trackpad zooms at the cursor") {
  const Window window;
  window.view->setVisibleRange({400'000, 600'000});
  const Nanoseconds fixed = window.viewport().time_at(200);
  if (GENERATE(true, false)) {
    two_fingers(window, {0, 60}, Qt::ControlModifier);
  } else {
    const QPointF at(200, 100);
    QNativeGestureEvent pinch(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(), 2, at, at, window.canvas->mapToGlobal(at), 0.25, {});
    QApplication::sendEvent(window.canvas, &pinch);
    REQUIRE(window.view->visibleRange().length() == Approx(160'000).margin(2));
  }
  REQUIRE(window.view->visibleRange().length() < 200'000);
  REQUIRE(window.viewport().x_at(fixed) == Approx(200).margin(1));
}

TEST_CASE("Alt+wheel scrolls the rows") {
  const Window window;
  window.view->resize(1'000, 200);
  const TimeRange range = window.view->visibleRange();
  window.wheel(window.canvas, {200, 50}, -120, Qt::AltModifier);
  REQUIRE(window.view->findChild<QScrollBar*>()->value() > 0);
  REQUIRE(window.view->visibleRange() == range);
}

TEST_CASE("every command has a text, and every key does one thing") {
  std::set<std::pair<int, int>> keys;
  for (const TimelineCommand& command : timeline_commands()) {
    REQUIRE_FALSE(command.text.isEmpty());
    REQUIRE(command.act);
    for (const QKeyCombination key : command.keys) REQUIRE(keys.emplace(key.keyboardModifiers().toInt(), key.key()).second);
  }
  // Keys that users of Nsight Systems, Perfetto and Tracy know.
  const Qt::Key plain[] = {Qt::Key_W, Qt::Key_A, Qt::Key_S, Qt::Key_D, Qt::Key_F, Qt::Key_M, Qt::Key_Home, Qt::Key_Backspace};
  for (const Qt::Key key : plain) REQUIRE(keys.contains({0, key}));
  REQUIRE(keys.contains({int(Qt::ShiftModifier), Qt::Key_Z}));
}

TEST_CASE("the sheet of keys has every key") {
  QString sheet;
  const Window window;
  for (const auto& [gesture, effect] : window.view->helpText()) sheet += gesture + u'\n';
  for (const TimelineCommand& command : timeline_commands()) REQUIRE(sheet.contains(keys_text(command.keys)));
}

TEST_CASE("Ctrl+Down and Ctrl+Up go from row to row; Space, P and H are about the one that was reached") {
  const Window window;
  QSignalSpy changes(window.view.get(), &TimelineView::currentRowChanged);
  window.key(Qt::Key_Down, Qt::ControlModifier);
  REQUIRE(window.view->currentRow() == "gpu:0");
  window.key(Qt::Key_Down, Qt::ControlModifier);
  REQUIRE(window.view->currentRow() == "gpu:0/hw");
  window.key(Qt::Key_Up, Qt::ControlModifier);
  REQUIRE(window.view->currentRow() == "gpu:0");
  REQUIRE(changes.count() == 3);
  window.key(Qt::Key_Space);
  REQUIRE_FALSE(window.view->isExpanded("gpu:0"));
  window.key(Qt::Key_P);
  REQUIRE(window.view->isPinned("gpu:0"));
  window.key(Qt::Key_P);
  REQUIRE_FALSE(window.view->isPinned("gpu:0"));
  window.key(Qt::Key_H);
  REQUIRE(window.view->hasHiddenRows());
  REQUIRE(titles(window).front() == "Processes (1)");
  window.key(Qt::Key_Escape);
  REQUIRE(window.view->currentRow() == "");
}

TEST_CASE("a click on a row's name makes it the one that keys are about; Alt+arrows move it") {
  const Window window;
  const double y = window.position_of({window.lane(TrackKind::kCudaApi), 0}).y();
  window.move({-1, -1});
  window.mouse(window.header, QEvent::MouseButtonPress, {150, y}, Qt::LeftButton);
  window.mouse(window.header, QEvent::MouseButtonRelease, {150, y}, Qt::LeftButton);
  REQUIRE(window.view->currentRow() == kApi);
  const QStringList before = titles(window);
  window.key(Qt::Key_Up, Qt::AltModifier);
  QStringList moved = before;
  moved.swapItemsAt(before.size() - 1, before.size() - 2);  // in front of NVTX
  REQUIRE(titles(window) == moved);
  window.key(Qt::Key_Up, Qt::AltModifier);  // it is the first one already
  REQUIRE(titles(window) == moved);
  window.key(Qt::Key_Down, Qt::AltModifier);
  REQUIRE(titles(window) == before);
}

TEST_CASE("Enter selects the event of the row in the middle, L the work that it launched") {
  const Window window;
  window.view->setCurrentRow(kApi);
  window.view->setVisibleRange({0, 130'000});  // 60 to 90 µs is in the middle
  window.key(Qt::Key_Return);
  REQUIRE(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kCudaApi), 1});
  window.key(Qt::Key_L);
  REQUIRE(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kKernels), 1});
  window.key(Qt::Key_L);
  REQUIRE(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kCudaApi), 1});
}

TEST_CASE("the menu key asks for the menu of the selected event, else of the current row") {
  const Window window;
  QSignalSpy events(window.view.get(), &TimelineView::eventContextMenuRequested);
  QSignalSpy rows(window.view.get(), &TimelineView::rowContextMenuRequested);
  window.move({-1, -1});
  window.view->selectEvent({window.lane(TrackKind::kKernels), 1});
  window.key(Qt::Key_F10, Qt::ShiftModifier);
  REQUIRE(events.count() == 1);
  const QPoint place = window.canvas->mapFromGlobal(events.front().at(2).toPoint());
  REQUIRE(window.viewport().time_at(place.x()) == Approx(800'000).margin(2'000));  // the middle of the event
  window.view->setCurrentRow(kApi);
  QContextMenuEvent key(QContextMenuEvent::Keyboard, {}, {});
  QApplication::sendEvent(window.view.get(), &key);
  REQUIRE(rows.count() == 1);
  REQUIRE(rows.front().front().toString() == kApi);
}

TEST_CASE("an arrangement of rows can be taken from one timeline to another") {
  const Window from, to;
  from.view->pin(kApi);
  from.view->hideRow("gpu:0/hw");
  from.view->collapseRow("gpu:0");
  QSignalSpy changes(to.view.get(), &TimelineView::rowArrangementChanged);
  to.view->setRowArrangement(from.view->rowArrangement());
  REQUIRE(titles(to) == titles(from));
  REQUIRE(changes.count() == 1);
  to.view->setRowArrangement(from.view->rowArrangement());
  REQUIRE(changes.count() == 1);
  to.view->setRowArrangement({});
  REQUIRE(titles(to) == titles(Window()));
}

TEST_CASE("a selected range tells how busy every row was in it, and how often") {
  const Window window;
  window.view->setVisibleRange({0, 1'000'000});
  const auto header = [&] { return window.header->grab().toImage(); };
  const QImage before = header();
  window.view->setSelectedRange(TimeRange{0, 100'000});
  const QImage selected = header();
  REQUIRE(selected != before);
  const auto right_part_differs = [&](double y) {
    const double ratio = before.devicePixelRatio();
    const QRect part((QPointF(window.header->width() - 100, y) * ratio).toPoint(), (QSizeF(92, 12) * ratio).toSize());
    return before.copy(part) != selected.copy(part);
  };
  REQUIRE(right_part_differs(window.position_of({window.lane(TrackKind::kCudaApi), 0}).y()));  // rows of threads, too
}

TEST_CASE("a selection that is all there is to see leaves the colours of events alone") {
  const Window window;
  window.view->setVisibleRange({400'000, 600'000});
  window.move({-1, -1});
  const QImage before = window.picture();
  window.view->setSelectedRange(TimeRange{100'000, 900'000});
  REQUIRE(window.picture() == before);
  window.view->setSelectedRange(TimeRange{100'000, 500'000});
  REQUIRE(window.picture() != before);
}

TEST_CASE("an event that another view points at is outlined") {
  const Window window;
  window.move({-1, -1});
  const QImage before = window.picture();
  window.view->setHoveredEvent({window.lane(TrackKind::kKernels), 0});
  REQUIRE(window.picture() != before);
  window.view->setHoveredEvent({});
  REQUIRE(window.picture() == before);
}

TEST_CASE("arrows lead to rows that are closed or scrolled away, and say so at the edge") {
  const Window window;
  const EventRef kernel{window.lane(TrackKind::kKernels), 1};
  const QColor accent = Theme::from(window.view->palette(), window.view->font()).accent;
  const double kernel_line = window.position_of(kernel).y();
  window.view->collapseRow("process:1");
  window.view->selectEvent(kernel);
  window.move({-1, -1});
  const double ratio = window.picture().devicePixelRatio();
  int lowest = 0;
  const QImage picture = window.picture();
  for (int y = 0; y < picture.height(); ++y)
    if (pixels_of(picture, accent, y, y + 1) > 0) lowest = y;
  REQUIRE(lowest > (kernel_line + 20) * ratio);  // down to the row of the process, which stands for its calls

  window.view->expandRow("process:1");
  window.view->resize(1'000, 220);
  window.view->findChild<QScrollBar*>()->setValue(0);
  window.move({-1, -1});
  const QImage cut = window.picture();
  const int edge = cut.height() - static_cast<int>(30 * ratio);
  const int with_arrow = pixels_of(cut, accent, edge, cut.height());
  REQUIRE(with_arrow > 20);  // the frame of the label
  window.view->selectEvent({});
  REQUIRE(pixels_of(window.picture(), accent, edge, cut.height()) == 0);
}

TEST_CASE("the overview of a program without a GPU shows its processors and threads") {
  Window window;
  test::SmallTrace program;
  const ThreadStateSpan states[] = {{0, 500'000, {ThreadState::kRunning, 2}}, {500'000, 500'000, {ThreadState::kBlocked, kNone}}};
  add_thread_states(program.builder, program.process, 4711, states);
  window.view->setTrace(program.builder.snapshot());
  QWidget* overview = nullptr;
  for (QWidget* part : window.view->findChildren<QWidget*>())
    if (part->accessibleName() == "Overview of the whole trace") overview = part;
  REQUIRE(overview != nullptr);
  const QImage picture = overview->grab().toImage();
  const auto color_at = [&](double time, double height) {  // as shares; while the whole trace is visible, its frame is at the margin
    return Window::color_at(picture, {overview->width() * time, overview->height() * height});
  };
  for (const double height : {0.3, 0.7}) {
    CHECK(color_at(0.25, height) != color_at(0.75, height));
    CHECK(color_at(0.75, height) == color_at(0.60, height));
  }
  CHECK(color_at(0.25, 0.3) != color_at(0.25, 0.7));  // a thread is coloured by its state, a processor by the thread that it runs
}

TEST_CASE("closed, the processors are as high as they are busy on average") {
  Window window;
  test::SmallTrace program;
  const ThreadStateSpan whole[] = {{0, 1'000'000, {ThreadState::kRunning, 2}}};
  const ThreadStateSpan half[] = {{0, 500'000, {ThreadState::kRunning, 3}}, {500'000, 500'000, {ThreadState::kBlocked, kNone}}};
  add_thread_states(program.builder, program.process, 4711, whole);
  add_thread_states(program.builder, program.process, 4712, half);
  window.view->setTrace(program.builder.snapshot());
  REQUIRE_FALSE(window.view->isExpanded("processors"));
  window.move({-1, -1});
  const QImage picture = window.picture();
  const double ratio = picture.devicePixelRatio();
  const RowMetrics rows = Theme::from(window.view->palette(), window.view->font()).rows;
  const auto height_at = [&](Nanoseconds time) {
    const int x = static_cast<int>(window.viewport().x_at(time) * ratio);
    const QColor top = picture.pixelColor(x, 0);
    int height = 0;
    for (int y = 1; y < static_cast<int>(rows.level_height * ratio) - 1; ++y) height += picture.pixelColor(x, y) != top ? 1 : 0;
    return height;
  };
  REQUIRE(height_at(800'000) > 4 * ratio);
  REQUIRE(height_at(250'000) == Approx(2.0 * height_at(800'000)).margin(2 * ratio));
  window.view->setSelectedRange(TimeRange{0, 1'000'000});
  REQUIRE(QAccessible::queryAccessibleInterface(window.canvas)->child(0)->text(QAccessible::Value) == "75.0 % busy, 2 events");
  window.view->expandRow("processors");
  QHelpEvent help(QEvent::ToolTip, QPoint(60, 8), window.header->mapToGlobal(QPoint(60, 8)));
  QApplication::sendEvent(window.header, &help);
  INFO(QToolTip::text().toStdString());
  REQUIRE(QToolTip::text().contains(QString::fromUtf8("busy for 750.000 µs of 1.000 ms")));
}

TEST_CASE("instances of one template are told apart where there is no room for their names") {
  Window window;
  test::SmallTrace program;
  const std::string name = "a_template_with_a_name_that_is_longer_than_any_header";
  program.builder.add(program.on_gpu(TrackKind::kKernels), {program.event(0, 100, name + "<alpha>"), program.event(100, 200, name + "<omega>")});
  window.view->setTrace(program.builder.snapshot());
  window.view->expandAll();
  window.move({-1, -1});
  const QImage picture = window.header->grab().toImage();
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(window.canvas);
  std::vector<QImage> names;
  for (int index = 0; index < canvas->childCount(); ++index) {
    QAccessibleInterface* row = canvas->child(index);
    if (!row->text(QAccessible::Name).contains("a_template")) continue;
    const QRect shown(window.header->mapFromGlobal(row->rect().topLeft()), row->rect().size());
    const double ratio = picture.devicePixelRatio();
    names.push_back(picture.copy(0, static_cast<int>(shown.top() * ratio), picture.width(), static_cast<int>((shown.height() - 2) * ratio)));
  }
  REQUIRE(names.size() == 2);
  REQUIRE(names[0] != names[1]);
}

TEST_CASE("the name of a row has its room before the numbers beside it") {
  const Window window;
  if (window.header->devicePixelRatio() != 1) return;  // letters at fractional positions look different in each place
  const auto row_of = [&](const QString& name) {
    QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(window.canvas);
    for (int index = 0; index < canvas->childCount(); ++index)
      if (QAccessibleInterface* row = canvas->child(index); row->text(QAccessible::Name).contains(name))
        return QRect(window.header->mapFromGlobal(row->rect().topLeft()), row->rect().size());
    return QRect();
  };
  const auto picture_of = [&](const QRect& row) {
    const QImage all = window.header->grab().toImage();
    return all.copy(0, row.top(), all.width(), row.height() - 2);
  };
  window.view->setHeaderWidth(400);
  const QRect row = row_of("Kernels");
  REQUIRE(row.isValid());
  const Theme theme = Theme::from(window.view->palette(), window.view->font());
  const QFontMetrics metrics(window.header->font());
  const QImage wide = picture_of(row);
  // The name comes after the share, in the colour of names.
  int left = 0;
  const auto is_name = [&](int x) {
    for (int y = 0; y < wide.height(); ++y)
      if (test::is_written_in(theme.text, theme.panel, wide.pixelColor(x, y))) return true;
    return false;
  };
  constexpr int kBeforeShare = 45;  // px of two levels and the triangle
  for (int x = kBeforeShare + metrics.horizontalAdvance("100.0 % "); x < 300 && left == 0; ++x)
    if (is_name(x)) left = x;
  REQUIRE(left > 0);
  const QImage name = wide.copy(left, 0, metrics.horizontalAdvance("Kernels") - 4, wide.height());

  window.view->setSelectedRange(TimeRange{100'000, 950'000});  // then it also shows the number of events and the busy share
  for (const int width : {400, 260, 200, 170}) {
    CAPTURE(width);
    window.view->setHeaderWidth(width);
    const QImage narrow = picture_of(row);
    bool is_there = false;
    for (int x = 0; x + name.width() < narrow.width() && !is_there; ++x) is_there = narrow.copy(x, 0, name.width(), name.height()) == name;
    CHECK(is_there);
  }
}

TEST_CASE("rows stand where they stood once their filter is empty again, unless one of them was chosen") {
  const Window window;
  window.view->resize(1'000, 180);
  window.view->expandAll();
  auto* scroll_bar = window.view->findChild<QScrollBar*>();
  REQUIRE(scroll_bar->maximum() > 20);
  scroll_bar->setValue(20);
  window.view->setRowFilter("zzz");
  window.view->setRowFilter("");
  CHECK(scroll_bar->value() == 20);
  window.view->setRowFilter("NVTX");
  std::string last;
  for (const timeline::Row& row : window.view->rows().rows())
    if (row.kind == timeline::RowKind::kNvtx) last = row.key;
  REQUIRE(!last.empty());
  window.view->setCurrentRow(QString::fromStdString(last));
  window.view->setRowFilter("");
  CHECK(scroll_bar->value() > 20);
}

TEST_CASE("a filter shows rows that match in closed ones, which close again with it unless one of them was chosen") {
  const Window window;
  const auto is_shown = [&](const QString& title) { return titles(window).contains(title); };
  const QString kernels = "gpu:0/kernels";
  window.view->collapseAll();
  REQUIRE_FALSE(is_shown(window.view->rowTitle(kernels)));
  window.view->setRowFilter("Kernels");
  CHECK(is_shown(window.view->rowTitle(kernels)));
  CHECK(window.view->isExpanded("gpu:0"));
  window.view->setRowFilter("GPU 0");  // the matching row is in sight: rows below it stay collapsed
  CHECK_FALSE(window.view->isExpanded("gpu:0"));
  window.view->setRowFilter("Kernels");
  window.view->collapseRow("gpu:0");  // the user collapses it nevertheless
  CHECK_FALSE(is_shown(window.view->rowTitle(kernels)));
  window.view->setRowFilter("");
  CHECK_FALSE(window.view->isExpanded("gpu:0"));
  CHECK_FALSE(window.view->hasRowFilter());

  window.view->setRowFilter("Kernels");
  window.view->setCurrentRow(kernels);
  window.view->setRowFilter("");
  CHECK(is_shown(window.view->rowTitle(kernels)));
}

TEST_CASE("where no row is left, it is said why") {
  const Window window;
  window.move({-1, -1});
  const QColor quiet = Theme::from(window.view->palette(), window.view->font()).quiet_text;
  const auto written = [&] {
    const QImage picture = window.picture();
    const QColor behind = picture.pixelColor(picture.width() - 3, picture.height() - 3);
    int count = 0;
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) count += test::is_written_in(quiet, behind, picture.pixelColor(x, y)) ? 1 : 0;
    return count;
  };
  const int with_rows = written();
  window.view->setRowFilter("no such row");
  REQUIRE(titles(window).isEmpty());
  const int filtered = written();
  REQUIRE(filtered > 20);
  window.view->setRowFilter("");
  REQUIRE(written() == with_rows);
  window.view->hideRow("gpu:0");
  window.view->hideRow("processes");
  REQUIRE(written() > filtered);  // a longer sentence: how to show them again
}

TEST_CASE("boxes end sharply on every screen") {
  const Window window;
  const QPointF kernel = window.position_of({window.lane(TrackKind::kKernels), 0});
  window.move({-1, -1});
  const QImage picture = window.picture();
  const double ratio = picture.devicePixelRatio();
  REQUIRE(picture.width() == std::lround(window.canvas->width() * ratio));
  const auto x_at = [&](Nanoseconds time) { return static_cast<int>(window.viewport().x_at(time) * ratio); };
  int y = static_cast<int>(std::lround(kernel.y() * ratio));
  const QColor inside = picture.pixelColor(x_at(290'000), y);
  while (picture.pixelColor(x_at(290'000), y + 1) == inside) ++y;  // the last line of the box: below all letters
  int blended = 0, filled = 0;
  for (int x = x_at(100'000) - 6; x < x_at(300'000) + 6; ++x) {
    const QColor color = picture.pixelColor(x, y);
    if (color == inside)
      ++filled;
    else if (color != window.view->palette().color(QPalette::Base))
      ++blended;
  }
  REQUIRE(filled >= x_at(300'000) - x_at(100'000) - 4);
  REQUIRE(blended <= 5);  // two on each side for fractions of a pixel and the edge, and a line of the grid
}

// Fonts with Chinese letters have higher lines than fonts with only Latin ones.
TEST_CASE("letters of a name stand on one line with those of other names, whatever scripts are in it") {
  Window window;
  if (QFontDatabase::families(QFontDatabase::SimplifiedChinese).isEmpty()) {
    WARN("no font with Chinese letters is installed");
    return;
  }
  test::SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(0, 400'000, "HH"), small.event(500'000, 900'000, "HH\u8bad\u7ec3")});
  window.view->setTrace(small.builder.snapshot());
  const LaneId lane = window.lane(TrackKind::kNvtxRanges);
  const double y = window.position_of({lane, 0}).y();
  const QImage picture = window.picture();
  const int width = QFontMetrics(window.canvas->font()).horizontalAdvance("HH");
  // The lines that contain the first two letters of the range.
  const auto lines = [&](EventIndex index) {
    const int left = static_cast<int>(window.viewport().x_at(window.view->trace()->event({lane, index}).start)) + 2;
    const QColor box = Window::color_at(picture, {left + 150.0, y});
    std::set<int> found;
    for (int line = static_cast<int>(y) - 20; line < static_cast<int>(y) + 20; ++line)
      for (int x = left; x < left + width; ++x) {
        const QColor pixel = Window::color_at(picture, {static_cast<double>(x), static_cast<double>(line)});
        if (Window::color_at(picture, {left + 150.0, static_cast<double>(line)}) == box && pixel.lightness() < box.lightness() - 90) found.insert(line);
      }
    return found;
  };
  CHECK(lines(0).size() >= 6);
  CHECK(lines(1) == lines(0));
}

TEST_CASE("what is written can be read, in light and in dark") {
  struct Look {
    QColor base, text;
  };
  const Look look = GENERATE(Look{QColor(0xff, 0xff, 0xff), QColor(0x1d, 0x21, 0x27)}, Look{QColor(0x1a, 0x1d, 0x22), QColor(0xd9, 0xdd, 0xe3)});
  QPalette palette;
  palette.setColor(QPalette::Base, look.base);
  palette.setColor(QPalette::Text, look.text);
  const Theme theme = Theme::from(palette, QFont());
  for (const QColor& written : {theme.text, theme.quiet_text})
    for (const QColor& behind : {theme.background, theme.group, theme.panel, theme.separator, theme.current})
      REQUIRE(contrast(written.rgb(), behind.rgb()) >= 4.5);
  REQUIRE(contrast(theme.marker.rgb(), theme.panel.rgb()) >= 4.5);
  REQUIRE(contrast(text_color_on(theme.accent.rgb()), theme.accent.rgb()) >= 4.5);
  for (const QColor& line : {theme.accent, theme.marker}) REQUIRE(contrast(line.rgb(), theme.background.rgb()) >= 3);  // WCAG requires this for lines
}

TEST_CASE("the stack chart of a thread is opened, hovered, clicked and zoomed into") {
  Window window;
  test::SmallTrace program;
  const NameId module = program.builder.intern("/usr/bin/program");
  const auto call = [&](CallNodeId caller, const char* function, std::uint64_t address) {
    return program.builder.call_node(
        {caller, program.builder.code_location({CodeKind::kNative, module, 0, address}, {program.builder.intern(function), 0, 0})});
  };
  const CallNodeId main_call = call(0, "main", 1), work = call(main_call, "work", 2);
  std::vector<SampleEvent> samples;
  for (Nanoseconds time = 0; time < 1'000'000; time += 10'000)
    samples.push_back({time, 0, {time >= 400'000 && time < 600'000 ? work : main_call, SampleOrigin::kTimer, 0, 10'000}});
  add_samples(program.builder, program.process, 4711, samples);
  window.view->setTrace(program.builder.snapshot());
  const QString chart = "process:1/thread:4711/stacks";
  REQUIRE(window.view->rows().find(chart.toStdString()));
  const auto row = [&] {
    QApplication::processEvents();
    const QAccessibleInterface* rows = QAccessible::queryAccessibleInterface(window.canvas);
    for (int i = 0; i < rows->childCount(); ++i)
      if (rows->child(i)->text(QAccessible::Name) == "Stack chart")
        return QRect(window.canvas->mapFromGlobal(rows->child(i)->rect().topLeft()), rows->child(i)->rect().size());
    return QRect();
  };
  const int closed = row().height();
  window.view->expandRow(chart);
  const QRect opened = row();
  CHECK(opened.height() > closed);  // two levels
  const auto at = [&](Nanoseconds time, double level) {
    return QPoint(static_cast<int>(window.viewport().x_at(time)), opened.top() + static_cast<int>(opened.height() * (level + 0.5) / 2));
  };
  const auto hover = [&](QPoint place) {
    QHelpEvent help(QEvent::ToolTip, place, window.canvas->mapToGlobal(place));
    QApplication::sendEvent(window.canvas, &help);
    return QToolTip::text();
  };
  CHECK(hover(at(505'000, 0)).contains("main"));
  CHECK(hover(at(505'000, 0)).contains("in 100 samples"));
  CHECK(hover(at(505'000, 1)).contains("work"));
  CHECK(hover(at(505'000, 1)).contains("200.000 µs, in 20 samples"));
  window.click(at(205'000, 1));  // nothing is known there
  CHECK_FALSE(window.view->selectedEvent().valid());
  const QImage picture = window.picture();
  CHECK(Window::color_at(picture, at(455'000, 1)) != Window::color_at(picture, at(205'000, 1)));

  window.click(at(505'000, 1));
  CHECK(window.view->selectedEvent() == EventRef{window.lane(TrackKind::kCpuSamples), 40});  // the first sample of the call
  window.mouse(window.canvas, QEvent::MouseButtonDblClick, at(505'000, 1), Qt::LeftButton);
  CHECK(window.view->visibleRange().begin < 400'000);
  CHECK(window.view->visibleRange().begin > 300'000);
  CHECK(window.view->visibleRange().end > 600'000);
  CHECK(window.view->visibleRange().end < 700'000);
}
