// Texts of sampled lines, for a recording whose sources are in the tree.
#include "model/kernels/code/source_files.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <sys/stat.h>

#include "model/kernels/code/cubin.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/file_content.h"
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

// The kernel's line 5 and line 5 of the function that is inlined in line 6 are of two files of one name.
TEST_CASE("of two sources of one name, lines are apart, and the text of a line is of the file that the line is of") {
  const std::string image = test::content(test::data_file("kernels/same_name.cubin"));
  const auto cubin = Cubin::read(image);
  REQUIRE(cubin);
  REQUIRE(cubin->functions().size() == 1);
  const CubinFunction& kernel = cubin->functions().front();
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  constexpr std::uint64_t kCrc = 7;
  REQUIRE(builder.add_code(process, kCrc, image.size(), 0, image));
  const NameId name = builder.intern("square");
  const GpuFunctionId function = builder.gpu_function({process, kCrc, kernel.index, name, name});
  PcSampleWindow window;
  window.process = process;
  window.gpu = builder.gpu_of_device(process, 0);
  window.time = {0, 1'000};
  for (std::uint32_t pc = 0; pc < cubin->code(kernel).size(); pc += kInstructionBytes)
    window.samples.push_back({function, builder.stall_reason("wait"), pc, 1, 0});
  builder.add(std::move(window));
  const auto trace = builder.snapshot();

  SourceFiles files(*trace, {std::filesystem::path(LANESCOPE_TEST_DATA).parent_path() / "programs" / "gpu"});
  std::set<std::string> lines;
  for (const StallSum& line : sum_stalls(*trace, SumBy::kLine)) lines.insert(line.line);
  REQUIRE(lines.contains("outer/kernel.cu:5"));
  REQUIRE(lines.contains("inner/kernel.cu:5 < outer/kernel.cu:6"));
  CHECK(files.line("outer/kernel.cu:5") == "const float value = values[threadIdx.x];");
  CHECK(files.line("inner/kernel.cu:5 < outer/kernel.cu:6") == "return value * value + 3.0f;");
  CHECK(files.line("inner/kernel.cu:5 < outer/kernel.cu:60") == "return value * value + 3.0f;");
  CHECK(files.line("kernel.cu:5 < kernel.cu:60").empty());  // it may be of either
  CHECK(files.line("kernel.cu:7") == "}");                  // the inner file ends before it
  CHECK(files.recorded_paths().size() == 2);
  CHECK(files.missing().empty());
}
