#include "window/quitting.h"

#include <QApplication>
#include <QPointer>
#include <QWidget>

namespace lanescope::ui {
namespace {

bool quitting = false;
// The window that was told to close and has not closed yet, because it asks a question or completes a recording. Closing it again would ask twice, or break off
// the recording.
QPointer<QWidget> awaited;

// Floating panels close with their windows, which remember their places: if they were closed individually, they would be remembered as hidden.
void close_all_windows() {
  QList<QPointer<QWidget>> windows;
  for (QWidget* widget : QApplication::topLevelWidgets())
    if (widget->isVisible() && (widget->windowType() == Qt::Window || widget->windowType() == Qt::Dialog)) windows.push_back(widget);
  for (const QPointer<QWidget>& window : windows) {
    if (!window || window->close()) continue;
    awaited = window;
    return;
  }
  quitting = false;
}

}  // namespace

void quit_all() {
  quitting = true;
  close_all_windows();
}

void call_off_quitting() { quitting = false; }

void go_on_quitting() {
  const auto go_on = [] {
    if (quitting && !(awaited && awaited->isVisible())) close_all_windows();
  };
  if (quitting) QMetaObject::invokeMethod(qApp, go_on, Qt::QueuedConnection);
}

}  // namespace lanescope::ui
