#include "row_header.h"

#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "timeline/core/format.h"

namespace lanescope::timeline {
namespace {

constexpr double kIndent = 13;
constexpr double kLeft = 6;
constexpr double kTriangle = 8;
constexpr double kRightInset = 8;

bool keeps_gpu_busy(RowKind kind) { return kind < RowKind::kProcesses && kind != RowKind::kSynchronization; }

}  // namespace

RowHeader::RowHeader(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMouseTracking(true);
  setAccessibleName(tr("Row names"));
  const auto repaint_all = [this] { update(); };
  for (const auto signal : {&ViewState::traceChanged, &ViewState::layoutChanged, &ViewState::themeChanged, &ViewState::rangeChanged,
                            &ViewState::scrollChanged, &ViewState::selectionChanged, &ViewState::selectedRangeChanged})
    connect(&state_, signal, this, repaint_all);
}

const PlacedRow* RowHeader::row_at(QPointF position) const {
  return state_.layout().row_at(static_cast<int>(position.y()) + state_.scroll());
}

double RowHeader::triangle_left(const Row& row) const { return kLeft + row.depth * kIndent; }

void RowHeader::toggle(const PlacedRow& placed) {
  const Row& row = state_.tree().row(placed.row);
  if (row.expandable()) state_.set_expanded(row.key, !state_.is_row_expanded(row));
}

void RowHeader::mousePressEvent(QMouseEvent* event) {
  const PlacedRow* placed = row_at(event->position());
  if (placed == nullptr || event->button() != Qt::LeftButton) return;
  const double left = triangle_left(state_.tree().row(placed->row));
  if (event->position().x() < left + kTriangle + 4) toggle(*placed);
}

void RowHeader::mouseDoubleClickEvent(QMouseEvent* event) {
  const PlacedRow* placed = row_at(event->position());
  if (placed == nullptr || event->button() != Qt::LeftButton) return;
  toggle(*placed);  // on the triangle, it is the second click of two
}

void RowHeader::mouseMoveEvent(QMouseEvent* event) {
  const PlacedRow* placed = row_at(event->position());
  const std::optional<RowIndex> row = placed ? std::optional(placed->row) : std::nullopt;
  if (row == hovered_) return;
  hovered_ = row;
  update();
}

void RowHeader::leaveEvent(QEvent*) {
  hovered_.reset();
  update();
}

void RowHeader::wheelEvent(QWheelEvent* event) {
  state_.set_scroll(state_.scroll() - event->angleDelta().y() / 2);
  event->accept();
}

void RowHeader::contextMenuEvent(QContextMenuEvent* event) {
  if (const PlacedRow* placed = row_at(event->pos())) emit contextMenuRequested(placed->row, event->globalPos());
}

QString RowHeader::busy_text(const Row& row) {
  if (!keeps_gpu_busy(row.kind) || row.all.empty()) return {};
  if (row.kind == RowKind::kGpu && state_.is_row_expanded(row)) return {};  // the row below says it
  const TimeRange range = state_.selected_range().value_or(state_.range()).intersected(state_.trace().extent());
  if (range.empty()) return {};
  const Nanoseconds busy = state_.content(row.all).busy(range);
  return QString::fromStdString(format_share(static_cast<double>(busy) / static_cast<double>(range.length())));
}

bool RowHeader::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const PlacedRow* placed = row_at(help->pos());
  if (placed == nullptr) return true;
  const Row& row = state_.tree().row(placed->row);
  QString text = QString::fromStdString(row_title(row));
  if (!row.all.empty()) {
    const TimeRange range = state_.selected_range().value_or(state_.range()).intersected(state_.trace().extent());
    const LevelContent& content = state_.content(row.all);
    text += tr("\n%1 events, busy for %2 of %3")
                .arg(QString::fromStdString(format_count(content.count(range))),
                     QString::fromStdString(format_duration(content.busy(range))), QString::fromStdString(format_duration(range.length())));
    text += state_.selected_range() ? tr(" selected") : tr(" visible");
  }
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

bool RowHeader::holds_selection(const PlacedRow& placed) const {
  const auto holds = [&](EventRef event) {
    if (!event.valid()) return false;
    const auto place = state_.tree().place_of(event.lane);
    return place && state_.layout().nearest_shown(place->row) == &placed;
  };
  return holds(state_.selected()) || std::any_of(state_.correlated().begin(), state_.correlated().end(), holds);
}

void RowHeader::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), state_.theme().panel);
  for (const PlacedRow& placed : state_.layout().rows()) {
    const int top = placed.top - state_.scroll();
    if (top + placed.height > 0 && top < height()) paint_row(painter, placed);
  }
  painter.fillRect(QRect(width() - 1, 0, 1, height()), state_.theme().separator);
}

void RowHeader::paint_row(QPainter& painter, const PlacedRow& placed) {
  const Theme& theme = state_.theme();
  const Row& row = state_.tree().row(placed.row);
  const double top = placed.top - state_.scroll();
  const double title_height = std::min(placed.height - 1, theme.rows.group_height);
  if (hovered_ == placed.row) painter.fillRect(QRectF(0, top, width(), placed.height - 1), theme.separator);
  if (holds_selection(placed)) painter.fillRect(QRectF(0, top, 3, placed.height - 1), theme.accent);
  painter.fillRect(QRectF(0, top + placed.height - 1, width(), 1), theme.separator);

  const double left = triangle_left(row);
  if (row.expandable()) {
    const QPointF middle(left + kTriangle / 2, top + title_height / 2);
    const QPointF open[] = {middle + QPointF(-4, -2), middle + QPointF(4, -2), middle + QPointF(0, 3)};
    const QPointF closed[] = {middle + QPointF(-2, -4), middle + QPointF(-2, 4), middle + QPointF(3, 0)};
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.quiet_text);
    painter.drawPolygon(state_.is_row_expanded(row) ? open : closed, 3);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }

  double right = width() - kRightInset;
  if (const QString busy = busy_text(row); !busy.isEmpty()) {
    painter.setPen(theme.quiet_text);
    painter.drawText(QRectF(0, top, right, title_height), Qt::AlignRight | Qt::AlignVCenter, busy);
    right -= fontMetrics().horizontalAdvance(busy) + 10;
  }
  double text_left = left + kTriangle + 5;
  if (row.share) {
    const QString share = QString::fromStdString(format_share(*row.share)) + " ";
    painter.setPen(theme.quiet_text);
    painter.drawText(QRectF(text_left, top, right - text_left, title_height), Qt::AlignLeft | Qt::AlignVCenter, share);
    text_left += fontMetrics().horizontalAdvance(share) + 2;
  }
  QFont bold = font();
  if (row.depth == 0 || row.kind == RowKind::kProcess) bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(theme.text);
  const QString title =
      QFontMetrics(bold).elidedText(QString::fromStdString(row.label), Qt::ElideRight, static_cast<int>(right - text_left));
  painter.drawText(QRectF(text_left, top, right - text_left, title_height), Qt::AlignLeft | Qt::AlignVCenter, title);
  painter.setFont(font());
}

}  // namespace lanescope::timeline
