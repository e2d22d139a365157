// The wheel changes a box of choices or a number only where somebody is in it: elsewhere it scrolls what lies around, as it does over all else.
#pragma once

#include <QObject>

namespace lanescope::ui {

// In all windows of the program, as long as it lives; several change nothing more than one. Requires: a QApplication.
class WheelRule : public QObject {
 public:
  WheelRule();
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace lanescope::ui
