#include "timeline/core/pixels/path_arrows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace lanescope::timeline {

PathPlace whole_place(const Trace& trace, EventRef event) {
  const Event whole = trace.event(event);
  return {event, {whole.start, whole.end()}};
}

Nanoseconds arrow_begin(TimeRange cause, TimeRange effect) noexcept { return cause.end <= effect.begin ? cause.end : cause.begin; }

std::vector<PathArrow> arrows_of_path(std::span<const PathPlace> path, const Viewport& viewport,
                                      const std::function<std::optional<std::uint32_t>(LaneId)>& row_of) {
  std::vector<PathArrow> arrows;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> taken;  // both rows, and the piece of time
  for (std::size_t i = 1; i < path.size(); ++i) {
    const PathPlace &cause = path[i], &effect = path[i - 1];
    const TimeRange time{arrow_begin(cause.time, effect.time), effect.time.begin};
    if (std::max(time.begin, time.end) < viewport.range.begin || std::min(time.begin, time.end) > viewport.range.end) continue;
    const std::optional<std::uint32_t> from = row_of(cause.event.lane), to = row_of(effect.event.lane);
    if (!from || !to) continue;
    const auto piece = static_cast<std::int64_t>(std::floor(static_cast<double>(effect.time.begin) / (kArrowSpacing * viewport.step())));
    if (taken.emplace(*from, *to, piece).second) arrows.push_back({cause.event, effect.event, time});
  }
  return arrows;
}

}  // namespace lanescope::timeline
