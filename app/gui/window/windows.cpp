#include "window/windows.h"

#include <QApplication>

namespace lanescope::ui {
namespace {

constexpr int kOffset = 32;  // px between a window and the next, so that both are seen

}  // namespace

MainWindow& Windows::add() {
  const QWidget* before = QApplication::activeWindow();
  auto* window = new MainWindow(layout_);
  window->setAttribute(Qt::WA_DeleteOnClose);
  connect(window, &MainWindow::windowWished, this, [this](const std::optional<Wish>& wish) {
    MainWindow& added = add();
    if (wish) added.begin(*wish);
  });
  if (before && !window->isMaximized()) window->move(before->pos() + QPoint(kOffset, kOffset));
  window->show();
  return *window;
}

}  // namespace lanescope::ui
