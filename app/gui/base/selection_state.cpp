#include "base/selection_state.h"

namespace lanescope::ui {
namespace {

bool contains(const Trace* trace, EventRef event) {
  return trace && event.lane < trace->lanes().size() && event.index < trace->lane(event.lane).size();
}

}  // namespace

SelectionState::SelectionState(QObject* parent) : QObject(parent) {}

void SelectionState::setTrace(std::shared_ptr<const Trace> trace, TraceChange change) {
  if (trace == trace_) return;
  trace_ = std::move(trace);
  if (change == TraceChange::kOther) {
    setSelectedEvent({});
    setHoveredEvent({});
    setSelectedRange(std::nullopt);
    setShownRow(std::nullopt);
    setFilter({});
    visible_range_ = trace_ ? trace_->extent() : TimeRange{};
  } else {  // an event that came late may have moved others
    if (!contains(trace_.get(), selected_event_)) setSelectedEvent({});
    if (!contains(trace_.get(), hovered_event_)) setHoveredEvent({});
  }
  emit traceChanged(change);
}

void SelectionState::setSelectedEvent(EventRef event) {
  if (event == selected_event_) return;
  selected_event_ = event;
  emit selectedEventChanged(event);
}

void SelectionState::setHoveredEvent(EventRef event) {
  if (event == hovered_event_) return;
  hovered_event_ = event;
  emit hoveredEventChanged(event);
}

void SelectionState::setSelectedRange(std::optional<TimeRange> range) {
  if (range == selected_range_) return;
  selected_range_ = range;
  emit selectedRangeChanged(range);
}

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
      return selected_range_;
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
