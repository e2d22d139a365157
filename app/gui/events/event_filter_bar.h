// The line above the events table: row, part of time, names, kinds, threads, streams, durations and conditions on columns.
#pragma once

#include <initializer_list>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QWidget>

#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "events/value_chips.h"

namespace lanescope::ui {

// Fills a list with the kinds of events of the shown trace, and chooses the kind of the filter.
void offer_kinds(QComboBox& list, const SelectionState& state);  // O(lanes)
// Chooses the kind of the filter in the list.
void choose_kind(QComboBox& list, const SelectionState& state);
// Nothing: all kinds.
[[nodiscard]] std::optional<EventKind> chosen_kind(const QComboBox& list);

class EventFilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit EventFilterBar(SelectionState& state, QWidget* parent = nullptr);

  // Adds controls that stand at the right end: of the only line, or of the second one where there is no room for one.
  void append(std::initializer_list<QWidget*> controls);
  void focusText();

 signals:
  void left();  // by Esc in one of its fields

 private:
  void showTrace();    // fills the lists of kinds, threads and streams
  void showFilter();   // of the state
  void showChoices();  // the part of the filter that is chosen from lists
  void showRow();
  void applyFilter();

  SelectionState& state_;
  QToolButton* row_;
  ValueChips* values_;
  QComboBox* binding_;
  QLineEdit* text_;
  QComboBox* run_;  // A, B or both; hidden if no runs are compared
  QComboBox* kind_;
  QComboBox* source_;  // a thread or a stream
  QLineEdit* minimum_;
  QHBoxLayout* second_ = nullptr;  // what is on the second line where there are two
  PacedUpdate paced_;
  std::weak_ptr<const Trace> shown_trace_;  // the trace whose kinds, threads and streams are offered
};

}  // namespace lanescope::ui
