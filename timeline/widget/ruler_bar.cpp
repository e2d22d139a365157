#include "ruler_bar.h"

#include <algorithm>
#include <cmath>

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "gestures.h"
#include "timeline/core/format.h"
#include "timeline/core/ruler.h"

namespace lanescope::timeline {
namespace {

constexpr double kMinorHeight = 4;
constexpr double kMajorHeight = 8;

}  // namespace

RulerBar::RulerBar(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Time axis"));
  const auto repaint_all = [this] { update(); };
  for (const auto signal : {&ViewState::themeChanged, &ViewState::rangeChanged, &ViewState::selectedRangeChanged,
                            &ViewState::hoveredTimeChanged, &ViewState::markersChanged})
    connect(&state_, signal, this, repaint_all);
}

QString RulerBar::base() const { return QString::fromStdString(make_ruler(viewport(), kTickSpacing).base); }

Viewport RulerBar::viewport() const { return {state_.range(), std::max(1, width())}; }

void RulerBar::wheelEvent(QWheelEvent* event) {
  const WheelStep step = wheel_step(*event);
  const Viewport view = viewport();
  state_.set_follow(FollowLive::kNo);
  TimeRange range = zoomed(state_.range(), step.zoom, view.time_at(static_cast<std::int64_t>(event->position().x())));
  state_.set_range(panned(range, static_cast<Nanoseconds>(step.pan * view.step())));
  event->accept();
}

void RulerBar::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  range_anchor_ = viewport().time_at(static_cast<std::int64_t>(event->position().x()));
  state_.select_range(std::nullopt);
}

void RulerBar::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  const Nanoseconds time = viewport().time_at(static_cast<std::int64_t>(event->position().x()));
  state_.select_range(TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time)});
}

void RulerBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = state_.theme();
  painter.fillRect(rect(), theme.panel);
  paint_ticks(painter);
  for (const TimelineView::Marker& marker : state_.markers()) paint_flag(painter, viewport().x_at(marker.time), marker.text, theme.marker);
  paint_selected_range(painter);
  if (const auto time = state_.hovered_time()) {
    const auto resolution = static_cast<Nanoseconds>(viewport().step());
    paint_flag(painter, viewport().x_at(*time), QString::fromStdString(format_time(*time, std::max<Nanoseconds>(1, resolution))),
               theme.text);
  }
  painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
}

void RulerBar::paint_ticks(QPainter& painter) {
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
    if (x < 0 || x + 4 + fontMetrics().horizontalAdvance(label) > width()) continue;
    painter.setPen(theme.quiet_text);
    painter.drawText(QRectF(x + 4, 0, kTickSpacing, height() - 4), Qt::AlignLeft | Qt::AlignVCenter, label);
  }
}

void RulerBar::paint_selected_range(QPainter& painter) {
  if (!state_.selected_range()) return;
  const Theme& theme = state_.theme();
  const TimeRange range = *state_.selected_range();
  const double left = std::clamp<double>(viewport().x_at(range.begin), -2, width() + 2);
  const double right = std::clamp<double>(viewport().x_at(range.end), -2, width() + 2);
  painter.fillRect(QRectF(left, 0, right - left, height()), theme.range);
  painter.fillRect(QRectF(left, height() - 3, right - left, 2), theme.accent);
  const QString text = QString::fromStdString(format_duration(range.length()));
  const double text_width = fontMetrics().horizontalAdvance(text) + 12;
  const double middle = std::clamp((left + right) / 2, text_width / 2, std::max(text_width / 2, width() - text_width / 2));
  const QRectF pill(middle - text_width / 2, 3, text_width, height() - 8);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.accent);
  painter.drawRoundedRect(pill, 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QColor::fromRgb(text_color_on(theme.accent.rgb())));
  painter.drawText(pill, Qt::AlignCenter, text);
}

void RulerBar::paint_flag(QPainter& painter, double x, const QString& text, const QColor& color) {
  if (x < 0 || x > width()) return;
  const Theme& theme = state_.theme();
  painter.fillRect(QRectF(std::floor(x), 0, 1, height()), color);
  const double text_width = fontMetrics().horizontalAdvance(text) + 8;
  if (text.isEmpty()) return;
  const double left = x + text_width < width() ? x + 1 : x - text_width;
  const QRectF box(left, 1, text_width, height() - 3);
  painter.fillRect(box, theme.panel);
  painter.setPen(color);
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace lanescope::timeline
