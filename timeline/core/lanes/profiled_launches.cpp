#include "timeline/core/lanes/profiled_launches.h"

namespace lanescope::timeline {
namespace {

std::uint64_t key_of(ProcessId process, std::uint32_t correlation) { return std::uint64_t{process} << 32 | correlation; }

}  // namespace

ProfiledLaunches::ProfiledLaunches(const KernelRecords& records) {
  for (const auto& launch : records.measured) {
    launches_.insert(key_of(launch->process, launch->correlation));
    for (const std::uint32_t other : launch->other_launches) launches_.insert(key_of(launch->process, other));
  }
  for (const auto& counts : records.counted) launches_.insert(key_of(counts->process, counts->correlation));
}

bool ProfiledLaunches::contains(const Trace& trace, EventRef event) const {
  if (launches_.empty() || !event.valid()) return false;
  const TrackKey& key = trace.track_of(event.lane).key;
  return key.kind == TrackKind::kKernels && launches_.contains(key_of(key.process, trace.lane(event.lane).correlation(event.index)));
}

}  // namespace lanescope::timeline
