// A line of text that ends with an ellipsis where there is no room for all of it, rather than within a letter.
#pragma once

#include <QLabel>

namespace lanescope::ui {

// Its minimum is no width at all. Where it is cut, the tool tip has all of it. Plain text alone.
class ElidedLabel : public QLabel {
 public:
  explicit ElidedLabel(QWidget* parent = nullptr);
  [[nodiscard]] bool isCut() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
};

}  // namespace lanescope::ui
