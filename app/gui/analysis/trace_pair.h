// Two traces on one time axis: A, which was open, and B, which was opened beside it and is shifted along time.
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
  // What of both traces coincides.
  enum class Alignment {
    kStart,  // their first events
    kUtc,    // the time of day
    kPlace,  // an event of each
    kHand,   // nothing that is known: the user chose the shift
  };

  struct Side {
    std::shared_ptr<const Trace> trace;  // by itself, not combined
    QString path;
    [[nodiscard]] QString name() const;  // of the file
    // An event of a trace that is combined with this one, behind it, as it stands in both together.
    [[nodiscard]] EventRef behind(EventRef event) const;
  };

  // What is to be shown once the traces are aligned by it.
  struct Place {
    TimeRange first;   // in A
    TimeRange second;  // in B, in times of B by itself
    EventRef event;    // of the combined trace, to select; may be invalid
  };

  explicit TracePair(QObject* parent = nullptr);

  // Aligned by the time of day where the two overlap by it, else by start. Ends with combined().
  void open(Side first, Side second);
  void close();  // whoever shows the combined trace goes on with first()
  void swap();
  [[nodiscard]] bool isOpen() const { return first_.trace != nullptr; }
  [[nodiscard]] bool isCombining() const { return job_.isRunning(); }
  [[nodiscard]] const Side& first() const { return first_; }
  [[nodiscard]] const Side& second() const { return second_; }

  [[nodiscard]] Alignment alignment() const { return alignment_; }
  [[nodiscard]] Nanoseconds shift() const { return shift_; }  // a time of B plus this is a time of the axis
  // An event of B as it stands in the combined trace. Requires: isOpen().
  [[nodiscard]] EventRef ofSecond(EventRef event) const { return first_.behind(event); }
  [[nodiscard]] bool knowsUtc() const;
  // Each ends with combined(). Requires: isOpen(); for alignByUtc(), knowsUtc().
  void alignByStart();
  void alignByUtc();
  void setShift(Nanoseconds shift);
  void alignPlaces(const Place& place);  // the beginnings coincide; then placed()
  void reset();                          // as it was when B was opened

 signals:
  void sidesChanged();  // opened, closed or swapped
  void alignmentChanged();
  void combined(std::shared_ptr<const lanescope::Trace> trace, lanescope::ui::TraceChange change);
  void placed(lanescope::TimeRange range, lanescope::EventRef event);  // the range of the axis that holds both places

 private:
  void alignInitially();
  void align(Alignment alignment, Nanoseconds shift);
  void combine();

  Side first_, second_;
  Alignment alignment_ = Alignment::kStart;
  Nanoseconds shift_ = 0;
  std::optional<Place> place_;  // to show when the traces are combined
  bool is_swapped_ = false;     // since the combined trace that is shown
  LatestJob job_;
};

}  // namespace lanescope::ui
