#include "kernels/memory_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include "kernels/count_columns.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

using kernels::MemoryLevel;
using kernels::MemoryPlace;
using kernels::MemoryWay;

constexpr int kChartMargin = 8;                 // px
constexpr int kHead = 5;                        // px of an arrow's head
constexpr double kWarmest = 0.75;               // share of the colour at 100 %
constexpr int kColumns = 4;                     // of boxes
constexpr double kThinnest = 1, kThickest = 4;  // px of arrows

// Shared memory is below the L1 cache.
int column_of(MemoryPlace place) {
  switch (place) {
    case MemoryPlace::kKernel:
      return 0;
    case MemoryPlace::kL1:
    case MemoryPlace::kSharedMemory:
      return 1;
    case MemoryPlace::kL2:
      return 2;
    case MemoryPlace::kDram:
      return 3;
  }
  return 0;
}

QString name_of(MemoryPlace place) {
  switch (place) {
    case MemoryPlace::kKernel:
      return QObject::tr("Kernel");
    case MemoryPlace::kL1:
      return QObject::tr("L1 cache");
    case MemoryPlace::kSharedMemory:
      return QObject::tr("Shared");
    case MemoryPlace::kL2:
      return QObject::tr("L2 cache");
    case MemoryPlace::kDram:
      return QObject::tr("DRAM");
  }
  return {};
}

QString amount_of(const MemoryWay& way) {
  const auto count = static_cast<std::uint64_t>(way.amount);
  return QString::fromStdString(way.unit == kernels::ValueUnit::kBytes ? timeline::format_bytes(count) : timeline::format_count(count));
}

// "12.35 MiB" as "12 MiB", "1,234,567" as "1.2 M".
QString rounded_amount_of(const MemoryWay& way) {
  if (way.unit != kernels::ValueUnit::kBytes) return short_number(static_cast<std::uint64_t>(way.amount));
  const QString exact = amount_of(way);
  const qsizetype unit = exact.lastIndexOf(u' ');
  return QString::number(std::lround(exact.left(unit).remove(u',').toDouble())) + exact.mid(unit);
}

QString percent(double value) { return QString::number(value, 'f', value < 9.95 ? 1 : 0) + QStringLiteral(" %"); }

QString words_of(const MemoryWay& way) { return shown_text(way.what) + u' ' + amount_of(way); }

QString words_of(const MemoryLevel& level) {
  QStringList lines{name_of(level.place)};
  if (level.hit_rate) lines += QObject::tr("hits %1").arg(percent(*level.hit_rate));
  if (level.use) lines += QObject::tr("busy %1").arg(percent(*level.use));
  return lines.join(u'\n');
}

// The column of boxes at the kernel's end of a way, and the place at its other end.
int first_column(const MemoryWay& way) { return std::min(column_of(way.from), column_of(way.to)); }
MemoryPlace outer_place(const MemoryWay& way) { return column_of(way.from) > column_of(way.to) ? way.from : way.to; }

QColor warmth(const QPalette& palette, std::optional<double> use) {
  QColor colour = palette.color(QPalette::Highlight);
  colour.setAlphaF(static_cast<float>(kWarmest * std::clamp(use.value_or(0) / 100, 0.0, 1.0)));
  return colour;
}

}  // namespace

QString fitting_amount(const MemoryWay& way, const QFontMetrics& metrics, int room) {
  for (const QString& text : {amount_of(way), rounded_amount_of(way)})
    if (metrics.horizontalAdvance(text) <= room) return text;
  return {};
}

MemoryChart::MemoryChart(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Memory chart"));
  setBackgroundRole(QPalette::Base);
  setAutoFillBackground(true);
}

void MemoryChart::setTraffic(kernels::MemoryTraffic traffic) {
  traffic_ = std::move(traffic);
  QStringList said;
  for (const MemoryLevel& level : traffic_.levels) said += words_of(level).replace(u'\n', u' ');
  for (const MemoryWay& way : traffic_.ways) said += tr("%1 to %2: %3").arg(name_of(way.from), name_of(way.to), words_of(way));
  setAccessibleDescription(said.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

// The name of a way, its arrow, and its amount.
int MemoryChart::rowHeight() const { return 2 * fontMetrics().height() + kHead + 2; }
QSize MemoryChart::minimumSizeHint() const { return {fontMetrics().averageCharWidth() * 50, 4 * rowHeight() + 2 * kChartMargin}; }
QSize MemoryChart::sizeHint() const { return {fontMetrics().averageCharWidth() * 90, 6 * rowHeight() + 2 * kChartMargin}; }

const MemoryLevel* MemoryChart::level(MemoryPlace place) const {
  const auto found = std::find_if(traffic_.levels.begin(), traffic_.levels.end(), [place](const MemoryLevel& one) { return one.place == place; });
  return found != traffic_.levels.end() ? &*found : nullptr;
}

// Boxes are as wide as their texts; the columns of arrows share the remaining width according to their texts. Ways are in rows; ways to shared memory are below
// those to the L1 cache.
MemoryChart::Layout MemoryChart::layOut() const {
  std::array<int, kColumns> boxes{}, wanted{};
  const auto width_of = [this](const QString& text) {
    int widest = 0;
    for (const QString& line : text.split(u'\n')) widest = std::max(widest, fontMetrics().horizontalAdvance(line));
    return widest + kChartMargin;
  };
  boxes[0] = width_of(name_of(MemoryPlace::kKernel));
  for (const MemoryLevel& one : traffic_.levels)
    boxes[static_cast<std::size_t>(column_of(one.place))] = std::max(boxes[static_cast<std::size_t>(column_of(one.place))], width_of(words_of(one)));
  int rows_of_l1 = 0, rows_of_shared = 0;
  for (const MemoryWay& way : traffic_.ways) {
    int& column = wanted[static_cast<std::size_t>(first_column(way))];
    column = std::max(column, width_of(shown_text(way.what) + u'\n' + amount_of(way)) + 2 * kHead);
    if (first_column(way) == 0) ++(outer_place(way) == MemoryPlace::kSharedMemory ? rows_of_shared : rows_of_l1);
  }
  int all_boxes = 0, all_wanted = 0;
  for (const int box : boxes) all_boxes += box;
  for (const int way : wanted) all_wanted += way;
  const int room = std::max(0, width() - 2 * kChartMargin - all_boxes);
  std::array<int, kColumns + 1> left{kChartMargin};  // of each box
  for (std::size_t i = 0; i < kColumns; ++i) left[i + 1] = left[i] + boxes[i] + (all_wanted > 0 ? room * wanted[i] / all_wanted : 0);

  const int height_of_all = std::max(1, height() - 2 * kChartMargin);
  const int rows = std::max(1, rows_of_l1 + rows_of_shared);
  const int upper = rows_of_shared == 0 ? height_of_all : height_of_all * rows_of_l1 / rows;  // px of the part of the L1 cache
  Layout layout;
  const auto box = [&](MemoryPlace place, int top, int bottom) {
    const auto column = static_cast<std::size_t>(column_of(place));
    layout.boxes.push_back({place, QRect(left[column], kChartMargin + top, boxes[column], bottom - top)});
  };
  box(MemoryPlace::kKernel, 0, height_of_all);
  if (level(MemoryPlace::kL1) != nullptr) box(MemoryPlace::kL1, 0, upper - (rows_of_shared > 0 ? kChartMargin / 2 : 0));
  if (level(MemoryPlace::kSharedMemory) != nullptr) box(MemoryPlace::kSharedMemory, upper + (rows_of_l1 > 0 ? kChartMargin / 2 : 0), height_of_all);
  const int outer = rows_of_l1 > 0 ? upper : height_of_all;
  for (const MemoryPlace place : {MemoryPlace::kL2, MemoryPlace::kDram})
    if (level(place) != nullptr) box(place, 0, outer - (rows_of_shared > 0 && rows_of_l1 > 0 ? kChartMargin / 2 : 0));

  // The ways of a column between two boxes share the height of the outer box.
  for (const Box& outer_box : layout.boxes) {
    std::vector<const MemoryWay*> ways;
    for (const MemoryWay& way : traffic_.ways)
      if (outer_place(way) == outer_box.place) ways.push_back(&way);
    if (ways.empty()) continue;
    const auto column = static_cast<std::size_t>(first_column(*ways.front()));
    const int begin = left[column] + boxes[column];
    const int step = std::min(rowHeight(), outer_box.rectangle.height() / static_cast<int>(ways.size()));
    int top = outer_box.rectangle.top() + (outer_box.rectangle.height() - step * static_cast<int>(ways.size())) / 2;
    for (const MemoryWay* way : ways) {
      layout.arrows.push_back({way, QRect(begin, top, left[column + 1] - begin, step)});
      top += step;
    }
  }
  return layout;
}

void MemoryChart::paint(QPainter& painter, const Box& box) const {
  const MemoryLevel* const of = level(box.place);
  painter.setPen(palette().color(QPalette::Mid));
  painter.setBrush(warmth(palette(), of != nullptr ? of->use : std::nullopt));
  painter.drawRect(box.rectangle);
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(box.rectangle, Qt::AlignCenter, of != nullptr ? words_of(*of) : name_of(box.place));
}

void MemoryChart::paint(QPainter& painter, const Arrow& arrow) const {
  const QRect& place = arrow.rectangle;
  const int line = std::min(fontMetrics().height(), place.height());
  const auto write = [&](int top, const QString& text) {
    painter.drawText(QRect(place.left() + kHead, top, place.width() - 2 * kHead, line), Qt::AlignCenter,
                     fontMetrics().elidedText(text, Qt::ElideMiddle, place.width() - 2 * kHead));
  };
  painter.setPen(palette().color(QPalette::Text));
  const bool has_two_lines = place.height() >= rowHeight();
  // If there is no room for a whole line, only the amount is shown; the tool tip has the words.
  const bool has_words = fontMetrics().horizontalAdvance(words_of(*arrow.way)) <= place.width() - 2 * kHead;
  const QString amount = fitting_amount(*arrow.way, fontMetrics(), place.width() - 2 * kHead);
  write(place.top(), has_two_lines ? shown_text(arrow.way->what) : has_words ? words_of(*arrow.way) : amount);
  if (has_two_lines) write(place.top() + line + kHead + 2, amount);
  const double share = std::clamp(arrow.way->use.value_or(0) / 100, 0.0, 1.0);
  const double y = place.top() + line + kHead / 2.0 + 1;
  const bool outwards = column_of(arrow.way->to) > column_of(arrow.way->from);
  const double from = outwards ? place.left() + 2 : place.right() - 2, to = outwards ? place.right() - 2 : place.left() + 2;
  const double back = outwards ? -kHead : kHead;
  const QColor colour = palette().color(arrow.way->use ? QPalette::Highlight : QPalette::PlaceholderText);
  painter.setPen(QPen(colour, kThinnest + (kThickest - kThinnest) * share));
  painter.drawLine(QPointF(from, y), QPointF(to + back, y));
  QPainterPath head(QPointF(to, y));
  head.lineTo(to + back, y - kHead);
  head.lineTo(to + back, y + kHead);
  head.closeSubpath();
  painter.fillPath(head, colour);
}

void MemoryChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Layout layout = layOut();
  for (const Box& box : layout.boxes) paint(painter, box);
  for (const Arrow& arrow : layout.arrows) paint(painter, arrow);
}

bool MemoryChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString tip;
  for (const Arrow& arrow : layOut().arrows)
    if (arrow.rectangle.contains(help->pos())) {
      tip = tr("%1 to %2: %3").arg(name_of(arrow.way->from), name_of(arrow.way->to), words_of(*arrow.way));
      if (arrow.way->use) tip += tr("; %1 of what it could carry").arg(percent(*arrow.way->use));
    }
  QToolTip::showText(help->globalPos(), tip, this);
  return true;
}

}  // namespace lanescope::ui
