// sync_storm: calls that wait for the GPU again and again, including blocking copies.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/events/event_values.h"
#include "model/trace/segments/demanded_segments.h"
#include "threads/call_class.h"
#include "threads/range_lookup.h"

namespace lanescope::analysis {
namespace {

using Key = std::tuple<ThreadId, NameId, FamilyId>;  // thread, call, NVTX range

struct CausedIdle {
  Nanoseconds total = 0;
  Nanoseconds longest = 0;  // in one gap, which gpu_bubbles names, too
  TimeRange longest_range;  // from the first to the last part of that
  GpuId longest_gpu = kNone;

  // Parts of one gap come one after the other. `gap`: that gap.
  void add(const IdlePart& part, const IdleGap& gap) {
    const bool goes_on = in_gap_.gpu == gap.gpu && in_gap_.begin == gap.range.begin && in_gap_.time > 0;
    if (!goes_on) in_gap_ = {gap.gpu, gap.range.begin, 0, part.range};
    in_gap_.time += part.range.length();
    in_gap_.range.end = part.range.end;
    total += part.range.length();
    if (in_gap_.time <= longest) return;
    longest = in_gap_.time;
    longest_range = in_gap_.range;
    longest_gpu = gap.gpu;
  }
  void add(const CausedIdle& other) {
    total += other.total;
    if (other.longest <= longest) return;
    longest = other.longest;
    longest_range = other.longest_range;
    longest_gpu = other.longest_gpu;
  }

 private:
  struct {
    GpuId gpu = kNone;
    Nanoseconds begin = 0, time = 0;
    TimeRange range;
  } in_gap_;
};

struct Waits {
  std::uint64_t calls = 0;
  Nanoseconds blocked = 0;
  CausedIdle idle;               // idle time that it caused
  CausedIdle copies_in_bubbles;  // in addition: idle time of blocking copies, in gaps that gpu_bubbles looks at

  [[nodiscard]] Nanoseconds all_idle() const { return idle.total + copies_in_bubbles.total; }
};

// Options of gpu_bubbles, if it is answered together with this rule. It reports the idle time of copies in gaps of at least this length, if it is at
// least this share.
struct BubblesBeside {
  Nanoseconds gap = 0;
  double share = 0;  // percent
};

std::optional<BubblesBeside> bubbles_beside(const RuleContext& context) {
  const auto found =
      std::find_if(context.requests.begin(), context.requests.end(), [](const RuleRequest& request) { return request.rule->name == "gpu_bubbles"; });
  if (found == context.requests.end()) return std::nullopt;
  return BubblesBeside{found->arguments.duration("gap"), found->arguments.real("share")};
}

// A blocking copy waits for everything that was enqueued before it, and for itself.
bool blocks(CallClass call) noexcept { return call == CallClass::kSynchronize || call == CallClass::kCopy; }

// Returns true if there are any calls that wait, in the loop or elsewhere.
bool count_calls(const RuleContext& context, const LoopWork& work, Families& families, std::map<Key, Waits>& waits) {
  const Trace& trace = context.trace;
  NameMemo<CallClass> classes(trace, classify_cuda_call);
  RangeLookup ranges(trace);
  bool any = false;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kCudaApi || track.lanes.empty()) continue;
    const Lane& lane = trace.lane(track.lanes.front());
    const auto may_block = [&](NameId name) { return blocks(classes(name)); };
    for_each_named(lane, may_block, [&](EventIndex i) {
      any = true;
      if (context.stop.stop_requested() || !context.time.contains(lane.start(i))) return;
      if (!work.has(track.key.process, lane.start(i))) return;
      Waits& entry = waits[{track.key.thread, lane.name(i), families.of(ranges.innermost(track.key.thread, lane.start(i)))}];
      ++entry.calls;
      entry.blocked += std::min(lane.end(i), context.time.end) - lane.start(i);
    });
  }
  return any;
}

// The call to which a part of a gap is attributed: the part lies in it, or shortly after it. Invalid if there is no such call.
EventRef call_of(const Trace& trace, const IdleGap& gap, const IdlePart& part) {
  constexpr EventIndex kMostBetween = 1'000;  // calls take a microsecond or more, and launches are attributed to a wait within kLongLaunch
  const LaneId lane = trace.track_of(gap.launch.lane).lanes.front();
  const Lane& calls = trace.lane(lane);
  const EventIndex end = calls.lower_bound(part.range.begin + 1);
  for (EventIndex i = end; i > 0 && end - i < kMostBetween; --i)
    if (calls.name(i - 1) == part.call) return {lane, i - 1};
  return {};
}

struct GpuSums {
  std::uint64_t operations = 0;
  Nanoseconds span = 0;
  Nanoseconds copies_in_bubbles = 0;  // idle time of all copies, blocking or not, in gaps that gpu_bubbles looks at
};

GpuSums add_idle(const RuleContext& context, const LoopWork& work, const std::optional<BubblesBeside>& bubbles, Families& families,
                 std::map<Key, Waits>& waits) {
  const Trace& trace = context.trace;
  NameMemo<CallClass> classes(trace, classify_cuda_call);
  RangeLookup ranges(trace);
  std::set<EventRef> begun_before;  // calls that are not counted yet, and leave GPUs idle in the time that counts
  GpuSums sums;
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    for (const IdlePart& part : parts) {
      const bool is_in_bubbles = part.cause == IdleCause::kCopy && bubbles && gap.range.length() >= bubbles->gap;
      if (is_in_bubbles && work.has(gap, part)) sums.copies_in_bubbles += part.range.length();
      const bool waits_in_call = part.cause == IdleCause::kSynchronize || (part.cause == IdleCause::kCopy && classes(part.call) == CallClass::kCopy);
      if (!waits_in_call || !work.has(gap, part)) continue;
      const EventRef call = call_of(trace, gap, part);
      if (!call.valid()) continue;
      const Lane& lane = trace.lane(call.lane);
      const TrackKey& track = trace.track_of(call.lane).key;
      Waits& entry = waits[{track.thread, part.call, families.of(ranges.innermost(track.thread, lane.start(call.index)))}];
      const bool is_counted = context.time.contains(lane.start(call.index)) && work.has(track.process, lane.start(call.index));
      if (!is_counted && begun_before.insert(call).second) {
        ++entry.calls;
        entry.blocked += lane.duration(call.index);
      }
      (is_in_bubbles ? entry.copies_in_bubbles : entry.idle).add(part, gap);
    }
  };
  const GpuTracks tracks(trace);
  for (const GpuIdle& gpu : visit_idle(context, 1, add)) {
    sums.span += work.undisturbed_span(gpu.gpu, work.of_gpu(gpu.gpu, gpu.extent));
    for (const TrackId track : tracks.of(gpu.gpu))
      for (const LaneId lane : trace.tracks()[track].lanes) sums.operations += work.share_of(lane, context.time).operations;
  }
  return sums;
}

using CountedWaits = std::vector<std::pair<Key, Waits>>;  // the longest idle time first

void sort_by_idle(CountedWaits& waits) {
  std::stable_sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.second.all_idle() > b.second.all_idle(); });
}

// The waits without the idle time that gpu_bubbles reports for copies, and without copies whose idle time is mostly in that report.
CountedWaits without_told_copies(CountedWaits waits) {
  std::erase_if(waits, [](const auto& one) { return one.second.copies_in_bubbles.total > 0 && one.second.copies_in_bubbles.total >= one.second.idle.total; });
  for (auto& [key, entry] : waits) entry.copies_in_bubbles = {};
  sort_by_idle(waits);
  return waits;
}

}  // namespace

Result<RuleAnswer> find_sync_storm(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  Families families = work.families();
  std::map<Key, Waits> waits;
  // Without such calls no gap has a wait as its cause, and looking at every gap takes long.
  const bool any = count_calls(context, work, families, waits);
  const std::optional<BubblesBeside> bubbles = bubbles_beside(context);
  const auto [operations, span, copies_in_bubbles] = !any ? GpuSums() : add_idle(context, work, bubbles, families, waits);
  CountedWaits sorted(waits.begin(), waits.end());
  sort_by_idle(sorted);

  RuleAnswer answer;
  stats::Table table({stats::integers("GPU Idle", stats::Unit::kNanoseconds), stats::integers("Calls"), stats::integers("Blocked", stats::Unit::kNanoseconds),
                      stats::texts("Thread"), stats::texts("Call"), stats::texts("NVTX Range")});
  for (const auto& [key, entry] : sorted) {
    const auto& [thread, call, family] = key;
    table.add_row(entry.all_idle(), static_cast<std::int64_t>(entry.calls), entry.blocked, table.add_text(thread_label(trace, thread)),
                  table.add_text(std::string(api_display_name(trace.name(call)))), table.add_text(families.text(family)));
  }
  const bool are_copies_told = bubbles && copies_in_bubbles > 0 && percent_of(copies_in_bubbles, span) >= bubbles->share;
  CountedWaits counted_waits = are_copies_told ? without_told_copies(sorted) : sorted;
  std::erase_if(counted_waits, [&](const auto& one) { return asks_gpu(trace.name(std::get<1>(one.first))); });  // such a call goes on, whatever the answer
  std::uint64_t calls = 0;
  Nanoseconds idle = 0;
  for (const auto& [key, entry] : counted_waits) {
    calls += entry.calls;
    idle += entry.all_idle();
  }
  const bool many = calls >= static_cast<std::uint64_t>(std::max<std::int64_t>(1, arguments.integer("calls")));
  const bool dense = static_cast<double>(calls) >= arguments.real("per_operation") * static_cast<double>(operations);
  const bool costly = static_cast<double>(idle) >= arguments.real("share") / 100 * static_cast<double>(span);
  if (many && dense && costly && idle > 0) {
    const auto& [key, first] = counted_waits.front();
    CausedIdle longest = first.idle;
    longest.add(first.copies_in_bubbles);
    Finding finding;
    finding.rule = "sync_storm";
    finding.title = Message("The program waited for the GPU {times} for {operations}, and the waits left GPUs idle for {idle} ({share} of {loop}).",
                            {{"times", counted(calls, "time")},
                             {"operations", counted(operations, "GPU operation")},
                             {"idle", duration_text(idle)},
                             {"share", percent_text(idle, span)},
                             {"loop", work.text()}});
    finding.seen =
        Message("{call} on thread {thread}{range}: {calls}, blocked for {blocked}, GPU idle for {idle}{longest}.",
                {{"call", api_display_name(trace.name(std::get<1>(key)))},
                 {"thread", thread_label(trace, std::get<0>(key))},
                 {"range", std::get<2>(key) == 0 ? Message() : Message(", {range}", {{"range", range_text(trace, families.text(std::get<2>(key)))}})},
                 {"calls", counted(first.calls, "call")},
                 {"blocked", duration_text(first.blocked)},
                 {"idle", duration_text(longest.total)},
                 {"longest", first.calls > 1 ? Message(", for {time} at most", {{"time", duration_text(longest.longest)}}) : Message()}});
    finding.place.range = longest.longest_range;
    finding.place.gpu = longest.longest_gpu;
    finding.place.thread = std::get<0>(key);
    finding.place.process = trace.threads()[std::get<0>(key)].process;
    finding.cost = idle;
    if (classify_cuda_call(trace.name(std::get<1>(key))) == CallClass::kCopy)
      finding.advice = Message(idle_advice({.cause = IdleCause::kCopy, .call = trace.name(std::get<1>(key))}));
    else
      finding.advice =
          "Wait only where the CPU needs the result: work of one stream runs in order by itself, and streams wait for each other with events "
          "(cudaStreamWaitEvent). In PyTorch, .item(), .cpu() and print of a tensor wait.";
    answer.findings.push_back(std::move(finding));
  }
  if (!table.empty()) answer.tables.push_back({"sync_storm", "Calls that wait for the GPU", std::move(table)});
  if (answer.findings.empty()) answer.message = "Calls that wait for the GPU are few, or leave it no time idle.";
  return answer;
}

}  // namespace lanescope::analysis
