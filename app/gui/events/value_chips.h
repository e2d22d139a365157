// What columns have to say of events that are listed, each as a button that ends the condition. Out of sight while there is none.
#pragma once

#include <QHBoxLayout>
#include <QWidget>

#include "base/selection_state.h"

namespace lanescope::ui {

class ValueChips : public QWidget {
  Q_OBJECT

 public:
  explicit ValueChips(SelectionState& state, QWidget* parent = nullptr);

 private:
  void show();

  SelectionState& state_;
  QHBoxLayout* line_;
  std::vector<ColumnValue> shown_;
};

// As people read them; "none" of events that have no such thing.
[[nodiscard]] QString value_text(const ColumnValue& value);

}  // namespace lanescope::ui
