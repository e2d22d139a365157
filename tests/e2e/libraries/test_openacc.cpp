// What a program does in OpenACC, with GCC's runtime, which runs it on the processor here, and with a runtime that reports more.
#include <cstdlib>

#include "../recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// True if there is a program to record.
bool build(const std::filesystem::path& folder, const std::string& program, const std::string& options) {
  const bool built = runs("cc -std=c99 -O1 " + options + " " LANESCOPE_TEST_PROGRAMS "/" + program + " -o " + (folder / "work").string() + " -ldl 2>/dev/null");
  if (!built) WARN("the compiler makes no program of " << program << ": not tried");
  return built;
}

Ran record(const std::filesystem::path& folder, const std::string& traces) {
  return run_lanescope(folder, {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "./work"});
}

constexpr TrackKind kRanges = TrackKind::kNvtxRanges;

}  // namespace

TEST_CASE("constructs, data regions and updates of OpenACC are ranges") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!build(folder, "interfaces/openacc_work.c", "-fopenacc -foffload=disable")) return;
  const Ran ran = record(folder, "openacc");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("1500500\n"));
  const auto trace = load(folder / "x.trace");
  CHECK(count_events(*trace, kRanges, "parallel") + count_events(*trace, kRanges, "kernels") == 3 + 2);  // GCC reports both as "parallel"
  CHECK(count_events(*trace, kRanges, "enter data") >= 1);
  CHECK(count_events(*trace, kRanges, "enter data") == count_events(*trace, kRanges, "exit data"));
  CHECK(count_events(*trace, kRanges, "update") == 1);
  CHECK(record(folder, "nvtx").code == 0);
  CHECK(count_events(*load(folder / "x.trace"), kRanges, "update") == 0);
}

TEST_CASE("source lines, kernels and bytes stand in ranges of OpenACC where its runtime knows them") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!build(folder, "interfaces/openacc_runtime.c", "-D_GNU_SOURCE")) return;
  const Ran ran = record(folder, "openacc");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("told\n"));
  const auto trace = load(folder / "x.trace");
  for (const char* name : {"serial, solver.c:12", "upload matrix, solver.c:12", "launch solve_12_gpu, solver.c:14", "launch"})
    CHECK(count_events(*trace, kRanges, name) == 1);
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != kRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const NvtxDetail& detail = trace->nvtx_detail(lane.detail(i));
        CHECK(detail.payload == (trace->name(lane.name(i)).starts_with("upload") ? 4096u : 0u));
      }
    }
  }
}
