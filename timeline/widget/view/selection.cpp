#include "timeline/widget/selection.h"

#include <utility>

#include "timeline/core/navigation.h"

namespace lanescope::timeline {

void Selection::begin(std::shared_ptr<const Trace> trace) {
  if (trace == trace_) return;
  select({});
  hover({});
  selectRange(std::nullopt);
  trace_ = std::move(trace);
}

void Selection::moveTo(std::shared_ptr<const Trace> trace) {
  if (trace == trace_) return;
  const std::shared_ptr<const Trace> before = std::exchange(trace_, std::move(trace));
  const auto found = [&](EventRef event) { return before && trace_ ? find_again(*before, event, *trace_) : EventRef{}; };
  const EventRef event = found(event_);
  const EventRef hovered = found(hovered_);
  if (event.valid()) event_ = event;
  if (hovered.valid()) hovered_ = hovered;
  if (!event.valid()) select({});
  if (!hovered.valid()) hover({});
}

void Selection::select(EventRef event) {
  if (event.valid()) latest_ = Latest::kEvent;
  if (event == event_) return;
  event_ = event;
  const bool ends_gap = event.valid() && gap_ && range_ != gap_->range;  // of an event and a gap beside a range, the last one is selected
  if (ends_gap) gap_.reset();
  if (ends_gap) emit gapChanged();
  if (event.valid() && gap_ && leavesGap(event)) selectRange(std::nullopt);
  emit eventChanged(event);
}

// True for an event outside of the gap's time: lists that are limited to that time do not contain it. An event of such a list keeps the gap selected.
bool Selection::leavesGap(EventRef event) const {
  const Lane& lane = trace_->lane(event.lane);
  const Nanoseconds begin = lane.start(event.index), end = lane.end(event.index);
  return end < gap_->range.begin || begin > gap_->range.end;
}

void Selection::selectRange(std::optional<TimeRange> range) {
  if (range && range->empty()) range.reset();
  if (range) latest_ = Latest::kRange;
  const bool ends_gap = std::exchange(gap_, std::nullopt).has_value();
  const bool is_other = std::exchange(range_, range) != range;
  if (ends_gap) emit gapChanged();
  if (is_other) emit rangeChanged(range);
}

void Selection::selectGap(const Gap& gap) {
  latest_ = Latest::kGap;
  if (gap_ == gap) return;
  const bool is_range = !range_ || (gap_ && *range_ == gap_->range);
  gap_ = gap;
  const bool is_other = is_range && std::exchange(range_, gap.range) != gap.range;
  emit gapChanged();
  if (is_other) emit rangeChanged(range_);
}

std::optional<TimeRange> Selection::latestTime() const {
  if (latest_ == Latest::kEvent && event_.valid()) return std::nullopt;
  return latest_ == Latest::kGap && gap_ ? gap_->range : range_;
}

void Selection::hover(EventRef event) {
  if (event == hovered_) return;
  hovered_ = event;
  emit hoveredChanged(event);
}

}  // namespace lanescope::timeline
