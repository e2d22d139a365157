#include "xla_modules.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "threads/call_class.h"

namespace lanescope::analysis {
namespace {

bool is_xla_compilation(std::string_view range) noexcept { return range.starts_with("XlaCompile") || range.starts_with("XlaAutotuner"); }

}  // namespace

bool is_of_xla(std::string_view range) noexcept { return range.starts_with("Xla") || range.starts_with("Thunk:#"); }

// Without "hlo_module=" it is a part of compilation.
bool is_xla_execution(std::string_view range) noexcept { return range.starts_with("XlaModule:#") && range.find("hlo_module=") != std::string_view::npos; }

XlaCompilation::XlaCompilation(const Trace& trace) {
  NameMemo<bool> compiles(trace, is_xla_compilation);
  std::map<ProcessId, std::vector<TimeRange>> ranges;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (compiles(lane.name(i))) ranges[track.key.process].push_back({lane.start(i), lane.end(i)});
    }
  }
  for (auto& [process, of_process] : ranges) {
    std::sort(of_process.begin(), of_process.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    IntervalUnion::Writer writer;
    for (const TimeRange& range : of_process) writer.add(range.begin, range.end);
    by_process_[process] = writer.take();
  }
}

bool XlaCompilation::is_under_way(ProcessId process, Nanoseconds t) const noexcept {
  const auto found = by_process_.find(process);
  return found != by_process_.end() && found->second.covered({t, t + 1}) > 0;
}

namespace {

// What of the executions of one family in one lane is looked at.
struct ChosenExecutions {
  std::size_t all = 0;
  std::vector<EventRef> chosen;

  void halve() {
    for (std::size_t i = 0; 2 * i < chosen.size(); ++i) chosen[i] = chosen[2 * i];
    chosen.resize((chosen.size() + 1) / 2);
  }
};

// The calls that start in the time, on this lane.
std::pair<EventIndex, EventIndex> calls_in(const Lane& lane, TimeRange time) { return {lane.lower_bound(time.begin), lane.lower_bound(time.end)}; }

std::vector<LaneId> call_lanes(const Trace& trace, const TrackKey& thread) {
  std::vector<LaneId> lanes;
  for (const TrackId id : trace.tracks_of(thread.process, TrackKind::kCudaApi))
    if (const Track& track = trace.tracks()[id]; track.key.thread == thread.thread) lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
  return lanes;
}

TimeRange time_of(const Trace& trace, EventRef event) {
  const Lane& lane = trace.lane(event.lane);
  return {lane.start(event.index), lane.end(event.index)};
}

}  // namespace

std::map<LaneFamily, Nanoseconds> gpu_time_of_xla_executions(const Trace& trace, Families& families, const XlaCompilation& compilation,
                                                             const std::set<LaneFamily>& wanted) {
  constexpr std::size_t kMostExecutions = 1'000, kMostCalls = 1 << 16;  // of each family in a lane
  std::map<LaneFamily, ChosenExecutions> executions;
  NameMemo<bool> executes(trace, is_xla_execution);
  for (auto own = wanted.begin(); own != wanted.end();) {
    const LaneId id = own->first;
    const Lane& lane = trace.lane(id);
    for (EventIndex i = 0; i < lane.size(); ++i) {
      if (!executes(lane.name(i))) continue;
      const LaneFamily family{id, families.of_name(lane.name(i))};
      if (!wanted.contains(family)) continue;
      ChosenExecutions& of_family = executions[family];
      // An even selection: each 2^n-th.
      const std::size_t stride = std::max<std::size_t>(1, std::bit_ceil((of_family.all + 1 + kMostExecutions - 1) / kMostExecutions));
      if (of_family.chosen.size() == kMostExecutions) of_family.halve();
      if (of_family.all++ % stride == 0) of_family.chosen.push_back({id, i});
    }
    while (own != wanted.end() && own->first == id) ++own;
  }
  std::map<ProcessId, std::vector<std::pair<std::uint32_t, const LaneFamily*>>> launches;  // ids of calls, with what they belong to
  for (auto& [family, of_family] : executions) {
    const TrackKey& thread = trace.track_of(family.first).key;
    const std::vector<LaneId> lanes = call_lanes(trace, thread);
    const auto count = [&] {
      std::size_t calls = 0;
      for (const EventRef execution : of_family.chosen)
        for (const LaneId id : lanes) {
          const auto [first, end] = calls_in(trace.lane(id), time_of(trace, execution));
          calls += end - first;
        }
      return calls;
    };
    while (of_family.chosen.size() > 1 && count() > kMostCalls) of_family.halve();
    auto& ids = launches[thread.process];
    for (const EventRef execution : of_family.chosen)
      for (const LaneId id : lanes) {
        const Lane& lane = trace.lane(id);
        const auto [first, end] = calls_in(lane, time_of(trace, execution));
        for (EventIndex i = first; i < end; ++i)
          if (lane.correlation(i) != 0 && !compilation.is_under_way(thread.process, lane.start(i))) ids.emplace_back(lane.correlation(i), &family);
      }
  }
  std::map<LaneFamily, Nanoseconds> times;
  for (auto& [process, ids] : launches) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());  // a call within another has its id
    const auto from = [&](std::uint32_t id) { return std::lower_bound(ids.begin(), ids.end(), std::pair<std::uint32_t, const LaneFamily*>(id, nullptr)); };
    for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
      for (const TrackId track : trace.tracks_of(process, kind))
        for (const LaneId id : trace.tracks()[track].lanes) {
          const Lane& lane = trace.lane(id);
          for (std::size_t s = 0; s < lane.segment_count(); ++s) {
            const CorrelationBounds bounds = lane.segment_correlations(s);
            const auto first = from(std::max(1u, bounds.least));
            if (bounds.greatest == 0 || first == ids.end() || first->first > bounds.greatest) continue;
            const std::shared_ptr<const LaneSegment> segment = lane.segment(s);
            for (EventIndex i = 0; i < segment->size(); ++i)
              for (auto launch = from(segment->correlation(i)); launch != ids.end() && launch->first == segment->correlation(i); ++launch)
                times[*launch->second] += segment->duration(i);
          }
        }
  }
  for (auto& [family, time] : times) {
    const ChosenExecutions& of_family = executions.at(family);
    time = static_cast<Nanoseconds>(static_cast<double>(time) * static_cast<double>(of_family.all) / static_cast<double>(of_family.chosen.size()));
  }
  return times;
}

}  // namespace lanescope::analysis
