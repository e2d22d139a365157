// Why the warps of a kernel stalled: a bar for each reason, with its name and share.
#pragma once

#include <vector>

#include <QWidget>

namespace lanescope::ui {

class StallChart : public QWidget {
  Q_OBJECT

 public:
  struct Bar {
    QString reason;
    double share = 0;  // of all samples, percent
    QString tip;
  };
  explicit StallChart(QWidget* parent = nullptr);
  // The longest bars first; as many are shown as there is room for.
  void setBars(const QString& title, std::vector<Bar> bars);
  [[nodiscard]] const std::vector<Bar>& bars() const { return bars_; }

  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] int rowHeight() const;
  [[nodiscard]] const Bar* barAt(QPoint position) const;

  QString title_;
  std::vector<Bar> bars_;
};

}  // namespace lanescope::ui
