// Two groups of controls beside each other, or, where there is no room for that, below each other.
#pragma once

#include <QBoxLayout>
#include <QWidget>

namespace lanescope::ui {

class BreakingLine : public QWidget {
 public:
  // Both become its own. The one of `stretched` takes what room is left.
  enum class Stretched { kFirst, kSecond };
  BreakingLine(QWidget* first, QWidget* second, Stretched stretched, QWidget* parent = nullptr);

  // What the first would like to have, in pixels; until it is told, what its layout says.
  void setFirstWidth(int width);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void fit();

  QWidget* first_;
  QWidget* second_;
  QBoxLayout* line_;
  int first_width_ = 0;
};

}  // namespace lanescope::ui
