#include "base/room/screen_room.h"

#include <QFontMetrics>
#include <QGuiApplication>
#include <QScreen>

namespace lanescope::ui {

QSize room_on_screen(const QWidget& window) {
  constexpr QSize kFrame(16, 48);  // px
  return window.screen() != nullptr ? window.screen()->availableSize() - kFrame : QSize(QWIDGETSIZE_MAX, QWIDGETSIZE_MAX);
}

int title_width(const QWidget& window) {
  constexpr int kButtons = 140;  // px, including the icon
  QFont bold = window.font();
  bold.setBold(true);
  return QFontMetrics(bold).horizontalAdvance(QStringLiteral("%1 — %2").arg(window.windowTitle(), QGuiApplication::applicationDisplayName())) + kButtons;
}

}  // namespace lanescope::ui
