// Idle time: the causes of hand-made gaps, and every nanosecond of random gaps against a slow, obvious oracle.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "../../../model/analysis/idle/counter_readings.h"
#include "../../../model/analysis/idle/gpu_operations.h"
#include "model/analysis/idle/idle.h"
#include "model/trace/domains/python_lock.h"
#include "model/trace/kernel_records.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using lanescope::test::Scenario;

namespace {

std::map<std::string, Nanoseconds> time_by_cause(const Trace& trace, Nanoseconds threshold = 1) {
  std::map<std::string, Nanoseconds> time;
  visit_idle(trace, threshold, [&](const IdleGap&, std::span<const IdlePart> parts) {
    for (const IdlePart& part : parts) time[std::string(idle_cause_key(part.cause))] += part.range.length();
  });
  return time;
}

using Causes = std::map<std::string, Nanoseconds>;

// Random work of one process on two GPUs, launched by two threads that also wait, compute, read and nest ranges. Some launches were measured if that is
// allowed.
std::shared_ptr<const Trace> random_trace(unsigned seed, std::uint32_t measured_launches = 0, int steps = 40) {
  std::mt19937 random(seed);
  const auto between = [&](Nanoseconds low, Nanoseconds high) { return std::uniform_int_distribution<Nanoseconds>(low, high)(random); };
  const auto builder = std::make_shared<TraceBuilder>();
  for (std::uint32_t pid : {100u, 200u}) {
    Scenario program(builder, pid);
    program.on_gpu(pid == 100 ? 0 : 1);
    Nanoseconds t = between(0, 50), gpu_free = 0;
    for (int i = 0; i < steps; ++i) {
      switch (between(0, 8)) {
        case 0:
          program.call("cudaStreamSynchronize", t, std::max(t + 1, gpu_free + between(-5, 10)));
          t = std::max(t + 1, gpu_free + 10);
          break;
        case 1:
          program.os_call("read", t, t + between(1, 30));
          t += 30;
          break;
        case 2:
          program.overhead(t, t + between(1, 9));
          t += between(1, 12);
          break;
        case 3:
          program.call("cudaMalloc", t, t + 8);
          t += 8 + between(0, 9);
          break;
        case 4:
          program.range("work", t, t + 20);
          t += between(0, 25);
          break;
        case 5: {
          const Nanoseconds end = t + between(1, 20);
          program.state(static_cast<ThreadState>(between(1, 3)), t, end);
          program.os_call("read", t + 1, t + 3);  // is more specific than the state
          t = end + 3;
          break;
        }
        default: {
          const Nanoseconds call_end = t + between(1, 6), begin = std::max(gpu_free, call_end + between(-2, 15)), end = begin + between(0, 20);
          if (between(0, 9) == 0)
            program.orphan_kernel("k", begin, end);
          else
            program.kernel("k", t, call_end, begin, end, static_cast<std::uint32_t>(between(7, 8)));
          gpu_free = begin + between(0, end - begin);  // the next kernel may overlap it
          t = call_end + between(0, 12);
        }
      }
    }
  }
  for (std::uint32_t launch = 0; launch < measured_launches; ++launch)
    builder->add(MeasuredLaunch{launch % 2, static_cast<std::uint32_t>(between(1, 40)), KernelReplay::kKernel, 3, {}, 0, {}});
  return builder->snapshot();
}

struct Covered {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  std::set<Nanoseconds> busy;  // looks at each nanosecond
};

std::map<GpuId, Covered> nanoseconds_one_by_one(const Trace& trace) {
  std::map<GpuId, Covered> gpus;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind)) continue;
    Covered& gpu = gpus[track.key.gpu];
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) {
        gpu.first = std::min(gpu.first, trace.lane(id).start(i));
        gpu.last = std::max(gpu.last, trace.lane(id).end(i));
        for (Nanoseconds t = trace.lane(id).start(i); t < trace.lane(id).end(i); ++t) gpu.busy.insert(t);
      }
  }
  return gpus;
}

}  // namespace

TEST_CASE("every idle nanosecond of a GPU has one cause, and no busy one has") {
  const auto seed = GENERATE(range(1u, 60u));
  const auto trace = random_trace(seed);
  const std::map<GpuId, Covered> oracle = nanoseconds_one_by_one(*trace);
  std::map<GpuId, std::map<Nanoseconds, int>> attributed;
  const auto gpus = visit_idle(*trace, 1, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    REQUIRE(!parts.empty());
    CHECK(parts.front().range.begin == gap.range.begin);
    CHECK(parts.back().range.end == gap.range.end);
    for (const IdlePart& part : parts)
      for (Nanoseconds t = part.range.begin; t < part.range.end; ++t) ++attributed[gap.gpu][t];
  });
  REQUIRE(gpus.size() == oracle.size());
  for (const GpuIdle& gpu : gpus) {
    const Covered& covered = oracle.at(gpu.gpu);
    CHECK(gpu.extent == TimeRange{covered.first, covered.last});
    CHECK(gpu.idle == covered.last - covered.first - static_cast<Nanoseconds>(covered.busy.size()));
    CHECK(gpu.busy() == static_cast<Nanoseconds>(covered.busy.size()));
    for (Nanoseconds t = covered.first; t < covered.last; ++t) {
      const auto found = attributed[gpu.gpu].find(t);
      const int times = found == attributed[gpu.gpu].end() ? 0 : found->second;
      REQUIRE(times == (covered.busy.contains(t) ? 0 : 1));
    }
  }
}

TEST_CASE("before the launch, a cause is what the tracks of the launching thread say at that nanosecond") {
  const auto seed = GENERATE(range(1u, 60u));
  const auto trace = random_trace(seed);
  const auto covers = [&](TrackKind kind, ThreadId thread, Nanoseconds t) -> std::optional<Event> {  // slow: looks at every event
    for (const Track& track : trace->tracks()) {
      if (track.key.kind != kind || track.key.thread != thread) continue;
      for (const LaneId id : track.lanes)  // outermost first
        for (EventIndex i = 0; i < trace->lane(id).size(); ++i)
          if (trace->lane(id).start(i) <= t && t < trace->lane(id).end(i)) return trace->lane(id).event(i);
    }
    return std::nullopt;
  };
  const auto cause_at = [&](ThreadId thread, Nanoseconds t) {
    if (covers(TrackKind::kOverhead, thread, t)) return IdleCause::kOverhead;
    if (const auto call = covers(TrackKind::kCudaApi, thread, t)) {
      const std::string_view name = trace->name(call->name);
      if (name == "cudaStreamSynchronize") return IdleCause::kSynchronize;
      return name == "cudaMalloc" ? IdleCause::kCudaSetup : IdleCause::kLaunch;
    }
    if (covers(TrackKind::kOsRuntime, thread, t)) return IdleCause::kOsIo;
    const auto held = covers(TrackKind::kThreadStates, thread, t);
    const ThreadState state = held ? trace->thread_state_detail(held->detail).state : ThreadState::kRunning;
    if (state == ThreadState::kBlocked) return IdleCause::kOsBlocked;
    return state == ThreadState::kRunnable ? IdleCause::kOsProcessor : IdleCause::kCpuCode;
  };
  visit_idle(*trace, 1, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    CHECK(gap.launch == trace->launch_of(gap.next).value_or(EventRef{}));
    if (!gap.launch.valid()) return;
    const ThreadId thread = trace->track_of(gap.launch.lane).key.thread;
    for (const IdlePart& part : parts)
      for (Nanoseconds t = part.range.begin; t < std::min(part.range.end, trace->event(gap.launch).start); ++t) REQUIRE(part.cause == cause_at(thread, t));
  });
}

TEST_CASE("gaps below the threshold and causes above it add up to the idle time") {
  const auto seed = GENERATE(range(1u, 40u));
  const auto threshold = GENERATE(Nanoseconds{1}, Nanoseconds{7}, Nanoseconds{15}, Nanoseconds{1000});
  const auto trace = random_trace(seed);
  std::map<GpuId, Nanoseconds> sums;
  const auto gpus = visit_idle(*trace, threshold, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    CHECK(gap.range.length() >= threshold);
    for (const IdlePart& part : parts) sums[gap.gpu] += part.range.length();
  });
  for (const GpuIdle& gpu : gpus) CHECK(sums[gpu.gpu] + gpu.short_idle == gpu.idle);
}

TEST_CASE("windows that adjoin hold together what the whole trace holds, and what lies in each") {
  const auto seed = GENERATE(range(1u, 12u));
  const auto trace = random_trace(seed);
  const LaunchIndex launches(*trace);
  for (const Nanoseconds threshold : {Nanoseconds{1}, Nanoseconds{20}}) {
    std::vector<std::string> whole, cut;  // nanosecond by nanosecond
    const auto note = [](std::vector<std::string>& into) {
      return [&into](const IdleGap& gap, std::span<const IdlePart> parts) {
        for (const IdlePart& part : parts)
          for (Nanoseconds t = part.range.begin; t < part.range.end; ++t)
            into.push_back(std::to_string(gap.gpu) + "|" + std::to_string(t) + "|" + std::string(idle_cause_key(part.cause)) + "|" + std::to_string(part.call) +
                           "|" + std::to_string(gap.next.index));
      };
    };
    std::map<GpuId, Nanoseconds> idle, extent, short_idle;
    std::map<GpuId, std::uint64_t> operations;
    for (const GpuIdle& gpu : visit_idle(*trace, launches, threshold, note(whole))) {
      idle[gpu.gpu] -= gpu.idle;
      extent[gpu.gpu] -= gpu.extent.length();
      short_idle[gpu.gpu] -= gpu.short_idle;
      operations[gpu.gpu] -= gpu.operations;
    }
    const TimeRange all = trace->extent();
    const Nanoseconds first = all.begin + all.length() / 3, second = all.begin + all.length() / 2;
    for (const TimeRange window : {TimeRange{all.begin, first}, TimeRange{first, second}, TimeRange{second, all.end + 1}})
      for (const GpuIdle& gpu : visit_idle_within(*trace, launches, window, threshold, note(cut))) {
        CHECK(gpu.extent == gpu.extent.intersected(window));
        idle[gpu.gpu] += gpu.idle;
        extent[gpu.gpu] += gpu.extent.length();
        short_idle[gpu.gpu] += gpu.short_idle;
        operations[gpu.gpu] += gpu.operations;
      }
    std::sort(whole.begin(), whole.end());
    std::sort(cut.begin(), cut.end());
    CHECK((whole == cut));
    for (const auto& sums : {idle, extent, short_idle})
      for (const auto& [gpu, difference] : sums) CHECK(difference == 0);
    for (const auto& [gpu, difference] : operations) CHECK(difference == 0);
  }
}

TEST_CASE("visitors that share the time see, one behind the other, what one visitor sees") {
  const auto seed = GENERATE(range(1u, 60u));
  const auto count = GENERATE(range(std::size_t{2}, std::size_t{6}));
  const auto trace = random_trace(seed);
  using Seen = std::map<GpuId, std::vector<std::tuple<Nanoseconds, Nanoseconds, IdleCause, NameId>>>;
  const auto visitor_into = [](Seen& seen) {
    return [&seen](const IdleGap& gap, std::span<const IdlePart> parts) {
      for (const IdlePart& part : parts) seen[gap.gpu].emplace_back(part.range.begin, part.range.end, part.cause, part.call);
    };
  };
  Seen alone;
  const auto gpus = visit_idle(*trace, 3, visitor_into(alone));
  std::vector<Seen> shared(count);
  std::vector<IdleVisitor> visitors;
  for (Seen& seen : shared) visitors.emplace_back(visitor_into(seen));
  const auto gpus_in_parts = visit_idle_in_parts(*trace, LaunchIndex(*trace), 3, visitors);
  Seen joined;
  for (const Seen& seen : shared)
    for (const auto& [gpu, parts] : seen) joined[gpu].insert(joined[gpu].end(), parts.begin(), parts.end());
  CHECK(joined == alone);
  REQUIRE(gpus_in_parts.size() == gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    CHECK(gpus_in_parts[i].extent == gpus[i].extent);
    CHECK(gpus_in_parts[i].idle == gpus[i].idle);
    CHECK(gpus_in_parts[i].operations == gpus[i].operations);
    CHECK(gpus_in_parts[i].gaps == gpus[i].gaps);
    CHECK(gpus_in_parts[i].short_idle == gpus[i].short_idle);
  }
}

TEST_CASE("visitors beside each other see what each sees alone, of GPUs with more work than is gone through at once") {
  const auto measured = GENERATE(0u, 30u);
  const auto trace = random_trace(7, measured, 60'000);
  const LaunchIndex launches(*trace);
  using Gap = std::tuple<GpuId, TimeRange, EventRef, EventRef, TimeRange>;
  using Part = std::tuple<Nanoseconds, Nanoseconds, IdleCause, NameId, EventRef>;
  struct Seen {
    std::vector<std::pair<Gap, std::size_t>> gaps;  // each gap with the end index of its parts
    std::vector<Part> parts;
    bool operator==(const Seen&) const = default;
  };
  const auto visitor_into = [](Seen& seen) {
    return [&seen](const IdleGap& gap, std::span<const IdlePart> parts) {
      for (const IdlePart& part : parts) seen.parts.emplace_back(part.range.begin, part.range.end, part.cause, part.call, part.nvtx);
      seen.gaps.push_back({{gap.gpu, gap.range, gap.next, gap.launch, gap.launch_time}, seen.parts.size()});
    };
  };
  for (const Nanoseconds threshold : {Nanoseconds{1}, Nanoseconds{12}}) {
    Seen alone;
    const auto gpus = visit_idle(*trace, launches, threshold, visitor_into(alone));
    for (const auto& [gap, end] : alone.gaps) {
      const auto& [gpu, range, next, launch, launch_time] = gap;
      if (launch.valid()) REQUIRE(launch_time == TimeRange{trace->lane(launch.lane).start(launch.index), trace->lane(launch.lane).end(launch.index)});
    }
    std::vector<Seen> seen(3);
    std::vector<IdleVisitor> visitors;
    for (Seen& one : seen) visitors.emplace_back(visitor_into(one));
    const auto beside = visit_idle_beside(*trace, launches, threshold, visitors, {});
    for (const Seen& one : seen) CHECK((one == alone));
    REQUIRE(gpus.size() == 2);
    REQUIRE(beside.size() == 2);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      CHECK(gpus[i].operations > 17'000);
      CHECK(beside[i].gpu == gpus[i].gpu);
      CHECK(beside[i].extent == gpus[i].extent);
      CHECK(beside[i].idle == gpus[i].idle);
      CHECK(beside[i].operations == gpus[i].operations);
      CHECK(beside[i].gaps == gpus[i].gaps);
      CHECK(beside[i].short_gaps == gpus[i].short_gaps);
      CHECK(beside[i].short_idle == gpus[i].short_idle);
    }
  }
}

TEST_CASE("gaps that touch a time are found as among all, and the profiler took none of the others") {
  using Seen = std::vector<std::tuple<GpuId, Nanoseconds, Nanoseconds, std::vector<std::pair<Nanoseconds, IdleCause>>>>;
  std::size_t of_profiler = 0, passed_over = 0;
  for (unsigned seed = 1; seed < 60; ++seed) {
    const auto trace = random_trace(seed, seed % 4);
    const LaunchIndex launches(*trace);
    const auto seen_into = [](Seen& seen) {
      return [&seen](const IdleGap& gap, std::span<const IdlePart> parts) {
        seen.emplace_back(gap.gpu, gap.range.begin, gap.range.end, 0);
        for (const IdlePart& part : parts) std::get<3>(seen.back()).emplace_back(part.range.begin, part.cause);
      };
    };
    const std::vector<TimeRange> times = overhead_times(*trace, {}), few = overhead_times(*trace, {}, 3);
    CHECK(few.size() <= 3);
    for (const TimeRange& time : times)
      CHECK(std::any_of(few.begin(), few.end(), [&](const TimeRange& one) { return one.begin <= time.begin && time.end <= one.end; }));
    Seen all, touched, found;
    visit_idle(*trace, launches, 1, seen_into(all));
    for (const auto& gap : all) {
      const auto& [gpu, begin, end, parts] = gap;
      if (std::any_of(times.begin(), times.end(), [&](const TimeRange& time) { return time.begin <= end && time.end >= begin; })) touched.push_back(gap);
      const auto is_overhead = [](const auto& part) { return part.second == IdleCause::kOverhead; };
      const bool is_of_profiler = std::any_of(parts.begin(), parts.end(), is_overhead);
      CHECK((!is_of_profiler || (!touched.empty() && touched.back() == gap)));
      of_profiler += is_of_profiler;
    }
    passed_over += all.size() - touched.size();
    const auto visitor = gaps_that_touch(*trace, launches, times, seen_into(found));
    OperationVisitor* const alone = visitor.get();
    visit_operations(*trace, GpuOperations::kEver, {&alone, 1});
    CHECK(found == touched);
  }
  CHECK(of_profiler > 50);
  CHECK(passed_over > 50);
}

TEST_CASE("a gap in which the thread ran code of its own is CPU code in its NVTX range") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.range("load batch", 90, 50'000);
  program.kernel("b", 60'000, 60'010, 60'015, 60'100);
  const auto trace = program.trace();
  const Bubbles found = find_bubbles(*trace, 1);
  REQUIRE(found.bubbles.size() == 1);
  const Bubble& bubble = found.bubbles.front();
  CHECK(bubble.gap.range == TimeRange{100, 60'015});
  CHECK(bubble.main_cause() == IdleCause::kCpuCode);
  REQUIRE(bubble.parts.size() == 3);
  CHECK(bubble.parts[0].range == TimeRange{100, 50'000});  // inside the range
  CHECK(trace->name(trace->event(bubble.parts[0].nvtx).name) == "load batch");
  CHECK(bubble.parts[1].range == TimeRange{50'000, 60'000});  // outside the range
  CHECK_FALSE(bubble.parts[1].nvtx.valid());
  CHECK(bubble.parts[2].range == TimeRange{60'000, 60'015});  // the launch and its latency until the GPU starts
  CHECK(bubble.parts[2].cause == IdleCause::kLaunch);
}

TEST_CASE("calls into the C library say what the thread waited for") {
  const auto [call, cause] = GENERATE(table<std::string, std::string>({{"read", "os_io"},
                                                                       {"fsync", "os_io"},
                                                                       {"pthread_mutex_lock", "os_lock"},
                                                                       {"pthread_cond_timedwait", "os_lock"},
                                                                       {"sem_wait", "os_lock"},
                                                                       {"nanosleep", "os_sleep"},
                                                                       {"poll", "os_queue"},
                                                                       {"epoll_wait", "os_queue"},
                                                                       {"pthread_timedjoin_np", "os_lock"},
                                                                       {"waitid", "os_lock"},
                                                                       {"wait", "os_lock"},
                                                                       {"__pread64_chk", "os_io"},
                                                                       {"fopen64", "os_io"},
                                                                       {"__poll_chk", "os_queue"},
                                                                       {"pthread_create", "os_other"},  // "read" is not one of its words,
                                                                       {"getrandom", "os_other"},       // neither is "get" here,
                                                                       {"munmap", "os_other"},          // and this call frees memory
                                                                       {"backtrace", "os_other"}}));
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.os_call(call, 100, 5'000);
  program.kernel("b", 5'000, 5'010, 5'010, 5'100);
  CHECK(time_by_cause(*program.trace()) == Causes{{cause, 4'900}, {"launch", 10}});
}

TEST_CASE("waiting for Python's lock is a cause, holding it is none, and neither stands for the program's own range") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.range("step", 0, 6'000);
  TrackKey key{TrackKind::kNvtxProcessRanges, program.process()};
  key.thread = program.thread();
  key.domain = 3;
  program.builder()->set_domain(program.process(), key.domain, kPythonLockDomain);
  const auto add = [&](std::string_view name, Nanoseconds begin, Nanoseconds end) {
    program.builder()->add(key, {Event{begin, end - begin, program.builder()->intern(name), 0, 0}});
  };
  add(kHoldsPythonLock, 0, 1'000);
  add(kAwaitsPythonLock, 1'000, 4'000);
  add(kHoldsPythonLock, 4'000, 6'000);
  program.kernel("b", 5'000, 5'010, 5'010, 5'100);
  const auto trace = program.trace();
  CHECK(time_by_cause(*trace) == Causes{{"os_lock", 3'000}, {"cpu_code", 900 + 1'000}, {"launch", 10}});
  for (const EventRef range : trace->nvtx_stack(program.thread(), 2'000)) CHECK(trace->name(trace->lane(range.lane).name(range.index)) == "step");
}

TEST_CASE("where no call says it, the scheduler says whether the thread ran, was blocked, or got no processor") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.state(ThreadState::kRunning, 0, 1'000);
  program.state(ThreadState::kBlocked, 1'000, 4'000);
  program.os_call("read", 2'000, 2'500);
  program.state(ThreadState::kRunnable, 4'000, 4'600);
  program.state(ThreadState::kRunning, 4'600, 6'000);
  program.kernel("b", 5'000, 5'010, 5'010, 5'100);
  CHECK(time_by_cause(*program.trace()) == Causes{{"cpu_code", 900 + 400}, {"os_blocked", 2'500}, {"os_io", 500}, {"os_processor", 600}, {"launch", 10}});
}

TEST_CASE("a wait that empties the queue answers for the launch behind it, and not for the code between") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.call("cudaDeviceSynchronize", 20, 130);
  program.kernel("b", 150, 160, 165, 200);
  CHECK(time_by_cause(*program.trace()) == Causes{{"synchronize", 30 + 10 + 5}, {"cpu_code", 20}});
}

TEST_CASE("a wait answers for no launch that nothing enqueued would have hidden") {
  Scenario held_up;  // 600 us are caused by a lock, or by code that is loaded
  held_up.kernel("a", 0, 10, 12, 100);
  held_up.call("cudaDeviceSynchronize", 20, 130);
  held_up.kernel("b", 150, 600'150, 600'155, 700'000);
  CHECK(time_by_cause(*held_up.trace()) == Causes{{"synchronize", 30}, {"cpu_code", 20}, {"launch", 600'005}});
  Scenario later;  // in between, the CPU computed for 14 ms
  later.kernel("a", 0, 10, 12, 100);
  later.call("cudaDeviceSynchronize", 20, 130);
  later.kernel("b", 14'000'130, 14'000'140, 14'000'145, 14'001'000);
  CHECK(time_by_cause(*later.trace()) == Causes{{"synchronize", 30}, {"cpu_code", 14'000'000}, {"launch", 15}});
  const auto launched_within = [](Nanoseconds time) {  // from the end of the wait to the end of the launch
    Scenario program;
    program.kernel("a", 0, 10, 12, 100);
    program.copy("cudaMemcpy", MemoryKind::kPinned, 4096, 90, 130, 100, 120);
    program.kernel("b", 120 + time, 130 + time, 130 + time, 700'000);
    return time_by_cause(*program.trace());
  };
  CHECK(launched_within(200'000) == Causes{{"copy", 10 + 10}, {"cpu_code", 199'990}});
  CHECK(launched_within(200'001) == Causes{{"copy", 10}, {"cpu_code", 199'991}, {"launch", 10}});
}

TEST_CASE("while a kernel is run again for its counters, its GPU is idle for that, whichever thread launches next") {
  Scenario forward;
  Scenario backward = forward.on_another_thread();
  backward.kernel("before", 0, 5, 6, 10, 8);
  forward.kernel("measured", 10, 40'000, 12, 100);  // the call returns when all passes are finished
  forward.builder()->add(MeasuredLaunch{forward.process(), 1, KernelReplay::kKernel, 3, {}, 0, {}});
  backward.kernel("next", 39'000, 45'010, 45'015, 45'100, 8);  // a queue would have hidden what comes after the reading of counters
  backward.on_gpu(1).kernel("elsewhere", 5, 8, 9, 100, 9);
  backward.kernel("elsewhere", 30'100, 30'110, 30'110, 30'200, 9);
  std::map<GpuId, Causes> causes;
  const auto trace = forward.trace();
  visit_idle(*trace, 1, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    for (const IdlePart& part : parts) causes[gap.gpu][std::string(idle_cause_key(part.cause))] += part.range.length();
  });
  REQUIRE(causes.size() == 2);
  CHECK(causes[0] == Causes{{"overhead", 2 + 44'915}});
  CHECK(causes[1] == Causes{{"cpu_code", 30'000}, {"launch", 10}});

  Scenario loads;  // for longer than a queue can hide
  loads.kernel("measured", 10, 40'000, 12, 100);
  loads.builder()->add(MeasuredLaunch{loads.process(), 1, KernelReplay::kKernel, 3, {}, 0, {}});
  loads.kernel("next", 9'040'000, 9'040'010, 9'040'010, 9'040'100);
  CHECK(time_by_cause(*loads.trace()) == Causes{{"overhead", 39'900}, {"cpu_code", 9'000'000}, {"launch", 10}});
}

TEST_CASE("what had been enqueued before the gap waited on the GPU") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100, 7);
  program.call("cudaStreamWaitEvent", 12, 14);
  program.kernel("b", 15, 20, 5'000, 6'000, 8);
  const auto trace = program.trace();
  const Bubbles found = find_bubbles(*trace, 1);
  REQUIRE(found.bubbles.size() == 1);
  REQUIRE(found.bubbles[0].parts.size() == 1);
  CHECK(found.bubbles[0].parts[0].cause == IdleCause::kDependency);
  CHECK(trace->name(found.bubbles[0].parts[0].call) == "cudaStreamWaitEvent");
}

TEST_CASE("an operation that starts long after its launch waited; one that starts soon was on its way") {
  Scenario soon;
  soon.kernel("a", 0, 10, 12, 100);
  soon.kernel("b", 100, 110, 10'110, 10'200);
  CHECK(time_by_cause(*soon.trace()) == Causes{{"launch", 10'010}});
  Scenario late;
  late.kernel("a", 0, 10, 12, 100);
  late.kernel("b", 100, 110, 10'111, 10'200);
  CHECK(time_by_cause(*late.trace()) == Causes{{"launch", 10}, {"dependency", 10'001}});
}

TEST_CASE("blocking copies and the staging of pageable memory are copies") {
  Scenario blocking;
  blocking.kernel("a", 0, 10, 12, 100);
  blocking.copy("cudaMemcpy", MemoryKind::kPinned, 4096, 100, 400, 300, 390);
  CHECK(time_by_cause(*blocking.trace()) == Causes{{"copy", 200}});
  Scenario pageable;
  pageable.kernel("a", 0, 10, 12, 100);
  pageable.copy("cudaMemcpyAsync", MemoryKind::kPageable, 4096, 100, 400, 300, 390);
  CHECK(time_by_cause(*pageable.trace()) == Causes{{"copy", 200}});
  Scenario pinned;
  pinned.kernel("a", 0, 10, 12, 100);
  pinned.copy("cudaMemcpyAsync", MemoryKind::kPinned, 4096, 100, 110, 300, 390);
  CHECK(time_by_cause(*pinned.trace()) == Causes{{"launch", 200}});
}

TEST_CASE("allocation, the profiler, communication and the unknown have names") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.call("cudaMalloc", 100, 150);
  program.overhead(150, 180);
  program.range("ncclAllReduce", 180, 240);
  program.kernel("b", 250, 260, 260, 300);
  program.orphan_kernel("c", 340, 400);
  CHECK(time_by_cause(*program.trace()) ==
        Causes{{"cuda_setup", 50}, {"overhead", 30}, {"communication", 60}, {"cpu_code", 10}, {"launch", 10}, {"unknown", 40}});
}

TEST_CASE("a communication kernel that was enqueued and waits is communication") {
  Scenario program;
  program.kernel("a", 0, 10, 12, 100);
  program.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 15, 20, 5'000, 6'000, 20);
  CHECK(time_by_cause(*program.trace()) == Causes{{"communication", 4'900}});
}

TEST_CASE("other processes on the same GPU keep it busy") {
  const auto builder = std::make_shared<TraceBuilder>();
  Gpu shared;
  shared.uuid = "0123456789abcdef";
  Scenario first(builder, 100), second(builder, 200);
  builder->set_device(first.process(), 0, shared);
  builder->set_device(second.process(), 0, shared);
  first.on_gpu(0).kernel("a", 0, 10, 10, 100);
  second.on_gpu(0).kernel("b", 0, 10, 90, 300);
  first.kernel("c", 250, 290, 320, 400);
  const auto gpus = visit_idle(*builder->snapshot(), 1, [](const IdleGap&, std::span<const IdlePart>) {});
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].idle == 20);
}
