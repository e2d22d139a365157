// The trace that statistics, findings and bubbles cover: the shown one. If two traces are shown on one time axis, the user chooses A, B, or both combined, so
// that no row mixes two programs unless the user asks for it.
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
  enum class Choice { kFirst, kSecond, kBoth };  // of two traces

  // What an answer is about. It must be kept with the answer: when the user follows the answer, its trace may be closed.
  struct Subject {
    std::shared_ptr<const Trace> trace;  // uncombined, with its own times; null: no trace is open
    std::uint64_t number = 0;            // the same for all states of a trace
    bool operator==(const Subject&) const = default;
  };

  AnsweredTrace(SelectionState& state, TracePair& pair, QObject* parent = nullptr);

  [[nodiscard]] bool isOfTwo() const { return two_.has_value(); }
  [[nodiscard]] Choice choice() const { return choice_; }
  void choose(Choice choice);  // kFirst again when another trace is opened beside

  [[nodiscard]] Subject subject() const { return {trace(), subject_}; }
  [[nodiscard]] std::shared_ptr<const Trace> trace() const;
  // The part of time that lists are bound to, in times of trace(); nothing: all of it.
  [[nodiscard]] std::optional<TimeRange> boundRange() const;
  // The files that hold trace(), if `shown` are the files of the shown trace.
  [[nodiscard]] QStringList files(const QStringList& shown) const;
  // Returns a function that tells whether an event of the shown trace belongs to trace(). Any thread may call it.
  [[nodiscard]] std::function<bool(EventRef)> held() const;
  // The same time or event on the time axis and in the trace that are shown.
  [[nodiscard]] TimeRange shown(TimeRange time) const;
  [[nodiscard]] EventRef shown(EventRef event) const;
  // Shows a time and an event of `of` in the timeline, with some room on both sides; the event may be invalid. If the event ends a gap of a GPU that is this
  // time, the gap is selected and not the event. If `of` is an earlier state of trace(), the event is searched in the present state. Does nothing if `of` is no
  // longer the subject.
  void show(const Subject& of, TimeRange time, EventRef event);
  [[nodiscard]] Nanoseconds shiftOfSecond() const { return two_ ? two_->shift : Nanoseconds{0}; }
  // The names of the choices: "A  before.trace".
  [[nodiscard]] QStringList choices() const;

 signals:
  // The subject is another trace or a later state of it, or the choice has changed.
  void changed(lanescope::ui::TraceChange change);

 private:
  // The traces that are combined in the shown one. The pair may already have other traces, which are still being combined.
  struct Two {
    TracePair::Side first;
    TracePair::Side second;
    Nanoseconds shift = 0;  // of the second trace on the time axis
  };
  void follow(TraceChange change);
  [[nodiscard]] Nanoseconds shift() const;  // from times of trace() to times that are shown

  SelectionState& state_;
  TracePair& pair_;
  std::optional<Two> two_;
  Choice choice_ = Choice::kFirst;
  std::uint64_t subject_ = 0;
};

// The combo box of the choice; hidden while one trace is open.
class AnsweredTraceBox : public QComboBox {
  Q_OBJECT

 public:
  explicit AnsweredTraceBox(AnsweredTrace& answered, QWidget* parent = nullptr);

 private:
  void showChoices();
  AnsweredTrace& answered_;
};

}  // namespace lanescope::ui
