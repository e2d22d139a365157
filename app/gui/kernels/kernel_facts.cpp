#include "kernels/kernel_facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/analysis/idle/launches_at_once.h"
#include "model/trace/combining/parts.h"
#include "model/trace/kernel_records.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

KernelFacts::Counters counters_of(const kernels::RecordedMetrics& recorded, std::size_t number, Message where) {
  const kernels::ProfiledKernel& kernel = recorded.metrics.kernels()[number];
  return {std::move(where),
          kernels::judge(recorded.metrics, kernel),
          kernels::sections(recorded.metrics, kernel),
          kernels::roofline(recorded.metrics, kernel),
          kernels::memory_traffic(recorded.metrics, kernel),
          kernels::duration(recorded.metrics, kernel),
          recorded.own_clock(number)};
}

// A launch that was measured in a trace, as what describes the kernel.
KernelFacts::Counters counters_in(const KernelRecordsOfTrace& records, const KernelFacts& facts, std::size_t number) {
  const Trace& trace = *records.trace;
  const EventRef measured = records.counters.measurements[number].event;
  const std::string time = timeline::format_time(trace.event(measured).start);
  const std::string_view run = run_of(trace, trace.track_of(measured.lane));
  Message where = Message("of the launch at {time}", {{"time", time}});
  if (measured == facts.event)
    where = Message("of this launch");
  else if (run != run_of(trace, trace.track_of(facts.event.lane)))
    where = Message("of run {run}, of the launch at {time}", {{"run", std::string(run)}, {"time", time}});
  return counters_of(records.counters, number, std::move(where));
}

// Launches on the same GPU by the same process come first, because other ranks may have other GPUs. Another run may have other code of the same name, so its
// launches come last.
std::optional<KernelFacts::Counters> find_counters(const KernelRecordsOfTrace& records, const KernelFacts& facts,
                                                   const std::vector<std::shared_ptr<const KernelRecordsOfTrace>>& others) {
  const Trace& trace = *records.trace;
  const Track& own = trace.track_of(facts.event.lane);
  const auto is_of_same = [&own](const kernels::Measurement& one) { return one.gpu == own.key.gpu && one.process == own.key.process; };
  const auto is_of_run = [&](const kernels::Measurement& one) { return run_of(trace, trace.track_of(one.event.lane)) == run_of(trace, own); };
  if (const auto number = records.counters.of_kind(facts.name, facts.detail, facts.event, is_of_same)) return counters_in(records, facts, *number);
  if (const auto number = records.counters.of_kind(facts.name, facts.detail, {}, is_of_run)) return counters_in(records, facts, *number);
  for (auto other = others.rbegin(); other != others.rend(); ++other)
    if (const auto number = (*other)->counters.of_kind(facts.name, facts.detail, {}))
      return counters_of((*other)->counters, *number, Message("of a recording that was made for them"));
  if (const auto number = records.counters.of_kind(facts.name, facts.detail, {})) return counters_in(records, facts, *number);
  return std::nullopt;
}

// Number of launches in the same process that start before this one, of kernels with the same name without namespaces and parameters; --launch-skip counts in
// the same way.
std::uint64_t launches_before(const KernelFacts& facts) {
  const Trace& trace = *facts.trace;
  const Event launch = trace.event(facts.event);
  const ProcessId process = trace.track_of(facts.event.lane).key.process;
  std::uint64_t count = 0;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels || track.key.process != process) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size() && lane.start(i) < launch.start; ++i) {
        const KernelDetail& detail = trace.kernel_detail(lane.detail(i));
        if (detail.graph != 0 || detail.graph_node != 0) continue;
        count += lane.name(i) == launch.name || (facts.detail.short_name != 0 && detail.short_name == facts.detail.short_name) ? 1 : 0;
      }
    }
  }
  return count;
}

}  // namespace

std::shared_ptr<const KernelRecordsOfTrace> read_kernel_records(std::shared_ptr<const Trace> trace) {
  auto records = std::make_shared<KernelRecordsOfTrace>(
      KernelRecordsOfTrace{trace, kernels::recorded_metrics(*trace), {}, kernels::sampled_part(*trace), kernels::instruction_mixes(*trace)});
  if (!trace->kernel_records().windows.empty()) records->stalls = kernels::sum_stalls(*trace, kernels::SumBy::kKernel);
  return records;
}

std::shared_ptr<const KernelFacts> kernel_facts(const KernelRecordsOfTrace& records, EventRef event,
                                                const std::vector<std::shared_ptr<const KernelRecordsOfTrace>>& others) {
  const Trace& trace = *records.trace;
  const Event launch = trace.event(event);
  const TrackKey& key = trace.track_of(event.lane).key;
  auto facts = std::make_shared<KernelFacts>();
  facts->event = event;
  facts->trace = records.trace;
  facts->name = trace.name(launch.name);
  if (launch.detail != 0) facts->detail = trace.kernel_detail(launch.detail);
  facts->brief_name = facts->detail.short_name != 0 ? std::string(trace.name(facts->detail.short_name)) : facts->name;
  if (key.gpu != kNone) facts->gpu = trace.gpus()[key.gpu];
  facts->program = kernels::program_of(trace, key.process);
  facts->duration = launch.duration;
  facts->all = kernels::all_like(trace, event);
  const analysis::KernelOnGpu on_gpu{key.gpu, launch.name};
  facts->once = analysis::shares_at_once(trace, {&on_gpu, 1}).front();
  facts->launches_before = launches_before(*facts);
  if (const auto multiprocessor = kernels::multiprocessor_of(facts->gpu)) {
    facts->occupancy = kernels::occupancy(facts->detail, *multiprocessor);
    facts->reliefs = kernels::reliefs(facts->detail, *multiprocessor);
  }
  if (facts->occupancy) facts->waves = kernels::waves(facts->detail, facts->gpu, *facts->occupancy);
  facts->counters = find_counters(records, *facts, others);
  if (facts->counters) facts->counters->lines = kernels::costly_lines(trace, key.process, launch.name, facts->counters->verdict.advice);
  if (const kernels::InstructionMix* const mix = kernels::mix_of(records.mixes, key.process, launch.name)) facts->opcodes = kernels::opcodes_of_a_launch(*mix);
  const auto stalls = std::find_if(records.stalls.begin(), records.stalls.end(), [&](const kernels::StallSum& sum) {
    return sum.kernel == launch.name && sum.process == key.process && (sum.gpu == key.gpu || key.gpu == kNone);
  });
  if (stalls != records.stalls.end()) facts->stalls = *stalls;
  facts->sampled = records.sampled;
  return facts;
}

EventRef kernel_of(const Trace& trace, EventRef selected) {
  if (!selected.valid()) return {};
  const auto is_kernel = [&](EventRef event) { return trace.track_of(event.lane).key.kind == TrackKind::kKernels; };
  if (is_kernel(selected)) return selected;
  for (const EventRef work : trace.work_of(selected))
    if (is_kernel(work)) return work;
  return {};
}

EventRef telling_kernel(const Trace& trace, std::optional<TimeRange> range) {
  std::set<std::pair<ProcessId, std::uint32_t>> known;
  for (const auto& launch : trace.kernel_records().measured) known.emplace(launch->process, launch->correlation);
  for (const auto& counts : trace.kernel_records().counted) known.emplace(counts->process, counts->correlation);
  EventRef longest;
  Nanoseconds duration = -1;
  for (LaneId id = 0; id < trace.lanes().size(); ++id) {
    const TrackKey& key = trace.track_of(id).key;
    if (key.kind != TrackKind::kKernels) continue;
    const Lane& lane = trace.lane(id);
    const auto [first, end] = range ? lane.overlapping(*range) : std::pair<EventIndex, EventIndex>(0, lane.size());
    for (EventIndex i = first; i < end; ++i) {
      if (lane.duration(i) <= duration || (!known.empty() && !known.contains({key.process, lane.correlation(i)}))) continue;
      longest = {id, i};
      duration = lane.duration(i);
    }
  }
  return longest;
}

}  // namespace lanescope::ui
