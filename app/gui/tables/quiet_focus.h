// An item view in which only the user makes an item current. Qt's views make the first item current when they get the focus, so that moving the focus selects
// something and moves the timeline. They also search for what is typed: here, fields do that, so that a letter is the same key wherever no text is typed.
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
  void keyPressEvent(QKeyEvent* event) override {
    if (is_left_by_lists(*event)) return event->ignore();
    View::keyPressEvent(event);
  }
  void focusInEvent(QFocusEvent* event) override {
    QAbstractScrollArea::focusInEvent(event);
    View::viewport()->update();
  }
};

}  // namespace lanescope::ui
