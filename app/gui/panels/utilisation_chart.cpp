#include "panels/utilisation_chart.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QEvent>
#include <QGraphicsLayout>
#include <QLegend>
#include <QLineSeries>
#include <QRegularExpression>
#include <QValueAxis>

#include "panels/chart_look.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

constexpr double kMarkSteps = 2.5;       // the range is at least so many steps between marks long
constexpr double kLastMark = 0.92;       // of the range; behind it there is no room for a label
constexpr int kLegendMargins = 24;       // px beside all names of the legend
constexpr int kLegendMark = 24;          // px beside each of them
constexpr const char* kNames = "names";  // of a series, the longest first: a property
constexpr qsizetype kMostNamed = 4;      // GPUs; more names would leave no room for the chart

QString average_text(const std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return QString::fromStdString(timeline::format_share(sum / static_cast<double>(shares.size())));
}

// The same without decimals.
QString whole_text(const std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return QStringLiteral("%1 %").arg(std::lround(100 * sum / static_cast<double>(shares.size())));
}

// For a legend with less and less room.
QStringList names_of(const GpuUtilisation& gpu, const QString& average) {
  const QString name = QString::fromStdString(gpu.name);
  return {name + u' ' + average, name + u' ' + whole_text(gpu.shares), name};
}

// Gives each series its longest name with which all fit beside each other.
void fit_names(QChart& chart, const QFontMetrics& metrics, int width) {
  const QList<QAbstractSeries*> all = chart.series();
  for (qsizetype length = 0;; ++length) {
    int needed = kLegendMargins;
    for (const QAbstractSeries* series : all) {
      const QStringList names = series->property(kNames).toStringList();
      if (length >= names.size()) return;
      needed += metrics.horizontalAdvance(names[length]) + kLegendMark;
    }
    for (QAbstractSeries* series : all) series->setName(series->property(kNames).toStringList()[length]);
    if (needed <= width) return;
  }
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
  return QObject::tr("%1 busy in %2: %3")
      .arg(QString::fromStdString(gpu.name), QString::fromStdString(timeline::format_duration(utilisation.range.length())), average_text(gpu));
}

// 1, 2 or 5 times a power of ten, at least this long.
Nanoseconds round_step(Nanoseconds least) {
  for (Nanoseconds decade = 1;; decade *= 10)
    for (const Nanoseconds step : {decade, 2 * decade, 5 * decade})
      if (step >= least || step > std::numeric_limits<Nanoseconds>::max() / 20) return step;
}

// The start of the range, as a time since the start of the trace, and round offsets from there: "9.974 s", "+50 ms". Each label has room at the axis' usual
// width; QtCharts would give it an equal share of the axis and cut it to that.
QCategoryAxis* time_axis(TimeRange range) {
  static const QRegularExpression zeros(QStringLiteral(R"(\.?0+(?= ))"));
  auto* axis = new QCategoryAxis;
  axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  axis->setTruncateLabels(false);
  axis->setRange(0, static_cast<double>(range.length()));
  const Nanoseconds resolution = std::max<Nanoseconds>(1, range.length() / 20);
  axis->append(QString::fromStdString(timeline::format_time(range.begin, resolution)), 0);
  const Nanoseconds step = round_step(static_cast<Nanoseconds>(static_cast<double>(range.length()) / kMarkSteps));
  for (Nanoseconds offset = step; static_cast<double>(offset) <= kLastMark * static_cast<double>(range.length()); offset += step) {
    const QString text = QString::fromStdString(timeline::format_duration(offset));
    axis->append(u'+' + (text.contains(u'.') ? QString(text).remove(zeros) : text), static_cast<double>(offset));
  }
  return axis;
}

}  // namespace

UtilisationChart::UtilisationChart(QWidget* parent) : QChartView(parent) {
  setAccessibleName(tr("Utilisation over time"));
  connect(chart(), &QChart::geometryChanged, this, &UtilisationChart::applyLook);
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
      QLineSeries* line = steps(name, gpu.shares, utilisation.range, chart());
      line->setProperty(kNames, names_of(gpu, average_text(gpu)));
      add(line);
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
  chart()->legend()->layout()->setContentsMargins(0, 0, 0, 0);
  chart()->legend()->setLabelColor(palette().color(QPalette::Text));
  fit_names(*chart(), QFontMetrics(chart()->titleFont()), width());
}

void UtilisationChart::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) applyLook();
}

}  // namespace lanescope::ui
