// What a program does in OpenMP, with a runtime that informs tools (LLVM's): regions, tasks and waits that are known.
#include <cstdlib>
#include <set>

#include "../recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// LLVM's runtime, which also works for programs of GCC; empty if it is not installed.
std::filesystem::path runtime() {
  std::vector<std::filesystem::path> places{"/usr/lib/x86_64-linux-gnu/libomp.so.5", "/usr/lib64/libomp.so"};
  for (int version = 25; version >= 11; --version) places.emplace_back("/usr/lib/llvm-" + std::to_string(version) + "/lib/libomp.so.5");
  for (const auto& place : places)
    if (std::filesystem::exists(place)) return place;
  return {};
}

// True if there is a program to record.
bool build(const std::filesystem::path& folder) {
  const std::filesystem::path library = runtime();
  if (library.empty() || !runs("command -v cc >/dev/null 2>&1")) {
    WARN("LLVM's OpenMP runtime is not installed: not tried");
    return false;
  }
  const std::string object = (folder / "work.o").string();
  const bool built =
      runs("cc -std=c99 -fopenmp -O1 -c " LANESCOPE_TEST_PROGRAMS "/interfaces/openmp_work.c -o " + object + " 2>/dev/null") &&
      runs("cc " + object + " " + library.string() + " -Wl,-rpath," + library.parent_path().string() + " -o " + (folder / "work").string() + " 2>/dev/null");
  if (!built) WARN("no program could be built with " << library.string() << ": not tried");
  return built;
}

Ran record(const std::filesystem::path& folder, const std::string& traces, const std::vector<Environment>& environment = {}) {
  return run_lanescope(folder, {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "./work"}, environment);
}

constexpr TrackKind kRanges = TrackKind::kNvtxRanges;

}  // namespace

TEST_CASE("regions, tasks and waits of OpenMP are ranges of the threads that they are of") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!build(folder)) return;
  const Ran ran = record(folder, "openmp");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("499500 6 5\n"));
  const auto trace = load(folder / "x.trace");
  CHECK(count_events(*trace, kRanges, "parallel region") == 2);
  CHECK(count_events(*trace, kRanges, "implicit task") == 4 + 2);
  CHECK(count_events(*trace, kRanges, "task") == 5);
  CHECK(count_events(*trace, kRanges, "taskwait") == 1);
  CHECK(count_events(*trace, kRanges, "wait for critical") == 4 + 2);
  CHECK(count_events(*trace, kRanges, "single") == 1);
  CHECK(count_events(*trace, kRanges, "barrier") >= 4);
  std::set<ThreadId> threads;
  for (const Track& track : trace->tracks())
    if (track.key.kind == kRanges) threads.insert(track.key.thread);
  CHECK(threads.size() == 4);
}

TEST_CASE("OpenMP is recorded where it is asked for, beside other tools, and a runtime that may have none is told") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!build(folder)) return;
  CHECK(record(folder, "nvtx").code == 0);
  CHECK(count_events(*load(folder / "x.trace"), kRanges, "parallel region") == 0);
  CHECK(record(folder, "openmp", {{"OMP_TOOL_LIBRARIES", "/no/such/tool.so"}}).code == 0);
  CHECK(count_events(*load(folder / "x.trace"), kRanges, "parallel region") == 2);
  const Ran disabled = record(folder, "openmp", {{"OMP_TOOL", "disabled"}});
  CHECK(disabled.code == 0);
  CHECK_THAT(disabled.messages, contains_text("OpenMP is not recorded: OMP_TOOL is set to disabled."));
}

TEST_CASE("a program without OpenMP runs as it would") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "openmp", "-s", "none", "--cpuctxsw", "none", "-o", "x", "echo", "so"});
  CHECK(ran.code == 0);
  CHECK(ran.output.starts_with("so\n"));
}
