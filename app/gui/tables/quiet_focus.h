// An item view in which only the user makes an item current. Qt's views make the first item current when they get the focus, so that moving the focus selects
// something and moves the timeline.
#pragma once

#include <QAbstractItemView>
#include <QFocusEvent>

#include "base/input/typing.h"

namespace lanescope::ui {

template <typename View>
class QuietFocus : public View {
 public:
  using View::View;

 protected:
  // True if typing finds the row that starts with the typed text, even if the keys are shortcuts of the window.
  [[nodiscard]] virtual bool leadsToWhatIsTyped() const { return true; }
  bool event(QEvent* event) override {
    if (event->type() == QEvent::ShortcutOverride && leadsToWhatIsTyped() && is_typed(*static_cast<QKeyEvent*>(event))) {
      event->accept();
      return true;
    }
    return View::event(event);
  }
  void focusInEvent(QFocusEvent* event) override {
    QAbstractScrollArea::focusInEvent(event);
    View::viewport()->update();
  }
};

}  // namespace lanescope::ui
