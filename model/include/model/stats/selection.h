// The events of a trace that a report or a rule looks at: all, or those of a time range or of an NVTX range.
//
// An NVTX range stands for its time: what any thread did while it was open, and the GPU work that was enqueued meanwhile, which may run
// later. (Frameworks launch from threads of their own: the backward pass of PyTorch is not on the thread that pushed the range.)
#pragma once

#include <memory>
#include <unordered_set>

#include "model/events/launch_index.h"
#include "model/stats/report.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// An event in its lane, read without a copy of what is not asked for.
struct EventView {
  const LaneSegment& segment;
  EventIndex position;  // in the segment
  EventRef ref;
  [[nodiscard]] Nanoseconds start() const noexcept { return segment.start(position); }
  [[nodiscard]] Nanoseconds duration() const noexcept { return segment.duration(position); }
  [[nodiscard]] Nanoseconds end() const noexcept { return start() + duration(); }
  [[nodiscard]] NameId name() const noexcept { return segment.name(position); }
  [[nodiscard]] std::uint32_t correlation() const noexcept { return segment.correlation(position); }
  [[nodiscard]] DetailId detail() const noexcept { return segment.detail(position); }
};

class Selection {
 public:
  // Fails when options.range names no range of the trace. Selections of one trace may share an index.
  static Result<Selection> of(const Trace& trace, const ReportOptions& options, std::shared_ptr<SharedLaunchIndex> index = nullptr);

  [[nodiscard]] const Trace& trace() const noexcept { return *trace_; }
  // What is selected as a time; none: all.
  [[nodiscard]] std::optional<TimeRange> time() const noexcept {
    if (!range_) return window_;
    return window_ ? window_->intersected(range_->time) : range_->time;
  }
  // Which call enqueued which GPU work, in the whole trace. O(CUDA calls) the first time.
  [[nodiscard]] const LaunchIndex& launch_index() const { return index_->of(*trace_); }

  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }

  // Calls visit(const Track&, EventView) for each selected event of this kind: track by track, in each lane by start. When asked to stop,
  // it ends early.
  template <typename Visit>
  void for_each(TrackKind kind, Visit visit) const {
    for (const Track& track : trace_->tracks()) {
      if (track.key.kind != kind) continue;
      for (const LaneId lane : track.lanes) visit_lane(track, lane, visit);
    }
  }

  // Of the whole trace, whatever is selected: the lanes of one kind.
  template <typename Visit>
  void for_each_lane(TrackKind kind, Visit visit) const {
    for (const Track& track : trace_->tracks())
      if (track.key.kind == kind)
        for (const LaneId lane : track.lanes) visit(track, lane);
  }

 private:
  struct Range {
    TimeRange time;
    std::unordered_set<std::uint64_t> launches;  // the API calls that begin within it: process and correlation id (launch_key)
  };
  [[nodiscard]] static std::uint64_t launch_key(ProcessId process, std::uint32_t correlation) noexcept {
    return std::uint64_t{process} << 32 | correlation;
  }

  Selection(const Trace& trace, std::shared_ptr<SharedLaunchIndex> index) : trace_(&trace), index_(std::move(index)) {}
  [[nodiscard]] static bool is_gpu(TrackKind kind) noexcept { return is_gpu_work(kind) || kind == TrackKind::kSynchronizations; }
  [[nodiscard]] std::optional<Range> find_range(const RangeFilter& filter) const;
  void collect_launches(Range& range) const;

  template <typename Visit>
  void visit_lane(const Track& track, LaneId id, Visit& visit) const {
    const Lane& lane = trace_->lane(id);
    const bool launched = range_ && is_gpu(track.key.kind);
    std::pair<EventIndex, EventIndex> bounds{0, lane.size()};
    if (window_) bounds = lane.overlapping(*window_);
    if (range_ && !launched) {
      const auto within = lane.overlapping(range_->time);
      bounds = {std::max(bounds.first, within.first), std::min(bounds.second, within.second)};
    }
    const auto segments = lane.segments();
    for (EventIndex i = bounds.first; i < bounds.second && !stop_.stop_requested();) {
      const LaneSegment& segment = *segments[i / LaneSegment::kCapacity];
      const EventIndex base = i - i % LaneSegment::kCapacity;
      const EventIndex stop = std::min(bounds.second, base + segment.size());
      for (; i < stop; ++i) {
        if (launched && !range_->launches.contains(launch_key(track.key.process, segment.correlation(i - base)))) continue;
        visit(track, EventView{segment, i - base, {id, i}});
      }
    }
  }

  const Trace* trace_;
  std::shared_ptr<SharedLaunchIndex> index_;
  std::stop_token stop_;
  std::optional<TimeRange> window_;
  std::optional<Range> range_;
};

}  // namespace lanescope::stats
