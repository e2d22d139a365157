// The line above the events table: which row, which part of time, which names, kinds, threads, streams and durations, and what columns say.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QWidget>

#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "events/value_chips.h"

namespace lanescope::ui {

// Fills a list with the kinds of events of the trace that is shown, and chooses that of the filter.
void offer_kinds(QComboBox& list, const SelectionState& state);  // O(lanes)
// Chooses that of the filter among those that the list has.
void choose_kind(QComboBox& list, const SelectionState& state);
// None: all kinds.
[[nodiscard]] std::optional<EventKind> chosen_kind(const QComboBox& list);

class EventFilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit EventFilterBar(SelectionState& state, QWidget* parent = nullptr);

  void focusText();

 signals:
  void left();  // by Esc in one of its fields

 private:
  void showTrace();    // fills the lists of kinds, threads and streams
  void showFilter();   // what the state says
  void showChoices();  // of that, what is chosen from lists
  void showRow();
  void applyFilter();

  SelectionState& state_;
  QToolButton* row_;
  ValueChips* values_;
  QComboBox* binding_;
  QLineEdit* text_;
  QComboBox* run_;  // A, B or both; hidden where runs are not compared
  QComboBox* kind_;
  QComboBox* source_;  // a thread or a stream
  QLineEdit* minimum_;
  PacedUpdate paced_;
  std::weak_ptr<const Trace> shown_trace_;  // whose kinds, threads and streams are offered
};

}  // namespace lanescope::ui
