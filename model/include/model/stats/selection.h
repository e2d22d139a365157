// The events of a trace that a report or a rule looks at: all, or those of a time range or of an NVTX range.
//
// An NVTX range selects what happened during its time: what any thread of its process did while it was open, and the GPU work that was enqueued
// meanwhile, which may run later. (Frameworks launch from threads of their own: the backward pass of PyTorch is not on the thread that pushed the
// range.) If several processes have the range, such as ranks, each contributes its own; a process that does not have it contributes nothing.
#pragma once

#include <map>
#include <memory>
#include <unordered_set>

#include "model/events/event_values.h"
#include "model/events/launch_index.h"
#include "model/stats/report.h"
#include "model/trace/trace.h"

namespace lanescope::stats {

// An event in its lane, read without copying members that are not asked for. Valid while the event is visited.
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
  // Fails if options.range names no range of the trace. Selections of one trace may share an index.
  static Result<Selection> of(const Trace& trace, const ReportOptions& options, std::shared_ptr<SharedLaunchIndex> index = nullptr);

  // The NVTX range that the filter names, of each process that has it. O(NVTX ranges).
  [[nodiscard]] static std::map<ProcessId, EventRef> range_events(const Trace& trace, const RangeFilter& filter);

  // How many NVTX ranges of a process the filter names, whatever its index; the largest number of any process. O(NVTX ranges).
  [[nodiscard]] static std::size_t ranges_named(const Trace& trace, const RangeFilter& filter);

  [[nodiscard]] const Trace& trace() const noexcept { return *trace_; }
  // The selected time. For ranges of several processes, from the first start to the last end; nothing if all of the trace is selected.
  [[nodiscard]] std::optional<TimeRange> time() const noexcept {
    if (!range_) return window_;
    return window_ ? window_->intersected(range_->hull) : range_->hull;
  }
  // All of the trace. O(1).
  [[nodiscard]] Selection whole() const {
    Selection all(*trace_, index_);
    all.stop_ = stop_;
    return all;
  }
  // Which call enqueued which GPU work, in the whole trace. O(CUDA calls) the first time.
  [[nodiscard]] const LaunchIndex& launch_index() const { return index_->of(*trace_); }

  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }

  // Events of one segment of a lane that may be selected. for_each() of a kind visits the events of its stretches, in their order.
  struct Stretch {
    const Track* track;
    LaneId lane;
    EventIndex first, last;  // [first, last)
    [[nodiscard]] EventIndex size() const noexcept { return last - first; }
  };
  [[nodiscard]] std::vector<Stretch> stretches(TrackKind kind) const;

  // Calls visit(const Track&, EventView) for each selected event of the stretch, by start.
  template <typename Visit>
  void for_each(const Stretch& stretch, Visit& visit) const {
    const Track& track = *stretch.track;
    const std::shared_ptr<const LaneSegment> held = trace_->lane(stretch.lane).segment(stretch.first / LaneSegment::kCapacity);
    const LaneSegment& segment = *held;
    const EventIndex base = stretch.first - stretch.first % LaneSegment::kCapacity;
    const bool launched = range_ && is_gpu(track.key.kind);
    for (EventIndex i = stretch.first; i < stretch.last; ++i) {
      if (launched && !is_launched_in_range(track.key.process, segment.correlation(i - base), segment.start(i - base))) continue;
      visit(track, EventView{segment, i - base, {stretch.lane, i}});
    }
  }

  // Calls visit(const Track&, EventView) for each selected event of this kind: track by track, in each lane by start. Ends early when asked to stop.
  template <typename Visit>
  void for_each(TrackKind kind, Visit visit) const {
    for (const Stretch& stretch : stretches(kind)) {
      if (stop_.stop_requested()) return;
      for_each(stretch, visit);
    }
  }

  // The lanes of one kind in the whole trace, whatever is selected.
  template <typename Visit>
  void for_each_lane(TrackKind kind, Visit visit) const {
    for (const Track& track : trace_->tracks())
      if (track.key.kind == kind)
        for (const LaneId lane : track.lanes) visit(track, lane);
  }

 private:
  struct Range {
    std::map<ProcessId, TimeRange> times;
    TimeRange hull;
    std::unordered_set<std::uint64_t> launches;  // the API calls that start within it: process and correlation id (launch_key)
  };
  [[nodiscard]] static std::uint64_t launch_key(ProcessId process, std::uint32_t correlation) noexcept { return std::uint64_t{process} << 32 | correlation; }

  Selection(const Trace& trace, std::shared_ptr<SharedLaunchIndex> index) : trace_(&trace), index_(std::move(index)) {}
  [[nodiscard]] static bool is_gpu(TrackKind kind) noexcept { return is_on_stream(kind); }
  // The time of the range on a track: from the first start to the last end for a track that no process owns; nothing if the process lacks the range.
  [[nodiscard]] std::optional<TimeRange> time_on(const Track& track) const noexcept;
  [[nodiscard]] std::optional<Range> find_range(const RangeFilter& filter) const;
  // Why there is no such range, and what to write instead. O(NVTX ranges).
  [[nodiscard]] Error no_such_range(const RangeFilter& filter) const;
  // Calls visit(ProcessId, domain, EventView) for each push/pop and start/end range of the name.
  template <typename Visit>
  void for_each_range_named(std::string_view text, Visit visit) const;
  void collect_launches(Range& range) const;
  // Correlation ids are used again, so an id alone does not identify a launch.
  [[nodiscard]] bool is_launched_in_range(ProcessId process, std::uint32_t correlation, Nanoseconds work_start) const {
    return range_->launches.contains(launch_key(process, correlation)) && begins_in_range(launch_index().find(process, correlation, work_start), process);
  }
  [[nodiscard]] bool begins_in_range(EventRef call, ProcessId process) const;

  [[nodiscard]] std::pair<EventIndex, EventIndex> bounds_in(const Track& track, const Lane& lane) const;

  const Trace* trace_;
  std::shared_ptr<SharedLaunchIndex> index_;
  std::stop_token stop_;
  std::optional<TimeRange> window_;
  std::optional<Range> range_;
};

}  // namespace lanescope::stats
