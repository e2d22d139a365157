#include "parts/minimap.h"

#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "input/gestures.h"

namespace lanescope::timeline {
namespace {

constexpr double kNarrowestFrame = 6;  // logical pixels
constexpr int kGrowthInterval = 250;   // ms between two pictures of a growing recording
constexpr double kLoopLine = 3;        // logical pixels: its thickness
constexpr double kRoomOfName = 6;      // logical pixels around the name of a loop

}  // namespace

Minimap::Minimap(ViewState& state, QWidget* parent) : QWidget(parent), state_(state), painter_(font()) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Overview of the whole trace"));
  growth_.setSingleShot(true);
  growth_.setInterval(kGrowthInterval);
  connect(&growth_, &QTimer::timeout, this, &Minimap::followTrace);
  connect(&state_, &ViewState::traceChanged, this, [this](ViewState::Change change) {
    if (change == ViewState::Change::kAnother) return painter_.forget(), followTrace();
    if (!growth_.isActive()) growth_.start();
    update();  // the frame has moved
  });
  connect(&state_, &ViewState::themeChanged, this, [this] {
    painter_.forget();
    followTrace();
  });
  connect(&state_, &ViewState::highlightChanged, this, &Minimap::followTrace);
  connect(&state_, &ViewState::pictureMade, this, &Minimap::followTrace);
  const auto frame_changed = [this] { update(); };
  connect(&state_, &ViewState::rangeChanged, this, frame_changed);
  connect(&state_, &ViewState::selectedRangeChanged, this, frame_changed);
  connect(&state_, &ViewState::loopChanged, this, [this] {
    QStringList titles;
    for (const TimelineView::Loop& loop : state_.loops()) titles << loop.title;
    setToolTip(titles.isEmpty() ? QString() : tr("The loop is marked: %1").arg(titles.join(QStringLiteral("; "))));
    update();
  });
}

void Minimap::followTrace() {
  trace_is_current_ = false;
  update();
}

Viewport Minimap::viewport() const { return {state_.bounds(), std::max(1, width())}; }

void Minimap::resizeEvent(QResizeEvent*) { trace_is_current_ = false; }

void Minimap::centreAt(double x) {
  const TimeRange range = state_.range();
  const Nanoseconds middle = viewport().time_at(static_cast<std::int64_t>(x));
  state_.navigate(panned(range, middle - (range.begin + range.length() / 2)));
}

void Minimap::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) centreAt(event->position().x());
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) centreAt(event->position().x());
}

void Minimap::wheelEvent(QWheelEvent* event) {
  const TimeRange range = state_.range();
  state_.navigate(zoomed(range, wheel_step(*event).zoom, range.begin + range.length() / 2));
  event->accept();
}

void Minimap::contextMenuEvent(QContextMenuEvent* event) { emit contextMenuRequested(viewport().time_at(event->pos().x()), event->globalPos()); }

void Minimap::paintTrace(double ratio) {
  growth_.stop();
  painted_ = state_.bounds();
  trace_ =
      QImage(std::max(1, static_cast<int>(std::lround(width() * ratio))), std::max(1, static_cast<int>(std::lround(height() * ratio))), QImage::Format_RGB32);
  trace_.setDevicePixelRatio(ratio);
  trace_.fill(state_.theme().panel);
  const std::vector<Level> levels = overview(state_.tree());
  std::vector<const Level*> painted;
  for (const Level& level : levels) painted.push_back(&level);
  const Viewport whole = Viewport{painted_, trace_.width()}.on_grid();
  const Painted overview_levels = state_.painted(Pane::kOverview, painted, whole);
  const int inset = static_cast<int>(std::lround(3 * ratio));
  const int room = trace_.height() - 2 * inset;
  const std::vector<Rgb> background(static_cast<std::size_t>(trace_.width()), state_.theme().panel.rgb());
  for (std::size_t index = 0; index < levels.size(); ++index) {
    const int top = inset + room * static_cast<int>(index) / static_cast<int>(levels.size());
    const int bottom = inset + room * static_cast<int>(index + 1) / static_cast<int>(levels.size());
    painter_.paintLevel(state_, *overview_levels.rasterizer, *overview_levels.contents[index], whole, trace_, top, bottom - top - 1, background);
  }
  trace_is_current_ = true;
}

// A line along the time of each loop, with its name if the whole name fits: that of a single loop beside the frame, others above their lines.
void Minimap::paintLoops(QPainter& painter, double frame_left, double frame_right) const {
  const Theme& theme = state_.theme();
  const Viewport view = viewport();
  double first = frame_left, last = frame_right;
  for (const TimelineView::Loop& loop : state_.loops()) {
    const double left = view.x_at(loop.range.begin), right = view.x_at(loop.range.end);
    painter.fillRect(QRectF(left, height() - kLoopLine - 2, std::max(2.0, right - left), kLoopLine), theme.marker);
    first = std::min(first, left);
    last = std::max(last, right);
  }
  if (state_.loops().size() == 1) {
    const QString& title = state_.loops().front().title;
    const double room = fontMetrics().horizontalAdvance(title) + 2 * kRoomOfName;
    const double y = height() - fontMetrics().height() - 3.0;
    if (first >= room) return paintName(painter, {first - room + kRoomOfName / 2, y}, room - kRoomOfName, title);
    if (width() - last >= room) return paintName(painter, {last + kRoomOfName / 2, y}, room - kRoomOfName, title);
  }
  for (std::size_t i = 0; i < state_.loops().size(); ++i) {
    const double left = std::max(0.0, view.x_at(state_.loops()[i].range.begin));
    double end = width();  // of the room for the name
    for (const TimelineView::Loop& other : state_.loops())
      if (const double begin = view.x_at(other.range.begin); begin > left) end = std::min(end, begin);
    const QString& title = state_.loops()[i].title;  // whole or not at all: without its end, it would say another number of iterations
    const double width = fontMetrics().horizontalAdvance(title) + kRoomOfName;
    if (left + width + kRoomOfName <= end) paintName(painter, {left + kRoomOfName / 2, height() - kLoopLine - 3.0 - fontMetrics().height()}, width, title);
  }
}

void Minimap::paintName(QPainter& painter, QPointF at, double width, const QString& name) const {
  const QRectF place(at, QSizeF(width, fontMetrics().height()));
  QColor ground = state_.theme().panel;
  ground.setAlpha(200);
  painter.fillRect(place, ground);
  painter.setPen(state_.theme().marker);
  painter.drawText(place, Qt::AlignCenter, name);
}

void Minimap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double ratio = painter.device()->devicePixelRatioF();  // of the screen, or of a picture
  if (!trace_is_current_ || trace_.devicePixelRatio() != ratio) paintTrace(ratio);
  const Theme& theme = state_.theme();
  const Viewport view = viewport();
  if (painted_ == state_.bounds()) {
    painter.drawImage(QPointF(0, 0), trace_);
  } else {  // the recording has grown since
    painter.fillRect(rect(), theme.panel);
    const double left = view.x_at(painted_.begin);
    painter.drawImage(QRectF(left, 0, view.x_at(painted_.end) - left, height()), trace_);
  }
  if (const auto range = state_.selectedRange())
    painter.fillRect(QRectF(view.x_at(range->begin), 0, std::max(1.0, view.x_at(range->end) - view.x_at(range->begin)), height()), theme.range);
  const double middle = (view.x_at(state_.range().begin) + view.x_at(state_.range().end)) / 2;
  const double half = std::max(kNarrowestFrame, view.x_at(state_.range().end) - view.x_at(state_.range().begin)) / 2;
  const double left = std::max(0.0, std::floor(middle - half));
  const double right = std::min<double>(width(), std::ceil(middle + half));
  QColor shade = theme.panel;
  shade.setAlpha(165);
  painter.fillRect(QRectF(0, 0, left, height()), shade);
  painter.fillRect(QRectF(right, 0, width() - right, height()), shade);
  painter.setPen(theme.accent);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(left, 0, right - left - 1, height() - 2));
  const bool shows_all = left <= 0 && right >= width();
  paintLoops(painter, shows_all ? width() : left, shows_all ? 0 : right);
  painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
}

}  // namespace lanescope::timeline
