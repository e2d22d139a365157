// Rows of processor activity: the strip of a thread's states, its samples, and the processors themselves.
#include <algorithm>
#include <map>
#include <set>

#include "model/trace/segments/demanded_segments.h"
#include "row_tree_builder.h"

namespace lanescope::timeline {
// The row of a thread shows when it ran and when it could have run; the height is the share of the time. Where the row is empty, the thread waited. The samples
// are below.
void RowTreeBuilder::add_thread_states(RowIndex index, const Tracks& tracks) {
  Level states;
  const RunningTime time = running_time(tracks);
  for (const Track* track : select(tracks, TrackKind::kThreadStates))
    for (const LaneId lane : track->lanes) {
      tree_.place_of_lane_[lane] = RowTree::Place{index, 0};
      for (const SegmentSums::Sum& sum : sums_.of_lane(trace_, lane, SegmentSums::By::kName)) {
        const std::string_view name = trace_.name(sum.key);
        if (name == thread_state_name(ThreadState::kRunning) || name == thread_state_name(ThreadState::kRunnable))
          states.push_back(LaneSource{.lane = lane, .name = sum.key});
      }
    }
  Row& row = tree_.rows_[index];
  if (time.known > 0) {
    if (!is_thread_behind(time, tracks.front()->key.process)) row.share = share_of(time.running, time.known);
    row.levels.push_back(states);
    row.all = states;
  }
  const Tracks samples = select(tracks, TrackKind::kCpuSamples);
  if (samples.empty()) return;
  for (const Track* track : samples)
    for (const LaneId lane : track->lanes) tree_.place_of_lane_[lane] = RowTree::Place{index, static_cast<std::uint32_t>(row.levels.size())};
  row.levels.push_back(combined(samples));
}

// Calls below their callers; the innermost calls while collapsed.
void RowTreeBuilder::add_stack_chart(RowIndex thread, const std::string& key, const Tracks& tracks) {
  if (!has_memory_for_events_) return;  // the depth of the chains requires all samples
  const Tracks samples = select(tracks, TrackKind::kCpuSamples);
  std::uint32_t depth = 0;
  Level innermost;
  for (const Track* track : samples)
    for (const LaneId lane : track->lanes) {
      if (!chain_depths_) chain_depths_.emplace(trace_.call_stacks());
      for (const SegmentSums::Sum& sum : sums_.of_lane(trace_, lane, SegmentSums::By::kDetail))
        depth = std::max(depth, chain_depths_->of(trace_.sample_detail(sum.key).call_node));
      innermost.push_back(LaneSource{.lane = lane, .call_depth = kInnermostCall});
    }
  if (depth == 0) return;
  Row& row = tree_.rows_[add_row(key + "/stacks", "Stack chart", RowKind::kStackChart, thread)];
  row.expanded_initially = false;
  row.all = innermost;
  for (std::uint32_t level = 0; level < depth; ++level) {
    for (LaneSource& source : innermost) source.call_depth = level;
    row.levels.push_back(innermost);
  }
}

RowTreeBuilder::RunningTime RowTreeBuilder::running_time(const Tracks& tracks) {
  RunningTime time;
  for (const Track* track : select(tracks, TrackKind::kThreadStates))
    for (const LaneId lane : track->lanes) {
      time.known += trace_.lane(lane).extent().length();
      time.end = std::max(time.end, trace_.lane(lane).extent().end);
      for (const SegmentSums::Sum& sum : sums_.of_lane(trace_, lane, SegmentSums::By::kName))
        if (trace_.name(sum.key) == thread_state_name(ThreadState::kRunning)) time.running += sum.total;
    }
  return time;
}

// A state is recorded when it ends. So in a running recording, a thread that ran for a second and has waited since then seems to have run all of its known
// time.
bool RowTreeBuilder::is_thread_behind(const RunningTime& time, ProcessId process) const {
  const Provenance& provenance = trace_.provenance();
  const bool is_recorded_now = provenance.format == "Lanescope" && !provenance.finished && !trace_.processes()[process].end;
  return is_recorded_now && is_behind({time.end - time.known, time.end}, std::max(now_.value_or(0), trace_.extent().end));
}

bool RowTreeBuilder::is_quiet(const Tracks& tracks) {
  constexpr double kMostRunning = 0.05;  // of the time for which the thread's states are known
  const bool calls = std::any_of(tracks.begin(), tracks.end(),
                                 [](const Track* track) { return track->key.kind != TrackKind::kThreadStates && track->key.kind != TrackKind::kCpuSamples; });
  if (calls) return false;
  const RunningTime time = running_time(tracks);
  return time.known > 0 && share_of(time.running, time.known) < kMostRunning;
}

// Processes that call CUDA or set ranges come first, because a launcher or a script starts before the actual program. If there are many processes, those are
// expanded. If there are none, those that ran longest are; they come first if they might be out of sight.
std::set<ProcessId> RowTreeBuilder::put_first_what_matters(std::vector<ProcessId>& shown) {
  constexpr std::size_t kOpenProcesses = 4, kProcessesInSight = 12;
  constexpr Nanoseconds kOfLongest = 10;  // the divisor: processes that ran for less than this part of the longest one are not expanded
  struct Work {
    bool uses_gpu_or_ranges = false;
    Nanoseconds running = 0;
  };
  std::map<ProcessId, Work> by_process;
  for (const ProcessId process : shown) by_process[process] = {};
  for (const Track& track : trace_.tracks()) {
    const auto found = by_process.find(track.key.process);
    if (found == by_process.end()) continue;
    const TrackKind kind = track.key.kind;
    if (kind == TrackKind::kCudaApi || kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges) found->second.uses_gpu_or_ranges = true;
    for (const LaneId lane : track.lanes)
      if (kind == TrackKind::kThreadStates)
        for (const SegmentSums::Sum& sum : sums_.of_lane(trace_, lane, SegmentSums::By::kName))
          if (trace_.name(sum.key) == thread_state_name(ThreadState::kRunning)) found->second.running += sum.total;
  }
  std::set<ProcessId> matter;
  for (const auto& [process, work] : by_process)
    if (work.uses_gpu_or_ranges) matter.insert(process);
  const auto put_them_first = [&] { std::stable_partition(shown.begin(), shown.end(), [&](ProcessId process) { return matter.contains(process); }); };
  put_them_first();
  if (shown.size() <= kOpenProcesses) return {shown.begin(), shown.end()};
  if (matter.empty()) {
    std::vector<ProcessId> longest = shown;
    std::stable_sort(longest.begin(), longest.end(), [&](ProcessId a, ProcessId b) { return by_process[a].running > by_process[b].running; });
    longest.resize(kOpenProcesses);
    const Nanoseconds least = by_process[longest.front()].running / kOfLongest;
    std::erase_if(longest, [&](ProcessId process) { return by_process[process].running < least; });
    matter.insert(longest.begin(), longest.end());
    if (shown.size() > kProcessesInSight) put_them_first();
  }
  return matter;
}

void RowTreeBuilder::add_processors() {
  Tracks tracks;
  for (const Track& track : trace_.tracks())
    if (track.key.kind == TrackKind::kProcessors && in_part(track)) tracks.push_back(&track);
  if (tracks.empty()) return;
  std::stable_sort(tracks.begin(), tracks.end(), [](const Track* a, const Track* b) { return a->key.processor < b->key.processor; });
  const std::string key = part_.key + "processors";
  const RowIndex group = add_row(key, Message("CPU cores ({number})", {{"number", std::to_string(tracks.size())}}), RowKind::kProcessorGroup, part_.heading);
  tree_.rows_[group].expanded_initially = false;
  // States that reach into a saved part are stored whole. If their times would have to be read from the file, they count whole, but for no more than the
  // duration of the part.
  const auto busy_in_part = [this](const Track& track) {
    Nanoseconds sum = 0;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_.lane(id);
      const TimeRange time = lane.extent();
      const bool is_within = time.intersected(part_.time) == time;
      sum += !is_within && lane.holds_segments() ? lane.busy(part_.time) : std::min(busy_total(lane), part_.time.length());
    }
    return sum;
  };
  const bool is_known = !is_behind(part_.time, now_);
  Nanoseconds all_busy = 0;
  for (const Track* track : tracks) {
    const Nanoseconds busy = busy_in_part(*track);
    all_busy += busy;
    const RowIndex row =
        add_row(key + "/" + std::to_string(track->key.processor), Message::verbatim("CPU " + std::to_string(track->key.processor)), RowKind::kProcessor, group);
    if (is_known) tree_.rows_[row].share = share_of(busy, part_.time.length());
    tree_.rows_[row].all = combined({track});
    tree_.rows_[row].levels = {tree_.rows_[row].all};
    for (const LaneId lane : track->lanes) tree_.place_of_lane_[lane] = RowTree::Place{row, 0};
  }
  if (is_known) tree_.rows_[group].share = share_of(all_busy, part_.time.length() * static_cast<Nanoseconds>(tracks.size()));
}

std::optional<EventRef> quiet_state(const Trace& trace, const Level& level, Nanoseconds time) {
  const auto is_of_first = [&](const LaneSource& source) { return source.lane == level.front().lane; };
  // A row that combines several threads does not describe one of them.
  if (level.empty() || !std::all_of(level.begin(), level.end(), is_of_first)) return std::nullopt;
  const LaneId lane = level.front().lane;
  if (trace.track_of(lane).key.kind != TrackKind::kThreadStates) return std::nullopt;
  const auto index = trace.lane(lane).at(time);
  return index ? std::optional(EventRef{lane, *index}) : std::nullopt;
}

}  // namespace lanescope::timeline
