// small_kernels and staircase: the GPU works faster than the CPU launches.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "../collectors.h"
#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/events/event_values.h"
#include "threads/call_class.h"

namespace lanescope::analysis {
namespace {

// Between nodes of a CUDA graph the GPU needs about this long; the rest of a gap can be won.
constexpr Nanoseconds kGraphNodeGap = 1'000;

// Consecutive operations of a GPU.
struct Stretch {
  GpuId gpu = kNone;
  TimeRange range;
  std::uint64_t operations = 0;
  Nanoseconds busy = 0;
  Nanoseconds idle = 0;  // of any cause, if the rule distinguishes causes
  Nanoseconds won = 0;   // the time that the rule counts as winnable
  EventRef first;
  std::uint64_t of_graphs = 0;  // operations that a CUDA graph launched
};

struct KernelSum {
  std::uint64_t count = 0;
  Nanoseconds busy = 0;
  Nanoseconds gaps = 0;  // in front of these kernels
};

Nanoseconds work_span(const std::vector<Stretch>& stretches, Nanoseconds Stretch::*member) {
  Nanoseconds sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.*member;
  return sum;
}

std::uint64_t operations_of(const std::vector<Stretch>& stretches) {
  std::uint64_t sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.operations;
  return sum;
}

// True if an operation belongs to the loop, and not to an iteration in which counters were read: gaps in such iterations are not due to the program.
bool is_undisturbed(const LoopWork& work, const GpuOperation& operation) {
  return work.has(operation) && !work.is_disturbed(operation.process, operation.range.begin);
}

// The time in which a GPU worked, as far as it counts.
struct LoopOfGpu {
  GpuId gpu = kNone;
  TimeRange time;
};
Nanoseconds undisturbed_span(const LoopWork& work, const std::vector<LoopOfGpu>& loops) {
  Nanoseconds span = 0;
  for (const LoopOfGpu& loop : loops) span += work.undisturbed_span(loop.gpu, loop.time);
  return span;
}

struct SmallKernelOptions {
  Nanoseconds longest = 0;  // kernels of up to this length are small
  Nanoseconds gap = 0;      // they belong to one stretch while gaps are at most this long
  std::uint64_t least = 0;  // least number of kernels in a stretch
};

// Finds the stretches of small kernels, and sums by kernel name.
class SmallKernelStretches : public OperationVisitor {
 public:
  SmallKernelStretches(const RuleContext& context, const SharedCollectors::Key& key)
      : trace_(context.trace), work_(loop_work(context)), options_(options_of(key)), communication_(context.trace, is_communication_name) {}

  [[nodiscard]] static SharedCollectors::Key key_of(const RuleArguments& arguments) {
    return {arguments.duration("duration"), arguments.duration("gap"), std::max<std::int64_t>(2, arguments.integer("run"))};
  }
  // The time from the first operation to the last, as far as it counts, summed over all GPUs.
  [[nodiscard]] Nanoseconds span() const { return undisturbed_span(work_, loops_); }
  [[nodiscard]] const std::vector<Stretch>& stretches() const noexcept { return stretches_; }
  [[nodiscard]] const std::map<NameId, KernelSum>& kernels() const noexcept { return kernels_; }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    extent_.reset();
  }
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) {
      if (!extent_) extent_ = {operation.range.begin, operation.range.begin};
      const Nanoseconds gap = operation.range.begin - extent_->end;
      const bool counts = is_small(operation) && is_undisturbed(work_, operation);
      if (!counts || gap > options_.gap) close();
      if (counts) append(operation, std::max<Nanoseconds>(0, gap));
      before_ = operation;
      extent_->end = std::max(extent_->end, operation.range.end);
    }
  }
  void end() override {
    close();
    loops_.push_back({gpu_, work_.of_gpu(gpu_, extent_.value_or(TimeRange()))});
  }

 private:
  [[nodiscard]] static SmallKernelOptions options_of(const SharedCollectors::Key& key) { return {key[0], key[1], static_cast<std::uint64_t>(key[2])}; }
  [[nodiscard]] bool is_small(const GpuOperation& operation) {
    return operation.range.length() <= options_.longest && operation.kind == TrackKind::kKernels && !communication_(operation.name);
  }
  [[nodiscard]] bool is_of_graph(const GpuOperation& kernel) const { return trace_.kernel_detail(kernel.detail).graph_node != 0; }
  // True if one launch of a graph started both kernels.
  [[nodiscard]] bool of_one_launch(const GpuOperation& a, const GpuOperation& b) const {
    return is_of_graph(a) && is_of_graph(b) && a.correlation == b.correlation;
  }
  void append(const GpuOperation& operation, Nanoseconds gap) {
    Nanoseconds won = std::max<Nanoseconds>(0, gap - kGraphNodeGap);
    if (open_.operations == 0) {
      open_ = {gpu_, operation.range, 0, 0, 0, 0, operation.event};
      gap = won = 0;  // the gap in front of the first is not between small kernels
    } else if (of_one_launch(before_, operation)) {
      won = 0;
    }
    ++open_.operations;
    open_.of_graphs += is_of_graph(operation) ? 1 : 0;
    open_.range.end = std::max(open_.range.end, operation.range.end);
    open_.busy += operation.range.length();
    open_.won += won;
    const NameId name = operation.name;
    if (last_sum_ == nullptr || name != last_name_) last_sum_ = &pending_[name];
    last_name_ = name;
    KernelSum& sum = *last_sum_;
    ++sum.count;
    sum.busy += operation.range.length();
    sum.gaps += gap;
  }
  void close() {
    if (open_.operations >= options_.least) {
      stretches_.push_back(open_);
      for (const auto& [name, sum] : pending_) {
        KernelSum& total = kernels_[name];
        total.count += sum.count;
        total.busy += sum.busy;
        total.gaps += sum.gaps;
      }
    }
    open_ = {};
    if (pending_.empty()) return;
    pending_.clear();
    last_sum_ = nullptr;
  }

  const Trace& trace_;
  const LoopWork& work_;
  SmallKernelOptions options_;
  NameMemo<bool> communication_;
  std::vector<Stretch> stretches_;
  std::map<NameId, KernelSum> kernels_;
  std::vector<LoopOfGpu> loops_;
  GpuId gpu_ = kNone;                // the current GPU
  std::optional<TimeRange> extent_;  // extent of its operations so far
  Stretch open_;
  GpuOperation before_;  // the previous operation; while a stretch is open, a kernel of the stretch
  std::map<NameId, KernelSum> pending_;
  KernelSum* last_sum_ = nullptr;  // entry of last_name_ in pending_: kernels of one name often follow each other
  NameId last_name_ = 0;
};

stats::Table kernel_table(const Trace& trace, const std::map<NameId, KernelSum>& kernels) {
  std::vector<std::pair<NameId, KernelSum>> sorted(kernels.begin(), kernels.end());
  // Numbers of names depend on the file, so equal sums are ordered by their names.
  const auto key = [&](const auto& each) { return std::pair(-each.second.gaps, trace.name(each.first)); };
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  stats::Table table({stats::integers("Gaps Before", stats::Unit::kNanoseconds), stats::integers("Kernels"),
                      stats::integers("Total Time", stats::Unit::kNanoseconds), stats::reals("Avg", stats::Unit::kNanoseconds), stats::texts("Kernel")});
  for (const auto& [name, sum] : sorted)
    table.add_row(sum.gaps, static_cast<std::int64_t>(sum.count), sum.busy, static_cast<double>(sum.busy) / static_cast<double>(sum.count),
                  table.add_text(std::string(trace.name(name))));
  return table;
}

const Stretch& most_winnable(const std::vector<Stretch>& stretches) {
  return *std::max_element(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.won < b.won; });
}

void set_place(const Trace& trace, const Stretch& stretch, Finding& finding) {
  finding.place.range = stretch.range;
  finding.place.event = stretch.first;
  finding.place.gpu = stretch.gpu;
  finding.place.process = trace.track_of(stretch.first.lane).key.process;
}

// Stretches in which each operation started as soon as it was enqueued: the queue was empty, and the launches determined the speed.
class LaunchBoundStretches : public OperationVisitor {
 public:
  LaunchBoundStretches(const RuleContext& context, const SharedCollectors::Key& key)
      : trace_(context.trace), work_(loop_work(context)), launch_index_(context.launch_index), options_(options_of(key)) {}

  [[nodiscard]] static SharedCollectors::Key key_of(const RuleArguments& arguments) {
    return {arguments.duration("latency"), arguments.duration("gap"), std::max<std::int64_t>(2, arguments.integer("run"))};
  }
  // As in SmallKernelStretches.
  [[nodiscard]] Nanoseconds span() const { return undisturbed_span(work_, loops_); }
  [[nodiscard]] const std::vector<Stretch>& stretches() const noexcept { return stretches_; }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    extent_.reset();
  }
  void visit(std::span<const GpuOperation> operations) override {
    const LaunchIndex& launches = launch_index_->of(trace_);
    for (const GpuOperation& operation : operations) {
      if (!extent_) extent_ = {operation.range.begin, operation.range.begin};
      const bool at_once = is_undisturbed(work_, operation) && started_at_once(launches, operation);
      if (!at_once || operation.range.begin - extent_->end > options_.gap) close();
      if (at_once) append(operation);
      extent_->end = std::max(extent_->end, operation.range.end);
    }
  }
  void end() override {
    close();
    loops_.push_back({gpu_, work_.of_gpu(gpu_, extent_.value_or(TimeRange()))});
  }

 private:
  struct Options {
    Nanoseconds latency = 0;  // an operation that starts within this time after its launch's end started at once
    Nanoseconds gap = 0;      // longer gaps end a stretch
    std::uint64_t least = 0;  // least number of operations in a stretch
  };
  [[nodiscard]] static Options options_of(const SharedCollectors::Key& key) { return {key[0], key[1], static_cast<std::uint64_t>(key[2])}; }
  [[nodiscard]] bool started_at_once(const LaunchIndex& launches, const GpuOperation& operation) const {
    const EventRef launch = launches.find(operation.process, operation.correlation, operation.range.begin);
    return launch.valid() && operation.range.begin - trace_.lane(launch.lane).end(launch.index) <= options_.latency;
  }
  void append(const GpuOperation& operation) {
    if (open_.operations == 0) open_ = {gpu_, {operation.range.begin, operation.range.begin}, 0, 0, 0, 0, operation.event};
    ++open_.operations;
    // What runs beside other operations keeps the GPU busy once.
    open_.busy += std::max<Nanoseconds>(0, operation.range.end - std::max(operation.range.begin, open_.range.end));
    open_.range.end = std::max(open_.range.end, operation.range.end);
  }
  void close() {
    if (open_.operations >= options_.least) stretches_.push_back(open_);
    open_ = {};
  }

  const Trace& trace_;
  const LoopWork& work_;
  std::shared_ptr<SharedLaunchIndex> launch_index_;
  Options options_;
  std::vector<Stretch> stretches_;
  std::vector<LoopOfGpu> loops_;
  GpuId gpu_ = kNone;                // the current GPU
  std::optional<TimeRange> extent_;  // extent of its operations so far
  Stretch open_;
};

// Adds the idle time in the stretches, and the part of it that launching or CPU code between launches caused. Stretches are dropped if another cause
// has more: in these, too, each operation starts at once, after the call that blocks the thread. So are stretches in which the GPU is busy for more than
// half of the time: its own work determines their speed.
void add_launch_idle(const RuleContext& context, const LoopWork& work, std::vector<Stretch>& stretches) {
  std::size_t at = 0;  // stretches and gaps both come GPU by GPU, in order of time
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    while (at < stretches.size() && (stretches[at].gpu < gap.gpu || (stretches[at].gpu == gap.gpu && stretches[at].range.end <= gap.range.begin))) ++at;
    const bool inside = at < stretches.size() && stretches[at].gpu == gap.gpu && stretches[at].range.begin < gap.range.begin;
    if (!inside || !gap.launch.valid()) return;
    for (const IdlePart& part : parts) {
      if (!work.has(gap, part)) continue;
      stretches[at].idle += part.range.length();
      if (part.cause == IdleCause::kLaunch || part.cause == IdleCause::kCpuCode) stretches[at].won += part.range.length();
    }
  };
  visit_idle(context, 1, add);
  std::erase_if(stretches, [](const Stretch& stretch) {
    const bool is_mostly_busy = stretch.busy > stretch.range.length() - stretch.busy;
    return stretch.won == 0 || stretch.won < stretch.idle - stretch.won || is_mostly_busy;
  });
}

stats::Table stretch_table(const Trace& trace, const std::vector<Stretch>& stretches) {
  stats::Table table({stats::integers("Launch-Bound Idle", stats::Unit::kNanoseconds), stats::integers("Idle", stats::Unit::kNanoseconds),
                      stats::integers("Start", stats::Unit::kNanoseconds), stats::integers("Duration", stats::Unit::kNanoseconds),
                      stats::integers("Operations"), stats::integers("Busy", stats::Unit::kNanoseconds), stats::integers("GPU")});
  for (const Stretch& stretch : stretches)
    table.add_row(stretch.won, stretch.idle, stretch.range.begin, stretch.range.length(), static_cast<std::int64_t>(stretch.operations), stretch.busy,
                  static_cast<std::int64_t>(trace.gpus()[stretch.gpu].ordinal));
  std::vector<GpuId> gpus;
  for (const Stretch& stretch : stretches) gpus.push_back(stretch.gpu);
  add_files(trace, gpus, table);
  return table;
}

}  // namespace

void collect_small_kernels(const RuleContext& context, const RuleArguments& arguments) {
  collect_readings(context);
  context.collectors->want<SmallKernelStretches>(context, SmallKernelStretches::key_of(arguments));
}

Result<RuleAnswer> find_small_kernels(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  const auto& collected = context.collectors->of<SmallKernelStretches>(context, SmallKernelStretches::key_of(arguments));
  const std::vector<Stretch>& stretches = collected.stretches();
  const Nanoseconds span = collected.span();
  RuleAnswer answer;
  const Nanoseconds won = work_span(stretches, &Stretch::won);
  if (won > 0 && percent_of(won, span) >= arguments.real("share")) {
    const std::uint64_t kernels = operations_of(stretches);
    const Nanoseconds busy = work_span(stretches, &Stretch::busy);
    Finding finding;
    finding.rule = "small_kernels";
    finding.title = Message("{kernels} of at most {longest} follow each other closely; of the gaps between them about {won} ({share} of {loop}) could be won.",
                            {{"kernels", counted(kernels, "kernel")},
                             {"longest", duration_text(arguments.duration("duration"))},
                             {"won", duration_text(won)},
                             {"share", percent_text(won, span)},
                             {"loop", work.text()}});
    const Stretch& most = most_winnable(stretches);
    finding.seen = Message("{sequences} with kernels of {average} on average{one}.",
                           {{"sequences", counted(stretches.size(), "dense sequence")},
                            {"average", duration_text(busy / static_cast<Nanoseconds>(kernels))},
                            {"one", stretches.size() > 1 ? Message("; in one of {time}, {won} could be won",
                                                                   {{"time", duration_text(most.range.length())}, {"won", duration_text(most.won)}})
                                                         : Message()}});
    set_place(trace, most, finding);
    finding.cost = won;
    std::uint64_t of_graphs = 0;
    for (const Stretch& stretch : stretches) of_graphs += stretch.of_graphs;
    finding.advice = of_graphs >= kernels / 2 ? Message("CUDA graphs launch them already: put more into one graph, or fuse the kernels.")
                                              : Message(
                                                    "Record the sequence once as a CUDA graph and launch that (PyTorch: torch.compile with "
                                                    "mode=\"reduce-overhead\"), or fuse the kernels.");
    answer.findings.push_back(std::move(finding));
    answer.tables.push_back({"small_kernels", "Small kernels in dense stretches", kernel_table(trace, collected.kernels())});
  } else {
    answer.message = "No dense stretches of small kernels that cost time.";
  }
  return answer;
}

void collect_staircase(const RuleContext& context, const RuleArguments& arguments) {
  collect_readings(context);
  context.collectors->want<LaunchBoundStretches>(context, LaunchBoundStretches::key_of(arguments));
}

Result<RuleAnswer> find_staircase(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  const auto& collected = context.collectors->of<LaunchBoundStretches>(context, LaunchBoundStretches::key_of(arguments));
  std::vector<Stretch> stretches = collected.stretches();
  const Nanoseconds span = collected.span();
  if (!stretches.empty()) add_launch_idle(context, work, stretches);
  RuleAnswer answer;
  const Nanoseconds won = work_span(stretches, &Stretch::won);
  if (won == 0 || percent_of(won, span) < arguments.real("share")) {
    answer.message = "The GPU did not run at the pace of launches for any length of time.";
    return answer;
  }
  const auto operations = static_cast<Nanoseconds>(operations_of(stretches));
  Nanoseconds length = 0;
  for (const Stretch& stretch : stretches) length += stretch.range.length();
  Finding finding;
  finding.rule = "staircase";
  finding.title = Message(
      "For {length} the GPU ran at the pace of launches: each of {operations} started as soon as it was enqueued, and the GPU was "
      "idle for {idle} between them; launches and the code between them took {won} ({share} of {loop}) of that.",
      {{"length", duration_text(length)},
       {"operations", counted(static_cast<std::uint64_t>(operations), "operation")},
       {"idle", duration_text(work_span(stretches, &Stretch::idle))},
       {"won", duration_text(won)},
       {"share", percent_text(won, span)},
       {"loop", work.text()}});
  const Stretch& most = most_winnable(stretches);
  finding.seen =
      Message("One operation each {pace}, and each keeps the GPU busy for {busy} on average{one}.",
              {{"pace", duration_text(length / operations)},
               {"busy", duration_text(work_span(stretches, &Stretch::busy) / operations)},
               {"one", stretches.size() > 1 ? Message("; one of the stretches took {time}", {{"time", duration_text(most.range.length())}}) : Message()}});
  set_place(trace, most, finding);
  finding.cost = won;
  finding.advice =
      "The CPU is the bottleneck: launch more work at once (larger batches, CUDA graphs, fused kernels), or make the code between launches "
      "faster.";
  answer.findings.push_back(std::move(finding));
  answer.tables.push_back({"staircase", "Stretches at the pace of launches", stretch_table(trace, stretches)});
  return answer;
}

}  // namespace lanescope::analysis
