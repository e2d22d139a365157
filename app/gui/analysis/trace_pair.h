// Two traces on one time axis: A, which was open first, and B, which was opened beside it and is shifted in time.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>
#include <optional>

#include <QObject>
#include <QString>

#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

class TracePair : public QObject {
  Q_OBJECT

 public:
  // What coincides in both traces.
  enum class Alignment {
    kLoop,   // the first iteration of their loops (model/analysis/loop/loop_shift.h)
    kStart,  // their first events
    kUtc,    // the time of day
    kPlace,  // an event of each
    kHand,   // the user chose the shift by hand
  };

  struct Side {
    std::shared_ptr<const Trace> trace;  // by itself, not combined
    QString path;
    [[nodiscard]] QString name() const;  // of the file
    // Maps an event of the trace that follows this one in the combined trace to the combined trace.
    [[nodiscard]] EventRef behind(EventRef event) const;
  };

  // What to show when the traces have been aligned by it.
  struct Place {
    TimeRange first;   // in A
    TimeRange second;  // in B, in B's own times
    EventRef event;    // of the combined trace, to be selected; may be invalid
    TimeRange gap{};   // of the axis: a gap that the event ended, to be selected instead; empty: none
  };

  explicit TracePair(QObject* parent = nullptr);

  // Aligns the traces by the time of day if they overlap then, else by their loops, else by their starts. Loops of traces whose events are not in memory are
  // not looked for. Ends with combined().
  void open(Side first, Side second);
  void close();  // to show first() alone, the caller must show it
  void swap();
  [[nodiscard]] bool isOpen() const { return first_.trace != nullptr; }
  [[nodiscard]] bool isCombining() const { return job_.isRunning(); }
  [[nodiscard]] const Side& first() const { return first_; }
  [[nodiscard]] const Side& second() const { return second_; }

  [[nodiscard]] Alignment alignment() const { return alignment_; }
  [[nodiscard]] Nanoseconds shift() const { return shift_; }  // a time of B plus this is a time of the axis
  // Maps an event of B to the combined trace. Requires: isOpen().
  [[nodiscard]] EventRef ofSecond(EventRef event) const { return first_.behind(event); }
  [[nodiscard]] bool knowsUtc() const;
  // Each ends with combined(). Requires: isOpen(); for alignByUtc(), knowsUtc(). Without a loop in both, alignByLoop() emits
  // lacksLoop(), and the traces stay as they are.
  void alignByLoop();
  void alignByStart();
  void alignByUtc();
  void setShift(Nanoseconds shift);
  void alignPlaces(const Place& place);  // the starts of both places coincide; then emits placed()
  void reset();                          // to the alignment when B was opened

 signals:
  void sidesChanged();  // opened, closed or swapped
  void alignmentChanged();
  void lacksLoop();  // was to be aligned by it
  void combined(std::shared_ptr<const lanescope::Trace> trace, lanescope::ui::TraceChange change);
  // The range of the axis that holds both places; event and gap as in Place.
  void placed(lanescope::TimeRange range, lanescope::EventRef event, lanescope::TimeRange gap);

 private:
  enum class LoopSearch {
    kNone,
    kIfAny,   // else the traces stay as they are
    kWished,  // else the user is told
  };

  void alignInitially();
  void alignByLoopFound(std::optional<Nanoseconds> shift);
  void align(Alignment alignment, Nanoseconds shift);
  void combine();

  Side first_, second_;
  Alignment alignment_ = Alignment::kStart;
  Nanoseconds shift_ = 0;
  std::optional<Place> place_;                  // to be shown when the traces are combined
  LoopSearch loop_search_ = LoopSearch::kNone;  // what the running job looks for
  bool is_swapped_ = false;                     // since the combined trace that is shown
  LatestJob job_;
};

}  // namespace lanescope::ui
