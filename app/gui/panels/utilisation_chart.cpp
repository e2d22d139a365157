#include "panels/utilisation_chart.h"

#include <numeric>

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QEvent>
#include <QLegend>
#include <QLineSeries>
#include <QValueAxis>

#include "panels/chart_look.h"
#include "timeline/core/format.h"

namespace lanescope::ui {
namespace {

constexpr int kTimeMarks = 2;

QLineSeries* steps(const GpuUtilisation& gpu, TimeRange range, QObject* owner) {
  auto* line = new QLineSeries(owner);
  line->setName(QString::fromStdString(gpu.name));
  const double width = static_cast<double>(range.length()) / static_cast<double>(gpu.shares.size());
  for (std::size_t i = 0; i < gpu.shares.size(); ++i) {
    line->append(static_cast<double>(i) * width, gpu.shares[i] * 100);
    line->append(static_cast<double>(i + 1) * width, gpu.shares[i] * 100);
  }
  return line;
}

QString title_of(const Utilisation& utilisation) {
  if (utilisation.gpus.size() != 1) return QObject::tr("Utilisation over time");
  const std::vector<double>& shares = utilisation.gpus.front().shares;
  const double average = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  return QObject::tr("%1 busy over time: %2")
      .arg(QString::fromStdString(utilisation.gpus.front().name), QString::fromStdString(timeline::format_share(average)));
}

// Times since the beginning of the trace. Marks stand at offsets from the range's begin, which doubles tell apart at any time.
QCategoryAxis* time_axis(TimeRange range) {
  auto* axis = new QCategoryAxis;
  axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  axis->setRange(0, static_cast<double>(range.length()));
  const Nanoseconds resolution = std::max<Nanoseconds>(1, range.length() / 20);
  for (int mark = 0; mark <= kTimeMarks; ++mark) {
    const Nanoseconds offset = range.length() * mark / kTimeMarks;
    axis->append(QString::fromStdString(timeline::format_time(range.begin + offset, resolution)), static_cast<double>(offset));
  }
  return axis;
}

}  // namespace

UtilisationChart::UtilisationChart(QWidget* parent) : QChartView(parent) {
  setAccessibleName(tr("Utilisation over time"));
  applyLook();
}

void UtilisationChart::setUtilisation(const Utilisation& utilisation) {
  clear_chart(*chart());
  if (utilisation.gpus.empty()) {
    chart()->setTitle(tr("No GPU work"));
    return;
  }
  chart()->setTitle(title_of(utilisation));
  auto* times = time_axis(utilisation.range);
  auto* shares = new QValueAxis;
  shares->setRange(0, 100);
  shares->setTickCount(3);
  shares->setLabelFormat(QStringLiteral("%.0f %%"));
  chart()->addAxis(times, Qt::AlignBottom);
  chart()->addAxis(shares, Qt::AlignLeft);
  for (const GpuUtilisation& gpu : utilisation.gpus) {
    QLineSeries* line = steps(gpu, utilisation.range, chart());
    QAbstractSeries* series = line;
    if (utilisation.gpus.size() == 1) series = new QAreaSeries(line);
    chart()->addSeries(series);
    series->attachAxis(times);
    series->attachAxis(shares);
  }
  applyLook();
}

void UtilisationChart::applyLook() {
  apply_chart_look(*this);
  chart()->legend()->setVisible(chart()->series().size() > 1);
  chart()->legend()->setLabelColor(palette().color(QPalette::Text));
}

void UtilisationChart::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) applyLook();
}

}  // namespace lanescope::ui
