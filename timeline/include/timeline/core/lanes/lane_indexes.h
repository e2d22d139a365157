// Indexes of lanes that many rows share: the events of a lane by name and by class of memory operation, and how much of it equals an earlier snapshot of the
// recording.
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

// How NVTX ranges on GPUs and stack charts are handled. They need a pass over the whole trace, or over all samples of a lane. kWhenAsked: they are computed on
// demand. kAsBefore: they are taken from an earlier snapshot, and left out if it did not have them.
enum class Projecting : std::uint8_t { kWhenAsked, kAsBefore };

// How much of lanes is read. kWhole: all events. kOutlines: what is known without reading each event. This is outline_of(), and for a lane in memory that is to
// be split, runs of up to 1,024 events as one event, which starts with the first, has their total duration, and has the name with most of that time.
enum class Lanes : std::uint8_t { kWhole, kOutlines };

// For one trace; computed on demand. Threads: one at a time.
class LaneIndexes {
 public:
  LaneIndexes() = default;
  explicit LaneIndexes(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked, Lanes lanes = Lanes::kWhole)
      : trace_(std::move(trace)), lanes_(lanes), projecting_(projecting) {}
  // Continues with a later state of the same recording. Repeated queries update their results, at the cost of the events that were added.
  void grow(std::shared_ptr<const Trace> trace, Projecting projecting);
  // Takes results of an earlier snapshot from another object as a starting point.
  void take_over(const LaneIndexes& other);
  // Takes results of the same snapshot from another object.
  void add(const LaneIndexes& other);

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }
  [[nodiscard]] std::shared_ptr<const Lane> lane(LaneId id) const {
    const Lane& whole = trace_->lane(id);
    return {trace_, lanes_ == Lanes::kWhole ? &whole : &outline_of(whole)};
  }
  // The lane that has the events of a source. Requires: the source has no GPU and no call depth.
  [[nodiscard]] std::shared_ptr<const Lane> lane(const LaneSource& source) { return source.whole() ? lane(source.lane) : sorted_lane(source.lane); }
  [[nodiscard]] Lanes lanes() const noexcept { return lanes_; }
  // The number of events of a source; nothing if it would have to be computed.
  [[nodiscard]] std::optional<EventIndex> known_size(const LaneSource& source) const;
  // Computes at once, on all cores, what these sources need: subset(), projection() and calls() then return immediately.
  void prepare(std::span<const LaneSource> sources);
  // Frees results that nothing refers to any more.
  void forget_unused();
  // The events of the lane that a source selects. Requires: it has a name or a class. First call for a lane: O(its events), for all its names or classes.
  [[nodiscard]] std::shared_ptr<const LaneSubset> subset(const LaneSource& source);
  // The lanes of a source with on_gpu; null if they are left out. First call: as project_on_gpu().
  [[nodiscard]] std::shared_ptr<const std::vector<ProjectedLane>> projection(const LaneSource& source);
  // The lane of a source with call_depth; null if no chain is that deep or if it is left out. First call for a lane: as stack_chart(), for all depths.
  [[nodiscard]] std::shared_ptr<const ProjectedLane> calls(const LaneSource& source);
  // Lane::common_prefix. First call for two lanes: as that function, then O(1).
  [[nodiscard]] EventIndex common_prefix(const Lane& before, const Lane& now);
  // True if something was left out or is taken from an earlier snapshot.
  [[nodiscard]] bool lacks_projections() const noexcept { return lacks_projections_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  enum class SplitBy { kName, kMemoryClass };
  [[nodiscard]] static SplitBy split_by(const LaneSource& source) noexcept { return source.name ? SplitBy::kName : SplitBy::kMemoryClass; }
  [[nodiscard]] static LaneSplit::Key key_of(const LaneSource& source) noexcept;
  // A lane in the form in which it is split.
  [[nodiscard]] std::shared_ptr<const Lane> sorted_lane(LaneId id);
  [[nodiscard]] std::shared_ptr<const LaneSplit> split(std::shared_ptr<const Lane> lane, SplitBy by, const LaneSplit* before) const;
  using Splits = std::map<std::pair<LaneId, SplitBy>, std::shared_ptr<const LaneSplit>>;

  std::shared_ptr<const Trace> trace_;
  Lanes lanes_ = Lanes::kWhole;
  std::map<LaneId, std::shared_ptr<const Lane>> outlines_;  // of lanes in memory
  Splits splits_;
  Splits before_;  // of earlier snapshots, as far as not yet updated
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
