// The room of a panel in the window. Where it is smaller than the panel needs, as on a small screen with large letters, the panel is scrolled: otherwise it
// would make the window wider or higher than the screen.
#pragma once

#include <QScrollArea>

namespace lanescope::ui {

class PanelRoom : public QScrollArea {
  Q_OBJECT

 public:
  explicit PanelRoom(QWidget& panel);

  [[nodiscard]] QSize sizeHint() const override { return widget()->sizeHint(); }
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;  // of the panel
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QSize least() const { return widget()->minimumSizeHint().expandedTo(widget()->minimumSize()); }
  void fit();
};

}  // namespace lanescope::ui
