// The selection of a trace, and what is under the cursor. Timelines and other views of the trace share one object, so that they cannot disagree.
//
// Threads: the GUI thread only. Each signal is emitted once for each change, whichever view caused it, and never for a call that changes nothing.
#pragma once

#include <memory>
#include <optional>

#include <QObject>

#include "model/trace/trace.h"

namespace lanescope::timeline {

class Selection : public QObject {
  Q_OBJECT

 public:
  explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

  // Starts with another trace: clears the selection. Null: no trace.
  void begin(std::shared_ptr<const Trace> trace);
  // Continues with a later state of the same trace, in which the selected items may have other ids: they stay selected, without a signal, because nobody
  // selected anything. Items that no longer exist are deselected. Calls with the present trace do nothing: several views may make them.
  void moveTo(std::shared_ptr<const Trace> trace);
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }

  // Of trace(); not valid() if there is none.
  void select(EventRef event);  // {} clears
  [[nodiscard]] EventRef event() const { return event_; }
  void selectRange(std::optional<TimeRange> range);  // deselects the gap
  [[nodiscard]] std::optional<TimeRange> range() const { return range_; }
  // A time in which a GPU is idle.
  struct Gap {
    TimeRange range;
    GpuId gpu = kNone;  // other GPUs may be idle in the same time
    bool operator==(const Gap&) const = default;
  };
  // Also selects its range, unless a part of time is selected that is not a gap: the user's choice stays.
  void selectGap(const Gap& gap);
  [[nodiscard]] const std::optional<Gap>& gap() const { return gap_; }
  // The selected part of time or gap if it was selected after the event, or if no event is selected; nothing if the event was selected last, or no time is
  // selected.
  [[nodiscard]] std::optional<TimeRange> latestTime() const;
  void hover(EventRef event);
  [[nodiscard]] EventRef hovered() const { return hovered_; }

 signals:
  void eventChanged(lanescope::EventRef event);
  void rangeChanged(std::optional<lanescope::TimeRange> range);
  void gapChanged();  // before rangeChanged, if the range changes, too
  void hoveredChanged(lanescope::EventRef event);

 private:
  [[nodiscard]] bool leavesGap(EventRef event) const;
  std::shared_ptr<const Trace> trace_;
  EventRef event_;
  EventRef hovered_;
  std::optional<TimeRange> range_;
  std::optional<Gap> gap_;
  enum class Latest { kEvent, kRange, kGap };
  Latest latest_ = Latest::kRange;  // of the selected items
};

}  // namespace lanescope::timeline
