#include "fleet/heat_map_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

namespace lanescope::ui {
namespace {

constexpr int kSpace = 6;          // pixels
constexpr int kLongestLabel = 80;  // characters that are drawn at most

}  // namespace

HeatMapView::HeatMapView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Ranks by steps"));
}

void HeatMapView::setMap(const FleetMap* map) {
  map_ = map;
  const bool fits =
      map_ != nullptr && column_ < columnCount() && std::all_of(rows_.begin(), rows_.end(), [&](int row) { return row < static_cast<int>(map_->rows.size()); });
  if (!fits) {
    column_ = -1;
    rows_.clear();
  }
  measure();
  fitScrollBar();
  viewport()->update();
  emit chosen();
}

void HeatMapView::measure() {
  low_ = high_ = 0;
  label_width_ = 0;
  if (map_ == nullptr) return;
  const QFontMetricsF metrics(font());  // with fractions: a width in whole pixels may be a fraction too small, and the label would be elided
  for (const FleetRow& row : map_->rows) {
    label_width_ = std::max(label_width_, static_cast<int>(std::ceil(metrics.horizontalAdvance(row.label.left(kLongestLabel)))) + 2 * kSpace);
    for (const double value : row.values)
      if (std::isfinite(value)) {
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
      }
  }
}

int HeatMapView::rowHeight() const { return fontMetrics().height() + 2; }
int HeatMapView::columnCount() const { return map_ == nullptr ? 0 : static_cast<int>(map_->columns.size()); }

QRect HeatMapView::rectangle(int row, int column) const {
  const int left = labelWidth(), width = viewport()->width() - left - kSpace;
  const auto edge = [&](int at) { return left + static_cast<int>(static_cast<qint64>(width) * at / std::max(1, columnCount())); };
  const int top = row * rowHeight() - verticalScrollBar()->value();
  return {edge(column), top, std::max(1, edge(column + 1) - edge(column)), rowHeight()};
}

std::optional<HeatMapView::Cell> HeatMapView::cellAt(QPoint position) const {
  if (columnCount() == 0) return std::nullopt;
  const int row = (position.y() + verticalScrollBar()->value()) / rowHeight();
  const int left = labelWidth(), width = viewport()->width() - left - kSpace;
  if (position.y() < 0 || row >= static_cast<int>(map_->rows.size()) || position.x() < left || position.x() >= left + width || width <= 0) return std::nullopt;
  // The inverse of rectangle(): the last column that starts at or before the pixel.
  int column = static_cast<int>(static_cast<qint64>(position.x() - left) * columnCount() / width);
  while (column + 1 < columnCount() && rectangle(row, column + 1).left() <= position.x()) ++column;
  return Cell{row, std::min(column, columnCount() - 1)};
}

// From the background over the highlight to the colour of text: lightness changes in one direction, so that it can be read without colours, too.
QColor HeatMapView::colorOf(double value) const {
  const double share = high_ > low_ ? (value - low_) / (high_ - low_) : 0;
  const QColor stops[] = {palette().color(QPalette::AlternateBase), palette().color(QPalette::Highlight), palette().color(QPalette::Text)};
  const double place = std::clamp(share, 0.0, 1.0) * 2;
  const int from = place < 1 ? 0 : 1;
  const double part = place - from;
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * part)); };
  const QColor &a = stops[from], &b = stops[from + 1];
  return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

void HeatMapView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().base());
  if (columnCount() == 0) return;
  const int left = labelWidth();
  const int first = verticalScrollBar()->value() / rowHeight();
  const int last = std::min(static_cast<int>(map_->rows.size()), first + viewport()->height() / rowHeight() + 2);
  for (int row = first; row < last; ++row) {
    const FleetRow& shown = map_->rows[static_cast<std::size_t>(row)];
    const QRect place = rectangle(row, 0);
    painter.setPen(palette().color(QPalette::Text));
    const QString label = fontMetrics().elidedText(shown.label.left(kLongestLabel), Qt::ElideRight, left - 2 * kSpace);
    painter.drawText(QRect(kSpace, place.top(), left - 2 * kSpace, rowHeight()), Qt::AlignVCenter | Qt::AlignRight, label);
    double largest = std::numeric_limits<double>::quiet_NaN();  // among the columns in the pixel
    for (int column = 0; column < columnCount(); ++column) {
      const double value = shown.values[static_cast<std::size_t>(column)];
      if (std::isfinite(value) && !(largest >= value)) largest = value;
      const QRect cell = rectangle(row, column);
      if (column + 1 < columnCount() && rectangle(row, column + 1).left() == cell.left()) continue;
      if (std::isfinite(largest)) painter.fillRect(cell.adjusted(0, 1, cell.width() > 3 ? -1 : 0, 0), colorOf(largest));
      largest = std::numeric_limits<double>::quiet_NaN();
    }
  }
  if (column_ < 0) return;
  // Two frames in different colours: at least one of them differs from the cell's colour.
  for (const int row : rows_) {
    const QRect place = rectangle(row, column_).adjusted(-1, 0, 0, 0);
    painter.setPen(QPen(palette().color(QPalette::Text), 2));
    painter.drawRect(place);
    painter.setPen(palette().color(QPalette::Base));
    if (place.width() > kSpace) painter.drawRect(place.adjusted(1, 1, -2, -2));
  }
}

void HeatMapView::fitScrollBar() {
  const int all = map_ == nullptr ? 0 : static_cast<int>(std::min<std::size_t>(map_->rows.size(), 1u << 20)) * rowHeight();
  verticalScrollBar()->setRange(0, std::max(0, all - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(rowHeight());
}

void HeatMapView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  fitScrollBar();
}

void HeatMapView::choose(int row, int column) {
  rows_ = {row};
  column_ = column;
  scrollTo(row);
  viewport()->update();
  emit chosen();
}

void HeatMapView::toggle(int row) {
  if (column_ < 0) return;
  const auto found = std::find(rows_.begin(), rows_.end(), row);
  if (found != rows_.end() && rows_.size() > 1) {
    rows_.erase(found);
  } else if (found == rows_.end()) {
    rows_.push_back(row);
  }
  viewport()->update();
  emit chosen();
}

void HeatMapView::chooseUpTo(int row) {
  if (column_ < 0) return;
  rows_.resize(1);
  for (int between = rows_.front(); between != row;) rows_.push_back(between += between < row ? 1 : -1);
  viewport()->update();
  emit chosen();
}

void HeatMapView::scrollTo(int row) {
  const QRect place = rectangle(row, 0);
  QScrollBar* bar = verticalScrollBar();
  if (place.top() < 0) bar->setValue(bar->value() + place.top());
  if (place.bottom() > viewport()->height()) bar->setValue(bar->value() + place.bottom() - viewport()->height());
}

void HeatMapView::mousePressEvent(QMouseEvent* event) {
  const std::optional<Cell> cell = cellAt(event->position().toPoint());
  if (!cell || event->button() != Qt::LeftButton) return QAbstractScrollArea::mousePressEvent(event);
  if ((event->modifiers() & Qt::ControlModifier) != 0 && column_ >= 0)
    toggle(cell->row);
  else if ((event->modifiers() & Qt::ShiftModifier) != 0 && column_ >= 0)
    chooseUpTo(cell->row);
  else
    choose(cell->row, cell->column);
}

void HeatMapView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && cellAt(event->position().toPoint())) emit activated();
}

void HeatMapView::moveBy(int rows, int columns) {
  if (columnCount() == 0) return;
  if (column_ < 0) return choose(0, 0);
  const int row = std::clamp(rows_.front() + rows, 0, static_cast<int>(map_->rows.size()) - 1);
  choose(row, std::clamp(column_ + columns, 0, columnCount() - 1));
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
  const bool is_second = (event->modifiers() & Qt::ControlModifier) != 0;
  if (event->matches(QKeySequence::SelectAll) && column_ >= 0) {
    choose(0, column_);
    return chooseUpTo(static_cast<int>(map_->rows.size()) - 1);
  }
  switch (event->key()) {
    case Qt::Key_Left:
      return moveBy(0, -1);
    case Qt::Key_Right:
      return moveBy(0, 1);
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const int step = event->key() == Qt::Key_Up ? -1 : 1;
      if (!is_second || rows_.empty()) return moveBy(step, 0);
      // With Ctrl, the second rank moves.
      const int other = std::clamp(rows_.back() + step, 0, static_cast<int>(map_->rows.size()) - 1);
      if (other == rows_.front()) return;
      rows_.resize(1);
      toggle(other);
      return scrollTo(other);
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (column_ >= 0) emit activated();
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

QString HeatMapView::toolTipOf(int row, int column) const {
  const FleetRow& shown = map_->rows[static_cast<std::size_t>(row)];
  const double value = shown.values[static_cast<std::size_t>(column)];
  const QString said = std::isfinite(value) ? QString::number(value, 'g', 4) + u' ' + map_->unit : tr("not known");
  return tr("%1, step %2: %3").arg(shown.label, map_->columns[column], said);
}

bool HeatMapView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const std::optional<Cell> cell = cellAt(help->pos());
  // Escaped, because labels come from a file.
  if (cell)
    QToolTip::showText(help->globalPos(), QStringLiteral("<p>%1</p>").arg(toolTipOf(cell->row, cell->column).toHtmlEscaped()), viewport());
  else
    QToolTip::hideText();
  return true;
}

}  // namespace lanescope::ui
