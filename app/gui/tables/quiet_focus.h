// A view of items of which only what its user does makes one the current one. Qt's own views make the first item current when they get
// the focus, so that a key which goes there selects something and moves the timeline.
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
  // Whether what is typed leads to the row that begins so, whatever key of the window it is, too.
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
