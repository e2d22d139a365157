// What limits the kernels whose hardware counters were read, and how much removing the limit could save in all their launches.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "../own_rules.h"
#include "../wording.h"
#include "covered_kernels.h"
#include "loop/loop_work.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/instructions/costly_line.h"
#include "model/trace/kernel_records.h"
#include "model/trace/text/extent.h"

namespace lanescope::analysis {
namespace {

using kernels::Advice;
using kernels::Measurement;
using kernels::RecordedMetrics;

struct Candidate {
  std::size_t kernel;  // index in the measured kernels
  kernels::Verdict verdict;
  Recurrence recurrence = Recurrence::kRecurring;  // kOnce: no launch of its kind is in the loop
  std::uint64_t runs = 0;                          // launches of its kind, only those in the loop if there are any
  Nanoseconds time = 0;                            // time of all launches of its kind, only those in the loop if there are any
  double once = 1;                                 // share of that time that is left if launches at the same time count once
  bool has_other_shapes = false;                   // its kernel was also measured in other grids or blocks
  std::vector<Advice> told;                        // causes that this rule must report, in order: those that no other rule's answer names
  [[nodiscard]] const Advice* first() const { return verdict.advice.empty() ? nullptr : &verdict.advice.front(); }
  [[nodiscard]] Nanoseconds winnable(const Advice& one) const { return static_cast<Nanoseconds>(one.gain * once * static_cast<double>(time)); }
  [[nodiscard]] Nanoseconds winnable() const { return first() == nullptr ? 0 : winnable(*first()); }
  // The time by which it is large enough to be named.
  [[nodiscard]] Nanoseconds weight() const { return told.empty() ? 0 : told.front().is_gain_known ? winnable(told.front()) : time; }
};

// True if a cause lies in what the kernel's code does, so that it remains if the grid is changed to fill the GPU. Other causes, such as idle issue
// slots and few resident warps, may only be consequences of the grid.
bool is_of_code(const Advice& cause) {
  constexpr std::array<std::string_view, 8> kOfCode{"global_access", "bank_conflicts", "local_memory", "partial_warps",
                                                    "divergence",    "atomics",        "fp64",         "fusion"};
  return std::find(kOfCode.begin(), kOfCode.end(), cause.rule) != kOfCode.end();
}

// Causes that need no counters have rules of their own, which are about all launches: their findings are not reported twice. What they do not find is
// left to this rule; otherwise the kernel's symptom would be taken for its cause.
class OtherRules {
 public:
  explicit OtherRules(const RuleContext& context) : context_(context) {}

  bool name(const Advice& cause, const Measurement& measurement) {
    for (Rule& rule : rules_) {
      if (rule.name != cause.rule) continue;
      const Event event = context_.trace.event(measurement.event);
      for (const Finding& finding : findings_of(rule)) {
        if (!are_alike(finding.place.gpu, measurement.gpu)) continue;  // the finding is about all GPUs of its kind together
        if (rule.speaks_of == SpeaksOf::kAllOfGpu) return true;
        const Event found = context_.trace.event(finding.place.event);
        if (found.name == event.name && is_same_shape(context_.trace.kernel_detail(found.detail), context_.trace.kernel_detail(event.detail))) return true;
      }
    }
    return false;
  }

 private:
  enum class SpeaksOf : std::uint8_t { kOneShape, kAllOfGpu };
  struct Rule {
    std::string_view name;
    Result<RuleAnswer> (*apply)(const RuleContext& context, const RuleArguments& arguments);
    SpeaksOf speaks_of;
    std::optional<std::vector<Finding>> findings;
  };

  static bool is_same_shape(const KernelDetail& a, const KernelDetail& b) {
    return std::equal(a.grid, a.grid + 3, b.grid) && std::equal(a.block, a.block + 3, b.block) && a.registers_per_thread == b.registers_per_thread &&
           a.dynamic_shared_memory == b.dynamic_shared_memory;
  }

  [[nodiscard]] bool are_alike(GpuId one, GpuId other) const {
    if (one == other || one == kNone || other == kNone) return one == other;
    const Gpu &a = context_.trace.gpus()[one], &b = context_.trace.gpus()[other];
    return a.multiprocessor_count == b.multiprocessor_count && a.compute_major == b.compute_major && a.compute_minor == b.compute_minor;
  }

  // Empty if the rule is not asked for.
  const std::vector<Finding>& findings_of(Rule& rule) {
    if (rule.findings) return *rule.findings;
    rule.findings.emplace();
    for (const RuleRequest& request : context_.requests) {
      if (request.rule->name != rule.name) continue;
      Result<RuleAnswer> answer = rule.apply(context_, request.arguments);
      if (answer) rule.findings->insert(rule.findings->end(), answer->findings.begin(), answer->findings.end());
    }
    return *rule.findings;
  }

  const RuleContext& context_;
  std::array<Rule, 3> rules_{Rule{"small_grid", find_small_grids, SpeaksOf::kOneShape, {}}, Rule{"tail_wave", find_tail_waves, SpeaksOf::kOneShape, {}},
                             Rule{"fp32_products", find_fp32_products, SpeaksOf::kAllOfGpu, {}}};
};

Message kernel_text(const Trace& trace, const Candidate& candidate, const Measurement& measurement) {
  const Event event = trace.event(measurement.event);
  const KernelDetail& detail = trace.kernel_detail(event.detail);
  const std::string name(trace.name(detail.short_name != 0 ? detail.short_name : event.name));
  if (!candidate.has_other_shapes) return Message::verbatim(name);
  return Message("{kernel} (grid {grid}, block {block})",
                 {{"kernel", name}, {"grid", extent_text(detail.grid, " × ")}, {"block", extent_text(detail.block, " × ")}});
}

// Marks the candidates whose kernel another candidate has in another grid or block: their shapes tell them apart.
void mark_other_shapes(const RecordedMetrics& recorded, std::vector<Candidate>& candidates) {
  std::map<std::string_view, std::set<std::string>> shapes;
  const auto shape_of = [](const KernelDetail& detail) { return extent_text(detail.grid) + '|' + extent_text(detail.block); };
  for (const Candidate& candidate : candidates) {
    const kernels::ProfiledKernel& kernel = recorded.metrics.kernels()[candidate.kernel];
    shapes[kernel.name].insert(shape_of(kernel.detail));
  }
  for (Candidate& candidate : candidates) candidate.has_other_shapes = shapes.at(recorded.metrics.kernels()[candidate.kernel].name).size() > 1;
}

// The time of all kernels of each GPU, of those in the loop and of all, by recurrence: the base of shares.
using TimeOfKernels = std::map<GpuId, std::array<Nanoseconds, 2>>;
TimeOfKernels time_of_kernels(const RuleContext& context, const LoopWork& work) {
  TimeOfKernels of_gpus;
  for (const Track& track : context.trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    std::array<Nanoseconds, 2>& times = of_gpus[track.key.gpu];
    for (const LaneId id : track.lanes) {
      if (context.stop.stop_requested()) return of_gpus;
      const Lane& lane = context.trace.lane(id);
      const EventIndex first = lane.lower_bound(context.time.begin), end = lane.lower_bound(context.time.end);
      if (first >= end) continue;
      times[static_cast<std::size_t>(Recurrence::kRecurring)] += work.share_of(id, context.time).time;
      times[static_cast<std::size_t>(Recurrence::kOnce)] += lane.busy({lane.start(first), lane.end(end - 1)});
    }
  }
  return of_gpus;
}

Finding finding_of(const Trace& trace, const GpuTexts& gpus, const RecordedMetrics& recorded, const Candidate& candidate, Nanoseconds all) {
  const Measurement& measurement = recorded.measurements[candidate.kernel];
  const Advice& first = candidate.told.front();
  const Event event = trace.event(measurement.event);
  Finding finding;
  finding.rule = "kernel_bounds";
  finding.key = std::string(first.rule);
  finding.place = {{event.start, event.end()}, measurement.event, measurement.gpu, measurement.process, kNone};
  finding.cost = candidate.winnable(first);
  finding.recurrence = candidate.recurrence;
  const std::optional<kernels::CostlyLine> line = kernels::costly_line(trace, measurement.process, event.name, first);
  if (line) finding.place.line = line->place;
  finding.title = Message(first.is_gain_known ? "Kernel {kernel} is bound by {bound}, and could save up to {won}: {cause}{where}."
                                              : "Kernel {kernel} is bound by {bound}: {cause}{where}. What it could save is not known.",
                          {{"kernel", kernel_text(trace, candidate, measurement)},
                           {"bound", kernels::bound_text(candidate.verdict)},
                           {"won", duration_text(finding.cost)},
                           {"cause", Message(kernels::cause_name(first.rule))},
                           {"where", line ? Message(", most at {line}", {{"line", line->place}}) : Message()}});
  const bool is_one_of_several = trace.gpus().size() > 1 && measurement.gpu != kNone;
  finding.seen = followed_by(Message(is_one_of_several ? "{runs} of this shape took {time}, {share} of the time of all kernels on {gpu}."
                                                       : "{runs} of this shape took {time}, {share} of the time of all kernels.",
                                     {{"runs", counted(candidate.runs, "run")},
                                      {"gpu", is_one_of_several ? gpus.plain(measurement.gpu) : std::string()},
                                      {"time", duration_text(candidate.time)},
                                      {"share", analysis::percent_text(candidate.time, all)}}),
                             first.seen);
  finding.seen = followed_by(finding.seen, at_once_text(candidate.once));
  if (line) finding.seen = followed_by(finding.seen, kernels::line_text(*line));
  if (candidate.told.size() > 1)
    finding.seen = followed_by(
        finding.seen, Message("Next, up to {won}: {seen}", {{"won", duration_text(candidate.winnable(candidate.told[1]))}, {"seen", candidate.told[1].seen}}));
  finding.advice = first.what_to_do;
  return finding;
}

stats::Table table_of(const Trace& trace, const RecordedMetrics& recorded, const std::vector<Candidate>& candidates) {
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Launches"), stats::words("Bound by"), stats::reals("Utilization", stats::Unit::kPercent), stats::texts("Cause"),
                      stats::reals("Gain", stats::Unit::kPercent), stats::texts("GridXYZ"), stats::texts("BlockXYZ"), stats::integers("GPU"),
                      stats::texts("Kernel")});
  std::vector<GpuId> gpus;
  for (const Candidate& row : candidates) {
    const Measurement& measurement = recorded.measurements[row.kernel];
    const Advice* const first = row.first();
    const kernels::ProfiledKernel& kernel = recorded.metrics.kernels()[row.kernel];
    table.add_row(row.winnable(), row.time, static_cast<std::int64_t>(row.runs), table.add_text(std::string(kernels::bound_name(row.verdict.bound))),
                  row.verdict.utilization, table.add_text(first == nullptr ? std::string() : std::string(first->rule)),
                  first == nullptr || !first->is_gain_known ? stats::kNoReal : 100 * first->gain, table.add_text(extent_text(kernel.detail.grid)),
                  table.add_text(extent_text(kernel.detail.block)),
                  measurement.gpu == kNone ? stats::kNoInteger : static_cast<std::int64_t>(trace.gpus()[measurement.gpu].ordinal), table.add_text(kernel.name));
    gpus.push_back(measurement.gpu);
  }
  add_files(trace, gpus, table);
  return table;
}

}  // namespace

void collect_kernel_bounds(const RuleContext& context, const RuleArguments&) {
  if (!context.trace.kernel_records().measured.empty()) context.collectors->want<CoveredKernels>(context);
}

Result<RuleAnswer> find_kernel_bounds(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  if (trace.kernel_records().measured.empty()) {
    answer.message = "The trace has no counters of kernels: record them with --kernels=counters, or lanescope kernels --save FILE -- PROGRAM.";
    return answer;
  }
  const LoopWork& work = loop_work(context);
  const RecordedMetrics recorded = kernels::recorded_metrics(trace, context.time);
  const std::vector<kernels::AllLaunches> in_loop = kernels::launches_that_count(
      trace, recorded.measurements, [&](EventRef kernel) { return context.time.contains(trace.lane(kernel.lane).start(kernel.index)) && work.has(kernel); });
  std::vector<Candidate> candidates;
  OtherRules other_rules(context);
  const auto& covered = context.collectors->of<CoveredKernels>(context);
  for (const std::size_t number : recorded.one_of_each([&](const Measurement& one) { return context.time.contains(trace.event(one.event).start); })) {
    const Measurement& measurement = recorded.measurements[number];
    Candidate candidate{number,
                        kernels::judge(recorded.metrics, recorded.metrics.kernels()[number]),
                        Recurrence::kRecurring,
                        measurement.of_its_kind.count,
                        recorded.weight(number),
                        1,
                        false,
                        {}};
    if (in_loop[number].count > 0) {
      candidate.runs = in_loop[number].count;
      candidate.time = in_loop[number].time;
    } else {
      candidate.recurrence = Recurrence::kOnce;
    }
    candidate.once = covered.share(measurement.gpu, trace.event(measurement.event).name, candidate.recurrence);
    const Advice* const first = candidate.first();
    const bool is_first_said = first != nullptr && other_rules.name(*first, measurement);
    const bool is_grid = is_first_said && (first->rule == "small_grid" || first->rule == "tail_wave");
    for (const Advice& cause : candidate.verdict.advice)
      if (!is_first_said || (is_grid && is_of_code(cause)))
        if (!other_rules.name(cause, measurement)) candidate.told.push_back(cause);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.winnable() > b.winnable(); });
  mark_other_shapes(recorded, candidates);
  const TimeOfKernels times = time_of_kernels(context, work);
  const GpuTexts gpus(trace);
  for (const Candidate& candidate : candidates) {
    const Nanoseconds all = times.at(recorded.measurements[candidate.kernel].gpu)[static_cast<std::size_t>(candidate.recurrence)];
    if (!candidate.told.empty() && percent_of(candidate.weight(), all) >= arguments.real("share")) {
      answer.findings.push_back(finding_of(trace, gpus, recorded, candidate, all));
      const KernelsOfGpu kernels{recorded.measurements[candidate.kernel].gpu, trace.event(recorded.measurements[candidate.kernel].event).name};
      tell_hidden(work.awaited(), candidate.time, {&kernels, 1}, answer.findings.back());
    }
  }
  rank(answer.findings);
  if (!candidates.empty())
    answer.tables.push_back({"kernel_bounds", "Kernels by what their counters say they could win", table_of(trace, recorded, candidates)});
  if (answer.findings.empty()) answer.message = "The kernels whose counters were read have little to win.";
  return answer;
}

}  // namespace lanescope::analysis
