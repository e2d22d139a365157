// What columns have to say of events that are listed, each as a button that ends the condition. Out of sight while there is none.
#pragma once

#include <QHBoxLayout>
#include <QWidget>

#include "base/state/selection_state.h"

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

// From now on the filter lets through what has exactly this name, or a name of exactly this family, and is of this kind (none: of any), whatever it
// said of names before.
void keep_name(EventFilter& filter, std::optional<EventKind> kind, std::string_view name);
void keep_family(EventFilter& filter, std::optional<EventKind> kind, std::string_view family);

}  // namespace lanescope::ui
