// The way back through a step: for programs whose construction tells what each operation waited for, and for recordings.
#include "model/analysis/threads/critical_path.h"
#include "model/analysis/threads/waits.h"

#include <algorithm>
#include <random>
#include <tuple>

#include "model/analysis/path_tables.h"
#include "model/import/open_trace.h"
#include "model/text/language.h"
#include "model/trace/domains/python_lock.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using test::Scenario;

namespace {

std::string told(const Trace& trace, const PathPart& part) {
  static constexpr const char* kKinds[] = {"GPU", "enqueued", "on the way", "thread", "return", "unknown"};
  std::string text = std::to_string(part.range.begin) + ".." + std::to_string(part.range.end) + " " + kKinds[static_cast<std::size_t>(part.kind)];
  if (part.kind == PathKind::kThread) text += std::string(" ").append(idle_cause_key(part.cause));
  if (part.event.valid()) text += std::string(" ").append(trace.name(trace.event(part.event).name));
  return text;
}

std::vector<std::string> told(const Trace& trace, const CriticalPath& path) {
  std::vector<std::string> lines;
  for (const PathPart& part : path.parts) lines.push_back(told(trace, part));
  return lines;
}

// True if the parts cover the step exactly, one after another.
bool covers(const CriticalPath& path) {
  Nanoseconds t = path.range.begin;
  for (const PathPart& part : path.parts) {
    if (part.range.begin != t || part.range.empty()) return false;
    t = part.range.end;
  }
  return t == path.range.end;
}

constexpr Nanoseconds kTick = 20'000;  // more than the possible distance between an operation and what it waited for
constexpr Nanoseconds kLatency = 1'000;

// A thread that at random launches into three streams, makes them wait for each other, and waits for the GPU; and the way back through it, by what the program
// made each operation wait for.
class Program {
 public:
  explicit Program(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 60; ++i) act();
    synchronize();
    scenario_.range("step", 0, t_);
  }

  [[nodiscard]] std::shared_ptr<const Trace> trace() { return scenario_.trace(); }
  [[nodiscard]] Nanoseconds end() const { return t_; }

  // The oracle.
  [[nodiscard]] std::vector<std::string> path(TimeRange step) const {
    std::vector<std::string> lines;
    Nanoseconds t = step.end;
    const auto take = [&](Nanoseconds begin, const std::string& what) {
      begin = std::max(begin, step.begin);
      if (begin < t) lines.push_back(std::to_string(begin) + ".." + std::to_string(t) + " " + what);
      t = std::min(t, begin);
    };
    int operation = -1;
    while (t > step.begin) {
      if (operation >= 0) {
        const Operation& own = operations_[static_cast<std::size_t>(operation)];
        take(own.time.begin, "GPU " + own.name);
        if (own.waited_for >= 0) {
          take(operations_[static_cast<std::size_t>(own.waited_for)].time.end, "on the way " + own.name);
        } else {
          take(own.call.end, "on the way " + own.name);
          take(own.call.begin, "thread launch cudaLaunchKernel");
        }
        operation = own.waited_for;
        continue;
      }
      const auto call = std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& each) { return each.time.begin < t; });
      if (call == calls_.rend()) {
        take(step.begin, "thread unknown step");
      } else if (call->time.end < t) {
        take(call->time.end, "thread unknown step");
      } else if (call->waited_for >= 0) {
        operation = call->waited_for;
        take(operations_[static_cast<std::size_t>(operation)].time.end, "return cudaDeviceSynchronize");
      } else {
        take(call->time.begin, call->words);
      }
    }
    std::reverse(lines.begin(), lines.end());
    return lines;
  }

 private:
  struct Operation {
    std::string name;
    TimeRange time;
    TimeRange call;
    int waited_for = -1;  // another operation; -1: its own call
  };
  struct Call {
    TimeRange time;
    std::string words;
    int waited_for = -1;  // an operation
  };

  Nanoseconds ticks(int most) { return kTick * std::uniform_int_distribution<int>(1, most)(random_); }
  std::size_t stream() { return std::uniform_int_distribution<std::size_t>(0, 2)(random_); }

  void act() {
    switch (std::uniform_int_distribution<int>(0, 9)(random_)) {
      case 0:
        return synchronize();
      case 1:
      case 2:
        t_ += ticks(20);  // code
        return;
      case 3:
      case 4:
        return make_wait(stream(), stream());
      default:
        return launch(stream());
    }
  }

  [[nodiscard]] Nanoseconds end_of(int operation) const { return operation < 0 ? 0 : operations_[static_cast<std::size_t>(operation)].time.end; }

  void launch(std::size_t on) {
    const TimeRange call{t_, t_ + kTick};
    t_ = call.end;
    int waited_for = -1;
    Nanoseconds ready = call.end;
    const int front = last_[on], other = awaited_[on];
    if (front >= 0 && end_of(front) >= ready) waited_for = front;
    if (waited_for >= 0) ready = end_of(front);
    if (other >= 0 && end_of(other) >= ready) waited_for = other;
    if (waited_for >= 0) ready = end_of(waited_for);
    awaited_[on] = -1;
    const Nanoseconds begin = ready + kLatency;
    const Nanoseconds end = begin / kTick * kTick + ticks(15) + 7 * static_cast<Nanoseconds>(on + 1);  // no two end at the same time
    operations_.push_back({"kernel " + std::to_string(operations_.size()), {begin, end}, call, waited_for});
    scenario_.kernel(operations_.back().name, call.begin, call.end, begin, end, static_cast<std::uint32_t>(on + 7));
    calls_.push_back({call, "thread launch cudaLaunchKernel"});
    last_[on] = static_cast<int>(operations_.size()) - 1;
  }

  void make_wait(std::size_t waiting, std::size_t awaited) {
    if (waiting == awaited || last_[awaited] < 0) return;
    ++event_;
    const auto builder = scenario_.builder();
    const auto key = [&](TrackKind kind, std::size_t on) {
      return TrackKey{.kind = kind, .process = scenario_.process(), .gpu = 0, .context = 1, .stream = static_cast<std::uint32_t>(on + 7)};
    };
    const Nanoseconds passed = std::max(t_, end_of(last_[awaited]));
    builder->add(key(TrackKind::kCudaEvents, awaited), {{passed, 0, 0, 1'000 + event_, builder->intern(CudaEventDetail{.event = event_, .record = event_})}});
    builder->add(key(TrackKind::kSynchronizations, waiting),
                 {{t_ + 100, 100, 0, 2'000 + event_, builder->intern(SynchronizationDetail{.type = 2, .event = event_, .event_record = event_})}});
    if (end_of(last_[awaited]) > end_of(awaited_[waiting])) awaited_[waiting] = last_[awaited];
    t_ += kTick;
  }

  void synchronize() {
    const Nanoseconds begin = t_;
    int last = -1;
    for (const int each : last_)
      if (end_of(each) > end_of(last)) last = each;
    const Nanoseconds end = std::max(begin, end_of(last)) / kTick * kTick + kTick;
    scenario_.call("cudaDeviceSynchronize", begin, end);
    calls_.push_back({{begin, end}, "thread synchronize cudaDeviceSynchronize", end_of(last) > begin ? last : -1});
    t_ = end;
  }

  std::mt19937 random_;
  Scenario scenario_;
  std::vector<Operation> operations_;
  std::vector<Call> calls_;
  int last_[3] = {-1, -1, -1};     // last operation of each stream
  int awaited_[3] = {-1, -1, -1};  // awaited by the next operation of each stream
  std::uint32_t event_ = 0;
  Nanoseconds t_ = kTick;
};

EventRef find(const Trace& trace, TrackKind kind, std::string_view name) {
  for (const Track& track : trace.tracks())
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; track.key.kind == kind && i < trace.lane(lane).size(); ++i)
        if (trace.name(trace.lane(lane).name(i)) == name) return {lane, i};
  FAIL("no " << name);
  return {};
}

}  // namespace

TEST_CASE("the way back through a step is the one that the program was made to go") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Program program(seed);
    const auto trace = program.trace();
    const CriticalPath path = critical_path(*trace, find(*trace, TrackKind::kNvtxRanges, "step"));
    REQUIRE(path.range == TimeRange{0, program.end()});
    REQUIRE(told(*trace, path) == program.path(path.range));
    REQUIRE(covers(path));
  }
}

TEST_CASE("a step goes on until the last work that was enqueued in it is done") {
  Scenario program;
  program.range("step", 100'000, 300'000);
  program.kernel("before", 10'000, 20'000, 30'000, 400'000);
  program.kernel("work", 200'000, 210'000, 401'000, 900'000);
  program.kernel("after", 310'000, 320'000, 901'000, 990'000);
  const auto trace = program.trace();
  const CriticalPath path = critical_path(*trace, find(*trace, TrackKind::kNvtxRanges, "step"));
  CHECK(path.range == TimeRange{100'000, 900'000});
  CHECK(told(*trace, path) == std::vector<std::string>{"100000..400000 GPU before", "400000..401000 on the way work", "401000..900000 GPU work"});
  CHECK(covers(critical_path(*trace, TimeRange{50'000, 950'000})));
  CHECK(critical_path(*trace, TimeRange{0, 0}).parts.empty());
}

TEST_CASE("a time without work of a GPU has the way of its NVTX range: what the thread did that enqueues work before or behind it") {
  Scenario program;
  const Scenario loader = program.on_another_thread();
  Scenario reader = loader;
  program.range("load", 100'000, 200'000);
  program.call("cudaMalloc", 120'000, 150'000);
  reader.range("read", 90'000, 250'000);
  const auto ways_agree = [](const Trace& trace, TimeRange time) {
    const CriticalPath of_range = critical_path(trace, find(trace, TrackKind::kNvtxRanges, "load"));
    CHECK(of_range.range == time);
    REQUIRE(of_range.parts.size() == 3);
    CHECK(told(trace, of_range)[1] == "120000..150000 thread cuda_setup cudaMalloc");
    CHECK(told(trace, critical_path(trace, time)) == told(trace, of_range));
  };
  SECTION("behind it") { program.kernel("work", 310'000, 320'000, 330'000, 400'000); }
  SECTION("before it") { program.kernel("work", 10'000, 20'000, 30'000, 40'000); }
  ways_agree(*program.trace(), {100'000, 200'000});
}

TEST_CASE("without any GPU, the way is that of the thread whose NVTX ranges cover the time for longest") {
  Scenario program;
  Scenario other = program.on_another_thread();
  program.range("short", 100'000, 120'000);
  other.range("long", 100'000, 190'000);
  other.os_call("read", 110'000, 180'000);
  const auto trace = program.trace();
  const std::vector<std::string> way = told(*trace, critical_path(*trace, TimeRange{100'000, 200'000}));
  CHECK(
      std::any_of(way.begin(), way.end(), [](const std::string& part) { return part.find("110000..180000") == 0 && part.find("read") != std::string::npos; }));
}

TEST_CASE("a path has as many lines as parts and sums, whatever names are") {
  Scenario program;
  program.range("step", 100'000, 300'000);
  program.kernel("two\nlines", 200'000, 210'000, 401'000, 900'000);
  const auto trace = program.trace();
  const CriticalPath path = critical_path(*trace, find(*trace, TrackKind::kNvtxRanges, "step"));
  const std::string text = path_text(*trace, path, english());
  CHECK_THAT(text, contains_text("two\\nlines"));
  // Between the two lists there are an empty line and a heading.
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == path_sums(*trace, path).size() + 2 + path.parts.size());
}

TEST_CASE("a part of time that ends within a wait goes back from the last operation before its end") {
  Scenario program;
  program.kernel("first", 10'000, 20'000, 30'000, 400'000);
  program.kernel("held", 20'000, 40'000, 700'000, 900'000);
  program.call("cudaDeviceSynchronize", 50'000, 910'000);
  const auto trace = program.trace();
  CHECK(told(*trace, critical_path(*trace, TimeRange{100'000, 500'000})) ==
        std::vector<std::string>{"100000..400000 GPU first", "400000..500000 thread synchronize cudaDeviceSynchronize"});
  CHECK(told(*trace, critical_path(*trace, TimeRange{100'000, 900'000})) ==
        std::vector<std::string>{"100000..700000 enqueued held", "700000..900000 GPU held"});
}

TEST_CASE("the way leads over to the thread that held the lock, and to the one that wrote") {
  Scenario trainer;
  Scenario loader(trainer.builder(), 200);
  loader.os_call("write", 0, 1'000);
  loader.range("decode", 2'000, 9'000'000);
  loader.os_call("write", 9'000'000, 9'002'000);
  trainer.os_call("poll", 50'000, 9'010'000);
  trainer.kernel("train", 9'020'000, 9'025'000, 9'030'000, 9'500'000);
  const auto trace = trainer.trace();
  CHECK(told(*trace, critical_path(*trace, TimeRange{1'000, 9'500'000})) ==
        std::vector<std::string>{"1000..2000 thread cpu_code", "2000..9000000 thread cpu_code decode", "9000000..9002000 thread os_io write",
                                 "9002000..9010000 return poll", "9010000..9020000 thread cpu_code", "9020000..9025000 thread launch cudaLaunchKernel",
                                 "9025000..9030000 on the way train", "9030000..9500000 GPU train"});
}

// A thread that hands its backward pass over to another one, which launches kernels, and waits for it: as PyTorch does.
struct Backward {
  bool states = false;  // thread states are recorded, and calls of the C library are not
  bool third = false;   // a third thread ran, and begins to wait when the work is handed over
};
std::shared_ptr<const Trace> backward_pass(const Backward& shape) {
  Scenario main;
  Scenario engine = main.on_another_thread(), third = engine.on_another_thread();
  const auto waits = [&](Scenario& thread, Nanoseconds ran_since, Nanoseconds begin, Nanoseconds end) {
    if (!shape.states) return thread.os_call("pthread_cond_wait", begin, end);
    thread.state(ThreadState::kRunning, ran_since, begin);
    thread.state(ThreadState::kBlocked, begin, end);
  };
  main.range("step", 0, 9'000'000);
  main.range("forward", 0, 2'000'000, 1);
  waits(engine, 0, 100'000, 2'030'000);
  waits(main, 0, 2'010'000, 7'040'000);
  if (shape.third) waits(third, 0, 2'005'000, 8'500'000);
  engine.kernel("gradient", 3'000'000, 3'005'000, 3'010'000, 4'000'000);
  engine.kernel("gradient", 6'990'000, 6'995'000, 7'000'000, 8'000'000);
  waits(engine, 2'030'000, 7'010'000, 9'500'000);
  if (shape.states) main.state(ThreadState::kRunning, 7'040'000, 9'000'000);
  main.call("cudaDeviceSynchronize", 7'100'000, 8'010'000);
  return main.trace();
}

TEST_CASE("the way leads from a thread of a backward pass to the thread that handed it over, and back") {
  const bool states = GENERATE(false, true);
  const std::string waited = states ? "" : " pthread_cond_wait";
  const auto trace = backward_pass({.states = states});
  // The last kernel was launched by the engine, which had been woken by the main thread after the forward pass.
  CHECK(told(*trace, critical_path(*trace, TimeRange{0, 8'000'000})) ==
        std::vector<std::string>{"0..2000000 thread cpu_code forward", "2000000..2010000 thread cpu_code step", "2010000..2030000 return" + waited,
                                 "2030000..3000000 thread cpu_code", "3000000..3005000 thread launch cudaLaunchKernel", "3005000..6990000 thread cpu_code",
                                 "6990000..6995000 thread launch cudaLaunchKernel", "6995000..7000000 on the way gradient", "7000000..8000000 GPU gradient"});
  // What the main thread did after the pass: the engine gave the turn back.
  CHECK(told(*trace, critical_path(*trace, TimeRange{2'020'000, 7'090'000})).back() == "7000000..7090000 GPU gradient");
  const std::vector<std::string> after = told(*trace, critical_path(*trace, find(*trace, TrackKind::kNvtxRanges, "step")));
  CHECK(after.back() == "8010000..9000000 thread cpu_code step");
  CHECK(after.front() == "0..2000000 thread cpu_code forward");
}

TEST_CASE("who woke a thread is not said where two threads may have been it") {
  const auto trace = backward_pass({.states = GENERATE(false, true), .third = true});
  CHECK(told(*trace, critical_path(*trace, TimeRange{0, 8'000'000})).front() == "0..100000 thread cpu_code");  // of the engine, in front of its wait
}

TEST_CASE("who woke a thread is said where it was recorded, and no other thread is taken for it") {
  constexpr std::uint32_t kMain = 100;  // the main thread's number on the machine
  const auto way_with = [](std::uint32_t waker) {
    Scenario main(kMain);
    Scenario engine = main.on_another_thread(), third = engine.on_another_thread();
    main.range("forward", 0, 2'000'000);
    main.state(ThreadState::kRunning, 0, 2'010'000);
    main.state(ThreadState::kBlocked, 2'010'000, 9'000'000);
    third.state(ThreadState::kRunning, 0, 2'007'000);
    third.state(ThreadState::kBlocked, 2'007'000, 9'000'000);
    engine.os_call("pthread_cond_wait", 100'000, 2'030'000);
    engine.state(ThreadState::kBlocked, 100'000, 2'005'000, waker);
    engine.state(ThreadState::kRunnable, 2'005'000, 2'030'000);
    engine.state(ThreadState::kRunning, 2'030'000, 9'000'000);
    engine.kernel("gradient", 3'000'000, 3'005'000, 3'010'000, 8'000'000);
    const auto trace = main.trace();
    const std::optional<Wait> wait = WaitFinder(*trace).before(find(*trace, TrackKind::kOsRuntime, "pthread_cond_wait"));
    const std::string words = wait ? wait_words(*trace, *wait).english() : "";
    return std::pair(told(*trace, critical_path(*trace, TimeRange{0, 8'000'000})), words);
  };
  const auto& [known, words] = way_with(kMain);
  CHECK(known.front() == "0..2000000 thread cpu_code forward");
  CHECK(std::find(known.begin(), known.end(), "2005000..2030000 return pthread_cond_wait") != known.end());
  CHECK_THAT(words, contains_text("100") && contains_text("which woke it"));
  const auto& [elsewhere, no_words] = way_with(4711);  // a process that was not recorded
  CHECK(elsewhere.front() == "0..100000 thread cpu_code");
  CHECK(no_words.empty());
}

TEST_CASE("the parts of the ways through recorded steps add up to the steps") {
  std::size_t steps = 0;
  for (const char* file : {"torch_training_workers0", "torch_training_workers4", "cause_slow_loader", "cause_lock", "ranks_late0", "jax_training"}) {
    const auto trace = open_trace(test::data_file(std::string(file) + ".trace"));
    REQUIRE(trace);
    for (const Track& track : (*trace)->tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; track.key.kind == TrackKind::kNvtxRanges && i < std::min<EventIndex>((*trace)->lane(lane).size(), 40); ++i) {
          const CriticalPath path = critical_path(**trace, EventRef{lane, i});
          INFO(file << " " << (*trace)->name((*trace)->lane(lane).name(i)));
          REQUIRE(((*trace)->lane(lane).duration(i) == 0 || covers(path)));
          Nanoseconds sum = 0;
          for (const PathSum& each : path_sums(**trace, path)) {
            sum += each.time;
            // What a sum says of one place is of that place alone.
            const auto place = [&](const PathPart& part) {
              const TrackKey key = part.event.valid() ? (*trace)->track_of(part.event.lane).key : TrackKey{.thread = part.thread};
              const NameId name = part.event.valid() ? (*trace)->event(part.event).name : NameId{};
              return std::tuple(part.kind, part.cause, name, key.process, key.thread, key.gpu);
            };
            Nanoseconds there = 0;
            for (const PathPart& part : path.parts)
              if (place(part) == place(each.longest)) there += part.range.length();
            CHECK(there == each.time);
          }
          REQUIRE(sum == (path.parts.empty() ? 0 : path.range.length()));
          ++steps;
        }
  }
  CHECK(steps > 100);
}

TEST_CASE("in a recorded training, the way goes through the thread of the backward pass as launches do") {
  const auto trace = open_trace(test::data_file("torch_backward.trace"));
  REQUIRE(trace);
  // Which threads launched one after the other in the step: a fact of the recorded calls.
  const auto launching = [&](TimeRange step) {
    std::vector<std::pair<Nanoseconds, ThreadId>> launches;
    for (const Track& track : (*trace)->tracks()) {
      if (track.key.kind != TrackKind::kCudaApi) continue;
      for (const LaneId id : track.lanes) {
        const Lane& lane = (*trace)->lane(id);
        for (EventIndex i = lane.lower_bound(step.begin); i < lane.size() && lane.start(i) < step.end; ++i)
          if (!(*trace)->work_of({id, i}).empty()) launches.emplace_back(lane.start(i), track.key.thread);
      }
    }
    std::sort(launches.begin(), launches.end());
    std::vector<ThreadId> threads;
    for (const auto& [time, thread] : launches)
      if (threads.empty() || threads.back() != thread) threads.push_back(thread);
    return threads;
  };
  std::size_t steps = 0;
  for (const Track& track : (*trace)->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < (*trace)->lane(id).size(); ++i) {
        const TimeRange step{(*trace)->lane(id).start(i), (*trace)->lane(id).end(i)};
        INFO((*trace)->name((*trace)->lane(id).name(i)));
        if ((*trace)->name((*trace)->lane(id).name(i)) == "step 3") continue;  // it begins in front of the part that was saved
        const CriticalPath path = critical_path(**trace, EventRef{id, i});
        std::vector<ThreadId> threads;
        for (const PathPart& part : path.parts)
          if (part.thread != kNone && part.kind == PathKind::kThread && (threads.empty() || threads.back() != part.thread)) threads.push_back(part.thread);
        const ThreadId main = track.key.thread;
        const std::vector<ThreadId> launched = launching(step);
        REQUIRE(launched.size() == 3);
        CHECK(launched.front() == main);
        CHECK(threads == launched);
        ++steps;
      }
  }
  CHECK(steps == 8);
}

TEST_CASE("a way through operations that all overlap ends after a bounded number of looks, and says that it is not known further") {
  Scenario program;
  constexpr Nanoseconds kOperations = 10'000;  // each on a lane of its own, and each begins before all that end
  for (Nanoseconds i = 0; i < kOperations; ++i) program.orphan_kernel("k", i * 10, kOperations * 20 + i * 10);
  const auto trace = program.trace();
  const CriticalPath path = critical_path(*trace, TimeRange{0, kOperations * 40});
  CHECK(covers(path));
  REQUIRE_FALSE(path.parts.empty());
  CHECK(path.parts.front().kind == PathKind::kUnknown);
  CHECK(path.parts.size() == 40'000'000 / kOperations + 1);
}

TEST_CASE("a step ends with its range, or with the last work that it enqueued") {
  Scenario program;
  program.kernel("short", 1'000, 2'000, 3'000, 4'000);
  program.range("step 0", 0, 10'000);
  program.kernel("long", 21'000, 22'000, 23'000, 90'000);
  program.range("step 1", 20'000, 30'000);
  const auto trace = program.trace();
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) {
      CHECK(end_of_step(*trace, {track.lanes.front(), 0}) == 10'000);
      CHECK(end_of_step(*trace, {track.lanes.front(), 1}) == 90'000);
      CHECK(critical_path(*trace, EventRef{track.lanes.front(), 1}).range.end == 90'000);
    }
}

TEST_CASE("time between calls is said to be code only where waits would have been recorded") {
  const auto told_of = [](bool has_states) {
    Scenario program;
    program.call("cudaMalloc", 0, 1'000);
    program.kernel("k", 900'000, 910'000, 920'000, 1'000'000);
    if (has_states) program.state(ThreadState::kRunning, 0, 1'000'000);
    const CriticalPath path = critical_path(*program.trace(), TimeRange{0, 1'000'000});
    REQUIRE(path.parts.size() > 2);
    return path_words(path.parts[1]).english();
  };
  CHECK(told_of(true) == "Running CPU code");
  CHECK(told_of(false) == "Between recorded calls, running or waiting");
}
