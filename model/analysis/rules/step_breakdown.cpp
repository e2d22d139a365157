// step_breakdown: what the time of each NVTX range is made of, on the CPU and on the GPU.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "../call_class.h"
#include "../gpu_operations.h"
#include "../own_rules.h"
#include "../range_lookup.h"
#include "../wording.h"
#include "model/analysis/families.h"

namespace lanescope::analysis {
namespace {

// The GPU work that was enqueued within one range.
struct Projection {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = 0;
  Nanoseconds communication = 0;
  Nanoseconds idle = 0;  // with several GPUs, of the one that worked most in it
  std::uint32_t operations = 0;
  [[nodiscard]] Nanoseconds length() const noexcept { return last - first; }
};

struct FamilySum {
  std::uint64_t ranges = 0;
  std::uint64_t operations = 0;
  Nanoseconds cpu = 0;
  Nanoseconds projected = 0;
  Nanoseconds idle = 0;
  Nanoseconds communication = 0;
};

class Breakdown {
 public:
  explicit Breakdown(const RuleContext& context)
      : trace_(context.trace),
        launches_(context.launches()),
        time_(context.time),
        stop_(context.stop),
        ranges_(trace_),
        gpu_tracks_(trace_),
        communication_(trace_, is_communication_name),
        projections_(trace_.lanes().size()) {}

  void project() {
    const bool any = std::any_of(trace_.tracks().begin(), trace_.tracks().end(),
                                 [](const Track& track) { return track.key.kind == TrackKind::kNvtxRanges; });
    if (!any) return;
    for (const Track& track : trace_.tracks())
      if (is_gpu_work(track.key.kind))
        for (const LaneId id : track.lanes) project_lane(track.key, id);
    find_idle();
  }

  std::map<FamilyId, FamilySum> sum(Families& families) {
    std::map<FamilyId, FamilySum> sums;
    for (const Track& track : trace_.tracks()) {
      if (track.key.kind != TrackKind::kNvtxRanges) continue;
      for (const LaneId id : track.lanes) {
        const Lane& lane = trace_.lane(id);
        for (EventIndex i = 0; i < lane.size(); ++i)
          if (time_.contains(lane.start(i))) add(lane.duration(i), projections_[id].empty() ? Projection() : projections_[id][i], sums[families.of_name(lane.name(i))]);
      }
    }
    return sums;
  }

 private:
  void project_lane(const TrackKey& key, LaneId id) {
    const Lane& lane = trace_.lane(id);
    for (EventIndex i = 0; i < lane.size() && !stop_.stop_requested(); ++i) {
      const EventRef launch = launches_.find(key.process, lane.correlation(i), lane.start(i));
      if (!launch.valid()) continue;
      const Nanoseconds begin = lane.start(i), duration = lane.duration(i);
      const bool communicates = key.kind == TrackKind::kKernels && communication_(lane.name(i));
      const Nanoseconds enqueued = trace_.lane(launch.lane).start(launch.index);
      const ThreadId thread = ranges_.owner(trace_.track_of(launch.lane).key.thread, enqueued);
      ranges_.for_each(thread, enqueued, [&](EventRef range) {
        std::vector<Projection>& of_lane = projections_[range.lane];
        if (of_lane.empty()) of_lane.resize(trace_.lane(range.lane).size());
        Projection& projection = of_lane[range.index];
        projection.first = std::min(projection.first, begin);
        projection.last = std::max(projection.last, begin + duration);
        projection.communication += communicates ? duration : 0;
        ++projection.operations;
      });
    }
  }

  void find_idle() {
    constexpr std::size_t kAtOnce = 1u << 22;  // projections: what times they begin and end at takes 40 bytes each meanwhile
    std::map<GpuId, std::vector<Projection*>> asked;
    std::size_t count = 0;
    const auto answer = [&] {
      for (const auto& [gpu, projections] : asked) subtract_busy(gpu, projections);
      asked.clear();
      count = 0;
    };
    for (LaneId id = 0; id < projections_.size(); ++id) {
      if (projections_[id].empty()) continue;
      const std::vector<GpuId>& gpus = gpus_of(trace_.track_of(id).key.process);
      for (Projection& projection : projections_[id]) {
        if (projection.operations == 0) continue;
        projection.idle = projection.length();
        for (const GpuId gpu : gpus) asked[gpu].push_back(&projection);
        count += gpus.size();
        if (count >= kAtOnce) answer();
      }
    }
    answer();
  }

  // The work of a GPU is gone through anew for all that ask at once, rather than kept.
  void subtract_busy(GpuId gpu, std::span<Projection* const> projections) {
    std::vector<Nanoseconds> times;
    times.reserve(2 * projections.size());
    for (const Projection* projection : projections) times.insert(times.end(), {projection->first, projection->last});
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const std::vector<Nanoseconds> busy = busy_before(trace_, gpu_tracks_.of(gpu), times, stop_);
    const auto busy_at = [&](Nanoseconds t) { return busy[static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), t) - times.begin())]; };
    for (Projection* projection : projections)
      projection->idle = std::min(projection->idle, projection->length() - (busy_at(projection->last) - busy_at(projection->first)));
  }

  static void add(Nanoseconds cpu, const Projection& projection, FamilySum& sum) {
    ++sum.ranges;
    sum.cpu += cpu;
    if (projection.operations == 0) return;
    sum.operations += projection.operations;
    sum.projected += projection.length();
    sum.idle += projection.idle;
    sum.communication += projection.communication;
  }

  const std::vector<GpuId>& gpus_of(ProcessId process) {
    const auto [entry, is_new] = gpus_.try_emplace(process);
    if (is_new) {
      std::set<GpuId> gpus;
      for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
        for (const TrackId track : trace_.tracks_of(process, kind)) gpus.insert(trace_.tracks()[track].key.gpu);
      entry->second.assign(gpus.begin(), gpus.end());
    }
    return entry->second;
  }

  const Trace& trace_;
  const LaunchIndex& launches_;
  TimeRange time_;
  std::stop_token stop_;
  RangeLookup ranges_;
  GpuTracks gpu_tracks_;
  NameMemo<bool> communication_;
  std::vector<std::vector<Projection>> projections_;  // by lane and event; none of lanes in which nothing was enqueued
  std::map<ProcessId, std::vector<GpuId>> gpus_;
};

}  // namespace

Result<RuleAnswer> break_down_steps(const RuleContext& context, const RuleArguments&) {
  Families families(context.trace);
  Breakdown breakdown(context);
  breakdown.project();
  const std::map<FamilyId, FamilySum> sums = breakdown.sum(families);
  std::vector<std::pair<FamilyId, FamilySum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.cpu > b.second.cpu; });
  stats::Table table({stats::integers("CPU Time", stats::Unit::kNanoseconds), stats::integers("Ranges"),
                      stats::integers("GPU Projected", stats::Unit::kNanoseconds),
                      stats::integers("GPU Idle Inside", stats::Unit::kNanoseconds), stats::reals("GPU Idle Inside", stats::Unit::kPercent),
                      stats::integers("Communication", stats::Unit::kNanoseconds), stats::integers("Operations"),
                      stats::texts("NVTX Range")});
  for (const auto& [family, sum] : sorted)
    table.add_row(sum.cpu, static_cast<std::int64_t>(sum.ranges), sum.projected, sum.idle, percent_of(sum.idle, sum.projected),
                  sum.communication, static_cast<std::int64_t>(sum.operations), table.add_text(families.text(family)));
  RuleAnswer answer;
  if (table.empty())
    answer.message = "The trace has no NVTX ranges.";
  else
    answer.tables.push_back({"step_breakdown", "Time of NVTX ranges", std::move(table)});
  return answer;
}

}  // namespace lanescope::analysis
