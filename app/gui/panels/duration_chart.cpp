#include "panels/duration_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QEvent>
#include <QLineSeries>
#include <QRegularExpression>
#include <QValueAxis>

#include "panels/chart_look.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

constexpr int kNarrowestTitle = 200;      // px
constexpr int kMarkSpace = 10;            // px between the labels of two marks
constexpr int kRoomBehindAxis = 16;       // px behind the end of an axis into which a label may extend
constexpr double kSpaceAroundOne = 0.05;  // on both sides of a single duration, as a logarithm
constexpr double kSpaceAtEnds = 0.02;     // share of the span of the durations
constexpr double kWideSpan = 0.5;         // a factor of three: durations with a smaller span include at most one power of ten

QString tick_text(double nanoseconds) {
  static const QRegularExpression zeros(QStringLiteral(R"(\.?0+(?= ))"));
  const QString text = QString::fromStdString(timeline::format_duration(std::llround(nanoseconds)));
  return text.contains(u'.') ? QString(text).remove(zeros) : text;
}

// Draws the bars as the outline of one area: a few hundred points, one item.
QAreaSeries* outline(const DurationHistogram& histogram, QObject* owner) {
  auto* top = new QLineSeries(owner);
  const double first = std::log10(std::max(histogram.bounds.front(), 1.0)) - (histogram.counts.size() == 1 ? kSpaceAroundOne / 5 : 0);
  top->append(first, 0);
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    const double left = bin == 0 ? first : std::log10(histogram.bounds[bin]);
    const double right = histogram.counts.size() == 1 ? first + 2 * kSpaceAroundOne / 5 : std::log10(histogram.bounds[bin + 1]);
    top->append(left, static_cast<double>(histogram.counts[bin]));
    top->append(right, static_cast<double>(histogram.counts[bin]));
    if (bin + 1 == histogram.counts.size()) top->append(right, 0);
  }
  return new QAreaSeries(top);
}

// Positions of marks, as logarithms of nanoseconds, with their labels.
using Marks = std::map<double, QString>;

// The ends of an axis, and its length on the screen.
struct Axis {
  double low, high;  // logarithms of nanoseconds
  double width;      // px
  QFontMetrics metrics;

  // A label at the start would not be drawn, and one that extends beyond the room at the end would be cut.
  [[nodiscard]] bool holds(double at, const QString& text) const {
    return at > low && at <= high && (high - at) / (high - low) * width >= metrics.horizontalAdvance(text) / 2.0 - kRoomBehindAxis;
  }
  [[nodiscard]] bool has_room_beside(const Marks& marks, double at, const QString& text) const {
    return std::all_of(marks.begin(), marks.end(), [&](const auto& mark) {
      return std::abs(mark.first - at) / (high - low) * width >= std::max(metrics.horizontalAdvance(text), metrics.horizontalAdvance(mark.second)) + kMarkSpace;
    });
  }
};

// At powers of ten, and at 2 and 5 times these, as far as there is room.
Marks marks_of_decades(const Axis& axis) {
  Marks marks;
  for (const double step : {1.0, 2.0, 5.0})  // powers of ten first
    for (int decade = static_cast<int>(std::floor(axis.low)); decade <= static_cast<int>(std::ceil(axis.high)); ++decade) {
      const double at = decade + std::log10(step);
      const QString text = tick_text(step * std::pow(10.0, decade));
      if (axis.holds(at, text) && axis.has_room_beside(marks, at, text)) marks.emplace(at, text);
    }
  return marks;
}

// At multiples of the smallest round step that labels can show, with three digits after the point of their unit, and for which there is room.
Marks marks_of_steps(const Axis& axis) {
  const double first = std::pow(10.0, axis.low), last = std::pow(10.0, axis.high);
  const double told = std::max(1.0, std::pow(10.0, 3 * std::floor(axis.high / 3) - 3));
  for (double decade = std::max(told, std::pow(10.0, std::floor(std::log10((last - first) / 100)))); decade < last - first; decade *= 10)
    for (const double step : {decade, 2 * decade, 5 * decade}) {
      Marks marks;
      bool fit = true;
      for (double value = std::ceil(first / step) * step; value <= last && fit; value += step) {
        const double at = std::log10(value);
        const QString text = tick_text(value);
        if (!axis.holds(at, text)) continue;
        fit = axis.has_room_beside(marks, at, text);
        marks.emplace(at, text);
      }
      if (fit && !marks.empty()) return marks;
    }
  return {};
}

// Durations that hardly differ fill the axis, too; a single one has some space around it.
QCategoryAxis* duration_axis(const DurationHistogram& histogram, double width, const QFontMetrics& metrics) {
  const double least = std::log10(std::max(histogram.bounds.front(), 1.0));
  const double most = std::log10(std::max(histogram.bounds.back(), 1.0));
  const bool is_single = histogram.counts.size() == 1;
  const double space = is_single ? kSpaceAroundOne : (most - least) * kSpaceAtEnds;
  const Axis room{least - space, most + space, width, metrics};
  auto* axis = new QCategoryAxis;
  axis->setRange(room.low, room.high);
  axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  axis->setTruncateLabels(false);  // each has room; it does not get an equal share of the axis
  Marks marks = is_single ? Marks() : most - least > kWideSpan ? marks_of_decades(room) : marks_of_steps(room);
  if (marks.empty()) marks.emplace(is_single ? least : (least + most) / 2, tick_text(std::pow(10.0, is_single ? least : (least + most) / 2)));
  for (const auto& [at, text] : marks) axis->append(text, at);
  return axis;
}

}  // namespace

DurationChart::DurationChart(QWidget* parent) : QChartView(parent) {
  setAccessibleName(tr("Histogram of durations"));
  apply_chart_look(*this);
}

void DurationChart::setHistogram(const QString& title, const DurationHistogram& histogram) {
  clear_chart(*chart());
  marks_ = nullptr;
  histogram_ = histogram;
  title_ = title;
  showTitle();
  if (histogram.empty()) return;
  QAreaSeries* series = outline(histogram, chart());
  chart()->addSeries(series);
  auto* counts = new QValueAxis;
  counts->setLabelFormat(QStringLiteral("%.0f"));
  const std::uint64_t most = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  counts->setTickCount(most > 1 ? 3 : 2);  // no tick at half an event
  counts->setRange(0, static_cast<double>(most));
  counts->applyNiceNumbers();
  chart()->addAxis(counts, Qt::AlignLeft);
  series->attachAxis(counts);
  mark();
  apply_chart_look(*this);
}

void DurationChart::showTitle() {
  chart()->setTitle(fontMetrics().elidedText(title_, Qt::ElideRight, std::max(kNarrowestTitle, width() - 24)).toHtmlEscaped());
}

// As many marks as there is room for now.
void DurationChart::mark() {
  if (marks_ != nullptr) {
    chart()->removeAxis(marks_);
    delete marks_;
  }
  const QMargins margins = chart()->margins();
  const double room = width() - margins.left() - margins.right() - fontMetrics().horizontalAdvance(QStringLiteral("00000"));
  marks_ = duration_axis(histogram_, std::max(1.0, room), fontMetrics());
  chart()->addAxis(marks_, Qt::AlignBottom);
  chart()->series().front()->attachAxis(marks_);
}

void DurationChart::resizeEvent(QResizeEvent* event) {
  QChartView::resizeEvent(event);
  showTitle();
  if (marks_ == nullptr) return;
  mark();
  apply_chart_look(*this);
}

void DurationChart::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) apply_chart_look(*this);
}

}  // namespace lanescope::ui
