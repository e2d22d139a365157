// The trace that statistics, findings and bubbles are about: the shown one; where two are shown on one time axis, A, B, or both as one, as
// the user chooses, so that no row counts what two programs did without being asked to.
//
// Threads: the GUI thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <QComboBox>
#include <QObject>
#include <QStringList>

#include "analysis/trace_pair.h"
#include "base/state/selection_state.h"

namespace lanescope::ui {

class AnsweredTrace : public QObject {
  Q_OBJECT

 public:
  enum class Choice { kFirst, kSecond, kBoth };  // of two

  // What an answer is of. Whoever keeps an answer keeps this with it: by the time that somebody follows the answer, its trace may be gone.
  struct Subject {
    std::shared_ptr<const Trace> trace;  // by itself, in its own times; null: no trace is open
    std::uint64_t number = 0;            // the same for all states of one trace
    bool operator==(const Subject&) const = default;
  };

  AnsweredTrace(SelectionState& state, TracePair& pair, QObject* parent = nullptr);

  [[nodiscard]] bool isOfTwo() const { return two_.has_value(); }
  [[nodiscard]] Choice choice() const { return choice_; }
  void choose(Choice choice);  // A again when another trace is opened beside

  [[nodiscard]] Subject subject() const { return {trace(), subject_}; }
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
  // Shows a time and an event of `of` in the timeline, with some room on both sides; the event may be invalid. Of an earlier state of
  // trace(), the event is where it stands now. What is no longer answered about is not shown anywhere.
  void show(const Subject& of, TimeRange time, EventRef event);
  [[nodiscard]] Nanoseconds shiftOfSecond() const { return two_ ? two_->shift : Nanoseconds{0}; }
  // The names to choose from: "A  before.trace".
  [[nodiscard]] QStringList choices() const;

 signals:
  // Another trace is answered about, or a later state of it, or the choice is another one.
  void changed(lanescope::ui::TraceChange change);

 private:
  // The traces of which the shown one is combined. The pair may have others already, which are still being combined.
  struct Two {
    TracePair::Side first;
    TracePair::Side second;
    Nanoseconds shift = 0;  // of the second on the time axis
  };
  void follow(TraceChange change);
  [[nodiscard]] Nanoseconds shift() const;  // from its times to those that are shown

  SelectionState& state_;
  TracePair& pair_;
  std::optional<Two> two_;
  Choice choice_ = Choice::kFirst;
  std::uint64_t subject_ = 0;
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
