// What bounds the kernels whose hardware counters were read, and what curing it could win in all their launches.
#include <algorithm>
#include <cstdio>

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
  std::vector<Advice> advice;  // without what other rules say of every launch
  Nanoseconds time = 0;        // of all launches of its kind
  [[nodiscard]] Nanoseconds winnable(const Advice& one) const { return static_cast<Nanoseconds>(one.gain * static_cast<double>(time)); }
  [[nodiscard]] Nanoseconds winnable() const { return advice.empty() ? 0 : winnable(advice.front()); }
};

// These need no counters, and have rules of their own.
bool is_known_without_counters(const Advice& advice) {
  return advice.rule == "small_grid" || advice.rule == "tail_wave" || advice.rule == "fp32_products";
}

std::string percent_text(double percent) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f %%", percent);
  return text;
}

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

Message bound_text(const kernels::Verdict& verdict) {
  Message bound(kernels::bound_name(verdict.bound));
  if (verdict.utilization <= 0) return bound;
  return Message("{bound} ({share} of its peak)", {{"bound", std::move(bound)}, {"share", percent_text(verdict.utilization)}});
}

Finding finding_of(const Trace& trace, const RecordedMetrics& recorded, const Candidate& candidate, Nanoseconds all) {
  const Measurement& measurement = recorded.measurements[candidate.kernel];
  const Advice& first = candidate.advice.front();
  const Event event = trace.event(measurement.event);
  Finding finding;
  finding.rule = "kernel_bounds";
  finding.key = std::string(first.rule);
  finding.place = {{event.start, event.end()}, measurement.event, measurement.gpu, measurement.process, kNone};
  finding.cost = candidate.winnable();
  const std::optional<kernels::CostlyLine> line = kernels::costly_line(trace, measurement.process, event.name, first);
  if (line) finding.place.line = line->place;
  finding.title = Message("Kernel {kernel} is bound by {bound}, and could save up to {won}: {cause}{where}.",
                          {{"kernel", kernel_text(trace, measurement)},
                           {"bound", bound_text(candidate.verdict)},
                           {"won", duration_text(finding.cost)},
                           {"cause", Message(kernels::cause_name(first.rule))},
                           {"where", line ? Message(", most at {line}", {{"line", line->place}}) : Message()}});
  finding.seen = followed_by(Message("{runs} of this shape took {time}, {share} of the time of all kernels.",
                                     {{"runs", counted(measurement.of_its_kind.count, "run")},
                                      {"time", duration_text(candidate.time)},
                                      {"share", analysis::percent_text(candidate.time, all)}}),
                             first.seen);
  if (line) finding.seen = followed_by(finding.seen, kernels::line_text(*line));
  if (candidate.advice.size() > 1)
    finding.seen = followed_by(finding.seen, Message("Next, up to {won}: {seen}", {{"won", duration_text(candidate.winnable(candidate.advice[1]))},
                                                                                   {"seen", candidate.advice[1].seen}}));
  finding.advice = first.what_to_do;
  return finding;
}

stats::Table table_of(const Trace& trace, const RecordedMetrics& recorded, const std::vector<Candidate>& candidates) {
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Launches"), stats::words("Bound by"), stats::reals("Utilization", stats::Unit::kPercent), stats::texts("Cause"),
                      stats::reals("Gain", stats::Unit::kPercent), stats::integers("GPU"), stats::texts("Kernel")});
  for (const Candidate& row : candidates) {
    const Measurement& measurement = recorded.measurements[row.kernel];
    const Advice* const first = row.advice.empty() ? nullptr : &row.advice.front();
    table.add_row(row.winnable(), row.time, static_cast<std::int64_t>(measurement.of_its_kind.count),
                  table.add_text(std::string(kernels::bound_name(row.verdict.bound))), row.verdict.utilization,
                  table.add_text(first == nullptr ? std::string() : std::string(first->rule)), first == nullptr ? stats::kNoReal : 100 * first->gain,
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
  for (const std::size_t number : recorded.one_of_each()) {
    if (!context.time.contains(trace.event(recorded.measurements[number].event).start)) continue;
    Candidate candidate{number, kernels::judge(recorded.metrics, recorded.metrics.kernels()[number]), {}, recorded.weight(number)};
    for (const Advice& advice : candidate.verdict.advice)
      if (!is_known_without_counters(advice)) candidate.advice.push_back(advice);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.winnable() > b.winnable(); });
  const Nanoseconds all = time_of_kernels(context);
  for (const Candidate& candidate : candidates)
    if (!candidate.advice.empty() && percent_of(candidate.winnable(), all) >= arguments.real("share"))
      answer.findings.push_back(finding_of(trace, recorded, candidate, all));
  if (!candidates.empty()) answer.tables.push_back({"kernel_bounds", "Kernels by what their counters say they could win", table_of(trace, recorded, candidates)});
  if (answer.findings.empty()) answer.message = "The kernels whose counters were read have little to win.";
  return answer;
}

}  // namespace lanescope::analysis
