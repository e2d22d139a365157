#include "timeline/core/pixels/path_arrows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace lanescope::timeline {

Nanoseconds arrow_begin(const Event& cause, const Event& effect) noexcept { return cause.end() <= effect.start ? cause.end() : cause.start; }

std::vector<PathArrow> arrows_of_path(const Trace& trace, std::span<const EventRef> path, const Viewport& viewport,
                                      const std::function<std::optional<std::uint32_t>(LaneId)>& row_of) {
  std::vector<PathArrow> arrows;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> taken;  // both rows, and the piece of time
  for (std::size_t i = 1; i < path.size(); ++i) {
    const Event cause = trace.event(path[i]), effect = trace.event(path[i - 1]);
    const TimeRange time{arrow_begin(cause, effect), effect.start};
    if (std::max(time.begin, time.end) < viewport.range.begin || std::min(time.begin, time.end) > viewport.range.end) continue;
    const std::optional<std::uint32_t> from = row_of(path[i].lane), to = row_of(path[i - 1].lane);
    if (!from || !to) continue;
    const auto piece = static_cast<std::int64_t>(std::floor(static_cast<double>(effect.start) / (kArrowSpacing * viewport.step())));
    if (taken.emplace(*from, *to, piece).second) arrows.push_back({path[i], path[i - 1], time});
  }
  return arrows;
}

}  // namespace lanescope::timeline
