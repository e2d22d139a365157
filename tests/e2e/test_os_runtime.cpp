// Calls into the C library, counted on a program of which they are known.
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Calls of this name in a process, and their time together.
struct Calls {
  std::uint64_t count = 0;
  Nanoseconds time = 0;
};
Calls calls(const Trace& trace, std::string_view name, ProcessId process) {
  Calls result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kOsRuntime || track.key.process != process) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (trace.name(lane.name(i)) != name) continue;
        ++result.count;
        result.time += lane.duration(i);
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("calls that wait are recorded by name, with their time; errno and the program's output are as without us") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-o", "x", program("lanescope_program_os_calls").string()});
  CHECK(ran.code == 0);
  CHECK(ran.output == "errno 9, child 0\n");
  const auto trace = load(folder.path() / "x.trace");
  ProcessId first = kNone;
  ProcessId forked = kNone;
  for (ProcessId id = 0; id < trace->processes().size(); ++id) {
    const Process& process = trace->processes()[id];
    CHECK(process.completeness.dropped == 0);
    if (process.name == "lanescope_program_os_calls") (process.forked ? forked : first) = id;
  }
  REQUIRE(first != kNone);
  REQUIRE(forked != kNone);
  constexpr Nanoseconds kMillisecond = 1'000'000;
  CHECK(calls(*trace, "usleep", first).count == 20);
  CHECK(calls(*trace, "usleep", first).time >= 58 * kMillisecond);  // 2 x 20 ms and 18 x 1 ms
  CHECK(calls(*trace, "poll", first).count == 5);
  CHECK(calls(*trace, "poll", first).time >= 10 * kMillisecond);
  CHECK(calls(*trace, "pthread_cond_wait", first).count == 1);
  CHECK(calls(*trace, "pthread_mutex_lock", first).time >= 15 * kMillisecond);  // the one that waited
  CHECK(calls(*trace, "waitpid", first).count == 2);
  CHECK(calls(*trace, "usleep", forked).count == 3);
}

TEST_CASE("calls below the threshold are left out") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(),
                        {"profile", "-t", "osrt", "--osrt-threshold=15000000", "-o", "x", program("lanescope_program_os_calls").string()})
              .code == 0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(count_events(*trace, TrackKind::kOsRuntime, "usleep") == 2);
  CHECK(count_events(*trace, TrackKind::kOsRuntime, "poll") == 0);
}

TEST_CASE("every process of a shell's pipeline is recorded, and its output is as without us") {
  const TemporaryFolder folder;
  const std::string script = "for i in 1 2 3; do echo $i | cat | tr 1-3 a-c; done; sleep 0.01; exit 9";
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-o", "x", "bash", "-c", script});
  CHECK(ran.code == 9);
  CHECK(ran.output == "a\nb\nc\n");
  const auto trace = load(folder.path() / "x.trace");
  std::size_t cats = 0;
  for (const Process& process : trace->processes()) cats += process.name == "cat" || process.name == "coreutils" ? 1 : 0;
  CHECK(cats == 3);
}
