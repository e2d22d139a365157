#include "model/kernels/launch_kinds.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace lanescope::kernels {
namespace {

// `durations` has the number of each launch.
std::uint64_t typical_of(std::vector<std::pair<Nanoseconds, std::uint64_t>> durations) {
  constexpr std::size_t kTenth = 10;
  const std::size_t median = (durations.size() - 1) / 2, around = durations.size() / kTenth;
  std::sort(durations.begin(), durations.end());
  const Nanoseconds least = durations[median - around].first, most = durations[median + around].first;
  std::uint64_t earliest = durations[median].second;
  for (const auto& [duration, number] : durations)
    if (duration >= least && duration <= most && number > 0) earliest = earliest == 0 ? number : std::min(earliest, number);
  return earliest;
}

}  // namespace

std::vector<LaunchKind> launch_kinds(const Trace& trace, const std::function<bool(const KernelNameOf&)>& is_chosen, std::uint64_t skip) {
  std::unordered_map<DetailId, bool> chosen;  // by detail, which contains the names
  std::vector<std::pair<Nanoseconds, EventRef>> launches;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const DetailId detail_id = trace.event({id, i}).detail;
        if (detail_id == 0) continue;
        const auto [known, is_new] = chosen.try_emplace(detail_id);
        if (is_new) {
          const KernelDetail& detail = trace.kernel_detail(detail_id);
          known->second = detail.graph == 0 && detail.graph_node == 0 && is_chosen({trace.name(detail.short_name), trace.name(detail.mangled_name)});
        }
        if (known->second) launches.emplace_back(lane.start(i), EventRef{id, i});
      }
    }
  }
  std::stable_sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  using Key = std::tuple<ProcessId, NameId, LaunchShape>;
  struct Found {
    LaunchKind kind;
    std::vector<std::pair<Nanoseconds, std::uint64_t>> durations;  // with the launch's number
  };
  std::map<Key, Found> kinds;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const EventRef ref = launches[i].second;
    const Event event = trace.event(ref);
    const KernelDetail& detail = trace.kernel_detail(event.detail);
    const ProcessId process = trace.track_of(ref.lane).key.process;
    Found& found = kinds[{process, detail.mangled_name, shape_of(detail)}];
    LaunchKind& kind = found.kind;
    found.durations.emplace_back(event.duration, kind.launches++);
    kind.time += event.duration;
    if (i < skip) ++kind.before;
    if (i < skip || kind.first.valid()) continue;
    kind.process = process;
    kind.name = event.name;
    kind.detail = detail;
    kind.first = ref;
  }
  std::vector<LaunchKind> result;
  for (auto& [key, found] : kinds) {
    if (!found.kind.first.valid()) continue;
    found.kind.typical = typical_of(std::move(found.durations));
    result.push_back(found.kind);
  }
  // Equal times are sorted by name, because name ids differ between recordings.
  std::stable_sort(result.begin(), result.end(), [&trace](const LaunchKind& a, const LaunchKind& b) {
    if (a.time != b.time) return a.time > b.time;
    return a.process != b.process ? a.process < b.process : trace.name(a.detail.mangled_name) < trace.name(b.detail.mangled_name);
  });
  return result;
}

}  // namespace lanescope::kernels
