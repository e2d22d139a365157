#include "base/screen_room.h"

#include <QScreen>

namespace lanescope::ui {

QSize room_on_screen(const QWidget& window) {
  constexpr QSize kFrame(16, 48);  // px
  return window.screen() != nullptr ? window.screen()->availableSize() - kFrame : QSize(QWIDGETSIZE_MAX, QWIDGETSIZE_MAX);
}

}  // namespace lanescope::ui
