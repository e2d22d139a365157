#include "base/state/selection_state.h"

#include <utility>

#include "model/events/carried_filter.h"
#include "timeline/core/navigation.h"

namespace lanescope::ui {

SelectionState::SelectionState(QObject* parent) : QObject(parent) {
  connect(&selection_, &timeline::Selection::eventChanged, this, &SelectionState::selectedEventChanged);
  connect(&selection_, &timeline::Selection::hoveredChanged, this, &SelectionState::hoveredEventChanged);
  connect(&selection_, &timeline::Selection::rangeChanged, this, &SelectionState::selectedRangeChanged);
  connect(&selection_, &timeline::Selection::gapChanged, this, &SelectionState::selectedGapChanged);
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

void SelectionState::activate(EventRef event, std::optional<TimeRange> around) {
  setSelectedEvent(event);
  emit activated(event, around);
}

void SelectionState::reveal(EventRef event) {
  setSelectedEvent(event);
  emit revealed(event);
}

}  // namespace lanescope::ui
