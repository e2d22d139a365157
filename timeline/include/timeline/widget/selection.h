// What of a trace is selected, and what the cursor is over. It is kept once: timelines and other views of the trace share it, so that they
// can't disagree.
//
// Threads: the GUI thread only. Each signal is emitted once for each change, whoever caused it, and never for a call that changes nothing.
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

  // Another trace: nothing is selected any more. Null: none.
  void begin(std::shared_ptr<const Trace> trace);
  // A later state of the same trace, where what is selected may stand elsewhere: it stays selected, without a signal, since nobody selected
  // anything. What is not there any more is deselected. Calls with the trace that it has do nothing: several views may make them.
  void moveTo(std::shared_ptr<const Trace> trace);
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }

  // Of trace(); not valid() where there is none.
  void select(EventRef event);  // {} clears
  [[nodiscard]] EventRef event() const { return event_; }
  void selectRange(std::optional<TimeRange> range);  // no gap is selected then
  [[nodiscard]] std::optional<TimeRange> range() const { return range_; }
  // A time in which a GPU is idle.
  struct Gap {
    TimeRange range;
    GpuId gpu = kNone;  // others may be idle for the same time
    bool operator==(const Gap&) const = default;
  };
  // It is the selected range, too, unless a part of time is selected that is no gap: who chose that goes on with it.
  void selectGap(const Gap& gap);
  [[nodiscard]] const std::optional<Gap>& gap() const { return gap_; }
  void hover(EventRef event);
  [[nodiscard]] EventRef hovered() const { return hovered_; }

 signals:
  void eventChanged(lanescope::EventRef event);
  void rangeChanged(std::optional<lanescope::TimeRange> range);
  void gapChanged();  // before rangeChanged, where that changes, too
  void hoveredChanged(lanescope::EventRef event);

 private:
  std::shared_ptr<const Trace> trace_;
  EventRef event_;
  EventRef hovered_;
  std::optional<TimeRange> range_;
  std::optional<Gap> gap_;
};

}  // namespace lanescope::timeline
