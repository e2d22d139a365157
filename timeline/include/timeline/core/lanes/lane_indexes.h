// What is worked out once for a lane and used by many rows: its events by name and by class of memory operation, and how much of it an
// earlier snapshot of the recording shares.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/lanes/gpu_projection.h"
#include "timeline/core/lanes/lane_subset.h"
#include "timeline/core/lanes/stack_chart.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

// What is done about NVTX ranges on GPUs, for which all of a trace must be looked through, and about stack charts, for which all samples of a lane
// must: they are worked out when they are asked for, or taken as they were in an earlier snapshot, and left out where they were not worked out then.
enum class Projecting : std::uint8_t { kWhenAsked, kAsBefore };

// What is looked at of lanes: all events, or what is known without a look at each: outline_of(), and of a lane in memory that is to be taken apart,
// runs of up to 1,024 events as one, which begins with the first, lasts as long as they do together, and has the name that holds most of that.
enum class Lanes : std::uint8_t { kWhole, kOutlines };

// Of one trace; worked out when first asked for. One thread at a time.
class LaneIndexes {
 public:
  LaneIndexes() = default;
  explicit LaneIndexes(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked, Lanes lanes = Lanes::kWhole)
      : trace_(std::move(trace)), lanes_(lanes), projecting_(projecting) {}
  // The same recording has grown. What is asked for again is brought up to date, at the cost of the events that came since.
  void grow(std::shared_ptr<const Trace> trace, Projecting projecting);
  // What others know of an earlier snapshot is a start.
  void take_over(const LaneIndexes& other);
  // What others know of the same snapshot need not be worked out again.
  void add(const LaneIndexes& other);

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }
  [[nodiscard]] std::shared_ptr<const Lane> lane(LaneId id) const {
    const Lane& whole = trace_->lane(id);
    return {trace_, lanes_ == Lanes::kWhole ? &whole : &outline_of(whole)};
  }
  // The lane whose events a source takes, or some of them. Requires: it is of no GPU and of no depth of calls.
  [[nodiscard]] std::shared_ptr<const Lane> lane(const LaneSource& source) { return source.whole() ? lane(source.lane) : sorted_lane(source.lane); }
  [[nodiscard]] Lanes lanes() const noexcept { return lanes_; }
  // How many events a source has; none where that is to be worked out.
  [[nodiscard]] std::optional<EventIndex> known_size(const LaneSource& source) const;
  // Works out at once, on all cores, what these sources need and is not there: subset(), projection() and calls() then have it at hand.
  void prepare(std::span<const LaneSource> sources);
  // Frees what nothing refers to any more.
  void forget_unused();
  // The events that a source takes of its lane. Requires: it has a name or a class. First call for a lane: O(its events), for all its names
  // or classes.
  [[nodiscard]] std::shared_ptr<const LaneSubset> subset(const LaneSource& source);
  // The lanes of a source with on_gpu; null where they are left out. First call: as project_on_gpu().
  [[nodiscard]] std::shared_ptr<const std::vector<ProjectedLane>> projection(const LaneSource& source);
  // The lane of a source with call_depth; null where no chain is that deep, and where it is left out. First call for a lane: as stack_chart(), for all depths.
  [[nodiscard]] std::shared_ptr<const ProjectedLane> calls(const LaneSource& source);
  // Lane::common_prefix. First call for two lanes: as that function, then O(1).
  [[nodiscard]] EventIndex common_prefix(const Lane& before, const Lane& now);
  // Whether something was left out, or is as it was in an earlier snapshot.
  [[nodiscard]] bool lacks_projections() const noexcept { return lacks_projections_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  enum class SplitBy { kName, kMemoryClass };
  [[nodiscard]] static SplitBy split_by(const LaneSource& source) noexcept { return source.name ? SplitBy::kName : SplitBy::kMemoryClass; }
  [[nodiscard]] static LaneSplit::Key key_of(const LaneSource& source) noexcept;
  // A lane as it is taken apart.
  [[nodiscard]] std::shared_ptr<const Lane> sorted_lane(LaneId id);
  [[nodiscard]] std::shared_ptr<const LaneSplit> split(std::shared_ptr<const Lane> lane, SplitBy by, const LaneSplit* before) const;
  using Splits = std::map<std::pair<LaneId, SplitBy>, std::shared_ptr<const LaneSplit>>;

  std::shared_ptr<const Trace> trace_;
  Lanes lanes_ = Lanes::kWhole;
  std::map<LaneId, std::shared_ptr<const Lane>> outlines_;  // of lanes in memory
  Splits splits_;
  Splits before_;  // of earlier snapshots, as far as not yet brought up to date
  using Projections = std::map<std::pair<LaneId, GpuId>, std::shared_ptr<const std::vector<ProjectedLane>>>;
  Projecting projecting_ = Projecting::kWhenAsked;
  Projections projections_;
  Projections projections_before_;  // of earlier snapshots
  bool lacks_projections_ = false;
  using Charts = std::map<LaneId, std::shared_ptr<const StackChart>>;
  Charts charts_;
  Charts charts_before_;  // of earlier snapshots
  std::map<std::pair<const Lane*, const Lane*>, EventIndex> prefixes_;
};

}  // namespace lanescope::timeline
