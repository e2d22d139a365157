// The traffic of a kernel between the levels of memory: boxes from the kernel to DRAM, and arrows between them with amounts. Busier levels and ways have warmer
// colours.
#pragma once

#include <QFontMetrics>
#include <QWidget>

#include "model/kernels/counters/memory_traffic.h"

namespace lanescope::ui {

// The amount of a way, rounded if there is no room for all digits; empty if there is no room at all.
[[nodiscard]] QString fitting_amount(const kernels::MemoryWay& way, const QFontMetrics& metrics, int room);

class MemoryChart : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryChart(QWidget* parent = nullptr);
  // Requires: `traffic` is not empty.
  void setTraffic(kernels::MemoryTraffic traffic);
  [[nodiscard]] const kernels::MemoryTraffic& traffic() const { return traffic_; }

  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  // The places of all parts for the size of the widget.
  struct Box {
    kernels::MemoryPlace place;
    QRect rectangle;
  };
  struct Arrow {
    const kernels::MemoryWay* way;
    QRect rectangle;  // the name is above the arrow, the amount below
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
