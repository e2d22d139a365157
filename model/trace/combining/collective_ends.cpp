#include "collective_ends.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/trace/domains/nvtx_payload.h"

namespace lanescope {
namespace {

// Calls of NCCL that are no collectives, or not of all ranks, by the start of their names.
constexpr std::string_view kInit = "ncclCommInit";
constexpr std::string_view kGroupEnd = "ncclGroupEnd";
constexpr std::array<std::string_view, 8> kNotCollective{kInit,           "ncclGroup",        "ncclCommSplit", "ncclCommDestroy",
                                                         "ncclCommAbort", "ncclCommFinalize", "ncclSend",      "ncclRecv"};

// Finds the last launch of a kernel within ranges of time that are asked for by ascending end. However the ranges are nested, no call is looked at
// twice: for each run of calls that were looked at, the last launch before its end is kept.
class LastLaunches {
 public:
  LastLaunches(const Trace& trace, LaneId lane) : trace_(trace), lane_(lane) {}

  struct Launch {
    Nanoseconds start;  // of the call
    Nanoseconds end;    // of its kernel
  };
  [[nodiscard]] std::optional<Launch> last_in(TimeRange range) {
    const Lane& calls = trace_.lane(lane_);
    Run run{0, calls.lower_bound(range.end), std::nullopt};
    EventIndex i = run.end;
    while (!run.launch) {
      if (!runs_.empty() && i <= runs_.back().end) {  // these calls were looked at already
        i = std::min(i, runs_.back().begin);
        run.launch = runs_.back().launch;
        runs_.pop_back();
        continue;
      }
      if (i == 0 || calls.start(i - 1) < range.begin) break;
      --i;
      if (const std::optional<Nanoseconds> end = kernel_end({lane_, i})) run.launch = Launch{calls.start(i), *end};
    }
    run.begin = i;
    if (run.begin < run.end) runs_.push_back(run);
    return run.launch && run.launch->start >= range.begin ? run.launch : std::nullopt;
  }

 private:
  struct Run {
    EventIndex begin, end;
    std::optional<Launch> launch;  // the last one before the run's end
  };

  [[nodiscard]] std::optional<Nanoseconds> kernel_end(EventRef call) const {
    static constexpr TrackKind kKernels[] = {TrackKind::kKernels};
    std::optional<Nanoseconds> end;
    for (const EventRef work : trace_.work_of(call, kKernels)) end = std::max(end, std::optional(trace_.lane(work.lane).end(work.index)));
    return end;
  }

  const Trace& trace_;
  LaneId lane_;
  std::vector<Run> runs_;  // separate from each other, by time
};

class Search {
 public:
  Search(const Trace& trace, const std::stop_token& stop) : trace_(trace), stop_(stop) {}

  [[nodiscard]] CollectiveEnds of(ProcessId process) {
    calls_.clear();
    for (const TrackId id : trace_.tracks_of(process, TrackKind::kNvtxRanges)) {
      const Track& track = trace_.tracks()[id];
      if (trace_.domain_name(process, track.key.domain) == "NCCL") add_calls(track);
    }
    find_kernels(process);
    std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return a.time.begin < b.time.begin; });

    std::unordered_map<std::string_view, std::size_t> ids;  // of communicators, with their positions in:
    std::vector<std::vector<std::optional<Nanoseconds>>> ends;
    std::unordered_map<NameId, std::size_t> known;                                           // the same by payload
    std::unordered_map<ThreadId, std::vector<std::pair<std::size_t, std::size_t>>> waiting;  // waiting for the end of their group
    bool whole = false;                                                                      // communicators are seen from their start on
    for (const Call& call : calls_) {
      if (stop_.stop_requested()) return {};
      const std::string_view name = trace_.name(call.name);
      whole = whole || name.starts_with(kInit);
      if (name.starts_with(kGroupEnd)) {  // it launches the kernels of the calls within the group
        for (const auto& [communicator, position] : std::exchange(waiting[call.thread], {})) ends[communicator][position] = call.kernel_end;
        continue;
      }
      const auto begins_name = [name](std::string_view other) { return name.starts_with(other); };
      if (!whole || std::any_of(kNotCollective.begin(), kNotCollective.end(), begins_name)) continue;
      const auto [of_payload, is_new] = known.try_emplace(call.payload);
      if (is_new) {
        of_payload->second = ids.try_emplace(communicator_of(call.payload), ends.size()).first->second;
        if (of_payload->second == ends.size()) ends.emplace_back();
      }
      std::vector<std::optional<Nanoseconds>>& of_communicator = ends[of_payload->second];
      if (!call.kernel_end) waiting[call.thread].emplace_back(of_payload->second, of_communicator.size());
      of_communicator.push_back(call.kernel_end);
    }
    CollectiveEnds found;
    for (const auto& [id, position] : ids)
      if (!id.empty()) found.emplace(id, std::move(ends[position]));
    return found;
  }

 private:
  // A range of NCCL.
  struct Call {
    TimeRange time;
    NameId name;
    NameId payload;
    ThreadId thread;
    std::optional<Nanoseconds> kernel_end;
  };

  void add_calls(const Track& track) {
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace_.lane(lane).size() && !stop_.stop_requested(); ++i) {
        const Event event = trace_.lane(lane).event(i);
        calls_.push_back({{event.start, event.end()}, event.name, trace_.nvtx_detail(event.detail).payload_json, track.key.thread, std::nullopt});
      }
  }

  void find_kernels(ProcessId process) {
    std::unordered_map<ThreadId, std::vector<LastLaunches>> threads;
    for (const TrackId id : trace_.tracks_of(process, TrackKind::kCudaApi))
      for (const LaneId lane : trace_.tracks()[id].lanes) threads[trace_.tracks()[id].key.thread].emplace_back(trace_, lane);
    std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return a.time.end < b.time.end; });
    for (Call& call : calls_) {
      const auto thread = threads.find(call.thread);
      if (thread == threads.end()) continue;
      if (stop_.stop_requested()) return;
      std::optional<LastLaunches::Launch> last;
      for (LastLaunches& lane : thread->second)
        if (const auto launch = lane.last_in(call.time); launch && (!last || launch->start > last->start)) last = launch;
      if (last) call.kernel_end = last->end;
    }
  }

  const std::string& communicator_of(NameId payload) {
    const auto [known, is_new] = communicators_.try_emplace(payload);
    if (is_new)
      for (const PayloadField& field : payload_fields(trace_.name(payload)))
        if (field.name == "NCCL communicator ID") known->second = field.value;
    return known->second;
  }

  const Trace& trace_;
  const std::stop_token& stop_;
  std::vector<Call> calls_;
  std::unordered_map<NameId, std::string> communicators_;
};

}  // namespace

CollectiveEnds collective_ends(const Trace& trace, const std::stop_token& stop) {
  Search search(trace, stop);
  CollectiveEnds ends;
  for (ProcessId process = 0; process < trace.processes().size() && !stop.stop_requested(); ++process) ends.merge(search.of(process));
  return ends;
}

}  // namespace lanescope
