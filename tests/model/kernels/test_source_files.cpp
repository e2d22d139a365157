// Texts of sampled lines, for a recording whose sources are in the tree.
#include "model/kernels/code/source_files.h"

#include <algorithm>
#include <fstream>

#include <sys/stat.h>

#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;

namespace {

std::shared_ptr<const Trace> transpositions() {
  const auto trace = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(trace);
  return *trace;
}

}  // namespace

TEST_CASE("the line that waits most for stores to leave is the one that stores along columns") {
  const auto trace = transpositions();
  const std::vector<StallSum> lines = sum_stalls(*trace, SumBy::kLine);
  const auto drain_of = [](const StallSum& line) {
    const auto found = std::find_if(line.stalls.begin(), line.stalls.end(), [](const StallCount& stall) { return stall.reason == "drain"; });
    return found == line.stalls.end() ? 0 : found->samples;
  };
  const auto drained = std::max_element(lines.begin(), lines.end(), [&](const StallSum& a, const StallSum& b) { return drain_of(a) < drain_of(b); });
  REQUIRE(drained != lines.end());
  SourceFiles files(*trace, {std::filesystem::path(LANESCOPE_TEST_DATA).parent_path() / "programs" / "gpu"});
  // Warps end after their stores and wait for them there; the stores cause this wait.
  CHECK_THAT(std::string(files.line(drained->line)), contains_text("out[place(column, row + i, kRows)] ="));
  CHECK(files.line("transpositions.cu:43 < transpositions.cu:1") == "}");
  CHECK(files.missing().empty());
  CHECK(files.line("transpositions.cu:0").empty());
  CHECK(files.line("transpositions.cu:100000").empty());
  CHECK(files.line("transpositions.cu").empty());
  CHECK(files.line("other.cu:1").empty());
}

TEST_CASE("a source that was changed since it was compiled is named, one that was not is not") {
  const auto trace = transpositions();
  const std::filesystem::path compiled = std::filesystem::path(LANESCOPE_TEST_DATA).parent_path() / "programs" / "gpu" / "transpositions.cu";
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(compiled, folder.path() / "transpositions.cu");
  const auto changed = [&] {
    SourceFiles files(*trace, {folder.path()});
    CHECK_FALSE(files.line("transpositions.cu:42").empty());
    return files.changed();
  };
  CHECK(changed().empty());
  std::ofstream(folder.path() / "transpositions.cu", std::ios::app) << "// one line more\n";
  REQUIRE(changed().size() == 1);
  CHECK_THAT(changed().front(), contains_text("transpositions.cu"));
}

TEST_CASE("of sources that are nowhere, or are no files, the recorded path is named") {
  const auto trace = transpositions();
  const test::TemporaryFolder folder;
  REQUIRE(mkfifo((folder.path() / "transpositions.cu").c_str(), 0600) == 0);  // opening it would block
  SourceFiles files(*trace, {folder.path(), folder.path() / "nowhere"});
  CHECK(files.line("transpositions.cu:1 < other.cu:3").empty());
  REQUIRE(files.missing().size() == 1);
  CHECK_THAT(files.missing().front(), contains_text("transpositions.cu"));
}
