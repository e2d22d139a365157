// Calls into the C library in a program that already runs.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "../recorder.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

extern char** environ;

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Starts the program that makes a range "tick" around each sleep of a millisecond, `times` times. When this returns, the program runs.
pid_t start_ticking(const char* times, FILE*& output) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  const std::string path = program("lanescope_program_nvtx_ticking").string();
  char* arguments[] = {const_cast<char*>(path.c_str()), const_cast<char*>(times), nullptr};
  pid_t pid = 0;
  REQUIRE(posix_spawn(&pid, path.c_str(), &actions, nullptr, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  output = fdopen(ends[0], "r");
  char line[64] = {};
  REQUIRE(fgets(line, sizeof(line), output) != nullptr);
  return pid;
}

std::vector<TimeRange> events(const Trace& trace, TrackKind kind, std::string_view name) {
  std::vector<TimeRange> result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (trace.name(lane.name(i)) == name) result.push_back({lane.start(i), lane.start(i) + lane.duration(i)});
    }
  }
  std::sort(result.begin(), result.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  return result;
}

// How much a range may start or end too early or late relative to a call: ranges are timed by the processor's counter (docs/adr/0010).
constexpr Nanoseconds kClocksDiffer = 2'000;

}  // namespace

TEST_CASE("calls of a program that runs already are recorded from the attach on, each once") {
  const TemporaryFolder folder;
  FILE* output = nullptr;
  const pid_t pid = start_ticking("-1", output);
  LanescopeProcess recording(folder.path(), {"attach", std::to_string(pid), "-t", "osrt,nvtx", "-o", "x"});
  constexpr std::size_t kTicks = 40;
  for (std::size_t ticks = 0; ticks < kTicks; usleep(10'000)) {
    const Result<std::shared_ptr<const Trace>> so_far = load_trace(folder.path() / "x.trace");
    if (so_far) ticks = std::min(events(**so_far, TrackKind::kNvtxRanges, "tick").size(), events(**so_far, TrackKind::kOsRuntime, "nanosleep").size());
  }
  kill(recording.pid(), SIGINT);
  const int code = recording.wait();
  CAPTURE(recording.messages());
  const bool still_runs = kill(pid, 0) == 0;
  kill(pid, SIGTERM);
  int status = 0;
  waitpid(pid, &status, 0);
  fclose(output);
  REQUIRE(code == 0);
  CHECK(still_runs);
  CHECK(WIFSIGNALED(status));  // killed by us, not by a call that went wrong
  const auto trace = load(folder.path() / "x.trace");
  const std::vector<TimeRange> sleeps = events(*trace, TrackKind::kOsRuntime, "nanosleep");
  const std::vector<TimeRange> ticks = events(*trace, TrackKind::kNvtxRanges, "tick");
  REQUIRE(sleeps.size() > 20);
  std::size_t whole = 0;
  for (const TimeRange& tick : ticks) {
    // The range that is open when the recording ends is cut there, and its sleep may end later.
    if (tick.begin <= sleeps.front().begin || tick.end >= sleeps.back().begin) continue;
    ++whole;
    const auto within = std::count_if(sleeps.begin(), sleeps.end(), [&](const TimeRange& sleep) {
      return sleep.begin >= tick.begin - kClocksDiffer && sleep.end <= tick.end + kClocksDiffer;
    });
    CHECK(within == 1);
  }
  CHECK(whole > 20);
}
