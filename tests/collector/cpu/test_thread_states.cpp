// What threads did, compared with what they measured themselves.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "collector/cpu/access.h"
#include "collector/cpu/recorder.h"
#include "recorded.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

std::string work() { return program("lanescope_program_cpu_work").string(); }
cpu::CpuSettings states() {
  cpu::CpuSettings settings;
  settings.thread_states = cpu::Scope::kProcessTree;
  return settings;
}

#define SKIP_WHERE_FORBIDDEN()                        \
  if (const auto reason = cannot_observe(); reason) { \
    WARN(*reason);                                    \
    return;                                           \
  }

// True if the first thread of the process sleeps.
bool sleeps(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find(") S ") != std::string::npos;
}

bool follow_each_other(const std::vector<Interval>& intervals) {
  for (std::size_t i = 1; i < intervals.size(); ++i)
    if (intervals[i].start != intervals[i - 1].end) return false;
  return true;
}

}  // namespace

TEST_CASE("a thread runs as long as its clock of processor time says, and is blocked while it sleeps") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "duty"}, states());
  CHECK(recorded.messages.empty());
  const ThreadId duty = thread_named(*recorded.trace, "duty");
  const std::vector<Interval> all = intervals(*recorded.trace, duty);
  const Recorded::Measured measured = recorded.measured("duty");
  // 40 x 3 ms of work; what the thread did before and after it measured is well under a millisecond.
  CHECK(measured.processor >= 120 * kMillisecond);
  const Nanoseconds ran = time_in(all, ThreadState::kRunning);
  CHECK(ran > measured.processor - measured.processor / 50 - kMillisecond);
  CHECK(ran < measured.processor + measured.processor / 50 + kMillisecond + recorded.taken_away);
  CHECK(time_in(all, ThreadState::kBlocked) >= 40 * 7 * kMillisecond);
  CHECK(follow_each_other(all));
  CHECK(all.back().end - all.front().start >= measured.wall);
  // The thread does not measure the time until it first runs, nor its end, when others may take its processor.
  const auto first = std::find_if(all.begin(), all.end(), [](const Interval& each) { return each.state == ThreadState::kRunning; });
  REQUIRE(first != all.end());
  CHECK(all.back().end - first->start < measured.wall + 20 * kMillisecond + time_in(all, ThreadState::kRunnable) + recorded.taken_away);
}

TEST_CASE("a thread that waits for a lock is blocked while another holds it") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "lock"}, states());
  const std::vector<Interval> waiter = intervals(*recorded.trace, thread_named(*recorded.trace, "waiter"));
  CHECK(time_in(waiter, ThreadState::kBlocked) >= 20 * 9 * kMillisecond);
  CHECK(time_in(waiter, ThreadState::kRunning) < 20 * kMillisecond + recorded.taken_away);
}

TEST_CASE("who ended the wait for a lock is the thread that held it") {
  SKIP_WHERE_FORBIDDEN();
  if (!cpu::probe_access().wakeups) {
    WARN("who wakes threads can't be recorded here");
    return;
  }
  const Recorded recorded = record({work(), "lock"}, states());
  const Trace& trace = *recorded.trace;
  const std::uint32_t holder = trace.threads()[thread_named(trace, "holder")].tid;
  const ThreadId waiter = thread_named(trace, "waiter");
  std::size_t ended = 0;
  for (const Track& track : trace.tracks())
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; track.key.kind == TrackKind::kThreadStates && track.key.thread == waiter && i < trace.lane(lane).size(); ++i)
        if (trace.lane(lane).duration(i) >= 5 * kMillisecond) ended += trace.thread_state_detail(trace.lane(lane).detail(i)).waker == holder ? 1 : 0;
  CHECK(ended >= 10);  // of 20 waits of 10 ms each
}

TEST_CASE("a thread that starts late is there from its start, under its name") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "late"}, states());
  const std::vector<Interval> late = intervals(*recorded.trace, thread_named(*recorded.trace, "late"));
  REQUIRE(!late.empty());
  const std::vector<Interval> first = intervals(*recorded.trace, thread_named(*recorded.trace, "main"));
  CHECK(late.front().start - first.front().start >= 100 * kMillisecond);
  CHECK(time_in(late, ThreadState::kRunning) >= 49 * kMillisecond);  // 50 ms of work, less the difference of two clocks
  CHECK(time_in(first, ThreadState::kBlocked) >= 150 * kMillisecond);
}

TEST_CASE("children that fork, that exec and that end at once are processes of their own") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "family"}, states());
  std::size_t forked = 0;
  std::size_t executed = 0;
  Nanoseconds ran = 0;
  for (ProcessId id = 0; id < recorded.trace->processes().size(); ++id) {
    const Process& process = recorded.trace->processes()[id];
    CHECK(process.end.has_value());
    if (process.name == "true" || process.name == "coreutils") ++executed;
    if (!process.forked) continue;
    ++forked;
    CHECK(process.name == "lanescope_program_cpu_work");
    CHECK(process.parent_pid == recorded.trace->processes()[0].pid);
    for (ThreadId thread = 0; thread < recorded.trace->threads().size(); ++thread)
      if (recorded.trace->threads()[thread].process == id) ran = std::max(ran, time_in(intervals(*recorded.trace, thread), ThreadState::kRunning));
  }
  CHECK(forked == 2);
  CHECK(executed == 1);
  CHECK(ran >= 29 * kMillisecond);
}

TEST_CASE("a processor runs one thread at a time, and a thread is on one processor at a time") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "lock"}, states());
  std::size_t processors = 0;
  for (const Track& track : recorded.trace->tracks()) {
    if (track.key.kind == TrackKind::kProcessors) {
      ++processors;
      CHECK(track.lanes.size() == 1);  // overlapping events would need a second lane
    }
    if (track.key.kind == TrackKind::kThreadStates) CHECK(track.lanes.size() == 1);
  }
  CHECK(processors >= 1);
}

TEST_CASE("what happens before the delay is over is left out, and states go on from there") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "duty"}, states(), [](session::LaunchRequest& request) { request.delay = std::chrono::milliseconds(150); });
  const std::vector<Interval> all = intervals(*recorded.trace, thread_named(*recorded.trace, "duty"));
  REQUIRE(!all.empty());
  CHECK(all.front().start >= 150 * kMillisecond);
  CHECK(follow_each_other(all));
  CHECK(time_in(all, ThreadState::kBlocked) > 0);
}

TEST_CASE("system-wide, processes that are not recorded are marked as such, and none is there that nobody knows") {
  SKIP_WHERE_FORBIDDEN();
  if (!cpu::probe_access().system_wide) {
    WARN("other processes can't be observed here");
    return;
  }
  const pid_t other = fork();  // sleeps and wakes outside of the recording
  if (other == 0) {
    for (int i = 0; i < 2000; ++i) usleep(5'000);
    _exit(0);
  }
  cpu::CpuSettings settings = states();
  settings.thread_states = cpu::Scope::kSystemWide;
  const Recorded recorded = record({work(), "lock"}, settings);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  bool found = false;
  for (const Process& process : recorded.trace->processes()) {
    CHECK(!process.executable.empty());
    found = found || process.pid == static_cast<std::uint32_t>(other);
  }
  CHECK(found);
  CHECK(time_in(intervals(*recorded.trace, thread_named(*recorded.trace, "waiter")), ThreadState::kBlocked) >= 20 * 9 * kMillisecond);
}

TEST_CASE("a running process is observed from the moment of attaching, with threads that neither run nor wake") {
  SKIP_WHERE_FORBIDDEN();
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t target = fork();
  if (target == 0) {
    std::thread idle([] { pause(); });
    std::thread busy([] {
      for (;;) {
        volatile int steps = 0;
        while (steps < 5'000'000) steps = steps + 1;
        usleep(5'000);
      }
    });
    const char byte = 1;
    [[maybe_unused]] const ssize_t ignored = write(ready[1], &byte, 1);
    pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  while (!sleeps(target)) std::this_thread::yield();  // what it did until then would be counted, too
  cpu::CpuSettings settings = states();
  settings.samples = cpu::Scope::kProcessTree;
  using Clock = std::chrono::steady_clock;
  const auto before = Clock::now();
  auto recorder = cpu::Recorder::attach(target, settings, cpu::Start::kAtOnce, std::chrono::milliseconds(20));
  REQUIRE(recorder);
  struct Counting final : cpu::Listener {
    std::map<std::uint32_t, std::map<int, std::int64_t>> times;  // by thread and state
    std::uint64_t samples = 0;
    void process_began(const cpu::SeenProcess&) override {}
    void process_ended(cpu::ProcessKey, std::int64_t) override {}
    void process_forgotten(cpu::ProcessKey) override {}
    void thread_named(cpu::ProcessKey, std::uint32_t, const std::string&) override {}
    void described(cpu::ProcessKey, const proto::Resources&) override {}
    void recorded(cpu::ProcessKey, const proto::EventChunk& chunk, std::uint32_t events) override {
      if (chunk.has_samples()) samples += events;
      const proto::ThreadStates& states = chunk.thread_states();
      for (int i = 0; i < states.state_size(); ++i) times[states.thread()][static_cast<int>(states.state(i))] += static_cast<std::int64_t>(states.duration(i));
    }
    void named(cpu::ProcessKey, const proto::Symbols&) override {}
    void counted(cpu::ProcessKey, const proto::Counters&) override {}
    void noted(const proto::Diagnostic&) override {}
  } counting;
  const auto begin = Clock::now();
  while (counting.samples < 30 && Clock::now() - begin < std::chrono::seconds(60)) (*recorder)->drain(counting);
  const std::int64_t least = std::chrono::nanoseconds(Clock::now() - begin).count();
  (*recorder)->finish_part(counting);
  const std::int64_t most = std::chrono::nanoseconds(Clock::now() - before).count();
  kill(target, SIGKILL);
  waitpid(target, nullptr, 0);
  REQUIRE(counting.times.size() == 3);
  CHECK(counting.times[static_cast<std::uint32_t>(target)].size() == 1);  // it did nothing but wait
  for (const auto& [thread, times] : counting.times) {
    std::int64_t all = 0;
    for (const auto& [state, time] : times) all += time;
    CHECK(all <= most);
    CHECK(all > least / 2);
  }
}

TEST_CASE("a program that another one replaces ends as replaced, and the other as the process did") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({"/bin/sh", "-c", "exec /bin/false"}, states());
  REQUIRE(recorded.trace->processes().size() == 2);
  CHECK(recorded.trace->processes()[0].end_kind == ProcessEndKind::kReplaced);
  CHECK(recorded.trace->processes()[1].end_kind == ProcessEndKind::kExited);
  CHECK(recorded.trace->processes()[1].exit_code == 1);
}
