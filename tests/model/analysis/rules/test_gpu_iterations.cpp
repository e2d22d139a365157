// What GPUs did in the iterations of several processes, against a count of each nanosecond.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "idle/gpu_operations.h"
#include "rules/tail/gpu_iterations.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using lanescope::test::Scenario;

namespace {

constexpr Nanoseconds kSpan = 400;
constexpr std::uint32_t kProcesses = 3;

struct Work {
  std::uint32_t process = 0;
  Nanoseconds enqueued = -1;  // -1: not known
  TimeRange time;
  bool communicates = false;
};

// Processes that share a GPU and use two streams each; kernels follow their launch as soon as streams are free, or later.
struct Program {
  std::shared_ptr<TraceBuilder> builder = std::make_shared<TraceBuilder>();
  std::vector<ProcessId> processes;
  std::vector<Work> work;                          // by start
  std::vector<std::vector<TimeRange>> iterations;  // of each process
};

Program random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto some = [&](int from, int to) { return std::uniform_int_distribution<Nanoseconds>(from, to)(random); };
  Program program;
  std::set<Nanoseconds> starts;  // all different, so that the order of kernels is known
  for (std::uint32_t process = 0; process < kProcesses; ++process) {
    Scenario scenario(program.builder, 100 + process);
    program.processes.push_back(scenario.process());
    Nanoseconds free[2] = {1, 1};
    for (Nanoseconds t = some(0, 10); t < kSpan - 60; t += some(3, 25)) {
      const auto stream = static_cast<std::uint32_t>(some(0, 1));
      Nanoseconds begin = std::max(t + 2, free[stream]) + (some(0, 2) == 0 ? some(0, 30) : 0);
      while (!starts.insert(begin).second) ++begin;
      const Work one{process, some(0, 4) == 0 ? -1 : t, {begin, begin + some(1, 12)}, some(0, 3) == 0};
      free[stream] = one.time.end;
      const std::string name = one.communicates ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : "k";
      if (one.enqueued < 0)
        scenario.orphan_kernel(name, one.time.begin, one.time.end, 7 + stream);
      else
        scenario.kernel(name, t, t + 1, one.time.begin, one.time.end, 7 + stream);
      program.work.push_back(one);
    }
    std::vector<TimeRange>& iterations = program.iterations.emplace_back();
    const Nanoseconds end = some(100, 300);
    for (Nanoseconds t = 0; t < end;) {
      const Nanoseconds length = some(0, 40);
      iterations.push_back({t, t + length});
      t += length + some(0, 1) * some(0, 15);
      if (length == 0) ++t;
    }
  }
  std::sort(program.work.begin(), program.work.end(), [](const Work& a, const Work& b) { return a.time.begin < b.time.begin; });
  return program;
}

struct Expected {
  std::vector<Nanoseconds> busy, others, work, communicating;
};

// The iteration of a process that contains t; -1 if no iteration does.
std::ptrdiff_t iteration_at(const Program& program, std::uint32_t process, Nanoseconds t) {
  const std::vector<TimeRange>& iterations = program.iterations[process];
  const auto found = std::find_if(iterations.begin(), iterations.end(), [&](const TimeRange& one) { return one.contains(t); });
  return found == iterations.end() ? -1 : found - iterations.begin();
}

// Each nanosecond counts for the first operation of the process that covers it, for communication if nothing else of the process runs, and for the other
// processes if nothing of the process runs.
Expected expected_of(const Program& program, std::uint32_t process) {
  const std::vector<Nanoseconds> none(program.iterations[process].size());
  Expected expected{none, none, none, none};
  const auto at = [&](Nanoseconds t) { return iteration_at(program, process, t); };
  for (Nanoseconds t = 0; t < 2 * kSpan; ++t) {
    const Work *work = nullptr, *communication = nullptr;
    bool is_busy = false;
    for (const Work& one : program.work) {
      if (!one.time.contains(t)) continue;
      is_busy = true;
      if (one.process != process) continue;
      const Work*& first = one.communicates ? communication : work;
      if (first == nullptr) first = &one;
    }
    const bool is_own = work != nullptr || communication != nullptr;
    if (is_busy && at(t) >= 0) ++(is_own ? expected.busy : expected.others)[static_cast<std::size_t>(at(t))];
    const auto count = [&](const Work* one, std::vector<Nanoseconds>& times, Nanoseconds else_at) {
      if (one == nullptr) return;
      const auto iteration = at(one->enqueued >= 0 ? one->enqueued : else_at);
      if (iteration >= 0) ++times[static_cast<std::size_t>(iteration)];
    };
    count(work, expected.work, t);
    if (work == nullptr && communication != nullptr) count(communication, expected.communicating, communication->time.begin);
  }
  return expected;
}

// Idle time before work of a process, by cause; `held` is idle time before work that was enqueued by another iteration than the one it lies in.
struct ExpectedIdle {
  std::vector<std::array<Nanoseconds, kIdleCauses>> causes;
  std::vector<Nanoseconds> held, others;
};

ExpectedIdle expected_idle_of(const Program& program, const Trace& trace, std::uint32_t process) {
  const std::size_t iterations = program.iterations[process].size();
  ExpectedIdle expected{std::vector<std::array<Nanoseconds, kIdleCauses>>(iterations), std::vector<Nanoseconds>(iterations),
                        std::vector<Nanoseconds>(iterations)};
  visit_idle(trace, 1, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    const bool is_own = trace.track_of(gap.next.lane).key.process == program.processes[process];
    for (const IdlePart& part : parts)
      for (Nanoseconds t = part.range.begin; t < part.range.end; ++t) {
        const std::ptrdiff_t iteration = iteration_at(program, process, t);
        if (iteration < 0) continue;
        const auto number = static_cast<std::size_t>(iteration);
        const bool waits = part.cause == IdleCause::kDependency || part.cause == IdleCause::kCommunication;
        if (!is_own)
          ++expected.others[number];
        else if (waits && iteration_at(program, process, trace.lane(gap.launch.lane).start(gap.launch.index)) != iteration)
          ++expected.held[number];
        else
          ++expected.causes[number][static_cast<std::size_t>(part.cause)];
      }
  });
  return expected;
}

}  // namespace

TEST_CASE("what a GPU did for the iterations of several processes equals the sum over its nanoseconds") {
  const unsigned seed = GENERATE(range(1u, 60u));
  const Program program = random_program(seed);
  const auto trace = program.builder->snapshot();
  std::vector<IterationSeries> series(kProcesses);
  std::vector<OfProcess> processes(kProcesses);
  std::map<ProcessId, std::vector<GpuId>> gpus;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    series[i].process = program.processes[i];
    processes[i].series = &series[i];
    for (const TimeRange& time : program.iterations[i]) processes[i].iterations.all.push_back({{}, time});
    gpus[program.processes[i]] = {0};
  }
  const RuleContext context{*trace};
  add_what_gpus_did(context, {}, gpus, {}, processes);

  Nanoseconds held = 0;
  for (std::uint32_t process = 0; process < kProcesses; ++process) {
    INFO("seed " << seed << ", process " << process);
    const Expected expected = expected_of(program, process);
    const ExpectedIdle idle = expected_idle_of(program, *trace, process);
    const Iterations& iterations = processes[process].iterations;
    const Iterations::OfGpu& found = iterations.gpus.at(0);
    for (std::size_t i = 0; i < iterations.all.size(); ++i) {
      INFO("iteration " << i);
      CHECK(found.busy_in(i) == expected.busy[i]);
      CHECK(found.of(i, kWork) == expected.work[i]);
      CHECK(found.of(i, kCommunicating) == expected.communicating[i]);
      CHECK(found.of(i, kOthers) == expected.others[i]);
      CHECK(found.of(i, kIdleForOthers) == idle.others[i]);
      CHECK(found.held_in(i) == idle.held[i]);
      held += idle.held[i];
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause) CHECK(found.of(i, cause) == idle.causes[i][cause]);
    }
  }
  if (seed == 1) CHECK(held > 0);  // it does happen
}

// So many operations that work and idle time are added up at the same time.
TEST_CASE("what a GPU did for another process, and was idle for in front of that, is added up beside each other") {
  constexpr Nanoseconds kSteps = 20'000, kStep = 100;
  const auto builder = std::make_shared<TraceBuilder>();
  Scenario first(builder, 100), second(builder, 200);
  std::vector<IterationSeries> series(2);
  std::vector<OfProcess> processes(2);
  std::map<ProcessId, std::vector<GpuId>> gpus;
  for (std::size_t i = 0; i < 2; ++i) {
    series[i].process = (i == 0 ? first : second).process();
    processes[i].series = &series[i];
    gpus[series[i].process] = {0};
  }
  for (Nanoseconds step = 0; step < kSteps; ++step) {
    const Nanoseconds t = step * kStep;
    first.orphan_kernel("a", t, t + 20);
    second.orphan_kernel("b", t + 50, t + 80);
    processes[0].iterations.all.push_back({{}, {t, t + kStep}});
    processes[1].iterations.all.push_back({{}, {t + 50, t + 50 + kStep}});
  }
  const auto trace = builder->snapshot();
  const RuleContext context{*trace};
  add_what_gpus_did(context, {}, gpus, {}, processes);

  const Iterations::OfGpu &of_first = processes[0].iterations.gpus.at(0), &of_second = processes[1].iterations.gpus.at(0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    // Idle until the other process's kernel, then that kernel; nothing follows the last one.
    const Nanoseconds rest = i + 1 < kSteps ? 20 : 0;
    wrong += of_first.of(i, kIdleForOthers) != 30 || of_first.of(i, kOthers) != 30 ? 1 : 0;
    wrong += of_second.of(i, kIdleForOthers) != rest || of_second.of(i, kOthers) != rest ? 1 : 0;
    wrong += of_first.busy_in(i) != 20 || of_second.busy_in(i) != 30 ? 1 : 0;
  }
  CHECK(wrong == 0);
}
