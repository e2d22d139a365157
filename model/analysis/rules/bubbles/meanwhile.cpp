#include "meanwhile.h"

#include <algorithm>
#include <map>

#include "model/trace/combining/parts.h"

namespace lanescope::analysis {
namespace {

// The time that ranges cover, and how much of it lies within other ranges.
class TimeOf {
 public:
  explicit TimeOf(std::vector<TimeRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    for (const TimeRange& range : ranges)
      if (!ranges_.empty() && range.begin <= ranges_.back().end)
        ranges_.back().end = std::max(ranges_.back().end, range.end);
      else
        ranges_.push_back(range);
    before_.push_back(0);
    for (const TimeRange& range : ranges_) before_.push_back(before_.back() + range.length());
  }
  [[nodiscard]] TimeRange extent() const { return {ranges_.front().begin, ranges_.back().end}; }
  [[nodiscard]] Nanoseconds length() const { return before_.back(); }
  [[nodiscard]] std::span<const TimeRange> ranges() const { return ranges_; }
  // O(log n).
  [[nodiscard]] Nanoseconds within(TimeRange range) const { return before(range.end) - before(range.begin); }

 private:
  [[nodiscard]] Nanoseconds before(Nanoseconds t) const {
    const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), t, [](Nanoseconds moment, const TimeRange& range) { return moment < range.begin; });
    if (behind == ranges_.begin()) return 0;
    const auto last = static_cast<std::size_t>(behind - ranges_.begin()) - 1;
    return before_[last] + std::min(t, ranges_[last].end) - ranges_[last].begin;
  }

  std::vector<TimeRange> ranges_;    // none overlap
  std::vector<Nanoseconds> before_;  // the total time of those in front of each, and of all
};

// How long the thread with these states ran within the times.
Nanoseconds time_run(const Trace& trace, const Track& states, const TimeOf& times) {
  Nanoseconds run = 0;
  for (const LaneId id : states.lanes) {
    const Lane& lane = trace.lane(id);
    const auto [first, last] = lane.overlapping(times.extent());
    for (EventIndex i = first; i < last; ++i)
      if (trace.thread_state_detail(lane.detail(i)).state == ThreadState::kRunning) run += times.within({lane.start(i), lane.end(i)});
  }
  return run;
}

ThreadId stillest(std::span<const StillTime> times) {
  std::map<ThreadId, Nanoseconds> sums;
  for (const StillTime& still : times) sums[still.thread] += still.range.length();
  const auto most = std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sums.end() ? kNone : most->first;
}

TimeOf time_of(ThreadId thread, std::span<const StillTime> times) {
  std::vector<TimeRange> ranges;
  for (const StillTime& time : times)
    if (time.thread == thread) ranges.push_back(time.range);
  return TimeOf(std::move(ranges));
}

// The thread with this number that was recorded together with the other one.
ThreadId thread_beside(const Trace& trace, ThreadId other, std::uint32_t tid) {
  const TracePart* const part = part_of_process(trace, trace.threads()[other].process);
  for (ThreadId id = 0; id < trace.threads().size(); ++id)
    if (trace.threads()[id].tid == tid && part_of_process(trace, trace.threads()[id].process) == part) return id;
  return kNone;
}

}  // namespace

void StillTimes::add(ThreadId thread, TimeRange range) {
  if (seen_++ % stride_ != 0) return;
  if (chosen_.size() == kMost) {
    for (std::size_t i = 0; i < kMost / 2; ++i) chosen_[i] = chosen_[2 * i];
    chosen_.resize(kMost / 2);
    stride_ *= 2;
  }
  chosen_.push_back({thread, range});
}

std::optional<BusyThread> busiest_meanwhile(const Trace& trace, const samples::ThreadSamples& samples, std::span<const StillTime> times) {
  const ThreadId still = stillest(times);
  if (still == kNone) return std::nullopt;
  const TimeOf covered = time_of(still, times);
  BusyThread busiest;
  Nanoseconds most = 0;
  for (const TrackId id : trace.tracks_of(trace.threads()[still].process, TrackKind::kThreadStates)) {
    const Track& states = trace.tracks()[id];
    if (states.key.thread == still || states.key.thread == kNone) continue;
    const Nanoseconds run = time_run(trace, states, covered);
    if (run <= most) continue;
    most = run;
    busiest.thread = states.key.thread;
  }
  if (most == 0) return std::nullopt;
  busiest.share = static_cast<double>(most) / static_cast<double>(covered.length());
  for (const TimeRange& range : covered.ranges()) samples.count(busiest.thread, range, busiest.samples);
  return busiest;
}

std::optional<WakingThread> most_often_woken_by(const Trace& trace, std::span<const StillTime> times) {
  const ThreadId still = stillest(times);
  if (still == kNone) return std::nullopt;
  const TimeOf covered = time_of(still, times);
  std::map<std::uint32_t, Nanoseconds> ended;  // by waker
  for (const TrackId id : trace.tracks_of(trace.threads()[still].process, TrackKind::kThreadStates)) {
    const Track& states = trace.tracks()[id];
    if (states.key.thread != still) continue;
    for (const LaneId lane_id : states.lanes) {
      const Lane& lane = trace.lane(lane_id);
      const auto [first, last] = lane.overlapping(covered.extent());
      for (EventIndex i = first; i < last; ++i)
        if (const std::uint32_t waker = trace.thread_state_detail(lane.detail(i)).waker; waker != 0)
          ended[waker] += covered.within({lane.start(i), lane.end(i)});
    }
  }
  const auto most = std::max_element(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == ended.end() || most->second == 0) return std::nullopt;
  return WakingThread{most->first, thread_beside(trace, still, most->first), static_cast<double>(most->second) / static_cast<double>(covered.length())};
}

}  // namespace lanescope::analysis
