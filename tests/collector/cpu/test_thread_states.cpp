// What threads did, against what they measured of themselves.
#include <cstdlib>

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
  CHECK(std::abs(time_in(all, ThreadState::kRunning) - measured.processor) < measured.processor / 50 + kMillisecond);
  CHECK(time_in(all, ThreadState::kBlocked) >= 40 * 7 * kMillisecond);
  CHECK(follow_each_other(all));
  CHECK(all.back().end - all.front().start >= measured.wall);
  CHECK(all.back().end - all.front().start < measured.wall + 20 * kMillisecond);
}

TEST_CASE("a thread that waits for a lock is blocked while another holds it") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "lock"}, states());
  const std::vector<Interval> waiter = intervals(*recorded.trace, thread_named(*recorded.trace, "waiter"));
  CHECK(time_in(waiter, ThreadState::kBlocked) >= 20 * 9 * kMillisecond);
  CHECK(time_in(waiter, ThreadState::kRunning) < 20 * kMillisecond);
}

TEST_CASE("a thread that starts late is there from its start, under its name") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({work(), "late"}, states());
  const std::vector<Interval> late = intervals(*recorded.trace, thread_named(*recorded.trace, "late"));
  REQUIRE(!late.empty());
  const std::vector<Interval> first = intervals(*recorded.trace, thread_named(*recorded.trace, "main"));
  CHECK(late.front().start - first.front().start >= 100 * kMillisecond);
  CHECK(time_in(late, ThreadState::kRunning) >= 50 * kMillisecond);
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
      if (recorded.trace->threads()[thread].process == id)
        ran = std::max(ran, time_in(intervals(*recorded.trace, thread), ThreadState::kRunning));
  }
  CHECK(forked == 2);
  CHECK(executed == 1);
  CHECK(ran >= 30 * kMillisecond);
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
  const Recorded recorded =
      record({work(), "duty"}, states(), [](session::LaunchRequest& request) { request.delay = std::chrono::milliseconds(150); });
  const std::vector<Interval> all = intervals(*recorded.trace, thread_named(*recorded.trace, "duty"));
  REQUIRE(!all.empty());
  CHECK(all.front().start >= 150 * kMillisecond);
  CHECK(follow_each_other(all));
  CHECK(time_in(all, ThreadState::kBlocked) > 0);
}
