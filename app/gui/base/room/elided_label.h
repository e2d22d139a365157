// A line of text that ends with an ellipsis if there is no room for all of it, instead of being cut within a letter.
#pragma once

#include <QLabel>

namespace lanescope::ui {

// Its minimum width is 0. If the text is cut, the tool tip has all of it. Plain text only.
class ElidedLabel : public QLabel {
 public:
  explicit ElidedLabel(QWidget* parent = nullptr);
  [[nodiscard]] bool isCut() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
};

}  // namespace lanescope::ui
