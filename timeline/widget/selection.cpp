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
  if (event == event_) return;
  event_ = event;
  emit eventChanged(event);
}

void Selection::selectRange(std::optional<TimeRange> range, std::optional<GpuId> idle_gpu) {
  if (range && range->empty()) range.reset();
  if (!range) idle_gpu.reset();
  if (range == range_ && idle_gpu == idle_gpu_) return;
  range_ = range;
  idle_gpu_ = idle_gpu;
  emit rangeChanged(range);
}

void Selection::hover(EventRef event) {
  if (event == hovered_) return;
  hovered_ = event;
  emit hoveredChanged(event);
}

}  // namespace lanescope::timeline
