// The wheel changes a combo box or a number field only if it has the focus; otherwise it scrolls the area around the field.
#pragma once

#include <QObject>

namespace lanescope::ui {

// Applies to all windows of the program while this object exists; several objects have the same effect as one. Requires: a QApplication.
class WheelRule : public QObject {
 public:
  WheelRule();
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace lanescope::ui
