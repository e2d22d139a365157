#include "kernels/stall_chart.h"

#include <algorithm>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

namespace lanescope::ui {
namespace {

constexpr int kMargin = 8;      // px
constexpr int kFewestBars = 2;  // minimum number of bars that there is room for
constexpr int kUsualBars = 8;
constexpr double kBarHeight = 0.62;  // of a row
constexpr double kLeast = 0.5;       // percent; smaller shares have no bar

QString percent_text(double share) { return QString::number(share, 'f', share < 9.95 ? 1 : 0) + QStringLiteral(" %"); }

}  // namespace

StallChart::StallChart(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Why warps wait"));
  setBackgroundRole(QPalette::Base);
  setAutoFillBackground(true);
}

void StallChart::setBars(const QString& title, std::vector<Bar> bars) {
  title_ = title;
  bars_ = std::move(bars);
  std::erase_if(bars_, [](const Bar& bar) { return bar.share < kLeast; });
  QStringList said{title};
  for (const Bar& bar : bars_) said += bar.reason + u' ' + percent_text(bar.share);
  setAccessibleDescription(said.join(QStringLiteral(", ")));
  update();
}

int StallChart::rowHeight() const { return fontMetrics().height() + fontMetrics().height() / 3; }
QSize StallChart::minimumSizeHint() const { return {fontMetrics().averageCharWidth() * 24, rowHeight() * (kFewestBars + 1) + 2 * kMargin}; }
QSize StallChart::sizeHint() const { return {fontMetrics().averageCharWidth() * 60, rowHeight() * (kUsualBars + 1) + 2 * kMargin}; }

// Names are in a column of their own, as wide as the longest; shares are at the ends of the bars.
void StallChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const int row = rowHeight();
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(QRect(kMargin, kMargin, width() - 2 * kMargin, row), Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(title_, Qt::ElideRight, width() - 2 * kMargin));
  int names = 0;
  double longest = 0;
  for (const Bar& bar : bars_) {
    names = std::max(names, fontMetrics().horizontalAdvance(bar.reason));
    longest = std::max(longest, bar.share);
  }
  names = std::min(names, width() / 2);
  const int left = kMargin + names + kMargin;
  const int room = std::max(1, width() - left - kMargin - fontMetrics().horizontalAdvance(percent_text(100)) - kMargin);
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    const Bar& bar = bars_[i];
    const QRect line(kMargin, kMargin + row * static_cast<int>(i + 1), width() - 2 * kMargin, row);
    if (line.bottom() > height()) return;
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRect(line.left(), line.top(), names, row), Qt::AlignRight | Qt::AlignVCenter,
                     fontMetrics().elidedText(bar.reason, Qt::ElideRight, names));
    const double length = room * bar.share / longest;
    const double height = row * kBarHeight;
    painter.fillRect(QRectF(left, line.top() + (row - height) / 2, std::max(1.0, length), height), palette().highlight());
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(QRectF(left + length + kMargin, line.top(), width(), row), Qt::AlignLeft | Qt::AlignVCenter, percent_text(bar.share));
  }
}

const StallChart::Bar* StallChart::barAt(QPoint position) const {
  const int index = (position.y() - kMargin) / rowHeight() - 1;
  return index >= 0 && static_cast<std::size_t>(index) < bars_.size() ? &bars_[static_cast<std::size_t>(index)] : nullptr;
}

bool StallChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Bar* const bar = barAt(help->pos());
  QToolTip::showText(help->globalPos(), bar != nullptr ? bar->tip : QString(), this);
  return true;
}

}  // namespace lanescope::ui
