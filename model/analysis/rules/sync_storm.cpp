// sync_storm: calls that wait for the GPU again and again, blocking copies among them.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "../call_class.h"
#include "../gpu_operations.h"
#include "../loop_work.h"
#include "../own_rules.h"
#include "../range_lookup.h"
#include "../wording.h"
#include "model/analysis/families.h"
#include "model/analysis/idle.h"
#include "model/events/event_values.h"

namespace lanescope::analysis {
namespace {

using Key = std::tuple<ThreadId, NameId, FamilyId>;  // thread, call, NVTX range

struct Waits {
  std::uint64_t calls = 0;
  Nanoseconds blocked = 0;
  Nanoseconds idle = 0;  // idle time that it caused
  IdlePart longest;      // of it
  GpuId longest_gpu = kNone;
};

// A blocking copy waits for what was enqueued before it, and for itself.
bool blocks(CallClass call) noexcept { return call == CallClass::kSynchronize || call == CallClass::kCopy; }

// Returns whether there are any calls that wait, in the loop or elsewhere.
bool count_calls(const RuleContext& context, const LoopWork& work, Families& families, std::map<Key, Waits>& waits) {
  const Trace& trace = context.trace;
  NameMemo<CallClass> classes(trace, classify_cuda_call);
  RangeLookup ranges(trace);
  bool any = false;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kCudaApi || track.lanes.empty()) continue;
    const Lane& lane = trace.lane(track.lanes.front());
    for (EventIndex i = 0; i < lane.size() && !context.stop.stop_requested(); ++i) {
      if (!blocks(classes(lane.name(i)))) continue;
      any = true;
      if (!context.time.contains(lane.start(i))) continue;
      if (!work.has(track.key.process, lane.start(i))) continue;
      Waits& entry = waits[{track.key.thread, lane.name(i), families.of(ranges.innermost(track.key.thread, lane.start(i)))}];
      ++entry.calls;
      entry.blocked += lane.duration(i);
    }
  }
  return any;
}

// The call that a part of a gap is laid to: the part lies in it, or close behind it. Invalid where it is not found there.
EventRef call_of(const Trace& trace, const IdleGap& gap, const IdlePart& part) {
  constexpr EventIndex kMostBetween = 1'000;  // calls take a microsecond or more, and a wait answers for launches within kLongLaunch
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
};

GpuSums add_idle(const RuleContext& context, const LoopWork& work, Families& families, std::map<Key, Waits>& waits) {
  const Trace& trace = context.trace;
  NameMemo<CallClass> classes(trace, classify_cuda_call);
  RangeLookup ranges(trace);
  std::set<EventRef> begun_before;  // calls that are not counted yet, and leave GPUs idle in the time that counts
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    for (const IdlePart& part : parts) {
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
      entry.idle += part.range.length();
      if (part.range.length() <= entry.longest.range.length()) continue;
      entry.longest = part;
      entry.longest_gpu = gap.gpu;
    }
  };
  const std::vector<GpuIdle> gpus = visit_idle(context, 1, add);
  GpuSums sums;
  for (const GpuIdle& gpu : gpus) {
    sums.span += work.span(gpu.gpu, work.of_gpu(gpu.gpu, gpu.extent));
    GpuOperations operations(trace, gpu.gpu, context.time, context.stop);
    while (const std::optional<GpuOperation> operation = operations.next()) sums.operations += work.has(operation->event) ? 1 : 0;
  }
  return sums;
}

}  // namespace

Result<RuleAnswer> find_sync_storm(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  Families families = work.families();
  std::map<Key, Waits> waits;
  // Without them no gap has waits for its cause, and to look at every gap takes long.
  const bool any = count_calls(context, work, families, waits);
  const auto [operations, span] = !any ? GpuSums() : add_idle(context, work, families, waits);
  std::vector<std::pair<Key, Waits>> sorted(waits.begin(), waits.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.idle > b.second.idle; });

  RuleAnswer answer;
  Waits all;
  stats::Table table({stats::integers("GPU Idle", stats::Unit::kNanoseconds), stats::integers("Calls"),
                      stats::integers("Blocked", stats::Unit::kNanoseconds), stats::texts("Thread"), stats::texts("Call"),
                      stats::texts("NVTX Range")});
  for (const auto& [key, entry] : sorted) {
    const auto& [thread, call, family] = key;
    table.add_row(entry.idle, static_cast<std::int64_t>(entry.calls), entry.blocked, table.add_text(thread_label(trace, thread)),
                  table.add_text(std::string(api_display_name(trace.name(call)))), table.add_text(families.text(family)));
    if (!asks_gpu(trace.name(call))) all.calls += entry.calls;
    all.blocked += entry.blocked;
    all.idle += entry.idle;
  }
  const bool many = all.calls >= static_cast<std::uint64_t>(std::max<std::int64_t>(1, arguments.integer("calls")));
  const bool dense = static_cast<double>(all.calls) >= arguments.real("per_operation") * static_cast<double>(operations);
  const bool costly = static_cast<double>(all.idle) >= arguments.real("share") / 100 * static_cast<double>(span);
  if (many && dense && costly && all.idle > 0) {
    const auto& [key, first] = sorted.front();
    Finding finding;
    finding.rule = "sync_storm";
    finding.title = Message("The program waited for the GPU {times} for {operations}, and the waits left GPUs idle for {idle} ({share} of {loop}).",
                            {{"times", counted(all.calls, "time")},
                             {"operations", counted(operations, "GPU operation")},
                             {"idle", duration_text(all.idle)},
                             {"share", percent_text(all.idle, span)},
                             {"loop", work.text()}});
    finding.seen =
        Message("{call} on thread {thread}{range}: {calls}, blocked for {blocked}, GPU idle for {idle}{longest}.",
                {{"call", api_display_name(trace.name(std::get<1>(key)))},
                 {"thread", thread_label(trace, std::get<0>(key))},
                 {"range", std::get<2>(key) == 0 ? Message() : Message(", {range}", {{"range", range_text(trace, families.text(std::get<2>(key)))}})},
                 {"calls", counted(first.calls, "call")},
                 {"blocked", duration_text(first.blocked)},
                 {"idle", duration_text(first.idle)},
                 {"longest", first.calls > 1 ? Message(", for {time} at most", {{"time", duration_text(first.longest.range.length())}}) : Message()}});
    finding.place.range = first.longest.range;
    finding.place.gpu = first.longest_gpu;
    finding.place.thread = std::get<0>(key);
    finding.place.process = trace.threads()[std::get<0>(key)].process;
    finding.cost = all.idle;
    if (classify_cuda_call(trace.name(std::get<1>(key))) == CallClass::kCopy)
      finding.advice =
          "A blocking copy waits for all work in front of it, and leaves the GPU without any. Copy what belongs together at once, with "
          "cudaMemcpyAsync and pinned memory, and wait only where the CPU needs the result. In PyTorch, .item(), .cpu() and print of a tensor copy.";
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
