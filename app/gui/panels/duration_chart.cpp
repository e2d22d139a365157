#include "panels/duration_chart.h"

#include <algorithm>
#include <cmath>

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QEvent>
#include <QLineSeries>
#include <QValueAxis>

#include "panels/chart_look.h"
#include "timeline/core/format.h"

namespace lanescope::ui {
namespace {

constexpr int kMarkWidth = 90;  // px that a mark with its text needs

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

// Marks at powers of ten, as many as the width has room for; at 1, 2, 5 where the durations span little.
QCategoryAxis* duration_axis(const DurationHistogram& histogram, int width) {
  auto* axis = new QCategoryAxis;
  const double low = std::log10(std::max(histogram.bounds.front(), 1.0));
  const double high = std::max(std::log10(std::max(histogram.bounds.back(), 1.0)), low + 0.1);
  axis->setRange(low, high);
  axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  const bool fine = high - low < 2;
  const int every = std::max(1, static_cast<int>(std::ceil((high - low) / std::max(1.0, static_cast<double>(width) / kMarkWidth))));
  for (int decade = static_cast<int>(std::floor(low)); decade <= static_cast<int>(std::ceil(high)); ++decade) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double at = decade + std::log10(step);
      if ((step != 1 && !fine) || decade % every != 0 || at < low || at > high) continue;
      axis->append(tick_text(step * std::pow(10.0, decade)), at);
    }
  }
  if (axis->count() == 0) axis->append(tick_text(std::pow(10.0, low)), low);
  return axis;
}

}  // namespace

DurationChart::DurationChart(QWidget* parent) : QChartView(parent) {
  setAccessibleName(tr("Histogram of durations"));
  apply_chart_look(*this);
}

void DurationChart::setHistogram(const QString& title, const DurationHistogram& histogram) {
  clear_chart(*chart());
  chart()->setTitle(fontMetrics().elidedText(title, Qt::ElideRight, std::max(200, width() - 24)).toHtmlEscaped());
  if (histogram.empty()) return;
  QAreaSeries* series = outline(histogram, chart());
  chart()->addSeries(series);
  auto* durations = duration_axis(histogram, width());
  auto* counts = new QValueAxis;
  counts->setLabelFormat(QStringLiteral("%.0f"));
  counts->setTickCount(3);
  counts->setRange(0, static_cast<double>(*std::max_element(histogram.counts.begin(), histogram.counts.end())));
  counts->applyNiceNumbers();
  chart()->addAxis(durations, Qt::AlignBottom);
  chart()->addAxis(counts, Qt::AlignLeft);
  series->attachAxis(durations);
  series->attachAxis(counts);
  apply_chart_look(*this);
}

void DurationChart::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) apply_chart_look(*this);
}

}  // namespace lanescope::ui
