#include "panels/chart_look.h"

#include <QAbstractAxis>
#include <QAreaSeries>
#include <QLegend>

namespace lanescope::ui {
namespace {

constexpr double kTitlePointFactor = 0.95;
constexpr float kGridOpacity = 0.12F;

}  // namespace

void apply_chart_look(QChartView& view) {
  QChart& chart = *view.chart();
  const QPalette& colors = view.palette();
  view.setFrameShape(QFrame::NoFrame);
  chart.legend()->hide();
  chart.setBackgroundRoundness(0);
  chart.setMargins({4, 0, 16, 0});  // the last label of an axis extends beyond the axis
  chart.setBackgroundBrush(colors.base());
  chart.setTitleBrush(colors.text());
  QFont small = view.font();
  if (small.pointSizeF() > 0) small.setPointSizeF(small.pointSizeF() * kTitlePointFactor);
  chart.setTitleFont(small);
  QColor grid = colors.color(QPalette::Text);
  grid.setAlphaF(kGridOpacity);
  for (QAbstractAxis* axis : chart.axes()) {
    axis->setLabelsColor(colors.color(QPalette::Text));
    axis->setLabelsFont(small);
    axis->setLinePenColor(grid);
    axis->setGridLineColor(grid);
  }
  for (QAbstractSeries* series : chart.series()) {
    auto* area = qobject_cast<QAreaSeries*>(series);
    if (!area) continue;
    area->setBrush(colors.highlight());
    area->setPen(Qt::NoPen);
  }
}

void clear_chart(QChart& chart) {
  chart.removeAllSeries();
  for (QAbstractAxis* axis : chart.axes()) {
    chart.removeAxis(axis);
    delete axis;
  }
}

}  // namespace lanescope::ui
