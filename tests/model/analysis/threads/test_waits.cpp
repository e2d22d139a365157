// What an operation waited for, hop by hop: facts of programs whose source is known, and scenes made by hand.
#include "model/analysis/threads/waits.h"

#include <map>
#include <random>

#include "model/import/open_trace.h"
#include "model/trace/combining/combine.h"
#include "model/trace/domains/python_lock.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using test::Scenario;

namespace {

EventRef find(const Trace& trace, TrackKind kind, std::string_view name, std::size_t which = 0) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
        if (trace.name(trace.lane(lane).name(i)).starts_with(name) && which-- == 0) return {lane, i};
  }
  FAIL("no " << name);
  return {};
}

std::string told(const Trace& trace, const std::vector<Wait>& waits) {
  std::string text;
  for (const Wait& wait : waits) {
    static constexpr const char* kKinds[] = {"stream",   "other stream", "enqueued", "call",      "code",
                                             "GPU work", "lock holder",  "writer",   "late rank", "other thread"};
    text += std::string(text.empty() ? "" : " < ") + kKinds[static_cast<std::size_t>(wait.kind)];
    if (wait.event.valid()) text += std::string(" ").append(trace.name(trace.event(wait.event).name));
  }
  return text;
}

std::shared_ptr<const Trace> recorded(const std::string& name) {
  auto trace = open_trace(test::data_file(name + ".trace"));
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

// For how many of these operations the chain contains the words, and how many operations there are.
std::pair<std::size_t, std::size_t> with(const Trace& trace, TrackKind kind, std::string_view words) {
  WaitFinder finder(trace);
  std::size_t found = 0, all = 0;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i, ++all)
        found += told(trace, finder.chain({lane, i}, 12)).find(words) != std::string::npos ? 1 : 0;
  }
  return {found, all};
}

}  // namespace

TEST_CASE("work that was enqueued in time waits for the work in front of it, and that for its call") {
  Scenario program;
  program.range("prepare", 0, 900'000);
  program.kernel("first", 900'000, 905'000, 910'000, 2'000'000);
  program.kernel("second", 905'000, 910'000, 2'001'000, 3'000'000);
  const auto trace = program.trace();
  WaitFinder finder(*trace);
  CHECK(told(*trace, finder.chain(find(*trace, TrackKind::kKernels, "second"), 10)) == "stream first < enqueued cudaLaunchKernel < code prepare");
  CHECK(told(*trace, finder.chain(find(*trace, TrackKind::kKernels, "second"), 1)) == "stream first");
}

TEST_CASE("work that begins long after all that is recorded in front of it waited for something that is not") {
  Scenario program;
  program.kernel("first", 0, 5'000, 10'000, 2'000'000);
  program.kernel("held", 5'000, 8'000, 7'000'000, 8'000'000);  // by a function of the host, for example, 5 ms after its stream was free
  const auto trace = program.trace();
  CHECK(WaitFinder(*trace).chain(find(*trace, TrackKind::kKernels, "held"), 10).empty());
}

TEST_CASE("work of another stream counts where the stream was made to wait for it") {
  Scenario program;
  program.kernel("long", 0, 5'000, 10'000, 5'000'000, 7);
  program.kernel("side", 5'000, 8'000, 15'000, 20'000, 8);
  const ProcessId process = program.process();
  const auto builder = program.builder();
  const auto key = [&](TrackKind kind, std::uint32_t stream) { return TrackKey{.kind = kind, .process = process, .gpu = 0, .context = 1, .stream = stream}; };
  builder->add(key(TrackKind::kCudaEvents, 7), {{5'000'000, 0, 0, 90, builder->intern(CudaEventDetail{.event = 3, .record = 11})}});
  builder->add(key(TrackKind::kSynchronizations, 8), {{9'000, 100, 0, 91, builder->intern(SynchronizationDetail{.type = 2, .event = 3, .event_record = 11})}});
  program.kernel("waits", 12'000, 15'000, 5'002'000, 6'000'000, 8);
  const auto trace = program.trace();
  CHECK(told(*trace, WaitFinder(*trace).chain(find(*trace, TrackKind::kKernels, "waits"), 2)) == "other stream long < enqueued cudaLaunchKernel");
}

TEST_CASE("a call that waits for the GPU leads to the work that it waited for, and no further than time goes back") {
  Scenario program;
  program.kernel("work", 0, 5'000, 10'000, 1'000'000);
  program.call("cudaStreamSynchronize", 6'000, 1'005'000);
  program.kernel("late", 1'006'000, 1'010'000, 1'012'000, 2'000'000);
  program.call("cudaStreamSynchronize", 1'011'000, 2'002'000);
  const auto trace = program.trace();
  WaitFinder finder(*trace);
  const EventRef second = find(*trace, TrackKind::kCudaApi, "cudaStreamSynchronize", 1);
  const std::vector<Wait> chain = finder.chain(second, 10);
  CHECK(told(*trace, chain).starts_with("GPU work late < enqueued cudaLaunchKernel"));
  for (std::size_t i = 1; i < chain.size(); ++i) CHECK(chain[i].time.begin < chain[i - 1].time.end);
}

TEST_CASE("a wait for Python's lock leads to the thread that held it") {
  Scenario program;
  Scenario other = program.on_another_thread();
  const auto builder = program.builder();
  const auto lock = [&](ThreadId thread, std::string_view name, Nanoseconds begin, Nanoseconds end) {
    builder->add({.kind = TrackKind::kNvtxProcessRanges, .process = program.process(), .thread = thread, .domain = 5},
                 {{begin, end - begin, builder->intern(name), 0, 0}});
  };
  builder->set_domain(program.process(), 5, kPythonLockDomain);
  lock(other.thread(), kHoldsPythonLock, 0, 800'000);
  lock(program.thread(), kAwaitsPythonLock, 100'000, 800'000);
  program.kernel("late", 801'000, 805'000, 810'000, 900'000);
  program.kernel("early", 0, 5'000, 10'000, 100'000, 9);
  const auto trace = program.trace();
  const std::string text = told(*trace, WaitFinder(*trace).chain(find(*trace, TrackKind::kKernels, "late"), 10));
  CHECK(text.find("call waits for the GIL < lock holder holds the GIL") != std::string::npos);
}

TEST_CASE("a wait for data leads to the thread that wrote it, and to what that did before") {
  Scenario trainer;
  Scenario loader(trainer.builder(), 200);
  loader.os_call("write", 0, 1'000);
  loader.range("decode", 2'000, 9'000'000);
  loader.os_call("write", 9'000'000, 9'002'000);
  trainer.os_call("poll", 50'000, 9'010'000);
  trainer.kernel("train", 9'020'000, 9'025'000, 9'030'000, 9'500'000);
  const auto trace = trainer.trace();
  CHECK(told(*trace, WaitFinder(*trace).chain(find(*trace, TrackKind::kKernels, "train"), 10)) ==
        "enqueued cudaLaunchKernel < call poll < writer write < code decode");
}

TEST_CASE("a call that enqueues nothing, or comes while the GPU works, is not said to have waited") {
  Scenario program;
  program.kernel("long", 0, 5'000, 10'000, 1'000'000);
  program.call("cudaGetDevice", 900'000, 900'100);  // after 0.9 ms of code
  program.kernel("in time", 950'000, 960'000, 1'000'000, 1'100'000);
  program.call("cudaGetLastError", 1'200'000, 1'200'100);
  program.kernel("too late", 1'500'000, 1'510'000, 1'512'000, 1'600'000);  // the GPU is idle since 1.1 ms
  const auto trace = program.trace();
  WaitFinder finder(*trace);
  CHECK_FALSE(finder.before(find(*trace, TrackKind::kCudaApi, "cudaGetDevice")));
  CHECK_FALSE(finder.before(find(*trace, TrackKind::kCudaApi, "cudaGetLastError")));
  CHECK_FALSE(finder.before(find(*trace, TrackKind::kCudaApi, "cudaLaunchKernel", 1)));
  const std::optional<Wait> late = finder.before(find(*trace, TrackKind::kCudaApi, "cudaLaunchKernel", 2));
  REQUIRE(late);
  CHECK(late->kind == WaitKind::kCode);
  CHECK(late->time.begin >= 1'100'000);
  CHECK(late->time.end <= 1'500'000);
}

TEST_CASE("chains of recorded programs lead to what their sources make them wait for") {
  const auto loader = recorded("cause_slow_loader");  // 30 steps, each of which loads a batch for 15 ms and copies it
  const auto [loaded, copies] = with(*loader, TrackKind::kMemory, "code load batch");
  CHECK(copies >= 30);
  CHECK(loaded >= 29);  // all, except perhaps the first

  const auto lock = recorded("cause_lock");  // 40 steps, each after a mutex that another thread holds for 10 ms
  const auto [locked, kernels] = with(*lock, TrackKind::kKernels, "call pthread_mutex_lock");
  CHECK(kernels >= 40);
  CHECK(locked >= 39);

  const auto synchronized = recorded("cause_sync_each_launch");  // launch and wait alternate
  CHECK(with(*synchronized, TrackKind::kCudaApi, "GPU work").first >= 10'000);
}

TEST_CASE("what a thread did in front of an operation is what the gap in front of that is said to be") {
  for (const char* const name : {"torch_loader_samples", "torch_training_workers0", "torch_training_workers4", "cpu_loader"}) {
    const auto trace = recorded(name);
    WaitFinder finder(*trace);
    std::size_t compared = 0;
    for (const Bubble& bubble : find_bubbles(*trace, 10'000).bubbles) {
      const IdleCause cause = bubble.main_cause();
      if (cause != IdleCause::kCpuCode && cause != IdleCause::kOsBlocked && cause != IdleCause::kOsProcessor) continue;
      const std::vector<Wait> waits = finder.chain(bubble.gap.next, 2);
      if (waits.size() < 2 || waits.back().kind != WaitKind::kCode) continue;
      CAPTURE(name, bubble.gap.range.begin, bubble.gap.range.length(), idle_cause_name(cause), idle_cause_name(waits.back().cause));
      CHECK(waits.back().cause == cause);
      CHECK((wait_words(*trace, waits.back()).english().find("ran code") != std::string::npos) == (cause == IdleCause::kCpuCode));
      ++compared;
    }
    if (std::string_view(name).starts_with("torch")) CHECK(compared > 20);
  }
}

TEST_CASE("however long a gap is, all of what the thread did in it counts") {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  Scenario program;
  program.kernel("early", 0, 5'000, 10'000, 100'000);
  program.os_call("read", kSecond / 2, 4 * kSecond);
  program.range("sort", 4 * kSecond, 5 * kSecond + kSecond / 2);
  program.kernel("late", 6 * kSecond, 6 * kSecond + 5'000, 6 * kSecond + 8'000, 7 * kSecond);
  const auto trace = program.trace();
  const std::vector<Bubble> bubbles = find_bubbles(*trace, kSecond).bubbles;
  REQUIRE(bubbles.size() == 1);
  CHECK(bubbles.front().main_cause() == IdleCause::kOsIo);
  CHECK(told(*trace, WaitFinder(*trace).chain(bubbles.front().gap.next, 2)) == "enqueued cudaLaunchKernel < call read");
}

TEST_CASE("a collective waits for the last rank, and that for what held it up; the transfer is not waiting") {
  Scenario first, second(first.builder(), 200);
  second.on_gpu(1);
  first.kernel("ncclDevKernel_AllReduce", 0, 5'000, 10'000, 10'100'000);
  second.range("slow data", 0, 10'000'000);
  second.kernel("ncclDevKernel_AllReduce", 10'000'000, 10'005'000, 10'010'000, 10'110'000);
  first.kernel("gemm", 5'000, 9'000, 10'101'000, 10'200'000);
  const auto trace = first.trace();
  WaitFinder finder(*trace);
  const auto of = [&](const Scenario& rank) {
    for (const std::size_t which : {0, 1})
      if (const EventRef found = find(*trace, TrackKind::kKernels, "nccl", which); trace->track_of(found.lane).key.process == rank.process()) return found;
    return EventRef{};
  };
  const auto wait = finder.collective_wait(of(first));
  REQUIRE(wait);
  CHECK(wait->waited == 10'090'000 - 100'000);
  CHECK(wait->last == of(second));
  CHECK_FALSE(finder.collective_wait(of(second)));  // this rank came last
  CHECK_FALSE(finder.collective_wait(find(*trace, TrackKind::kKernels, "gemm")));
  CHECK(told(*trace, finder.chain(find(*trace, TrackKind::kKernels, "gemm"), 10)) ==
        "stream ncclDevKernel_AllReduce < late rank ncclDevKernel_AllReduce < enqueued cudaLaunchKernel < code slow data");
}

TEST_CASE("a send waits for no rank that came last, however its kernel's end agrees with another one's") {
  Scenario first, second(first.builder(), 200);
  second.on_gpu(1);
  first.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 0, 5'000, 10'000, 10'100'000);
  second.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 10'000'000, 10'005'000, 10'010'000, 10'110'000);
  const auto trace = first.trace();
  WaitFinder finder(*trace);
  for (const std::size_t which : {0, 1}) CHECK_FALSE(finder.collective_wait(find(*trace, TrackKind::kKernels, "nccl", which)));
}

TEST_CASE("ranks of one machine ran together though its time of day was set between their recordings, and runs laid over each other did not") {
  constexpr Nanoseconds kHour = 3'600'000'000'000, kLater = 2'000'000;  // the second recording started 2 ms later
  const auto rank = [](std::uint32_t pid, Nanoseconds began, Nanoseconds epoch, Nanoseconds time_of_day) {
    Scenario program(pid);
    program.kernel("ncclDevKernel_AllReduce", began, began + 5'000, began + 10'000, 10'100'000 - (epoch - 1));
    Provenance& provenance = program.builder()->provenance();
    provenance.boot_id = "a boot";
    provenance.monotonic_epoch = epoch;
    provenance.utc_epoch = time_of_day;
    return program.trace();
  };
  const auto first = rank(1, 0, 1, kHour), second = rank(2, 7'000'000, 1 + kLater, 3 * kHour);
  const auto wait_of_first = [&](Nanoseconds shift) {
    const auto both = combine_traces(std::vector<TraceSource>{{first, "rank0", 0, {}}, {second, "rank1", shift, {}}});
    return WaitFinder(*both).collective_wait(find(*both, TrackKind::kKernels, "nccl"));
  };
  const auto wait = wait_of_first(kLater);
  REQUIRE(wait);
  CHECK(wait->waited == 9'000'000);  // from 10 us and 9.01 ms to 10.1 ms, on the first recording's clock

  // The same in another hour of that machine.
  const auto over = [&] {
    auto builder = Scenario(4);
    builder.kernel("ncclDevKernel_AllReduce", 9'000'000, 9'005'000, 9'010'000, 10'100'000);
    builder.builder()->provenance().boot_id = "a boot";
    builder.builder()->provenance().monotonic_epoch = 1 + kHour;
    builder.builder()->provenance().utc_epoch = kHour;  // its time of day was set back by an hour in between
    return builder.trace();
  }();
  const auto laid_over = combine_traces(std::vector<TraceSource>{{first, "run 0", 0, {}}, {over, "run 1", 0, {}}});
  CHECK_FALSE(WaitFinder(*laid_over).collective_wait(find(*laid_over, TrackKind::kKernels, "nccl")));

  // A rank on another machine whose clock was set by collectives belongs to the first one's run, whatever its time of day, and not to the run beside it.
  TraceSource elsewhere{[&] {
                          Scenario program(5);
                          program.kernel("ncclDevKernel_AllReduce", 8'000'000, 8'005'000, 8'050'000, 10'100'000);
                          program.builder()->provenance().boot_id = "another boot";
                          program.builder()->provenance().utc_epoch = 9 * kHour;
                          return program.trace();
                        }(),
                        "rank9",
                        0,
                        {}};
  elsewhere.has_collectives_in_common = true;
  const auto three = combine_traces(std::vector<TraceSource>{{first, "rank0", 0, {}}, {over, "run 1", 0, {}}, elsewhere});
  const auto wait_for_elsewhere = WaitFinder(*three).collective_wait(find(*three, TrackKind::kKernels, "nccl"));
  REQUIRE(wait_for_elsewhere);
  CHECK(wait_for_elsewhere->waited == 8'040'000);  // for rank 9, which started at 8.05 ms, and not for the other run, whose kernel started after it
}

namespace {

// By the definition: all kernels with the name, of other ranks of the same run.
std::optional<WaitFinder::CollectiveWait> wait_by_all_kernels(const Trace& trace, EventRef kernel, const std::map<ProcessId, int>& runs) {
  constexpr Nanoseconds kEndsDiffer = 50'000;
  const auto length = [&](EventRef event) { return trace.lane(event.lane).duration(event.index); };
  const auto end = [&](EventRef event) { return trace.lane(event.lane).end(event.index); };
  const TrackKey own = trace.track_of(kernel.lane).key;
  EventRef last = kernel;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels || (track.key.process == own.process && track.key.gpu == own.gpu)) continue;
    if (runs.at(track.key.process) != runs.at(own.process)) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) {
        const EventRef other{lane, i};
        if (trace.event(other).name != trace.event(kernel).name || trace.event(other).start >= end(kernel) + kEndsDiffer) continue;
        if (end(other) <= end(kernel) - kEndsDiffer && trace.event(other).start < end(kernel) - kEndsDiffer) continue;
        if (std::abs(end(other) - end(kernel)) > kEndsDiffer + std::min(length(kernel), length(other))) continue;
        if (length(other) < length(last)) last = other;
      }
  }
  return last == kernel ? std::nullopt : std::optional(WaitFinder::CollectiveWait{last, length(kernel) - length(last)});
}

}  // namespace

TEST_CASE("waits for collectives are those that a look at all kernels of all ranks finds") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 9)));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto up_to = [&random](Nanoseconds most) { return static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(most + 1)); };
  const char* const kNames[] = {"ncclDevKernel_AllReduce", "ncclDevKernel_AllGather", "gemm"};
  // Two runs, laid over each other, with some processes that have one or two GPUs and streams; collectives on these end close to each other, or do not.
  std::vector<TraceSource> runs;
  for (const int run : {0, 1}) {
    const auto builder = std::make_shared<TraceBuilder>();
    for (std::uint32_t process = 0; process < 2 + seed % 3; ++process) {
      Scenario rank(builder, 100 * static_cast<std::uint32_t>(run + 1) + process);
      for (std::uint32_t stream = 0; stream < 3; ++stream) {
        rank.on_gpu(stream % (1 + seed % 2));
        Nanoseconds before = 0;
        for (int i = 0; i < 300; ++i) {
          const Nanoseconds end = i * 400'000 + up_to(60'000) * up_to(3);
          const Nanoseconds begin = std::max(before, end - (up_to(9) == 0 ? 0 : up_to(700'000)));
          if (begin > end) continue;
          rank.orphan_kernel(kNames[up_to(2)], begin, end, stream);
          before = std::max(end, begin + 1);
        }
      }
    }
    builder->provenance().boot_id = "a boot";
    builder->provenance().monotonic_epoch = 1 + run * Nanoseconds{3'600'000'000'000};
    runs.push_back({builder->snapshot(), "run", 0, {}});
  }
  const auto both = combine_traces(runs);
  std::map<ProcessId, int> run_of;
  for (ProcessId process = 0; process < both->processes().size(); ++process) run_of[process] = static_cast<int>(both->processes()[process].pid / 200);
  WaitFinder finder(*both);
  std::size_t kernels = 0, waits = 0;
  for (const Track& track : both->tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < both->lane(lane).size(); ++i) {
        const auto found = finder.collective_wait({lane, i});
        const bool communicates = both->name(both->lane(lane).name(i)).starts_with("nccl");
        const auto expected = communicates ? wait_by_all_kernels(*both, {lane, i}, run_of) : std::nullopt;
        ++kernels;
        waits += expected.has_value();
        REQUIRE(found.has_value() == expected.has_value());
        if (!found) continue;
        REQUIRE(found->last == expected->last);
        REQUIRE(found->waited == expected->waited);
      }
  }
  CHECK(kernels > 2'000);
  CHECK(waits > 200);

  std::size_t visited = 0;
  std::map<LaneId, EventIndex> next;  // of each lane
  finder.for_each_collective_wait([&](EventRef kernel, const WaitFinder::CollectiveWait& wait) {
    ++visited;
    REQUIRE(kernel.index >= next[kernel.lane]);
    next[kernel.lane] = kernel.index + 1;
    const auto found = finder.collective_wait(kernel);
    REQUIRE(found);
    REQUIRE(found->last == wait.last);
    REQUIRE(found->waited == wait.waited);
  });
  CHECK(visited == waits);
}

TEST_CASE("of two recorded ranks, the collectives of one wait for the other, which sleeps 15 ms in each of 20 steps") {
  const std::vector<std::filesystem::path> files{test::data_file("ranks_late0.trace"), test::data_file("ranks_late1.trace")};
  const auto opened = open_traces(files);  // by the time of day
  REQUIRE(opened);
  const auto trace = *opened;
  WaitFinder finder(*trace);
  std::map<ProcessId, Nanoseconds> waited;
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace->lane(lane).size(); ++i)
        if (const auto wait = finder.collective_wait({lane, i}); wait && wait->waited < 100'000'000) waited[track.key.process] += wait->waited;  // of the loop
  }
  Nanoseconds most = 0, least = INT64_MAX;
  for (const auto& [process, time] : waited) {
    most = std::max(most, time);
    least = std::min(least, time);
  }
  CHECK(most >= 20 * 14'000'000);
  CHECK(most <= 20 * 17'000'000);
  if (waited.size() > 1) CHECK(least < most / 10);
}

TEST_CASE("chains of every recording end, and go back in time") {
  for (const char* const name :
       {"torch_training_workers4", "torch_graph", "numba_streams_bug", "unified_memory", "jax_training", "cuda_streams", "ranks_late0"}) {
    const auto trace = recorded(name);
    WaitFinder finder(*trace);
    for (const Track& track : trace->tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace->lane(lane).size(); i += std::max<EventIndex>(1, trace->lane(lane).size() / 20)) {
          Nanoseconds before = std::numeric_limits<Nanoseconds>::max();
          std::vector<EventRef> seen{{lane, i}};
          for (const Wait& wait : finder.chain({lane, i}, 50)) {
            REQUIRE(wait.time.begin < before);
            REQUIRE(std::find(seen.begin(), seen.end(), wait.event) == seen.end());
            CHECK(!wait_words(*trace, wait).empty());
            before = wait.time.end;
            seen.push_back(wait.event);
          }
        }
  }
}
