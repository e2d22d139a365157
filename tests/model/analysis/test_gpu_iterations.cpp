// What GPUs did in the iterations of several processes, against a look at each nanosecond.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "../../../model/analysis/idle/gpu_operations.h"
#include "../../../model/analysis/rules/gpu_iterations.h"
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

// Processes that share a GPU, two streams each; kernels follow their launch as late as streams are free, or later.
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
  std::set<Nanoseconds> starts;  // each another, so that what ran first is known
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
  std::vector<Nanoseconds> busy, work, communicating;
};

// Each nanosecond is of the first operation that covers it, and of communication where nothing else runs.
Expected expected_of(const Program& program, std::uint32_t process) {
  const std::vector<TimeRange>& iterations = program.iterations[process];
  Expected expected{std::vector<Nanoseconds>(iterations.size()), std::vector<Nanoseconds>(iterations.size()), std::vector<Nanoseconds>(iterations.size())};
  const auto at = [&](Nanoseconds t) -> std::ptrdiff_t {
    const auto found = std::find_if(iterations.begin(), iterations.end(), [&](const TimeRange& one) { return one.contains(t); });
    return found == iterations.end() ? -1 : found - iterations.begin();
  };
  for (Nanoseconds t = 0; t < 2 * kSpan; ++t) {
    const Work *work = nullptr, *communication = nullptr;
    for (const Work& one : program.work) {
      if (!one.time.contains(t)) continue;
      const Work*& first = one.communicates ? communication : work;
      if (first == nullptr) first = &one;
    }
    if ((work != nullptr || communication != nullptr) && at(t) >= 0) ++expected.busy[static_cast<std::size_t>(at(t))];
    const auto count = [&](const Work* one, std::vector<Nanoseconds>& times, Nanoseconds else_at) {
      if (one == nullptr) return;
      const auto iteration = one->process == process && one->enqueued >= 0 ? at(one->enqueued) : at(else_at);
      if (iteration >= 0) ++times[static_cast<std::size_t>(iteration)];
    };
    count(work, expected.work, t);
    if (work == nullptr && communication != nullptr) count(communication, expected.communicating, communication->time.begin);
  }
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
  add_what_gpus_did(context, {}, gpus, Overhead::kDiffers, processes);

  std::vector<IdlePart> idle;
  visit_idle(*trace, 1, [&](const IdleGap&, std::span<const IdlePart> parts) { idle.insert(idle.end(), parts.begin(), parts.end()); });
  for (std::uint32_t process = 0; process < kProcesses; ++process) {
    INFO("seed " << seed << ", process " << process);
    const Expected expected = expected_of(program, process);
    const Iterations& iterations = processes[process].iterations;
    const Iterations::OfGpu& found = iterations.gpus.at(0);
    for (std::size_t i = 0; i < iterations.all.size(); ++i) {
      INFO("iteration " << i);
      CHECK(found.busy_in(i) == expected.busy[i]);
      CHECK(found.of(i, kWork) == expected.work[i]);
      CHECK(found.of(i, kCommunicating) == expected.communicating[i]);
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
        Nanoseconds time = 0;
        for (const IdlePart& part : idle)
          if (static_cast<std::size_t>(part.cause) == cause) time += part.range.intersected(iterations.all[i].time).length();
        CHECK(found.of(i, cause) == time);
      }
    }
  }
}
