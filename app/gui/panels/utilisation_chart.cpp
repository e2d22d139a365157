#include "panels/utilisation_chart.h"

#include <numeric>

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QEvent>
#include <QLegend>
#include <QLineSeries>
#include <QValueAxis>

#include "panels/chart_look.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

constexpr int kTimeMarks = 2;
constexpr qsizetype kMostNamed = 4;  // GPUs; more names would leave no room for the chart

QString average_text(const std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return QString::fromStdString(timeline::format_share(sum / static_cast<double>(shares.size())));
}

// "98.2 %", or "98.2 %, 31.0 % waits", as beside the rows of GPUs.
QString average_text(const GpuUtilisation& gpu) {
  const QString busy = average_text(gpu.shares);
  return gpu.waits.empty() ? busy : QObject::tr("%1, %2 waits").arg(busy, average_text(gpu.waits));
}

QLineSeries* steps(const QString& name, const std::vector<double>& shares, TimeRange range, QObject* owner) {
  auto* line = new QLineSeries(owner);
  line->setName(name);
  const double width = static_cast<double>(range.length()) / static_cast<double>(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    line->append(static_cast<double>(i) * width, shares[i] * 100);
    line->append(static_cast<double>(i + 1) * width, shares[i] * 100);
  }
  return line;
}

// For several GPUs, the legend shows their names instead.
QString title_of(const Utilisation& utilisation) {
  const auto gpus = static_cast<qsizetype>(utilisation.gpus.size());
  if (utilisation.omitted > 0) return QObject::tr("The first %1 of %2 GPUs busy over time").arg(gpus).arg(gpus + static_cast<qsizetype>(utilisation.omitted));
  if (gpus > kMostNamed) return QObject::tr("%1 GPUs busy over time").arg(gpus);
  if (gpus > 1) return {};
  const GpuUtilisation& gpu = utilisation.gpus.front();
  return QObject::tr("%1 busy over time: %2").arg(QString::fromStdString(gpu.name), average_text(gpu));
}

// Times since the start of the trace. Marks are at offsets from the start of the range, which doubles represent precisely enough at any time.
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
  if (utilisation.gpus.empty()) return;
  chart()->setTitle(title_of(utilisation));
  auto* times = time_axis(utilisation.range);
  auto* shares = new QValueAxis;
  shares->setRange(0, 100);
  shares->setTickCount(3);
  shares->setLabelFormat(QStringLiteral("%.0f %%"));
  chart()->addAxis(times, Qt::AlignBottom);
  chart()->addAxis(shares, Qt::AlignLeft);
  const auto add = [&](QAbstractSeries* series) {
    chart()->addSeries(series);
    series->attachAxis(times);
    series->attachAxis(shares);
  };
  const auto add_area = [&](const QString& name, const std::vector<double>& of_pieces) {
    auto* area = new QAreaSeries(steps(name, of_pieces, utilisation.range, chart()));
    area->setName(name);
    add(area);
  };
  for (const GpuUtilisation& gpu : utilisation.gpus) {
    const QString name = QString::fromStdString(gpu.name) + u' ' + average_text(gpu);
    if (utilisation.gpus.size() > 1) {
      add(steps(name, gpu.shares, utilisation.range, chart()));
      continue;
    }
    add_area(name, gpu.shares);
    if (!gpu.waits.empty()) add_area(tr("waits for other ranks"), gpu.waits);  // on top of it
  }
  applyLook();
}

void UtilisationChart::applyLook() {
  apply_chart_look(*this);
  const qsizetype gpus = chart()->series().size();
  chart()->legend()->setVisible(gpus > 1 && gpus <= kMostNamed);
  chart()->legend()->setFont(chart()->titleFont());
  chart()->legend()->setLabelColor(palette().color(QPalette::Text));
}

void UtilisationChart::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) applyLook();
}

}  // namespace lanescope::ui
