// What the warps of the most expensive kernels wait for, and where.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>

#include "../collectors.h"
#include "../own_rules.h"
#include "../wording.h"
#include "covered_kernels.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/text/percent.h"

namespace lanescope::analysis {
namespace {

using kernels::StallCount;
using kernels::StallSum;
using kernels::SumBy;

// Launches of kernels of one name on one GPU.
struct Launches {
  Nanoseconds total = 0;
  std::uint64_t count = 0;
  EventRef longest;
  Nanoseconds longest_duration = -1;
};
using LaunchesByName = std::map<std::tuple<GpuId, ProcessId, NameId>, Launches>;

// Sums of launches in the loop, or in all of the time.
struct LaunchSums {
  std::map<GpuId, Nanoseconds> all;  // time of all kernels
  LaunchesByName by_name;
};

// Both sums, by recurrence. Each process's kernels belong to its own loop.
class KernelLaunches : public OperationVisitor {
 public:
  KernelLaunches(const RuleContext& context, const SharedCollectors::Key&)
      : trace_(context.trace), end_(context.time.end), work_(loop_work(context)), order_(trace_.lanes().size()) {
    std::uint32_t next = 0;
    for (const Track& track : trace_.tracks())
      for (const LaneId lane : track.lanes) order_[lane] = next++;
  }
  [[nodiscard]] const LaunchSums& of(Recurrence recurrence) const { return launches_[static_cast<std::size_t>(recurrence)]; }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    last_ = {};
  }
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) {
      if (operation.kind != TrackKind::kKernels) continue;
      add(operation, Recurrence::kOnce);
      if (work_.has(operation)) add(operation, Recurrence::kRecurring);
    }
  }
  void end() override {}

 private:
  void add(const GpuOperation& operation, Recurrence recurrence) {
    const EventRef kernel = operation.event;
    const bool is_cut = operation.range.end == end_;  // an operation counts if it starts in the time, and may last longer
    const Nanoseconds duration = is_cut ? trace_.lane(kernel.lane).duration(kernel.index) : operation.range.length();
    LaunchSums& launches = launches_[static_cast<std::size_t>(recurrence)];
    launches.all[gpu_] += duration;
    Last& last = last_[static_cast<std::size_t>(recurrence)];
    if (last.launches == nullptr || last.process != operation.process || last.name != operation.name)
      last = {operation.process, operation.name, &launches.by_name[{gpu_, operation.process, operation.name}]};
    Launches& of_name = *last.launches;
    of_name.total += duration;
    ++of_name.count;
    if (duration < of_name.longest_duration || (duration == of_name.longest_duration && !is_before(kernel, of_name.longest))) return;
    of_name.longest_duration = duration;
    of_name.longest = kernel;
  }
  // Of launches with the same length, the first of the first lane is shown.
  [[nodiscard]] bool is_before(EventRef a, EventRef b) const { return std::pair(order_[a.lane], a.index) < std::pair(order_[b.lane], b.index); }

  const Trace& trace_;
  const Nanoseconds end_;
  const LoopWork& work_;
  std::vector<std::uint32_t> order_;  // of lanes, by their tracks
  GpuId gpu_ = kNone;                 // the current GPU
  struct Last {
    ProcessId process = kNone;
    NameId name = 0;
    Launches* launches = nullptr;
  };
  std::array<Last, 2> last_;  // kernels often follow others of the same name
  std::array<LaunchSums, 2> launches_;
};

// Data of the loop, or of all of the time: launches, and the samples in them.
struct Part {
  const LaunchSums* launches = nullptr;
  std::vector<StallSum> sums;
  std::vector<kernels::AllLaunches> of_measured;  // of their kinds
};

class Parts {
 public:
  explicit Parts(const RuleContext& context) : context_(context), work_(loop_work(context)), recorded_(kernels::recorded_metrics(context.trace, context.time)) {
    const auto& collected = context.collectors->of<KernelLaunches>(context);
    for (const Recurrence recurrence : {Recurrence::kRecurring, Recurrence::kOnce}) {
      Part& part = of(recurrence);
      part.launches = &collected.of(recurrence);
      if (recurrence == Recurrence::kOnce && !work_.loop().known()) continue;
      part.sums = sum_by(SumBy::kKernel, recurrence);
      part.of_measured = kernels::launches_that_count(context.trace, recorded_.measurements, [&](EventRef kernel) { return is_of(recurrence, kernel); });
    }
  }

  // For recurring costs the part of the loop, if one is known; for costs that are paid once all of the time.
  [[nodiscard]] const Part& of(Recurrence recurrence) const { return parts_[static_cast<std::size_t>(recurrence)]; }
  [[nodiscard]] std::vector<StallSum> sum_by(SumBy by, Recurrence recurrence) const {
    return kernels::sum_stalls(context_.trace, by, [&](ProcessId process) -> std::optional<TimeRange> {
      if (context_.time != kWholeTrace) return context_.time;
      return recurrence == Recurrence::kRecurring ? work_.of_process(process) : std::nullopt;
    });
  }

  // How much a kernel of this name uses the unit that it uses most, by counters of its most expensive shape; nothing if no counters were read.
  [[nodiscard]] std::optional<double> most_used(Recurrence recurrence, GpuId gpu, ProcessId process, NameId kernel) const {
    const std::vector<kernels::AllLaunches>& launches = of(recurrence).of_measured;
    std::optional<std::size_t> costliest;
    for (std::size_t i = 0; i < recorded_.measurements.size(); ++i) {
      const kernels::Measurement& each = recorded_.measurements[i];
      if (each.gpu != gpu || each.process != process || context_.trace.event(each.event).name != kernel) continue;
      if (!costliest || launches[i].time > launches[*costliest].time) costliest = i;
    }
    if (!costliest) return std::nullopt;
    const kernels::Verdict verdict = kernels::judge(recorded_.metrics, recorded_.metrics.kernels()[*costliest]);
    return verdict.bound == kernels::Bound::kUnknown ? std::nullopt : std::optional(std::max(verdict.compute, verdict.memory) / 100);
  }

 private:
  Part& of(Recurrence recurrence) { return parts_[static_cast<std::size_t>(recurrence)]; }
  [[nodiscard]] bool is_of(Recurrence recurrence, EventRef kernel) const {
    return context_.time.contains(context_.trace.lane(kernel.lane).start(kernel.index)) && (recurrence == Recurrence::kOnce || work_.has(kernel));
  }

  const RuleContext& context_;
  const LoopWork& work_;
  const kernels::RecordedMetrics recorded_;
  std::array<Part, 2> parts_;  // by recurrence
};

struct Candidate {
  Recurrence recurrence = Recurrence::kRecurring;
  const StallSum* sum = nullptr;
  const StallCount* stall = nullptr;
  Launches launches;
  double gain = 0;           // share of the kernel's time, at most
  double once = 1;           // share of the launches' time that is left if those at the same time count once
  bool is_measured = false;  // by counters, too, and they say that no unit is used well
  [[nodiscard]] Nanoseconds winnable() const { return static_cast<Nanoseconds>(gain * once * static_cast<double>(launches.total)); }
};

std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f %%", 100 * share);
  return text;
}
double share_of(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

// The line of the kernel with most samples of this reason; null if no lines are known.
const StallSum* hottest_line(const std::vector<StallSum>& lines, const Candidate& candidate) {
  const StallSum* hottest = nullptr;
  std::uint64_t most = 0;
  for (const StallSum& line : lines) {
    if (line.gpu != candidate.sum->gpu || line.process != candidate.sum->process || line.kernel != candidate.sum->kernel || line.line.empty()) continue;
    for (const StallCount& stall : line.stalls) {
      if (stall.reason != candidate.stall->reason || stall.samples <= most) continue;
      most = stall.samples;
      hottest = &line;
    }
  }
  return hottest;
}

std::uint64_t samples_of(const StallSum& sum, std::string_view reason) {
  for (const StallCount& stall : sum.stalls)
    if (stall.reason == reason) return stall.samples;
  return 0;
}

std::string kernel_text(const Trace& trace, const Candidate& candidate) {
  const DetailId detail = trace.event(candidate.launches.longest).detail;
  const NameId brief = trace.kernel_detail(detail).short_name;
  return std::string(trace.name(brief != 0 ? brief : candidate.sum->kernel));
}

Finding finding_of(const Trace& trace, const Candidate& candidate, const StallSum* line) {
  const StallSum& sum = *candidate.sum;
  const kernels::StallMeaning meaning = kernels::stall_meaning(candidate.stall->reason);
  Finding finding;
  finding.rule = "kernel_stalls";
  finding.key = std::string(candidate.stall->reason);
  finding.place.event = candidate.launches.longest;
  const Event event = trace.event(candidate.launches.longest);
  finding.place.range = {event.start, event.start + event.duration};
  finding.place.gpu = sum.gpu;
  finding.place.process = sum.process;
  if (line != nullptr) finding.place.line = line->line;
  finding.cost = candidate.winnable();
  finding.recurrence = candidate.recurrence;
  const std::string name(candidate.stall->reason);
  finding.title =
      Message(candidate.is_measured ? "Warps of kernel {kernel} wait for {reason}{where}: without that it could save up to {won}."
                                    : "Warps of kernel {kernel} wait for {reason}{where}, for up to {won}: whether that can be saved, samples do not say.",
              {{"kernel", kernel_text(trace, candidate)},
               {"reason", meaning.waits_for.empty() ? Message::verbatim(name) : Message(meaning.waits_for)},
               {"where", line == nullptr ? Message() : Message(", most at {line}", {{"line", line->line}})},
               {"won", duration_text(finding.cost)}});
  const Message at_line = line == nullptr ? Message()
                                          : Message(", {share} of these at that line",
                                                    {{"share", share_text(share_of(samples_of(*line, candidate.stall->reason), candidate.stall->samples))}});
  const std::optional<kernels::SampledPart> part = kernels::sampled_part(trace);
  const Message sampled = !part ? Message() : Message(" Warps were sampled in {part} of the time.", {{"part", format_small_percent(part->percent())}});
  finding.seen = Message("{runs} took {time} in all. Of {samples}, {share} are {reason}{line}; in {idle} of all, nothing was issued meanwhile.{sampled}",
                         {{"runs", counted(candidate.launches.count, "run")},
                          {"time", duration_text(candidate.launches.total)},
                          {"samples", counted(sum.samples, "sample")},
                          {"share", share_text(share_of(candidate.stall->samples, sum.samples))},
                          {"reason", name},
                          {"line", at_line},
                          {"idle", share_text(share_of(sum.not_issued, sum.samples))},
                          {"sampled", sampled}});
  finding.seen = followed_by(finding.seen, at_once_text(candidate.once));
  finding.advice = meaning.remedy.empty() ? Message("Look at the instructions that are sampled most.") : Message(meaning.remedy);
  if (candidate.is_measured) return finding;
  finding.seen = followed_by(finding.seen, "A kernel that uses DRAM or another unit to its peak waits as well, and then there is little to save.");
  finding.advice =
      followed_by(Message("See first what bounds it (lanescope kernels --set triage -k {kernel} -- PROGRAM).", {{"kernel", kernel_text(trace, candidate)}}),
                  finding.advice);
  return finding;
}

stats::Table table_of(const Trace& trace, const std::vector<Candidate>& candidates) {
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Launches"), stats::integers("Samples"), stats::texts("Reason"), stats::reals("Of Samples", stats::Unit::kPercent),
                      stats::reals("Nothing Issued", stats::Unit::kPercent), stats::integers("GPU"), stats::texts("Kernel")});
  for (const Candidate& row : candidates)
    table.add_row(row.winnable(), row.launches.total, static_cast<std::int64_t>(row.launches.count), static_cast<std::int64_t>(row.sum->samples),
                  table.add_text(std::string(row.stall->reason)), 100 * share_of(row.stall->samples, row.sum->samples),
                  100 * share_of(row.sum->not_issued, row.sum->samples), static_cast<std::int64_t>(trace.gpus()[row.sum->gpu].ordinal),
                  table.add_text(std::string(trace.name(row.sum->kernel))));
  std::vector<GpuId> gpus;
  for (const Candidate& row : candidates) gpus.push_back(row.sum->gpu);
  add_files(trace, gpus, table);
  return table;
}

}  // namespace

void collect_kernel_stalls(const RuleContext& context, const RuleArguments&) {
  if (context.trace.kernel_records().windows.empty()) return;
  context.collectors->want<KernelLaunches>(context);
  context.collectors->want<CoveredKernels>(context);
}

Result<RuleAnswer> find_kernel_stalls(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  if (trace.kernel_records().windows.empty()) {
    answer.message = "The trace has no PC samples: record it with --kernels=pc.";
    return answer;
  }
  const Parts parts(context);
  const auto& covered = context.collectors->of<CoveredKernels>(context);
  const LaunchesByName& of_loop = parts.of(Recurrence::kRecurring).launches->by_name;
  std::vector<Candidate> candidates;
  for (const Recurrence recurrence : {Recurrence::kRecurring, Recurrence::kOnce}) {
    const Part& part = parts.of(recurrence);
    for (const StallSum& sum : part.sums) {
      const std::tuple kernel(sum.gpu, sum.process, sum.kernel);
      if (recurrence == Recurrence::kOnce && of_loop.contains(kernel)) continue;
      const auto of_name = part.launches->by_name.find(kernel);
      const StallCount* const stall = sum.decisive();
      if (of_name == part.launches->by_name.end() || stall == nullptr || sum.samples < static_cast<std::uint64_t>(arguments.integer("samples"))) continue;
      // The bound of Nsight Compute (CPIStall): the issue slots that stay empty, and the reason's share of the warps' time.
      const double empty_slots = share_of(sum.not_issued, sum.samples);
      const double share = share_of(stall->samples, sum.samples);
      if (1 - empty_slots > arguments.real("issued") / 100 || share < arguments.real("stalled") / 100) continue;
      // If a unit is used well, waiting for it is the consequence and not the cause, as in what counters say of a kernel.
      constexpr double kUsedWell = 0.6;  // of its peak
      const std::optional<double> used = parts.most_used(recurrence, sum.gpu, sum.process, sum.kernel);
      if (used && *used >= kUsedWell) continue;
      candidates.push_back({recurrence, &sum, stall, of_name->second, std::min({empty_slots, share, 1 - used.value_or(0)}),
                            covered.share(sum.gpu, sum.kernel, recurrence), used.has_value()});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.winnable() > b.winnable(); });
  std::array<std::optional<std::vector<StallSum>>, 2> lines;  // by recurrence
  for (const Candidate& candidate : candidates) {
    if (percent_of(candidate.winnable(), parts.of(candidate.recurrence).launches->all.at(candidate.sum->gpu)) < arguments.real("share")) continue;
    auto& of_part = lines[static_cast<std::size_t>(candidate.recurrence)];
    if (!of_part) of_part = parts.sum_by(SumBy::kLine, candidate.recurrence);
    answer.findings.push_back(finding_of(trace, candidate, hottest_line(*of_part, candidate)));
    const KernelsOfGpu kernels{candidate.sum->gpu, candidate.sum->kernel};
    tell_hidden(loop_work(context).awaited(), candidate.launches.total, {&kernels, 1}, answer.findings.back());
  }
  rank(answer.findings);
  if (!candidates.empty()) answer.tables.push_back({"kernel_stalls", "Kernels whose warps wait", table_of(trace, candidates)});
  if (answer.findings.empty()) answer.message = "No kernel that costs much is held up by one reason.";
  return answer;
}

}  // namespace lanescope::analysis
