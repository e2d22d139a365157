// Traces of programs with known faults, recorded on a real GPU.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "answers.h"
#include "idle/shared_idle.h"
#include "loop/loop_work.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"
#include "model/export/nsys_sqlite_export.h"
#include "model/import/nsys_sqlite.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/combining/clock_alignment.h"
#include "model/trace/combining/combine.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "support/catch.h"
#include "support/paths.h"
#include "wording.h"

using namespace lanescope;
using namespace lanescope::analysis;
using lanescope::test::findings;

namespace {

std::shared_ptr<const Trace> recorded(const std::string& name) {
  const auto trace = load_trace(test::data_file(name + ".trace"));
  REQUIRE(trace.has_value());
  return *trace;
}

struct KnownCause {
  std::string name;
  std::vector<std::string> expected;  // "rule" or "rule/key": one of these is the first finding
  std::string mentions;               // in its title
};

}  // namespace

TEST_CASE("each program with a known fault has that fault first") {
  const auto cause = GENERATE(values<KnownCause>({
      {"cause_slow_loader", {"gpu_bubbles/cpu_code"}, "load batch"},
      {"cause_lock", {"gpu_bubbles/os_lock"}, "pthread_mutex_lock"},
      {"cause_sync_each_launch", {"gpu_bubbles/synchronize", "sync_storm"}, ""},
      {"cause_tiny_kernels", {"staircase", "small_kernels"}, ""},
      {"cause_pageable_copies", {"pageable"}, ""},
      {"cause_stream_wait", {"gpu_bubbles/dependency"}, "cudaStreamWaitEvent"},
      {"cause_serial_copies", {"no_overlap"}, ""},
  }));
  if (!std::filesystem::exists(test::data_file(cause.name + ".trace"))) return;
  const std::vector<Finding> found = findings(*recorded(cause.name));
  INFO(cause.name);
  REQUIRE_FALSE(found.empty());
  const std::string first = std::string(found[0].rule) + (found[0].key.empty() ? "" : "/" + found[0].key);
  INFO(first << ": " << found[0].title);
  CHECK(std::count(cause.expected.begin(), cause.expected.end(), first) == 1);
  CHECK_THAT(found[0].title, contains_text(cause.mentions));
}

TEST_CASE("a training without loader workers is slow for its data, and workers win that time") {
  const auto before = recorded("torch_training_workers0"), after = recorded("torch_training_workers4");
  const std::vector<Finding> found = findings(*before);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].key == "cpu_code");
  CHECK_THAT(found[0].title, contains_text("NVTX range \"data\""));

  // With workers, the remaining idle time is the time between launches, most of it in the backward pass, which runs on a thread without ranges.
  const std::vector<Finding> left = findings(*after);
  CHECK(left[0].key == "cpu_code");
  CHECK_THAT(left[0].title, contains_text("between launches"));
  CHECK_THAT(left[0].seen, contains_text("% backward"));

  const auto diff = compare_traces(*before, *after);
  REQUIRE(diff.has_value());
  CHECK(diff->aligned_by == "step *");
  const auto item = [&](DiffKind kind, const std::string& name) {
    const auto match = std::find_if(diff->items.begin(), diff->items.end(), [&](const DiffItem& one) { return one.kind == kind && one.name == name; });
    REQUIRE(match != diff->items.end());
    return *match;
  };
  const DiffItem iteration = item(DiffKind::kDuration, "Iteration"), data = item(DiffKind::kRange, "data"), busy = item(DiffKind::kGpuBusy, "GPU busy");
  CHECK(iteration.verdict == DiffVerdict::kLess);
  CHECK(iteration.change < -50);
  CHECK(data.verdict == DiffVerdict::kLess);
  CHECK(data.difference() == Approx(iteration.difference()).epsilon(0.1));  // the time that was won is that of the data
  CHECK(std::abs(busy.change) < 5);                                         // the GPU's work is unchanged
}

TEST_CASE("the stream bug is found where one stream object stands for four, and only there") {
  const auto one_stream = [](const Trace& trace) {
    const auto request = parse_rule("one_stream");
    return apply_rule(trace, *request)->findings;
  };
  const std::vector<Finding> bug = one_stream(*recorded("numba_streams_bug"));
  REQUIRE(bug.size() == 1);
  CHECK_THAT(bug[0].title, contains_text("16 chunks"));  // 4 streams, 4 chunks each
  CHECK_THAT(bug[0].seen, contains_text("stream 13"));
  CHECK(bug[0].cost > 0);
  for (const char* good : {"numba_streams", "cuda_streams", "torch_training_workers0", "torch_graph", "attach_graph"}) {
    INFO(good);
    CHECK(one_stream(*recorded(good)).empty());
  }
}

TEST_CASE("a transformer in FP32 is told to use tensor cores, which then take the time that was promised") {
  const auto fp32 = recorded("transformer_fp32"), tf32 = recorded("transformer_tf32");  // one program, run with each precision
  const auto products = [](const Trace& trace) { return apply_rule(trace, *parse_rule("fp32_products"))->findings; };
  const auto busy = [](const Trace& trace) {  // in the loop, like the finding
    Families families(trace);
    const Loop loop(trace, families);
    Nanoseconds sum = 0;
    for (const Track& track : trace.tracks())
      for (const LaneId lane : track.lanes)
        if (track.key.kind == TrackKind::kKernels) sum += trace.lane(lane).busy({loop.of(track.key.process)->begin, trace.extent().end});
    return sum;
  };
  const std::vector<Finding> found = products(*fp32);
  REQUIRE(found.size() == 1);
  CHECK(products(*tf32).empty());
  const Nanoseconds saved = busy(*fp32) - busy(*tf32);
  CHECK(saved < found[0].cost);  // "up to"
  CHECK(saved > found[0].cost * 3 / 4);
}

TEST_CASE("reading counters of kernels makes no iteration slow, and the program's own time is what shares are of") {
  const auto trace = recorded("transformer_fp32");
  const auto bubbles = *apply_rule(*trace, *parse_rule("gpu_bubbles"));
  CHECK_THAT(bubbles.summary, contains_text("2.95 s more went into reading the counters of kernels"));
  // In steps 5 to 8 and 11, in which nothing was read, measured one by one (--filter-nvtx): 286, 350, 349, 299 and 361 us; and between the steps.
  const Finding& cpu_code = bubbles.findings.front();
  CHECK(cpu_code.key == "cpu_code");
  // The cost is that of all 11 steps, as that of kernels is.
  CHECK(cpu_code.cost > 1'645 * test::kMicrosecond * 11 / 5);
  CHECK(cpu_code.cost < 2'100 * test::kMicrosecond * 11 / 5);
  CHECK(apply_rule(*trace, *parse_rule("tail"))->findings.empty());  // these took 16.48 to 16.57 ms
  CHECK(findings(*trace).front().rule == "fp32_products");           // the program's fault, and not what the profiler was asked to do
}

TEST_CASE("no idle time while a kernel is run again for its counters has another cause, whichever thread launches next") {
  const auto trace = recorded(GENERATE("transformer_fp32", "transformer_tf32"));
  std::set<std::uint32_t> measured;
  for (const auto& launch : trace->kernel_records().measured) {
    measured.insert(launch->correlation);
    measured.insert(launch->other_launches.begin(), launch->other_launches.end());
  }
  std::vector<TimeRange> calls;
  for (const Track& track : trace->tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; track.key.kind == TrackKind::kCudaApi && i < trace->lane(id).size(); ++i)
        if (measured.contains(trace->lane(id).correlation(i))) calls.push_back({trace->lane(id).start(i), trace->lane(id).end(i)});
  REQUIRE_FALSE(calls.empty());
  visit_idle(*trace, 1, [&](const IdleGap&, std::span<const IdlePart> parts) {
    for (const IdlePart& part : parts)
      for (const TimeRange call : calls) CHECK((part.cause == IdleCause::kOverhead || part.range.intersected(call).empty()));
  });
}

TEST_CASE("steps whose kernels were measured are compared by their own time") {
  const auto diff = compare_traces(*recorded("transformer_fp32"), *recorded("transformer_tf32"));
  REQUIRE(diff);
  // The program printed 16.6 and 7.3 ms for a step without counters; steps in which nothing was read took 16.48 to 16.57 and about 7.1 ms.
  CHECK(diff->first_iterations == 5);
  CHECK(diff->first_disturbed == 6);
  const DiffItem& step = diff->items.front();
  REQUIRE(step.kind == DiffKind::kDuration);
  CHECK(step.first.per_iteration > 16.48e6);
  CHECK(step.first.per_iteration < 16.57e6);
  CHECK(step.second.per_iteration == Approx(7.1e6).epsilon(0.02));
  CHECK(step.verdict == DiffVerdict::kLess);
}

TEST_CASE("no row of waits has idle time and no call") {
  for (const auto& file : std::filesystem::directory_iterator(test::data_file(""))) {
    if (file.path().extension() != ".trace") continue;
    INFO(file.path());
    const auto waits = apply_rule(*recorded(file.path().stem()), *parse_rule("sync_storm"));
    for (const NamedTable& table : waits->tables)
      for (const std::int64_t calls : std::get<stats::Integers>(table.table.columns()[1].values)) CHECK(calls > 0);
  }
}

TEST_CASE("where one kernel follows the other, the time from one to the next is what repeats, though a launch takes longer or less") {
  const auto trace = recorded("transpositions");  // 541 us for a run, one after another, after half a second in which the first is loaded
  const auto diff = compare_traces(*trace, *trace);
  REQUIRE(diff);
  const DiffItem& duration = diff->items.front();
  REQUIRE(duration.kind == DiffKind::kDuration);
  CHECK(duration.first.per_iteration > 541e3);
  CHECK(duration.first.per_iteration < 542e3);
}

TEST_CASE("of a recording that was attached, replays without their GPU work count nowhere, and a graph takes as long as in another") {
  const auto launched = recorded("torch_graph"), attached = recorded("attach_graph");  // of one program
  const auto diff = compare_traces(*launched, *attached);
  REQUIRE(diff);
  // 5,212 ranges: 441 started before launches were recorded, one while the first launch with GPU work was made, and the last was open at the end.
  CHECK(diff->second_iterations + diff->second_skipped + diff->second_left_out == 5'212);
  CHECK(diff->second_left_out >= 442);
  CHECK(diff->second_left_out <= 444);
  for (const DiffItem& item : diff->items)
    if (item.kind == DiffKind::kGpuBusy) CHECK(std::abs(item.change) < 1);
  Families families(*attached);
  const Loop loop(*attached, families);
  CHECK(loop.iterations() == diff->second_iterations);
  CHECK(loop.left_out() == diff->second_left_out);
  CHECK_THAT(apply_rule(*attached, *parse_rule("gpu_bubbles"))->summary, contains_text("that the recording does not have whole are left out"));
}

TEST_CASE("matrix products are compared by the ranges around them where they run as other kernels, and tell what tensor cores won") {
  const auto fp32 = recorded("transformer_fp32"), tf32 = recorded("transformer_tf32");
  const auto diff = compare_traces(*fp32, *tf32);
  REQUIRE(diff);
  std::vector<DiffItem> products;
  double before = 0, after = 0, busy = 0;  // ns of a step; for products by their kernels, and for all work
  for (const DiffItem& item : diff->items) {
    if (item.kind == DiffKind::kProducts) products.push_back(item);
    if (item.kind == DiffKind::kGpuBusy) busy = item.difference();
    if (item.kind != DiffKind::kKernel || item.name.find("gemm") == std::string::npos || item.name.starts_with("fmha")) continue;
    before += item.first.per_iteration;
    after += item.second.per_iteration;
    CHECK((item.verdict == DiffVerdict::kOnlyFirst || item.verdict == DiffVerdict::kOnlySecond));  // so no kernel shows a gain
  }
  REQUIRE(products.size() == 1);
  CHECK(products[0].name == "step *: FP32 -> TF32");
  CHECK(products[0].verdict == DiffVerdict::kLess);
  CHECK(products[0].first.per_iteration == Approx(before));
  CHECK(products[0].second.per_iteration == Approx(after));
  CHECK(products[0].difference() == Approx(busy).epsilon(0.05));  // nothing else changed
  CHECK(products[0].change_high < -75);
  // If kernels keep their names, they show it themselves.
  const auto same = compare_traces(*fp32, *fp32);
  REQUIRE(same);
  for (const DiffItem& item : same->items) CHECK(item.kind != DiffKind::kProducts);
}

TEST_CASE("a step's breakdown holds what was enqueued in its steps, also by the threads of the backward pass") {
  const auto trace = recorded("torch_training_workers0");
  std::size_t operations = 0;
  for (int step = 1; step < 20; ++step) {  // the first one warms up
    stats::ReportOptions options;
    options.range = stats::RangeFilter{"step " + std::to_string(step), std::nullopt, 0};
    operations += stats::make_report(*stats::find_report("cuda_gpu_trace"), *trace, options)->row_count();
  }
  const auto answer = apply_rule(*trace, *parse_rule("step_breakdown"));
  const stats::Table& table = answer->tables.at(0).table;
  const auto& counts = std::get<stats::Integers>(table.columns()[6].values);
  const auto& names = std::get<stats::Texts>(table.columns()[7].values);
  const auto row = [&](std::string_view name) {
    for (std::size_t i = 0; i < table.row_count(); ++i)
      if (table.text(names[i]) == name) return i;
    FAIL("no row " << name);
    return std::size_t{0};
  };
  CHECK(static_cast<std::size_t>(counts[row("step *")]) == operations);
  CHECK(counts[row("backward")] > counts[row("forward")]);
}

TEST_CASE("without its ranges, a training's loop is told by the GPU work that repeats") {
  const auto marked = recorded("torch_training_workers0");
  const test::TemporaryFolder folder;
  NsysSqliteOptions options;
  options.tables = {"CUPTI_ACTIVITY_KIND_(KERNEL|MEMCPY|MEMSET|RUNTIME|SYNCHRONIZATION)", "StringIds", "TARGET_INFO_.*", "META_DATA_.*"};
  REQUIRE(export_nsys_sqlite(*marked, folder.path() / "unmarked.sqlite", Overwrite::kRefuse, options));
  const auto unmarked = import_nsys_sqlite(folder.path() / "unmarked.sqlite");
  REQUIRE(unmarked);
  const std::vector<Finding> with = findings(*marked), without = findings(**unmarked);
  REQUIRE_FALSE(without.empty());
  CHECK(without.front().key == "cpu_code");
  CHECK_THAT(without.front().title, contains_text("of the time in which its work repeats"));
  CHECK(static_cast<double>(without.front().cost) == Approx(with.front().cost).epsilon(0.1));
  CHECK(without.back().key == "setup");
  CHECK(static_cast<double>(without.back().cost) == Approx(with.back().cost).epsilon(0.05));
}

TEST_CASE("of two ranks, the one whose GPU waits for its own CPU is named") {
  std::vector<TraceSource> files;
  for (const char* rank : {"ranks_late0", "ranks_late1"}) files.push_back({recorded(rank), rank, 0});
  const std::vector<Finding> found = findings(*combine_traces(files));
  const auto bubbles = std::find_if(found.begin(), found.end(), [](const Finding& finding) { return finding.rule == "gpu_bubbles"; });
  REQUIRE(bubbles != found.end());
  CHECK_THAT(bubbles->title, contains_text("GPU 1 was idle"));
}

namespace {

// True if a gap has the time that a finding of gpu_bubbles names for the cause that is its key: in all of the gap, or in the part of it after the start of the
// loop.
bool has(const Bubble& bubble, const Finding& finding) {
  Nanoseconds sum = 0;
  for (auto part = bubble.parts.rbegin(); part != bubble.parts.rend(); ++part) {
    if (idle_cause_key(part->cause) != finding.key) continue;
    sum += part->range.length();
    if (finding.seen.english().find("at most " + duration_text(sum) + " in a gap of ") != std::string::npos) return true;
  }
  return false;
}

// The finding names the length of its place, which is a whole gap, and, if the cause lies in several gaps, the time that the cause has in this one.
void check_names_its_gap(const Finding& finding, const std::vector<Bubble>& bubbles) {
  const auto place = std::find_if(bubbles.begin(), bubbles.end(), [&](const Bubble& bubble) {
    return bubble.gap.gpu == finding.place.gpu && bubble.gap.range.begin == finding.place.range.begin && bubble.gap.range.end == finding.place.range.end;
  });
  REQUIRE(place != bubbles.end());
  CHECK_THAT(finding.seen.english(), contains_text("gap of " + duration_text(finding.place.range.length())));
  if (finding.seen.english().find("at most ") != std::string::npos) CHECK(has(*place, finding));
}

}  // namespace

TEST_CASE("whatever was recorded, the place of each finding holds the number that it names") {
  for (const char* name :
       {"cause_slow_loader", "cause_lock", "cause_sync_each_launch", "cause_tiny_kernels", "cause_pageable_copies", "cause_stream_wait", "cause_serial_copies",
        "torch_training_workers0", "torch_training_workers4", "ranks_compute", "torch_loader_samples", "unified_memory", "numba_streams_bug", "attach_graph"}) {
    const auto trace = recorded(name);
    const std::vector<Bubble> bubbles = find_bubbles(*trace, 1).bubbles;
    for (const Finding& finding : findings(*trace)) {
      INFO(name << ": " << finding.title << "\n" << finding.seen);
      if (finding.rule == "gpu_bubbles") {
        check_names_its_gap(finding, bubbles);
        continue;
      }
      const std::size_t named = finding.seen.english().find("longest ");
      if (named == std::string::npos) continue;
      CHECK_FALSE(finding.place.range.empty());
      CHECK_THAT(finding.seen.english().substr(named), contains_text(" took " + duration_text(finding.place.range.length())));
    }
  }
}

TEST_CASE("idle time between moves of unified memory is called that") {
  const std::vector<Finding> found = findings(*recorded("unified_memory"));
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].key == "migration");
}

TEST_CASE("a data loader that starves the GPU is blamed by its Python line") {
  if (!std::filesystem::exists(test::data_file("torch_loader_samples.trace"))) return;
  const auto trace = load_trace(test::data_file("torch_loader_samples.trace"));
  REQUIRE(trace);
  const auto answer = apply_rule(**trace, *parse_rule("gpu_bubbles"));
  REQUIRE(answer);
  REQUIRE_FALSE(answer->findings.empty());
  CHECK(answer->findings[0].key == "cpu_code");
  CHECK_THAT(answer->findings[0].title, contains_text("NVTX range \"data\": SlowDataset.__getitem__ in torch_training.py:30 ("));
}

TEST_CASE("the loop of a JAX program is the executions of its step, and what its host does between them is found") {
  constexpr Nanoseconds kHost = 5'000'000;  // at least this long, before each of 40 steps (jax_training.py)
  constexpr int kSteps = 36;                // without the steps that warm up and those that end the loop
  const std::vector<Finding> found = findings(*recorded("jax_training"));
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].key == "cpu_code");
  CHECK_THAT(found[0].title, contains_text("module \"jit_step\""));
  CHECK(found[0].cost >= kSteps * kHost);
  CHECK(found[0].cost < 1'000'000'000);  // compiling it took 4.9 s
  const auto tail = std::find_if(found.begin(), found.end(), [](const Finding& finding) { return finding.rule == "tail"; });
  REQUIRE(tail != found.end());
  CHECK_THAT(tail->title, contains_text("iterations (\"jit_step\")"));
  CHECK_THAT(tail->seen, contains_text("What differs most is idle GPU while the launching thread ran CPU code: 9.74 ms (92 %) more in them."));
}

TEST_CASE("steps behind a full queue, whose work waits on the GPU for another stream, are not slow") {
  CHECK(apply_rule(*recorded("cause_stream_wait"), *parse_rule("tail"))->findings.empty());  // the last two take 5 ms instead of 14 us
}

TEST_CASE("of two ranks, the one that computes twice as much is named") {
  const std::vector<Finding> found = findings(*recorded("ranks_compute"));
  const auto imbalance = std::find_if(found.begin(), found.end(), [](const Finding& finding) { return finding.rule == "imbalance"; });
  REQUIRE(imbalance != found.end());
  CHECK_THAT(imbalance->title, contains_text("[4798] python3.12 on GPU 1"));
  CHECK_THAT(imbalance->title, contains_text("computed for"));
}

TEST_CASE("of two ranks with a file each, the one that sleeps 15 ms in each of 20 steps is found, and that it sleeps") {
  const std::vector<TraceSource> files{{recorded("ranks_late0"), "late0.trace", 0}, {recorded("ranks_late1"), "late1.trace", 0}};
  const std::vector<Finding> found = findings(*combine_traces(files));
  REQUIRE(found.size() >= 2);
  const Finding& blocked = found[0].rule == "gpu_bubbles" ? found[0] : found[1];
  CHECK(blocked.key == "os_blocked");
  CHECK(blocked.cost >= 20 * 15'000'000);
  CHECK(blocked.cost < 20 * 16'000'000);
  const Finding& imbalance = found[0].rule == "imbalance" ? found[0] : found[1];
  CHECK(imbalance.rule == "imbalance");
  CHECK_THAT(imbalance.title, contains_text("late1.trace: "));
  CHECK_THAT(imbalance.title, contains_text("came last"));
}

namespace {

std::string text_of_all(const RuleAnswer& answer) {
  std::string text = answer.message.english() + '\n' + answer.summary.english() + '\n';
  for (const Finding& finding : answer.findings) text += finding.title.english() + '\n' + finding.seen.english() + '\n' + std::to_string(finding.cost) + '\n';
  for (const NamedTable& table : answer.tables) text += table.name + '\n' + stats::format_table(table.table, stats::Format::kCsv);
  return text;
}

}  // namespace

TEST_CASE("rules that are asked together answer as each alone does") {
  std::vector<RuleRequest> requests;
  for (const Rule& rule : rules()) requests.push_back(*parse_rule(rule.name));
  // The first looks at gaps that the others ignore; the second ignores some that they look at.
  for (const char* bubbles : {"gpu_bubbles:gap=0ns", "gpu_bubbles:gap=300us"}) requests.push_back(*parse_rule(bubbles));
  // Rules with other least durations of launches, which are not looked up for the other rules.
  for (const char* shapes : {"small_grid:duration=20us", "tail_wave:duration=1us"}) requests.push_back(*parse_rule(shapes));
  for (const char* name : {"torch_training_workers0", "torch_graph", "ranks_compute", "cause_sync_each_launch", "cause_tiny_kernels", "cuda_streams"}) {
    const auto trace = recorded(name);
    const auto answers = apply_rules(*trace, requests);
    REQUIRE(answers);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      INFO(name << ' ' << requests[i].rule->name << ' ' << i);
      CHECK(text_of_all((*answers)[i]) == text_of_all(*apply_rule(*trace, requests[i])));
    }
  }
}

TEST_CASE("rules find the same without tables, and look nothing through for tables alone") {
  std::vector<RuleRequest> requests;
  for (const Rule& rule : rules())
    if (rule.origin == RuleOrigin::kLanescope) requests.push_back(*parse_rule(rule.name));
  const auto said = [](RuleAnswer answer) {
    answer.tables.clear();
    answer.message = {};
    return text_of_all(answer);
  };
  for (const char* name : {"torch_training_workers0", "torch_graph", "ranks_compute", "jax_training", "cause_tiny_kernels", "cuda_streams"}) {
    const auto trace = recorded(name);
    const auto with = apply_rules(*trace, requests);
    const auto without = apply_rules(*trace, requests, {}, kWholeTrace, RuleTables::kLeftOut);
    REQUIRE((with && without));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      INFO(name << ' ' << requests[i].rule->name);
      CHECK(said((*without)[i]) == said((*with)[i]));
    }
  }
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "compact.trace";
  REQUIRE(compact_trace_file(test::data_file("ranks_compute.trace"), path, Overwrite::kAllow));
  const auto trace = load_trace(path, {}, EventPlace::kInFile);
  REQUIRE(trace);
  const auto decoded_for = [&](RuleTables tables) {
    const std::uint64_t before = SegmentCache::of_process().use().decoded;
    const std::vector<RuleRequest> steps{*parse_rule("step_breakdown")};
    REQUIRE(apply_rules(**trace, steps, {}, kWholeTrace, tables));
    return SegmentCache::of_process().use().decoded - before;
  };
  CHECK(decoded_for(RuleTables::kLeftOut) == 0);
  CHECK(decoded_for(RuleTables::kAll) > 0);
}

TEST_CASE("what a loop has of a lane is what a look at each operation finds") {
  std::size_t lanes = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::data_file(""))) {
    if (file.path().extension() != ".trace") continue;
    INFO(file.path());
    const auto trace = recorded(file.path().stem());
    const RuleContext context{.trace = *trace};
    const LoopWork& work = loop_work(context);
    const TimeRange extent = trace->extent();
    for (const Track& track : trace->tracks()) {
      if (!is_gpu_work(track.key.kind)) continue;
      for (const LaneId id : track.lanes)
        for (const TimeRange time : {kWholeTrace, TimeRange{extent.begin + extent.length() / 3, extent.begin + extent.length() / 2}}) {
          const Lane& lane = trace->lane(id);
          LoopWork::Share looked_at;
          for (EventIndex i = 0; i < lane.size(); ++i) {
            if (!time.contains(lane.start(i)) || !work.has(EventRef{id, i})) continue;
            ++looked_at.operations;
            looked_at.time += lane.duration(i);
          }
          const LoopWork::Share share = work.share_of(id, time);
          CHECK((share.operations == looked_at.operations && share.time == looked_at.time));
          lanes += looked_at.operations > 0 && looked_at.operations < lane.size() ? 1 : 0;
        }
    }
  }
  CHECK(lanes > 10);  // only part of them belongs to it
}

TEST_CASE("idle time that can't be gone through to its end fails for each rule that waits for it") {
  const auto trace = recorded("cuda_streams");
  const RuleContext context{.trace = *trace};
  SharedIdle::Cores cores(1);
  SharedIdle idle(3, cores);
  std::atomic<int> failed = 0;
  const auto ask = [&](const IdleVisitor& visitor) {
    cores.acquire();
    try {
      (void)idle.visit(context, 1, visitor);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    idle.leave();
    cores.release();
  };
  {
    const std::jthread one([&] { ask([](const IdleGap&, std::span<const IdlePart>) {}); });
    const std::jthread other([&] { ask([](const IdleGap&, std::span<const IdlePart>) { throw std::bad_alloc(); }); });
    const std::jthread third([&] { idle.leave(); });  // ends without looking at idle time
  }
  CHECK(failed == 2);
}

TEST_CASE("causes of idle time, told apart by range and call, add up to the idle time of each GPU") {
  const auto trace = load_trace(test::data_file("ranks_compute.trace"));  // of two
  REQUIRE(trace);
  const RuleAnswer bubbles = test::answer(**trace, "gpu_bubbles:gap=0:rows=-1");
  const auto sums_of = [&](std::string_view table_name) {
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> sums;  // by GPU and cause
    for (const NamedTable& named : bubbles.tables) {
      if (named.name != table_name) continue;
      std::map<std::string, std::size_t> columns;
      for (std::size_t i = 0; i < named.table.columns().size(); ++i) columns[named.table.columns()[i].title] = i;
      for (std::size_t row = 0; row < named.table.row_count(); ++row) {
        const auto& column = [&](const char* title) -> const stats::Column& { return named.table.columns()[columns.at(title)]; };
        sums[{column("GPU").integer(row), std::string(named.table.text(column("Cause").text(row)))}] += column("Total Time").integer(row);
      }
    }
    return sums;
  };
  const auto told_apart = sums_of("gpu_bubbles"), by_cause = sums_of("gpu_bubbles_causes");
  REQUIRE(by_cause.size() > 10);
  CHECK(told_apart == by_cause);
}

namespace {

// The latest end of the GPU work whose call started in the given time; found by comparing each with each.
Nanoseconds end_of_work_enqueued_in(const Trace& trace, TimeRange time) {
  std::set<std::uint32_t> enqueued;
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kCudaApi)
      for (const LaneId id : track.lanes)
        for (EventIndex i = 0; i < trace.lane(id).size(); ++i)
          if (const Event call = trace.event({id, i}); time.contains(call.start)) enqueued.insert(call.correlation);
  Nanoseconds end = time.end;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind))
      for (const LaneId id : track.lanes)
        for (EventIndex i = 0; i < trace.lane(id).size(); ++i)
          if (const Event work = trace.event({id, i}); enqueued.contains(work.correlation)) end = std::max(end, work.end());
  return end;
}

}  // namespace

// Their steps are known by ranges with different names, by one name, and by work that repeats.
TEST_CASE("recordings of unlike programs that are read together are idle for the same reasons as each alone, in its loop and outside") {
  const std::vector<std::string> names{"torch_training_workers0", "jax_training", "cause_tiny_kernels", "numba_streams"};
  std::map<std::pair<std::string, std::string>, std::int64_t> alone, together;
  const auto add = [](const Trace& trace, auto& causes) {
    const RuleAnswer answer = test::answer(trace, "gpu_bubbles");
    const stats::Table& table = test::table_named(answer, "gpu_bubbles_causes");
    for (std::size_t row = 0; row < table.row_count(); ++row)
      causes[{test::text(table, row, "Cause"), test::text(table, row, "When")}] += test::integer(table, row, "Total Time");
  };
  std::vector<TraceSource> sources;
  for (const std::string& name : names) {
    sources.push_back({recorded(name), name, 0});
    add(*sources.back().trace, alone);
  }
  add(*combine_traces(sources), together);
  CHECK(alone.size() > 8);
  CHECK(together == alone);
}

// Their GPUs start to work long after the recordings start, and none has a loop, which is known only to answers about a whole recording.
TEST_CASE("asked for all of its time, a recording is said the same of as whole") {
  const auto name = GENERATE(as<std::string>(), "cuda_streams", "transpositions_counts", "training_faults/new_shapes", "kernel_counters");
  CAPTURE(name);
  const auto trace = recorded(name);
  REQUIRE(loop_times(*trace).empty());
  std::vector<RuleRequest> requests;
  for (const Rule& rule : rules()) requests.push_back(*parse_rule(rule.name));
  const auto sentences = [&](TimeRange time) {
    std::vector<std::tuple<std::string, std::string, Nanoseconds>> said;
    const auto answers = apply_rules(*trace, requests, {}, time);
    REQUIRE(answers);
    for (const RuleAnswer& answer : *answers)
      for (const Finding& finding : answer.findings) said.emplace_back(finding.rule, finding.title.english(), finding.cost);
    return said;
  };
  const auto whole = sentences(kWholeTrace);
  CHECK_FALSE(whole.empty());
  CHECK(sentences({trace->extent().begin - 1'000'000, trace->extent().end + 1'000'000}) == whole);
}

// Its CPU finishes 60 steps in 19 ms; the GPU works at them for 0.37 s.
TEST_CASE("the time of a loop has the GPU work that was enqueued in it, however late") {
  const auto trace = recorded("cause_stream_wait");
  Families families(*trace);
  const TimeRange on_cpu = Loop(*trace, families).of(0).value();
  REQUIRE(on_cpu.length() < 20'000'000);
  const auto times = loop_times(*trace);
  REQUIRE(times.size() == 1);
  const TimeRange time = times.begin()->second.time;
  CHECK(time.begin == on_cpu.begin);
  CHECK(time.end == end_of_work_enqueued_in(*trace, on_cpu));
  CHECK(time.length() > 360'000'000);
  CHECK(times.begin()->second.name == "step *");
}

TEST_CASE("a loop that no ranges mark ends with its GPU work, not with the recording") {
  for (const char* name : {"numba_streams", "transpositions"}) {
    CAPTURE(name);
    const auto trace = recorded(name);
    Nanoseconds last = 0;
    for (const Track& track : trace->tracks())
      if (is_gpu_work(track.key.kind))
        for (const LaneId id : track.lanes)
          for (EventIndex i = 0; i < trace->lane(id).size(); ++i) last = std::max(last, trace->event({id, i}).end());
    REQUIRE(last < trace->extent().end);
    const auto times = loop_times(*trace);
    REQUIRE(times.size() == 1);
    CHECK(times.begin()->second.time.end == last);
    CHECK(times.begin()->second.name.empty());
  }
}

// Both are of one program on one GPU, at different times: the second run is no second GPU, and its launches are none of the first run's.
TEST_CASE("a run that counted instructions adds lines to findings, and nothing to what they cost") {
  const std::vector<std::shared_ptr<const Trace>> runs{recorded("kernel_counters"), recorded("zoo_counts")};
  const bool counts_come_first = GENERATE(false, true);
  CAPTURE(counts_come_first);
  const std::size_t first = counts_come_first ? 1 : 0;
  const auto shift = shift_by_utc(*runs[first], *runs[1 - first]);
  REQUIRE(shift);
  const std::vector<TraceSource> sources{{runs[first], "first", {}, "", false, "first"}, {runs[1 - first], "second", *shift, "", false, "second"}};
  const auto both = combine_traces(sources, {}, GpusSeenTwice::kAreOne);
  const auto costs = [](const Trace& trace) {
    std::vector<std::tuple<std::string, std::string, Nanoseconds>> all;
    for (const Finding& finding : findings(trace)) all.emplace_back(finding.rule, finding.key, finding.cost);
    return all;
  };
  CHECK(costs(*both) == costs(*runs[0]));
  std::set<std::string> lines;
  for (const Finding& finding : findings(*both)) lines.insert(finding.place.line);
  CHECK(lines.contains("zoo.cu:14"));
}
