// The conditions on columns of the listed events. Each is a button that removes the condition. Hidden while there are none.
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

// As shown to people; "none" for events without such a value.
[[nodiscard]] QString value_text(const ColumnValue& value);

// Makes the filter accept only events with exactly this name, or with a name of exactly this family, and of this kind (nothing: any). Previous conditions on
// names are removed.
void keep_name(EventFilter& filter, std::optional<EventKind> kind, std::string_view name);
void keep_family(EventFilter& filter, std::optional<EventKind> kind, std::string_view family);

}  // namespace lanescope::ui
