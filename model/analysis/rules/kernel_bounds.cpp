// What bounds the kernels whose hardware counters were read, and what curing it could win in all their launches.
#include <algorithm>
#include <array>
#include <optional>

#include "../own_rules.h"
#include "../wording.h"
#include "model/kernels/costly_line.h"
#include "model/kernels/recorded_metrics.h"
#include "model/trace/kernel_records.h"

namespace lanescope::analysis {
namespace {

using kernels::Advice;
using kernels::Measurement;
using kernels::RecordedMetrics;

struct Candidate {
  std::size_t kernel;  // of the measured ones
  kernels::Verdict verdict;
  Nanoseconds time = 0;        // of all launches of its kind
  bool is_said = false;        // its first cause is one that the answer of another rule names
  std::vector<Advice> others;  // causes behind the first that no other rule's answer names
  [[nodiscard]] const Advice* first() const { return verdict.advice.empty() ? nullptr : &verdict.advice.front(); }
  [[nodiscard]] Nanoseconds winnable(const Advice& one) const { return static_cast<Nanoseconds>(one.gain * static_cast<double>(time)); }
  [[nodiscard]] Nanoseconds winnable() const { return first() == nullptr ? 0 : winnable(*first()); }
  // By which it is large enough to be named.
  [[nodiscard]] Nanoseconds weight() const { return first() == nullptr || first()->is_gain_known ? winnable() : time; }
};

// Causes that need no counters have rules of their own, which speak of all launches: what one of these finds is not said twice. What it does not find is left to this
// one, or the kernel's symptom would pass for its cause.
class OtherRules {
 public:
  explicit OtherRules(const RuleContext& context) : context_(context) {}

  bool name(const Advice& cause, const Measurement& measurement) {
    for (Rule& rule : rules_) {
      if (rule.name != cause.rule) continue;
      const Event event = context_.trace.event(measurement.event);
      for (const Finding& finding : findings_of(rule)) {
        if (finding.place.gpu != measurement.gpu) continue;
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

  // None where it is not asked for.
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

std::string kernel_text(const Trace& trace, const Measurement& measurement) {
  const Event event = trace.event(measurement.event);
  const NameId brief = event.detail == 0 ? 0 : trace.kernel_detail(event.detail).short_name;
  return std::string(trace.name(brief != 0 ? brief : event.name));
}

Nanoseconds time_of_kernels(const RuleContext& context) {
  Nanoseconds all = 0;
  for (const Track& track : context.trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId lane : track.lanes) all += context.trace.lane(lane).busy(context.time);
  }
  return all;
}

Finding finding_of(const Trace& trace, const RecordedMetrics& recorded, const Candidate& candidate, Nanoseconds all) {
  const Measurement& measurement = recorded.measurements[candidate.kernel];
  const Advice& first = *candidate.first();
  const Event event = trace.event(measurement.event);
  Finding finding;
  finding.rule = "kernel_bounds";
  finding.key = std::string(first.rule);
  finding.place = {{event.start, event.end()}, measurement.event, measurement.gpu, measurement.process, kNone};
  finding.cost = candidate.winnable();
  const std::optional<kernels::CostlyLine> line = kernels::costly_line(trace, measurement.process, event.name, first);
  if (line) finding.place.line = line->place;
  finding.title = Message(first.is_gain_known ? "Kernel {kernel} is bound by {bound}, and could save up to {won}: {cause}{where}."
                                              : "Kernel {kernel} is bound by {bound}: {cause}{where}. What it could save is not known.",
                          {{"kernel", kernel_text(trace, measurement)},
                           {"bound", kernels::bound_text(candidate.verdict)},
                           {"won", duration_text(finding.cost)},
                           {"cause", Message(kernels::cause_name(first.rule))},
                           {"where", line ? Message(", most at {line}", {{"line", line->place}}) : Message()}});
  finding.seen = followed_by(Message("{runs} of this shape took {time}, {share} of the time of all kernels.",
                                     {{"runs", counted(measurement.of_its_kind.count, "run")},
                                      {"time", duration_text(candidate.time)},
                                      {"share", analysis::percent_text(candidate.time, all)}}),
                             first.seen);
  if (line) finding.seen = followed_by(finding.seen, kernels::line_text(*line));
  if (!candidate.others.empty())
    finding.seen = followed_by(finding.seen, Message("Next, up to {won}: {seen}", {{"won", duration_text(candidate.winnable(candidate.others.front()))},
                                                                                   {"seen", candidate.others.front().seen}}));
  finding.advice = first.what_to_do;
  return finding;
}

stats::Table table_of(const Trace& trace, const RecordedMetrics& recorded, const std::vector<Candidate>& candidates) {
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Launches"), stats::words("Bound by"), stats::reals("Utilization", stats::Unit::kPercent), stats::texts("Cause"),
                      stats::reals("Gain", stats::Unit::kPercent), stats::integers("GPU"), stats::texts("Kernel")});
  for (const Candidate& row : candidates) {
    const Measurement& measurement = recorded.measurements[row.kernel];
    const Advice* const first = row.first();
    table.add_row(row.winnable(), row.time, static_cast<std::int64_t>(measurement.of_its_kind.count),
                  table.add_text(std::string(kernels::bound_name(row.verdict.bound))), row.verdict.utilization,
                  table.add_text(first == nullptr ? std::string() : std::string(first->rule)), first == nullptr || !first->is_gain_known ? stats::kNoReal : 100 * first->gain,
                  measurement.gpu == kNone ? stats::kNoInteger : static_cast<std::int64_t>(trace.gpus()[measurement.gpu].ordinal),
                  table.add_text(recorded.metrics.kernels()[row.kernel].name));
  }
  return table;
}

}  // namespace

Result<RuleAnswer> find_kernel_bounds(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  if (trace.kernel_records().measured.empty()) {
    answer.message = "The trace has no counters of kernels: record them with --kernels=counters, or lanescope kernels --save FILE -- PROGRAM.";
    return answer;
  }
  const RecordedMetrics recorded = kernels::recorded_metrics(trace, context.time);
  std::vector<Candidate> candidates;
  OtherRules other_rules(context);
  for (const std::size_t number : recorded.one_of_each()) {
    if (!context.time.contains(trace.event(recorded.measurements[number].event).start)) continue;
    Candidate candidate{number, kernels::judge(recorded.metrics, recorded.metrics.kernels()[number]), recorded.weight(number), false, {}};
    const Measurement& measurement = recorded.measurements[number];
    candidate.is_said = candidate.first() != nullptr && other_rules.name(*candidate.first(), measurement);
    for (std::size_t i = 1; i < candidate.verdict.advice.size(); ++i)
      if (!other_rules.name(candidate.verdict.advice[i], measurement)) candidate.others.push_back(candidate.verdict.advice[i]);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.winnable() > b.winnable(); });
  const Nanoseconds all = time_of_kernels(context);
  for (const Candidate& candidate : candidates)
    if (candidate.first() != nullptr && !candidate.is_said && percent_of(candidate.weight(), all) >= arguments.real("share"))
      answer.findings.push_back(finding_of(trace, recorded, candidate, all));
  if (!candidates.empty()) answer.tables.push_back({"kernel_bounds", "Kernels by what their counters say they could win", table_of(trace, recorded, candidates)});
  if (answer.findings.empty()) answer.message = "The kernels whose counters were read have little to win.";
  return answer;
}

}  // namespace lanescope::analysis
