#include "launches_of_part.h"

#include <algorithm>

namespace lanescope::exporters {
namespace {

class LaunchesOfPart {
 public:
  LaunchesOfPart(const Trace& trace, const ExportSelection& selection, const LaunchIndex& launches)
      : trace_(trace), selection_(selection), launches_(launches) {
    threads_.resize(trace.threads().size());
    for (const Track& track : trace.tracks()) {
      if (track.key.thread >= threads_.size()) continue;
      LanesOfThread& lanes = threads_[track.key.thread];
      std::vector<LaneId>* const of_kind = track.key.kind == TrackKind::kCudaApi      ? &lanes.calls
                                           : track.key.kind == TrackKind::kBacktraces ? &lanes.backtraces
                                           : track.key.kind == TrackKind::kNvtxRanges ? &lanes.ranges
                                                                                      : nullptr;
      if (of_kind != nullptr) of_kind->insert(of_kind->end(), track.lanes.begin(), track.lanes.end());
    }
  }

  KeptLaunches find() {
    for (const Track& track : trace_.tracks()) {
      if (!is_gpu_work(track.key.kind)) continue;
      for (const LaneId id : track.lanes) {
        const Lane& lane = trace_.lane(id);
        constexpr EventIndex kAsked = 4'096;  // events between checks for a stop request
        const auto [first, last] = selection_.events(trace_, id);
        for (EventIndex i = first; i < last; ++i) {
          if ((i - first) % kAsked == 0 && selection_.stop.stop_requested()) return {};
          const EventRef call = launches_.find(track.key.process, lane.correlation(i), lane.start(i));
          if (call.valid() && call != last_call_) add_launch(call);
          last_call_ = call;
        }
      }
    }
    for (auto& [lane, events] : more_) {
      std::sort(events.begin(), events.end());
      events.erase(std::unique(events.begin(), events.end()), events.end());
    }
    return {std::move(more_), first_};
  }

 private:
  struct LanesOfThread {
    std::vector<LaneId> calls, backtraces, ranges;
  };

  void add_launch(EventRef call) {
    const auto [first, last] = selection_.events(trace_, call.lane);
    if (call.index >= first + kCallsBeforeLaunch && call.index < last) return;  // it is completely selected
    const Event event = trace_.event(call);
    first_ = std::min(first_.value_or(event.start), event.start);
    for (EventIndex i = call.index - std::min(call.index, kCallsBeforeLaunch); i <= call.index; ++i) add({call.lane, i});
    const ThreadId thread = trace_.track_of(call.lane).key.thread;
    if (thread >= threads_.size()) return;
    const LanesOfThread& lanes = threads_[thread];
    for (const LaneId id : lanes.calls) {
      if (id == call.lane || !look()) continue;
      const auto [begin, end] = trace_.lane(id).overlapping({event.start, event.end()});
      for (EventIndex i = begin; i < end; ++i)
        if (trace_.lane(id).start(i) >= event.start && trace_.lane(id).end(i) <= event.end()) add({id, i});
    }
    for (const LaneId id : lanes.backtraces)
      if (look()) add_chain(id, event);
    for (const LaneId id : lanes.ranges)
      if (look())
        if (const auto around = trace_.lane(id).at(event.start)) add({id, *around});
  }

  // A chain's time may differ a little. Its correlation id, if it has one, is the call's (model/samples/backtrace.h).
  void add_chain(LaneId id, const Event& call) {
    constexpr Nanoseconds kOff = 1'000'000;
    constexpr EventIndex kMostChains = 1'000;  // that are examined
    const Lane& lane = trace_.lane(id);
    const EventIndex first = lane.lower_bound(call.start - kOff);
    for (EventIndex i = first; i < lane.size() && i - first < kMostChains && lane.start(i) <= call.end() + kOff; ++i)
      if ((call.correlation != 0 && lane.correlation(i) == call.correlation) || lane.start(i) == call.start) add({id, i});
  }

  // Limits the look-ups: normally a thread has few lanes, but if there are very many, only the calls are kept.
  bool look() {
    constexpr std::uint64_t kMostLooks = 50'000'000;
    return looks_ < kMostLooks && ++looks_ > 0;
  }

  [[nodiscard]] bool is_selected(EventRef event) const {
    const auto [first, last] = selection_.events(trace_, event.lane);
    return event.index >= first && event.index < last;
  }
  void add(EventRef event) {
    if (!selection_.takes(event.lane) || is_selected(event)) return;
    std::vector<EventIndex>& of_lane = more_[event.lane];
    if (of_lane.empty() || of_lane.back() != event.index) of_lane.push_back(event.index);
  }

  const Trace& trace_;
  const ExportSelection& selection_;
  const LaunchIndex& launches_;
  std::vector<LanesOfThread> threads_;
  EventsByLane more_;
  std::optional<Nanoseconds> first_;
  EventRef last_call_;
  std::uint64_t looks_ = 0;
};

}  // namespace

KeptLaunches launches_of_part(const Trace& trace, const ExportSelection& selection) {
  return selection.window ? launches_of_part(trace, selection, LaunchIndex(trace, selection.stop)) : KeptLaunches();
}

KeptLaunches launches_of_part(const Trace& trace, const ExportSelection& selection, const LaunchIndex& launches) {
  return LaunchesOfPart(trace, selection, launches).find();
}

std::optional<SavedPart> saved_part(const Trace& trace, const ExportSelection& selection, const KeptLaunches& launches) {
  if (!selection.window) return trace.provenance().part;
  TimeRange time = selection.window->intersected(trace.scope());
  if (time == trace.scope()) return trace.provenance().part;
  if (time.empty()) time = *selection.window;
  if (time.empty() || !is_near(time.begin) || !is_near(time.end)) return std::nullopt;
  return SavedPart{time, std::min(launches.first.value_or(time.begin), time.begin)};
}

}  // namespace lanescope::exporters
