// A text of several lines above a table. In a low panel it is scrolled, so that the table keeps most of the height.
#pragma once

#include <QLabel>
#include <QScrollArea>

namespace lanescope::ui {

// As high as the label needs at its width, up to a limit.
class ScrolledLabel : public QScrollArea {
  Q_OBJECT

 public:
  // Takes ownership of the label, which wraps its lines.
  explicit ScrolledLabel(QLabel& label, QWidget* parent = nullptr);

  // In pixels, rounded down to whole lines; two lines are always in sight.
  void setMostHeight(int height);

 protected:
  bool viewportEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QLabel& label_;
  int most_height_ = QWIDGETSIZE_MAX;
};

}  // namespace lanescope::ui
