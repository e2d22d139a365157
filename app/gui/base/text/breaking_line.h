// Two groups of controls beside each other, or below each other if there is no room for both.
#pragma once

#include <QBoxLayout>
#include <QWidget>

namespace lanescope::ui {

class BreakingLine : public QWidget {
 public:
  // Takes ownership of both. The widget that `stretched` names takes the remaining room.
  enum class Stretched { kFirst, kSecond };
  BreakingLine(QWidget* first, QWidget* second, Stretched stretched, QWidget* parent = nullptr);

  // The preferred width of the first widget, in pixels; until it is set, the width that its layout asks for.
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
