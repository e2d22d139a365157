#include "painting/counter_painter.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>

namespace lanescope::timeline {
namespace {

constexpr int kLowestRow = 6;  // device pixels; a lower row would not be readable

class Band {
 public:
  Band(const ViewState& state, CounterId id, QImage& image, int top, int height)
      : scale_(counter_scale(state.trace(), id)),
        resolution_(state.trace().counters()[id].resolution),
        background_(state.theme().background.rgb()),
        color_(counter_color(state.trace(), id, state.theme().scheme)),
        image_(image),
        top_(top),
        height_(height) {}

  void paint(const std::vector<CounterSummary>& columns) {
    int before = -1;  // position of the mean's line in the previous column
    for (int x = 0; x < static_cast<int>(columns.size()); ++x) {
      const CounterSummary& column = columns[static_cast<std::size_t>(x)];
      if (column.empty()) {
        before = -1;
        continue;
      }
      const int mean = lineOf(column.mean());
      const int most = lineOf(static_cast<double>(column.maximum));
      const int least = lineOf(static_cast<double>(column.minimum));
      fill(x, mean, top_ + height_, kCounterFill);
      fill(x, most, least + 1, kCounterBand);
      const int from = before < 0 ? mean : before;  // a step is drawn as a vertical line
      fill(x, std::min(from, mean), std::max(from, mean) + lineWidth(), 1);
      before = mean;
    }
  }

  [[nodiscard]] const CounterScale& scale() const { return scale_; }

 private:
  [[nodiscard]] int lineWidth() const { return std::max(1, static_cast<int>(std::lround(image_.devicePixelRatio()))); }
  [[nodiscard]] int lineOf(double value) const {
    return top_ + static_cast<int>(std::lround((1 - scale_.height_of(value * resolution_)) * (height_ - lineWidth())));
  }
  void fill(int x, int first, int last, double share) {
    const Rgb color = blend(background_, color_, share);
    for (int y = std::max({first, top_, 0}); y < std::min({last, top_ + height_, image_.height()}); ++y) reinterpret_cast<Rgb*>(image_.scanLine(y))[x] = color;
  }

  CounterScale scale_;
  double resolution_;
  Rgb background_;
  Rgb color_;
  QImage& image_;
  int top_;
  int height_;
};

}  // namespace

CounterSeries::Detail paint_counter(ViewState& state, QPainter& painter, CounterId id, const Viewport& viewport, QImage& image, int top, int height) {
  if (height < kLowestRow) return CounterSeries::Detail::kExact;
  Band band(state, id, image, top, height);
  const CounterColumns columns = state.counterColumns(id, viewport);
  band.paint(columns.columns);

  // The label of the top, with its own background to stay readable over the band.
  const double ratio = image.devicePixelRatio();
  const QString text = QString::fromStdString(scale_text(state.trace(), id, band.scale()));
  const QFontMetricsF metrics(painter.font());
  const QRectF place(3, top / ratio + 1, metrics.horizontalAdvance(text) + 6, metrics.height() - 2);
  if (place.height() > height / ratio) return columns.detail;
  QColor ground = state.theme().background;
  ground.setAlpha(200);
  painter.fillRect(place, ground);
  painter.setPen(state.theme().quiet_text);
  painter.drawText(place, Qt::AlignCenter, text);
  return columns.detail;
}

}  // namespace lanescope::timeline
