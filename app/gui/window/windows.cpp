#include "window/windows.h"

#include <QScreen>

namespace lanescope::ui {
namespace {

constexpr int kOffset = 32;  // px between two windows

}  // namespace

Windows::~Windows() {
  for (const QPointer<MainWindow>& window : windows_) {
    if (!window) continue;
    window->keepLayout();
    delete window;
  }
}

MainWindow& Windows::add(const MainWindow* wishing) {
  auto* window = new MainWindow(layout_);
  window->setAttribute(Qt::WA_DeleteOnClose);
  connect(window, &MainWindow::windowWished, this, [this, window](const std::optional<Wish>& wish) {
    MainWindow& added = add(window);
    if (wish) added.begin(*wish);
  });
  if (wishing != nullptr && !window->isMaximized()) {
    const QPoint place = wishing->pos() + QPoint(kOffset, kOffset);
    const QSize frame = wishing->frameGeometry().size() - wishing->size();
    const QRect room = wishing->screen()->availableGeometry();
    window->move(place);
    window->resize(window->size().boundedTo(QRect(place, room.bottomRight()).size() - frame));
  }
  window->show();
  if (wishing != nullptr && !window->isMaximized()) window->standBeside(*wishing);
  std::erase(windows_, nullptr);
  windows_.emplace_back(window);
  return *window;
}

}  // namespace lanescope::ui
