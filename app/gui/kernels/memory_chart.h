// What a kernel moved between the levels of memory: boxes from the kernel to DRAM, and between them arrows with what went there. The busier a level
// or way, the warmer it is.
#pragma once

#include <QFontMetrics>
#include <QWidget>

#include "model/kernels/counters/memory_traffic.h"

namespace lanescope::ui {

// What went there, rounded where there is no room for all digits; empty where there is room for nothing.
[[nodiscard]] QString fitting_amount(const kernels::MemoryWay& way, const QFontMetrics& metrics, int room);

class MemoryChart : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryChart(QWidget* parent = nullptr);
  // Requires: it is not empty.
  void setTraffic(kernels::MemoryTraffic traffic);
  [[nodiscard]] const kernels::MemoryTraffic& traffic() const { return traffic_; }

  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  // Where everything is, for the widget's size.
  struct Box {
    kernels::MemoryPlace place;
    QRect rectangle;
  };
  struct Arrow {
    const kernels::MemoryWay* way;
    QRect rectangle;  // its name above the arrow, what went there below
  };
  struct Layout {
    std::vector<Box> boxes;
    std::vector<Arrow> arrows;
  };
  [[nodiscard]] Layout layOut() const;
  [[nodiscard]] int rowHeight() const;
  [[nodiscard]] const kernels::MemoryLevel* level(kernels::MemoryPlace place) const;
  void paint(QPainter& painter, const Box& box) const;
  void paint(QPainter& painter, const Arrow& arrow) const;

  kernels::MemoryTraffic traffic_;
};

}  // namespace lanescope::ui
