// Rows of two traces that stand for the same thing.
#include "model/trace/combining/combine.h"
#include "support/catch.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_pairs.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

namespace {

std::shared_ptr<const Trace> program(std::uint32_t pid, const std::vector<std::string>& kernels) {
  SmallTrace small;
  small.builder.process(small.process).pid = pid;
  Nanoseconds start = 0;
  std::vector<Event> events;
  for (const std::string& kernel : kernels) {
    events.push_back(small.event(start, start + 50, kernel));
    start += 100;
  }
  small.builder.add(small.on_gpu(TrackKind::kKernels), events);
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(0, 10, "cudaLaunchKernel")});
  return small.builder.snapshot();
}

}  // namespace

TEST_CASE("rows of two traces are paired by what they are, not by the numbers of processes") {
  const std::shared_ptr<const Trace> both =
      combine_traces(std::vector<TraceSource>{{program(10, {"gemm", "relu"}), "A", 0}, {program(77, {"relu", "other"}), "B", 0}});
  const RowTree tree(*both);
  const auto pair_of = [&](const std::string& name, std::size_t part) -> std::string {
    for (RowIndex row = 0; row < tree.rows().size(); ++row) {
      RowIndex top = row;
      while (tree.row(top).parent) top = *tree.row(top).parent;
      if (tree.row(row).label.english() != name || tree.row(top).key != "part:" + std::to_string(part)) continue;
      const auto other = row_of_other_trace(tree, row);
      if (!other) return "none";
      CHECK(row_of_other_trace(tree, *other) == row);  // in the other direction
      return tree.row(*other).label.english();
    }
    return "no such row";
  };
  CHECK(pair_of("CUDA HW", 0) == "CUDA HW");
  CHECK(pair_of("[10] python", 0) == "[77] python");
  CHECK(pair_of("CUDA API", 1) == "CUDA API");
  CHECK(pair_of("relu", 0) == "relu");
  CHECK(pair_of("gemm", 0) == "none");
  CHECK_FALSE(row_of_other_trace(tree, *tree.find("part:0")));
  const RowTree alone(*program(1, {"gemm"}));
  CHECK_FALSE(row_of_other_trace(alone, 1));
}

TEST_CASE("a thread whose name is not known is paired before one of another name") {
  const auto threads = [](std::uint32_t pid, const std::vector<std::string>& names) {
    SmallTrace small;
    small.builder.process(small.process).pid = pid;
    small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(0, 10, "cudaLaunchKernel")});
    for (const std::string& name : names) {
      small.thread = small.builder.thread(small.process, ++pid);
      if (!name.empty()) small.builder.name_thread(small.thread, name);
      small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(0, 10, "cudaLaunchKernel")});
    }
    return small.builder.snapshot();
  };
  const std::shared_ptr<const Trace> both =
      combine_traces(std::vector<TraceSource>{{threads(10, {"autograd"}), "A", 0}, {threads(70, {"loader", ""}), "B", 0}});
  const RowTree tree(*both);
  const auto labelled = [&](const std::string& label) {
    for (RowIndex row = 0; row < tree.rows().size(); ++row)
      if (tree.row(row).label.english() == label) return std::optional(row);
    return std::optional<RowIndex>();
  };
  REQUIRE(labelled("[11] autograd"));
  const auto other = row_of_other_trace(tree, *labelled("[11] autograd"));
  REQUIRE(other);
  CHECK(tree.row(*other).label.english() == "[72]");
  CHECK_FALSE(row_of_other_trace(tree, *labelled("[71] loader")));
}

TEST_CASE("interleaved, each row of B stands below the row of A that it is paired with") {
  const std::shared_ptr<const Trace> both =
      combine_traces(std::vector<TraceSource>{{program(10, {"gemm", "relu"}), "A", 0}, {program(77, {"relu", "other"}), "B", 0}});
  const RowTree tree(*both);
  RowArrangement arrangement;
  arrangement.sides = TraceSides::kInterleaved;
  for (const Row& row : tree.rows()) arrangement.expanded[row.key] = true;
  const auto order = [&] {
    std::vector<std::string> lines;
    const RowLayout layout(tree, arrangement, {}, "");
    for (const PlacedRow& placed : layout.rows()) {
      RowIndex top = placed.row;
      while (tree.row(top).parent) top = *tree.row(top).parent;
      lines.push_back((tree.row(top).key == "part:0" ? "A " : "B ") + tree.row(placed.row).label.english());
    }
    return lines;
  };
  const std::vector<std::string> lines = order();
  REQUIRE(lines.size() == tree.rows().size());  // each once
  const auto behind = [&](const std::string& line) { return *(std::find(lines.begin(), lines.end(), line) + 1); };
  CHECK(behind("A A") == "B B");
  CHECK(behind("A CUDA HW") == "B CUDA HW");
  CHECK(behind("A relu") == "B relu");
  CHECK(behind("A gemm") == "A relu");   // B has none
  CHECK(behind("B relu") == "B other");  // A has none
  CHECK(behind("A [10] python") == "B [77] python");
  CHECK(behind("A CUDA API") == "B CUDA API");

  arrangement.hidden.insert(tree.row(row_of_other_trace(tree, *tree.find("gpu:0/hw")).value()).key);
  const std::vector<std::string> without = order();
  CHECK(std::find(without.begin(), without.end(), "B CUDA HW") == without.end());
  CHECK(std::find(without.begin(), without.end(), "A CUDA HW") != without.end());
  const RowTree alone(*program(1, {"gemm"}));
  CHECK(RowLayout(alone, arrangement, {}, "").rows().size() == RowLayout(alone, {.expanded = arrangement.expanded}, {}, "").rows().size());
}
