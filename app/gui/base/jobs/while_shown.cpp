#include "base/jobs/while_shown.h"

#include <utility>

#include <QEvent>

namespace lanescope::ui {

WhileShown::WhileShown(QWidget& panel, std::function<void()> work) : panel_(panel), work_(std::move(work)) {
  panel.installEventFilter(this);
  connect(&paced_, &PacedUpdate::due, this, &WhileShown::atOnce);
}

void WhileShown::soon() {
  if (panel_.isVisible()) paced_.request();
}

void WhileShown::atOnce() {
  paced_.cancel();
  if (panel_.isVisible()) work_();
}

bool WhileShown::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &panel_ && event->type() == QEvent::Show) atOnce();
  if (watched == &panel_ && event->type() == QEvent::Hide) cancel();
  return QObject::eventFilter(watched, event);
}

}  // namespace lanescope::ui
