// step_breakdown: what the time of each NVTX range consists of, on the CPU and on the GPU.
#include "step_breakdown.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../own_rules.h"
#include "../wording.h"
#include "idle/idle_inside.h"
#include "loop/loop_work.h"
#include "threads/call_class.h"
#include "threads/lane_cursor.h"
#include "threads/range_lookup.h"

namespace lanescope::analysis {
namespace {

// The GPU work that was enqueued within one range.
struct Projection {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds communication = 0;
  std::uint32_t operations = 0;
  [[nodiscard]] Nanoseconds length() const noexcept { return last - first; }
};

class Breakdown {
 public:
  Breakdown(const RuleContext& context, Families& families, std::size_t ranges_at_once)
      : trace_(context.trace),
        launches_(context.launches()),
        time_(context.time),
        stop_(context.stop),
        families_(families),
        ranges_at_once_(ranges_at_once),
        ranges_(trace_),
        idle_(trace_, ranges_at_once, stop_),
        communication_(trace_, is_communication_name),
        stretch_of_lane_(trace_.lanes().size(), nullptr) {
    for (const IterationSeries& series : loop_work(context).iterations()) {
      const auto begin_of = [&](EventRef range) { return trace_.lane(range.lane).start(range.index); };
      if (series.warm_up > 0) warm_up_[series.process] = {begin_of(series.ranges.front()), begin_of(series.ranges[series.warm_up])};
    }
  }

  // Once.
  Result<SumsOfRanges> sum() {
    for (ProcessId process = 0; process < trace_.processes().size(); ++process) {
      const std::vector<LaneId> lanes = range_lanes_of(process);
      if (lanes.empty()) continue;
      const std::vector<Nanoseconds> times = cuts(lanes);
      for (std::size_t i = 1; i < times.size() && !stop_.stop_requested(); ++i) {
        project(process, lanes, {times[i - 1], times[i]});
        if (held_ >= ranges_at_once_) add_held();
      }
    }
    add_held();
    const auto idle = idle_.take();
    if (!idle) return idle.error();
    for (const auto& [number, time] : *idle) rows_[number].second.idle = time;
    std::sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return std::move(rows_);
  }

 private:
  // Consecutive ranges of a lane.
  struct Stretch {
    LaneId lane;
    EventIndex first, end;
    std::vector<Projection> projections;  // empty if nothing was enqueued in any of the ranges
  };

  [[nodiscard]] std::vector<LaneId> range_lanes_of(ProcessId process) const {
    std::vector<LaneId> lanes;
    for (const TrackId track : trace_.tracks_of(process, TrackKind::kNvtxRanges))
      lanes.insert(lanes.end(), trace_.tracks()[track].lanes.begin(), trace_.tracks()[track].lanes.end());
    return lanes;
  }

  // Times between which about as many ranges start as are processed at once; everything that counts lies between the first and the last.
  [[nodiscard]] std::vector<Nanoseconds> cuts(const std::vector<LaneId>& lanes) const {
    std::vector<std::pair<Nanoseconds, std::size_t>> segments;  // their starts, and the numbers of their ranges
    for (const LaneId id : lanes) {
      const Lane& lane = trace_.lane(id);
      for (std::size_t s = 0; s < lane.segment_count(); ++s)
        segments.emplace_back(lane.segment_start(s), std::min<std::size_t>(LaneSegment::kCapacity, lane.size() - s * LaneSegment::kCapacity));
    }
    std::sort(segments.begin(), segments.end());
    std::vector<Nanoseconds> times{time_.begin};
    std::size_t count = 0;
    for (const auto& [start, ranges] : segments) {
      if (count > 0 && count + ranges > ranges_at_once_ && start > times.back() && start < time_.end) {
        times.push_back(start);
        count = 0;
      }
      count += ranges;
    }
    times.push_back(time_.end);
    return times;
  }

  // Computes the projections of the ranges that start within the time.
  void project(ProcessId process, const std::vector<LaneId>& lanes, TimeRange time) {
    const std::size_t first = held_stretches_.size();
    TimeRange enqueued{time.begin, time.begin};  // the time in which their work can have been enqueued
    for (const LaneId id : lanes) {
      const Lane& lane = trace_.lane(id);
      const Stretch stretch{id, lane.lower_bound(time.begin), lane.lower_bound(time.end), {}};
      if (stretch.first >= stretch.end) continue;
      enqueued.end = std::max(enqueued.end, lane.end(stretch.end - 1));  // the last range of a lane ends last
      held_ += stretch.end - stretch.first;
      held_stretches_.push_back(stretch);
    }
    if (held_stretches_.size() == first) return;
    for (std::size_t i = first; i < held_stretches_.size(); ++i) stretch_of_lane_[held_stretches_[i].lane] = &held_stretches_[i];
    const CorrelationBounds ids = ids_enqueued(process, enqueued);
    for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
      for (const TrackId track : trace_.tracks_of(process, kind))
        for (const LaneId id : trace_.tracks()[track].lanes) project_lane(trace_.tracks()[track].key, id, ids);
    for (std::size_t i = first; i < held_stretches_.size(); ++i) stretch_of_lane_[held_stretches_[i].lane] = nullptr;
  }

  // The bounds of the ids of calls that start within the time.
  [[nodiscard]] CorrelationBounds ids_enqueued(ProcessId process, TimeRange time) const {
    CorrelationBounds bounds{kNone, 0};
    for (const TrackId track : trace_.tracks_of(process, TrackKind::kCudaApi))
      for (const LaneId id : trace_.tracks()[track].lanes) {
        const Lane& lane = trace_.lane(id);
        for (std::size_t s = 0; s < lane.segment_count(); ++s) {
          const bool is_before = s + 1 < lane.segment_count() && lane.segment_start(s + 1) < time.begin;
          if (is_before || lane.segment_start(s) >= time.end) continue;
          const CorrelationBounds ids = lane.segment_correlations(s);
          bounds = {std::min(bounds.least, ids.least), std::max(bounds.greatest, ids.greatest)};
        }
      }
    return bounds;
  }

  void project_lane(const TrackKey& key, LaneId id, CorrelationBounds wanted) {
    const Lane& lane = trace_.lane(id);
    for (std::size_t s = 0; s < lane.segment_count() && !stop_.stop_requested(); ++s) {
      const CorrelationBounds ids = lane.segment_correlations(s);
      if (ids.greatest >= wanted.least && ids.least <= wanted.greatest) project_segment(key, *lane.segment(s));
    }
  }

  void project_segment(const TrackKey& key, const LaneSegment& segment) {
    for (EventIndex i = 0; i < segment.size(); ++i) {
      const Nanoseconds begin = segment.start(i), duration = segment.duration(i);
      if (begin < time_.begin || begin >= time_.end) continue;
      const EventRef launch = launches_.find(key.process, segment.correlation(i), begin);
      if (!launch.valid()) continue;
      const bool communicates = key.kind == TrackKind::kKernels && communication_(segment.name(i));
      const Nanoseconds enqueued = trace_.lane(launch.lane).start(launch.index);
      const ThreadId thread = ranges_.owner(trace_.track_of(launch.lane).key.thread, enqueued);
      ranges_.for_each(thread, enqueued, [&](EventRef range) {
        Stretch* const stretch = stretch_of_lane_[range.lane];
        if (stretch == nullptr || range.index < stretch->first || range.index >= stretch->end) return;
        if (stretch->projections.empty()) stretch->projections.resize(stretch->end - stretch->first);
        Projection& projection = stretch->projections[range.index - stretch->first];
        projection.first = std::min(projection.first, begin);
        projection.last = std::max(projection.last, begin + duration);
        projection.communication += communicates ? duration : 0;
        ++projection.operations;
      });
    }
  }

  // Adds the held ranges to the sums.
  void add_held() {
    for (const Stretch& stretch : held_stretches_) {
      const Lane& lane = trace_.lane(stretch.lane);
      const TrackKey& track = trace_.track_of(stretch.lane).key;
      const std::string_view domain = trace_.domain_name(track.process, track.domain);
      std::vector<LaneCursor> around = lanes_around(stretch.lane);
      const auto warm_up = warm_up_.find(track.process);
      for (EventIndex i = stretch.first; i < stretch.end; ++i) {
        if (warm_up != warm_up_.end() && warm_up->second.contains(lane.start(i))) continue;
        const FamilyId family = families_.of_name(lane.name(i));
        const auto is_within = [&](LaneCursor& outer) {
          const std::optional<EventIndex> range = outer.at(lane.start(i));
          return range && families_.of_name(outer.lane().name(*range)) == family;
        };
        const std::uint32_t number = number_of({family, domain});
        if (std::any_of(around.begin(), around.end(), is_within))
          ++rows_[number].second.ranges;
        else
          add(track.process, lane.duration(i), stretch.projections.empty() ? Projection() : stretch.projections[i - stretch.first], number);
      }
    }
    held_stretches_.clear();
    held_ = 0;
    idle_.make_room();
  }

  // Lanes with the ranges around those of a lane: of its track, as ranges nest.
  [[nodiscard]] std::vector<LaneCursor> lanes_around(LaneId id) const {
    std::vector<LaneCursor> around;
    for (const LaneId outer : trace_.track_of(id).lanes) {
      if (outer == id || around.size() == RangeLookup::kLeastLanes) break;
      around.emplace_back(trace_.lane(outer));
    }
    return around;
  }

  [[nodiscard]] std::uint32_t number_of(const RangesOfDomain& ranges) {
    const auto next = static_cast<std::uint32_t>(rows_.size());
    const FamilyId family = ranges.first;
    if (family >= first_of_family_.size()) first_of_family_.resize(family + std::size_t{1}, kNone);
    std::uint32_t& first = first_of_family_[family];
    if (first == kNone) first = next;
    if (first != next && rows_[first].first.second == ranges.second) return first;
    const std::uint32_t number = first == next ? next : others_of_family_.try_emplace(ranges, next).first->second;
    if (number == next) rows_.emplace_back(ranges, FamilySum{});
    return number;
  }

  void add(ProcessId process, Nanoseconds cpu, const Projection& projection, std::uint32_t number) {
    FamilySum& sum = rows_[number].second;
    ++sum.ranges;
    sum.cpu += cpu;
    if (projection.operations == 0) return;
    sum.operations += projection.operations;
    sum.projected += projection.length();
    sum.communication += projection.communication;
    if (projection.operations > 1) idle_.add(process, {projection.first, projection.last}, number);  // one operation leaves no idle time
  }

  const Trace& trace_;
  const LaunchIndex& launches_;
  TimeRange time_;
  std::stop_token stop_;
  std::map<ProcessId, TimeRange> warm_up_;  // of processes whose loops have one
  Families& families_;
  const std::size_t ranges_at_once_;
  RangeLookup ranges_;
  IdleInside idle_;  // of the ranges, by their numbers
  NameMemo<bool> communication_;
  std::vector<Stretch> held_stretches_;
  std::size_t held_ = 0;                   // number of ranges in these
  std::vector<Stretch*> stretch_of_lane_;  // the current stretch; null if there is none
  // Positions in rows_: of a family in the domain in which it comes first, which is the only one for most, and in others.
  std::vector<std::uint32_t> first_of_family_;
  std::map<RangesOfDomain, std::uint32_t> others_of_family_;
  SumsOfRanges rows_;
};

}  // namespace

Result<SumsOfRanges> sum_steps(const RuleContext& context, Families& families, std::size_t ranges_at_once) {
  return Breakdown(context, families, std::max<std::size_t>(1, ranges_at_once)).sum();
}

Result<RuleAnswer> break_down_steps(const RuleContext& context, const RuleArguments&) {
  if (context.tables == RuleTables::kLeftOut) return RuleAnswer{};  // it finds nothing
  Families families(context.trace);
  const auto sums = sum_steps(context, families);
  if (!sums) return sums.error();
  std::vector<std::uint32_t> order(sums->size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&sums](std::uint32_t a, std::uint32_t b) { return (*sums)[a].second.cpu > (*sums)[b].second.cpu; });
  stats::Table table({stats::integers("CPU Time", stats::Unit::kNanoseconds), stats::integers("Ranges"),
                      stats::integers("GPU Projected", stats::Unit::kNanoseconds), stats::integers("GPU Idle Inside", stats::Unit::kNanoseconds),
                      stats::reals("GPU Idle Inside", stats::Unit::kPercent), stats::integers("Communication", stats::Unit::kNanoseconds),
                      stats::integers("Operations"), stats::texts("NVTX Range")});
  const auto is_family_of = [&sums](std::size_t row, FamilyId family) { return row < sums->size() && (*sums)[row].first.first == family; };
  for (const std::uint32_t row : order) {
    const auto& [ranges, sum] = (*sums)[row];
    const std::string& family = families.text(ranges.first);
    const bool is_alone = !is_family_of(row + std::size_t{1}, ranges.first) && (row == 0 || !is_family_of(row - std::size_t{1}, ranges.first));
    table.add_row(sum.cpu, static_cast<std::int64_t>(sum.ranges), sum.projected, sum.idle, percent_of(sum.idle, sum.projected), sum.communication,
                  static_cast<std::int64_t>(sum.operations), table.add_text(is_alone ? family : name_in_domain(family, ranges.second)));
  }
  RuleAnswer answer;
  if (table.empty())
    answer.message = context.time == kWholeTrace ? Message("The trace has no NVTX ranges.") : Message("No NVTX range begins in the chosen part.");
  else
    answer.tables.push_back({"step_breakdown", "Time of NVTX ranges", std::move(table)});
  return answer;
}

}  // namespace lanescope::analysis
