// Segments of lanes as a combined trace has them. Internal to model/trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/trace/combining/clock_line.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/lane_in_parts.h"
#include "model/trace/trace.h"

namespace lanescope {

// What changes in the combined trace for the events of a lane.
struct LaneChange {
  ClockLine clock;
  std::uint32_t detail_offset = 0;                   // added to details that are not 0
  std::shared_ptr<const std::vector<NameId>> names;  // ids in the combined trace, by id here
};

[[nodiscard]] std::shared_ptr<const LaneSegment> changed(const LaneSegment& from, const LaneChange& change);

// The bounds of a segment whose clock is only shifted: nothing lasts longer or shorter.
[[nodiscard]] SegmentBounds shifted(SegmentBounds bounds, const LaneChange& change);
// The bounds of a segment whose clock drifts, computed from its events.
[[nodiscard]] SegmentBounds measured(const LaneSegment& segment, const SegmentBounds& before);

// A lane of another trace, whose segments are decoded there when they are needed here.
class ChangedSegments : public DemandedSegments {
 public:
  // Requires: the lane belongs to the trace, and holds no segments. `bounds` are those of the changed segments.
  ChangedSegments(std::shared_ptr<const Trace> trace, const DemandedSegments& from, LaneChange change, std::vector<SegmentBounds> bounds);

 private:
  std::shared_ptr<const LaneSegment> read(std::size_t s) const override;
  std::shared_ptr<const LaneSegment> read_times(std::size_t s) const override;
  std::unique_ptr<SegmentParts> read_parts(std::size_t s) const override;

  std::shared_ptr<const Trace> trace_;  // it owns the following segments:
  const DemandedSegments& from_;
  LaneChange change_;
};

}  // namespace lanescope
