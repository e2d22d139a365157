#include "parts/ruler_bar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "input/gestures.h"
#include "timeline/core/pixels/ruler.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

constexpr double kMinorHeight = 4;
constexpr double kMajorHeight = 8;

}  // namespace

RulerBar::RulerBar(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Time axis"));
  const auto repaint_all = [this] { update(); };
  for (const auto signal :
       {&ViewState::themeChanged, &ViewState::rangeChanged, &ViewState::selectedRangeChanged, &ViewState::hoveredTimeChanged, &ViewState::markersChanged})
    connect(&state_, signal, this, repaint_all);
}

QString RulerBar::base() const { return QString::fromStdString(make_ruler(viewport(), kTickSpacing).base); }

Viewport RulerBar::viewport() const { return {state_.range(), std::max(1, width())}; }

void RulerBar::wheelEvent(QWheelEvent* event) {
  const WheelStep step = wheel_step(*event);
  const Viewport view = viewport();
  TimeRange range = zoomed(state_.range(), step.zoom, view.time_at(static_cast<std::int64_t>(event->position().x())));
  state_.navigate(panned(range, static_cast<Nanoseconds>(step.pan * view.step())));
  event->accept();
}

void RulerBar::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  range_anchor_ = viewport().time_at(static_cast<std::int64_t>(event->position().x()));
  state_.selectRange(std::nullopt);
}

void RulerBar::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  const Nanoseconds time = viewport().time_at(static_cast<std::int64_t>(event->position().x()));
  state_.selectRange(TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time)});
}

void RulerBar::contextMenuEvent(QContextMenuEvent* event) { emit contextMenuRequested(viewport().time_at(event->pos().x()), event->globalPos()); }

void RulerBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = state_.theme();
  painter.fillRect(rect(), theme.panel);
  const std::vector<Flag> marks = markerFlags();
  const std::optional<Flag> cursor = cursorFlag();
  std::vector<QRectF> covered;
  for (const Flag& mark : marks) covered.push_back(mark.box);
  if (cursor) covered.push_back(cursor->box);
  if (state_.selectedRange()) covered.push_back(rangeLabel());
  paintTicks(painter, covered);
  for (const Flag& mark : marks) paintFlag(painter, mark, theme.marker);
  paintSelectedRange(painter);
  if (cursor) paintFlag(painter, *cursor, theme.text);
  painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
}

// As much of each text as fits in front of the next marker or the edge; at the edge, a text stands in front of its marker instead, if it is short and there is
// room behind the marker before. There may be thousands of markers with long texts: if the next one is near, a text is not even
// measured.
std::vector<RulerBar::Flag> RulerBar::markerFlags() const {
  constexpr double kLeastText = 20;                        // logical pixels
  constexpr double kEnough = 80, kLongestInFront = 200;    // logical pixels at the edge: of a text behind its marker, and in front of it
  constexpr qsizetype kShortText = 4, kLongestText = 256;  // characters: shorter texts may fit into kLeastText, longer ones are wider than most windows
  std::vector<Flag> flags;
  const std::vector<TimelineView::Marker>& markers = state_.markers();
  for (std::size_t i = 0; i < markers.size(); ++i) {
    const double x = viewport().x_at(markers[i].time);
    if (x < 0 || x > width()) continue;
    const double next = i + 1 < markers.size() ? viewport().x_at(markers[i + 1].time) : std::numeric_limits<double>::max();
    const QString& text = markers[i].text;
    if (next - x < kLeastText && next <= width() && text.size() > kShortText) {
      flags.push_back({x, {}, {}});
      continue;
    }
    Flag flag = flagAt(x, text.size() > kLongestText ? text.left(kLongestText) + QChar(0x2026) : text);
    const double behind = std::min<double>(next, width()) - x;
    const double in_front = std::min(kLongestInFront, x - (i > 0 ? std::max(0.0, viewport().x_at(markers[i - 1].time)) : 0.0));
    const bool is_whole = flag.box.left() > x ? flag.box.right() <= next : next > width() && flag.box.width() <= in_front;
    if (!is_whole) {
      const bool stands_behind = next <= width() || behind >= std::min(kEnough, in_front);
      const double room = stands_behind ? behind : in_front;
      flag.text = room < kLeastText ? QString() : fontMetrics().elidedText(flag.text, Qt::ElideRight, static_cast<int>(room) - 10);
      const double wide = flag.text.isEmpty() ? 0 : room - 2;
      flag.box = QRectF(stands_behind ? x + 1 : x - wide, 1, wide, height() - 3);
    }
    flags.push_back(flag);
  }
  return flags;
}

std::optional<RulerBar::Flag> RulerBar::cursorFlag() const {
  const auto time = state_.hoveredTime();
  if (!time || !state_.range().contains(*time)) return std::nullopt;
  const auto resolution = std::max<Nanoseconds>(1, static_cast<Nanoseconds>(viewport().step()));
  Flag flag = flagAt(viewport().x_at(*time), QString::fromStdString(format_time(*time, resolution)));
  const QRectF length = state_.selectedRange() ? rangeLabel() : QRectF();
  if (!flag.box.intersects(length)) return flag;
  // Beside the duration of the selected range: on the side of the cursor, if there is room.
  const double left = length.left() - flag.box.width(), right = length.right() + 1;
  const bool is_left = flag.x < length.center().x() ? left >= 0 : right + flag.box.width() > width();
  flag.box.moveLeft(is_left ? left : right);
  return flag;
}

RulerBar::Flag RulerBar::flagAt(double x, const QString& text) const {
  if (text.isEmpty()) return {x, text, {}};
  const double width_of_text = fontMetrics().horizontalAdvance(text) + 8;
  const double left = x + width_of_text < width() ? x + 1 : x - width_of_text;
  return {x, text, QRectF(left, 1, width_of_text, height() - 3)};
}

QRectF RulerBar::rangeLabel() const {
  const double text_width = fontMetrics().horizontalAdvance(rangeText()) + 12;
  const TimeRange range = *state_.selectedRange();
  const double left = std::clamp<double>(viewport().x_at(range.begin), -2, width() + 2);
  const double right = std::clamp<double>(viewport().x_at(range.end), -2, width() + 2);
  const double middle = std::clamp((left + right) / 2, text_width / 2, std::max(text_width / 2, width() - text_width / 2));
  return {middle - text_width / 2, 3, text_width, height() - 8.0};
}

// If the range is out of sight, the text shows on which side it is.
QString RulerBar::rangeText() const {
  const TimeRange range = *state_.selectedRange();
  const QString text = QString::fromStdString(format_duration(range.length()));
  if (range.end <= state_.range().begin) return QChar(0x2190) + QStringLiteral(" ") + text;
  return range.begin >= state_.range().end ? text + QStringLiteral(" ") + QChar(0x2192) : text;
}

void RulerBar::paintTicks(QPainter& painter, const std::vector<QRectF>& covered) {
  const Theme& theme = state_.theme();
  const Viewport view = viewport();
  const Ruler ruler = make_ruler(view, kTickSpacing);
  const double bottom = height() - 1;
  if (ruler.minor_step > 0) {
    const Nanoseconds first = ruler.ticks.empty() ? view.range.begin : ruler.ticks.front().time - ruler.step;
    for (Nanoseconds time = first; time <= view.range.end; time += ruler.minor_step)
      painter.fillRect(QRectF(std::floor(view.x_at(time)), bottom - kMinorHeight, 1, kMinorHeight), theme.separator);
  }
  for (const Tick& tick : ruler.ticks) {
    const double x = std::floor(view.x_at(tick.time));
    painter.fillRect(QRectF(x, bottom - kMajorHeight, 1, kMajorHeight), theme.quiet_text);
    const QString label = QString::fromStdString(tick.label);
    const QRectF place(x + 4, 1, fontMetrics().horizontalAdvance(label), height() - 3);
    if (x < 0 || place.right() > width()) continue;
    if (std::any_of(covered.begin(), covered.end(), [&](const QRectF& box) { return box.intersects(place); })) continue;
    painter.setPen(theme.quiet_text);
    painter.drawText(QRectF(x + 4, 0, kTickSpacing, height() - 4), Qt::AlignLeft | Qt::AlignVCenter, label);
  }
}

void RulerBar::paintSelectedRange(QPainter& painter) {
  if (!state_.selectedRange()) return;
  const Theme& theme = state_.theme();
  const TimeRange range = *state_.selectedRange();
  const double left = std::clamp<double>(viewport().x_at(range.begin), -2, width() + 2);
  const double right = std::clamp<double>(viewport().x_at(range.end), -2, width() + 2);
  painter.fillRect(QRectF(left, 0, right - left, height()), theme.range);
  painter.fillRect(QRectF(left, height() - 3, right - left, 2), theme.accent);
  const QRectF pill = rangeLabel();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.accent);
  painter.drawRoundedRect(pill, 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QColor::fromRgb(text_color_on(theme.accent.rgb())));
  painter.drawText(pill, Qt::AlignCenter, rangeText());
}

void RulerBar::paintFlag(QPainter& painter, const Flag& flag, const QColor& color) const {
  painter.fillRect(QRectF(std::floor(flag.x), 0, 1, height()), color);
  if (flag.text.isEmpty()) return;
  painter.fillRect(flag.box, state_.theme().panel);
  painter.setPen(color);
  painter.drawText(flag.box, Qt::AlignCenter, flag.text);
}

}  // namespace lanescope::timeline
