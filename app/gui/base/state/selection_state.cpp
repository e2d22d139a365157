#include "base/state/selection_state.h"

#include <algorithm>
#include <utility>

#include "model/events/carried_filter.h"
#include "timeline/core/navigation.h"

namespace lanescope::ui {

SelectionState::SelectionState(QObject* parent) : QObject(parent) {
  connect(&selection_, &timeline::Selection::eventChanged, this, &SelectionState::selectedEventChanged);
  connect(&selection_, &timeline::Selection::hoveredChanged, this, &SelectionState::hoveredEventChanged);
  connect(&selection_, &timeline::Selection::rangeChanged, this, &SelectionState::selectedRangeChanged);
  connect(&selection_, &timeline::Selection::gapChanged, this, &SelectionState::selectedGapChanged);
  connect(this, &SelectionState::selectedRangeChanged, this, &SelectionState::followBoundRange);
  connect(this, &SelectionState::visibleRangeChanged, this, &SelectionState::followBoundRange);
  connect(this, &SelectionState::timeBindingChanged, this, &SelectionState::followBoundRange);
}

void SelectionState::setTrace(std::shared_ptr<const Trace> trace, TraceChange change) {
  if (trace == trace_) return;
  if (change == TraceChange::kOther) {
    selection_.begin(trace);
    trace_ = std::move(trace);
    setShownRow(std::nullopt);
    setFilter({});
    visible_range_ = trace_ ? trace_->scope() : TimeRange{};
  } else {
    const std::shared_ptr<const Trace> before = std::exchange(trace_, std::move(trace));
    selection_.moveTo(trace_);
    const bool names_tracks = filter_.thread || filter_.stream || !filter_.values.empty();
    if (names_tracks && before && trace_) setFilter(carried_filter(filter_, *before, *trace_, same_track(*before, *trace_)));
  }
  bound_range_ = boundRange();  // traceChanged() says that it is of another trace
  emit traceChanged(change);
}

EventRef SelectionState::inTrace(EventRef event, const Trace& of) const { return trace_ ? timeline::find_again(of, event, *trace_) : EventRef{}; }

void SelectionState::setVisibleRange(TimeRange range) {
  if (range == visible_range_) return;
  visible_range_ = range;
  emit visibleRangeChanged(range);
}

void SelectionState::setShownRow(std::optional<ShownRow> row) {
  if (row == shown_row_) return;
  shown_row_ = std::move(row);
  emit shownRowChanged();
}

void SelectionState::setTimeBinding(TimeBinding binding) {
  if (binding == time_binding_) return;
  time_binding_ = binding;
  emit timeBindingChanged();
}

void SelectionState::setFilter(const EventFilter& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  emit filterChanged();
}

std::optional<TimeRange> SelectionState::boundRange() const {
  switch (time_binding_) {
    case TimeBinding::kWholeTrace:
      return std::nullopt;
    case TimeBinding::kSelectedRange:
      return selectedRange();
    case TimeBinding::kVisibleRange:
      return visible_range_;
  }
  return std::nullopt;
}

void SelectionState::setOpenEvents(std::vector<EventRef> events, std::optional<Nanoseconds> now) {
  if (events == open_events_ && now == now_) return;
  open_events_ = std::move(events);
  now_ = now;
  emit openEventsChanged();
}

// The events may be of an earlier or a later state of the trace: an open one is the last of its lane.
std::optional<Nanoseconds> SelectionState::openAt(EventRef event) const {
  if (!trace_ || !now_ || std::find(open_events_.begin(), open_events_.end(), event) == open_events_.end() || event.lane >= trace_->lanes().size())
    return std::nullopt;
  const Lane& lane = trace_->lane(event.lane);
  return lane.size() == event.index + 1 && lane.end(event.index) < *now_ ? now_ : std::nullopt;
}

OpenEvents SelectionState::openEvents() const {
  OpenEvents open;
  if (now_) open.now = *now_;
  std::copy_if(open_events_.begin(), open_events_.end(), std::back_inserter(open.events), [this](EventRef event) { return openAt(event).has_value(); });
  std::sort(open.events.begin(), open.events.end());
  return open;
}

void SelectionState::followBoundRange() {
  if (const std::optional<TimeRange> range = boundRange(); std::exchange(bound_range_, range) != range) emit boundRangeChanged();
}

void SelectionState::activate(EventRef event, std::optional<TimeRange> around) {
  setSelectedEvent(event);
  emit activated(event, around);
}

void SelectionState::reveal(EventRef event) {
  setSelectedEvent(event);
  emit revealed(event);
}

}  // namespace lanescope::ui
