// A view of items of which only what its user does makes one the current one. Qt's own views make the first item current when they get
// the focus, so that a key which goes there selects something and moves the timeline.
#pragma once

#include <QAbstractItemView>
#include <QFocusEvent>

namespace lanescope::ui {

template <typename View>
class QuietFocus : public View {
 public:
  using View::View;

 protected:
  void focusInEvent(QFocusEvent* event) override {
    QAbstractScrollArea::focusInEvent(event);
    View::viewport()->update();
  }
};

}  // namespace lanescope::ui
