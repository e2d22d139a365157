// Programs that become another one while they are recorded: none of their ranges is lost, however late the recorder learns of it.
#include <algorithm>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::size_t ranges_in(const Trace& trace) {
  std::size_t ranges = 0;
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kNvtxRanges)
      for (const LaneId lane : track.lanes) ranges += trace.lane(lane).size();
  return ranges;
}

struct Way {
  std::string letters;  // of nvtx_becomes
  int before;           // ranges that it makes on the way
};

// Threads are observed; their records come up to half a second after what they report.
void check_all_ranges(const std::vector<std::string>& before_program, const Way& way, const std::string& traces) {
  constexpr int kRanges = 700;
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"profile", "-t", traces, "-o", "x"};
  arguments.insert(arguments.end(), before_program.begin(), before_program.end());
  const std::string program_text = program("lanescope_program_nvtx_becomes").string();
  if (before_program.empty()) {
    arguments.insert(arguments.end(), {program_text, way.letters, std::to_string(kRanges)});
  } else {
    arguments.back() += program_text + " " + way.letters + " " + std::to_string(kRanges) + "; true";
  }
  const Ran ran = run_lanescope(folder.path(), arguments);
  INFO(way.letters << ", " << traces << ", " << (before_program.empty() ? "launched" : "by a shell") << ": " << ran.messages);
  CHECK(ran.code == 0);
  CHECK(ran.messages.find("could not be followed") == std::string::npos);
  CHECK(ranges_in(*load(folder.path() / "x.trace")) == static_cast<std::size_t>(kRanges + way.before));
}

}  // namespace

TEST_CASE("a program that sets its title, starts itself anew or runs from memory is recorded to its end") {
  const auto way = GENERATE(Way{"t", 0}, Way{"rpt", 1}, Way{"pt", 0}, Way{"x", 0}, Way{"rpx", 1}, Way{"m", 0}, Way{"xprpt", 1});
  check_all_ranges({}, way, "nvtx");
  check_all_ranges({"sh", "-c", ""}, way, "nvtx");
}

TEST_CASE("the same where the agent is there before the program begins") {
  const auto way = GENERATE(Way{"rt", 1}, Way{"pt", 0}, Way{"px", 0});
  check_all_ranges({}, way, "nvtx,osrt");
  check_all_ranges({"sh", "-c", ""}, way, "nvtx,osrt");
}

// The kernel's records of these calls come up to half a second later, and may report a fork and what followed it at the same time.
TEST_CASE("a program ends when another one takes its place, which has what comes then") {
  const std::string becomes = program("lanescope_program_nvtx_becomes").string();
  const auto [traces, script, other] =
      GENERATE_COPY(table<std::string, std::string, std::string>({{"nvtx,osrt", "unset LD_PRELOAD; sleep 0.7; ls / > /dev/null", "ls"},
                                                                  {"nvtx", becomes + " rs 0; true", "sleep"},
                                                                  {"nvtx", "sleep 0.7; (" + becomes + " rps 0); true", "sleep"},
                                                                  {"nvtx,osrt", becomes + " rs 0; true", "sleep"}}));
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traces, "-o", "x", "bash", "-c", script});
  INFO(script << ": " << ran.messages);
  const auto trace = load(folder.path() / "x.trace");
  int replaced = 0;
  for (ProcessId id = 0; id < trace->processes().size(); ++id) {
    const Process& process = trace->processes()[id];
    if (process.end_kind != ProcessEndKind::kReplaced) continue;
    REQUIRE(process.end);
    CHECK(*process.end >= process.start);
    for (const Thread& thread : trace->threads())
      if (thread.process == id) CHECK(thread.name != other);
    for (ProcessId next = 0; next < trace->processes().size(); ++next) {
      if (next == id || trace->processes()[next].pid != process.pid || trace->processes()[next].name != other) continue;
      CHECK(trace->processes()[next].start >= *process.end);
      ++replaced;
    }
  }
  CHECK(replaced == 1);
}
