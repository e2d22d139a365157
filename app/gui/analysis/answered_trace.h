// The trace that statistics, findings and bubbles are about: the shown one; where two are shown on one time axis, A, B, or both as one, as
// the user chooses, so that no row counts what two programs did without being asked to.
//
// Threads: the GUI thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QComboBox>
#include <QObject>
#include <QStringList>

#include "analysis/trace_pair.h"
#include "base/selection_state.h"

namespace lanescope::ui {

class AnsweredTrace : public QObject {
  Q_OBJECT

 public:
  enum class Choice { kFirst, kSecond, kBoth };  // of two

  AnsweredTrace(SelectionState& state, TracePair& pair, QObject* parent = nullptr);

  [[nodiscard]] bool isOfTwo() const;
  [[nodiscard]] Choice choice() const { return choice_; }
  void choose(Choice choice);  // A again when another trace is opened beside

  // By itself, in its own times; null: no trace is open.
  [[nodiscard]] std::shared_ptr<const Trace> trace() const;
  // The part of time that lists are bound to, in times of trace(); none: all of it.
  [[nodiscard]] std::optional<TimeRange> boundRange() const;
  // The files that hold it, where `shown` hold the shown one.
  [[nodiscard]] QStringList files(const QStringList& shown) const;
  // Tells of events of the shown trace whether they belong to it; may be asked by any thread.
  [[nodiscard]] std::function<bool(EventRef)> held() const;
  // The same time and event on the time axis and in the trace that are shown.
  [[nodiscard]] TimeRange shown(TimeRange time) const;
  [[nodiscard]] EventRef shown(EventRef event) const;
  // Shows a time and an event of trace() in the timeline, with some room on both sides; the event may be invalid.
  void show(TimeRange time, EventRef event);
  // The same of `of`, which may be an earlier state of trace(): times are the same there, and the event is where it stands now.
  void showIn(const std::shared_ptr<const Trace>& of, TimeRange time, EventRef event);
  // The names to choose from: "A  before.trace".
  [[nodiscard]] QStringList choices() const;

 signals:
  // Another trace is answered about, or a later state of it, or the choice is another one.
  void changed(lanescope::ui::TraceChange change);

 private:
  [[nodiscard]] Nanoseconds shift() const;  // from its times to those that are shown

  SelectionState& state_;
  TracePair& pair_;
  Choice choice_ = Choice::kFirst;
};

// Where the user chooses; out of sight while one trace is open.
class AnsweredTraceBox : public QComboBox {
  Q_OBJECT

 public:
  explicit AnsweredTraceBox(AnsweredTrace& answered, QWidget* parent = nullptr);

 private:
  void showChoices();
  AnsweredTrace& answered_;
};

}  // namespace lanescope::ui
