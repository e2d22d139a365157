#include "agent/cupti/late_graph_work.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace lanescope::agent::cupti {
namespace {

constexpr auto place_of = [](const auto& launch) { return std::tuple(launch.graph, launch.correlation); };

}  // namespace

void LateGraphWork::find_launches() noexcept {
  launch_count_ = 0;
  if (launches_.size() == 0) return;
  const std::span launches(&launches_[0], launches_.size());
  std::ranges::sort(launches, {}, place_of);
  for (const Launch& next : launches) {
    if (launch_count_ != 0 && place_of(launches[launch_count_ - 1]) == place_of(next)) {
      Launch& launch = launches[launch_count_ - 1];
      launch.first_end = std::min(launch.first_end, next.first_end);
      launch.last_start = std::max(launch.last_start, next.last_start);
    } else {
      launches[launch_count_++] = next;
    }
  }
}

bool LateGraphWork::has_true_ends(const encode::GraphPlace& graph, std::uint32_t correlation) const noexcept {
  const std::span launches(&launches_[0], launch_count_);
  const auto launch = std::ranges::lower_bound(launches, std::tuple(graph.graph, correlation), {}, place_of);
  const bool is_last = launch + 1 == launches.end() || (launch + 1)->graph != launch->graph;
  return !is_last || launch->first_end <= stop_ || launch->first_end <= launch->last_start;
}

}  // namespace lanescope::agent::cupti
