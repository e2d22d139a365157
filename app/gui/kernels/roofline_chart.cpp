#include "kernels/roofline_chart.h"

#include <algorithm>
#include <cmath>

#include <QEvent>
#include <QLegend>
#include <QLineSeries>
#include <QLogValueAxis>
#include <QScatterSeries>

#include "base/text/texts.h"
#include "kernels/kernel_html.h"
#include "panels/chart_look.h"

namespace lanescope::ui {
namespace {

constexpr double kAxisRoom = 10;     // factor by which axes extend beyond the content
constexpr int kLeastHeight = 60;     // px
constexpr int kRoomForLegend = 420;  // px of width; wider charts have the legend at their side
constexpr double kMarkerSize = 9;    // px
constexpr double kLineWidth = 1.5;   // px
constexpr double kTera = 1e12;

struct Span {
  double low, high;
};

QLogValueAxis* log_axis(Span span, const QString& title) {
  auto* axis = new QLogValueAxis;
  axis->setBase(10);
  axis->setRange(span.low, span.high);
  axis->setLabelFormat(QStringLiteral("%g"));
  axis->setTitleText(title);
  axis->setMinorTickCount(0);
  return axis;
}

}  // namespace

RooflineChart::RooflineChart(QWidget* parent) : QChartView(parent) {
  setAccessibleName(tr("Roofline"));
  setMinimumHeight(kLeastHeight);
  applyLook();
}

void RooflineChart::setRoofline(const kernels::Roofline& roofline) {
  clear_chart(*chart());
  double fastest = 0, slowest = 0, widest = 0, narrowest = 0;
  for (const kernels::Ceiling& ceiling : roofline.ceilings) {
    fastest = std::max(fastest, ceiling.operations);
    slowest = slowest == 0 ? ceiling.operations : std::min(slowest, ceiling.operations);
  }
  for (const kernels::Roof& roof : roofline.roofs) {
    widest = std::max(widest, roof.bytes);
    narrowest = narrowest == 0 ? roof.bytes : std::min(narrowest, roof.bytes);
  }
  Span intensities{slowest / widest / kAxisRoom, fastest / narrowest * kAxisRoom};
  Span operations{slowest / kAxisRoom, fastest * kAxisRoom};
  for (const kernels::RooflinePoint& point : roofline.points) {
    intensities = {std::min(intensities.low, point.intensity() / kAxisRoom), std::max(intensities.high, point.intensity() * kAxisRoom)};
    operations.low = std::min(operations.low, point.operations / kAxisRoom);
  }
  operations.low = std::max(operations.low, fastest * 1e-8);
  QLogValueAxis* across = log_axis(intensities, tr("operations for each byte"));
  QLogValueAxis* up = log_axis({operations.low / kTera, operations.high / kTera}, tr("TFLOP/s"));
  chart()->addAxis(across, Qt::AlignBottom);
  chart()->addAxis(up, Qt::AlignLeft);
  const auto add = [&](QXYSeries* series, const QString& name) {
    series->setName(name);
    chart()->addSeries(series);
    series->attachAxis(across);
    series->attachAxis(up);
  };
  for (const kernels::Roof& roof : roofline.roofs) {
    auto* line = new QLineSeries;
    line->append(std::max(intensities.low, operations.low / roof.bytes), std::max(intensities.low * roof.bytes, operations.low) / kTera);
    line->append(fastest / roof.bytes, fastest / kTera);
    add(line, tr("%1 %2 TB/s").arg(text_of(roof.memory)).arg(roof.bytes / kTera, 0, 'g', 3));
  }
  for (const kernels::Ceiling& ceiling : roofline.ceilings) {
    auto* line = new QLineSeries;
    line->append(ceiling.operations / widest, ceiling.operations / kTera);
    line->append(intensities.high, ceiling.operations / kTera);
    add(line, tr("%1 %2").arg(text_of(ceiling.precision), operations_text(ceiling.operations)));
  }
  QString title = tr("Roofline");
  for (const kernels::RooflinePoint& point : roofline.points) {
    auto* marker = new QScatterSeries;
    marker->append(point.intensity(), point.operations / kTera);
    marker->setMarkerSize(kMarkerSize);
    add(marker, tr("%1 of %2").arg(text_of(point.ceiling.precision), text_of(point.roof.memory)));
    if (&point == &roofline.points.front())
      title = tr("Roofline: %1 %2, %3 % of what %4 and arithmetic allow")
                  .arg(text_of(point.ceiling.precision), operations_text(point.operations))
                  .arg(100 * point.operations / point.attainable(), 0, 'f', 0)
                  .arg(text_of(point.roof.memory));
  }
  if (roofline.points.empty()) title = tr("Roofline: the kernel did no arithmetic of these kinds");
  chart()->setTitle(title);
  setToolTip(title);  // a narrow chart cuts it off
  applyLook();
}

void RooflineChart::applyLook() {
  apply_chart_look(*this);
  placeLegend();
  chart()->legend()->setFont(chart()->titleFont());
  chart()->legend()->setLabelColor(palette().color(QPalette::Text));
  for (QAbstractAxis* axis : chart()->axes()) {
    axis->setTitleFont(chart()->titleFont());
    axis->setTitleBrush(palette().color(QPalette::PlaceholderText));
  }
  for (QAbstractSeries* series : chart()->series())
    if (auto* line = qobject_cast<QLineSeries*>(series)) {
      QPen pen = line->pen();
      pen.setWidthF(kLineWidth);
      line->setPen(pen);
    }
}

void RooflineChart::resizeEvent(QResizeEvent* event) {
  QChartView::resizeEvent(event);
  placeLegend();
}

// Places the legend beside the chart or below it; hides it if it would leave no room for the chart.
void RooflineChart::placeLegend() {
  const bool beside = width() >= kRoomForLegend;
  chart()->legend()->setVisible(!chart()->series().isEmpty() && (beside || height() >= kRoomForLegend / 2));
  chart()->legend()->setAlignment(beside ? Qt::AlignRight : Qt::AlignBottom);
}

void RooflineChart::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) applyLook();
}

}  // namespace lanescope::ui
