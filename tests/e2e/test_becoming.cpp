// Programs that become something else while they are recorded: none of their ranges is lost, however late the recorder hears of it.
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

// With threads observed, whose records come up to half a second behind what they tell of.
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
