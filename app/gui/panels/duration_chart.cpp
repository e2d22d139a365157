#include "panels/duration_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QEvent>
#include <QLineSeries>
#include <QValueAxis>

#include "panels/chart_look.h"
#include "timeline/core/format.h"

namespace lanescope::ui {
namespace {

constexpr int kNarrowestTitle = 200;  // px
constexpr int kMarkSpace = 10;  // px between the texts of two marks

QString tick_text(double nanoseconds) {
  QString text = QString::fromStdString(timeline::format_duration(std::llround(nanoseconds)));
  return text.replace(QStringLiteral(".000"), QString());
}

// Bars drawn as the outline of one area: a few hundred points, one item.
QAreaSeries* outline(const DurationHistogram& histogram, QObject* owner) {
  auto* top = new QLineSeries(owner);
  const double first = std::log10(std::max(histogram.bounds.front(), 1.0));
  top->append(first, 0);
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    const double left = bin == 0 ? first : std::log10(histogram.bounds[bin]);
    const double right = histogram.counts.size() == 1 ? left + 0.02 : std::log10(histogram.bounds[bin + 1]);
    top->append(left, static_cast<double>(histogram.counts[bin]));
    top->append(right, static_cast<double>(histogram.counts[bin]));
    if (bin + 1 == histogram.counts.size()) top->append(right, 0);
  }
  return new QAreaSeries(top);
}

// Marks at powers of ten, and at 2 and 5 of them, as far as their texts have room beside each other: `width` pixels for all of the axis. Where the
// durations span so little that there is none, one at their beginning.
QCategoryAxis* duration_axis(const DurationHistogram& histogram, double width, const QFontMetrics& metrics) {
  auto* axis = new QCategoryAxis;
  const double low = std::log10(std::max(histogram.bounds.front(), 1.0));
  const double high = std::max(std::log10(std::max(histogram.bounds.back(), 1.0)), low + 0.1);
  axis->setRange(low, high);
  axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  std::map<double, QString> marks;
  const auto has_room = [&](double at, const QString& text) {
    return std::all_of(marks.begin(), marks.end(), [&](const auto& mark) {
      const double needed = (metrics.horizontalAdvance(text) + metrics.horizontalAdvance(mark.second)) / 2.0 + kMarkSpace;
      return std::abs(mark.first - at) / (high - low) * width >= needed;
    });
  };
  for (const double step : {1.0, 2.0, 5.0})  // powers of ten first
    for (int decade = static_cast<int>(std::floor(low)); decade <= static_cast<int>(std::ceil(high)); ++decade) {
      const double at = decade + std::log10(step);
      const QString text = tick_text(step * std::pow(10.0, decade));
      if (at >= low && at <= high && has_room(at, text)) marks.emplace(at, text);
    }
  if (marks.empty()) marks.emplace(low, tick_text(std::pow(10.0, low)));
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
  counts->setTickCount(3);
  counts->setRange(0, static_cast<double>(*std::max_element(histogram.counts.begin(), histogram.counts.end())));
  counts->applyNiceNumbers();
  chart()->addAxis(counts, Qt::AlignLeft);
  series->attachAxis(counts);
  mark();
  apply_chart_look(*this);
}

void DurationChart::showTitle() {
  chart()->setTitle(fontMetrics().elidedText(title_, Qt::ElideRight, std::max(kNarrowestTitle, width() - 24)).toHtmlEscaped());
}

// As many as there is room for now.
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
