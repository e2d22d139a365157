// Rows of several traces on one time axis.
#include "model/trace/combining/combine.h"

#include <algorithm>

#include "support/catch.h"
#include "timeline/core/pixels/svg_picture.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_tree.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;

namespace {

struct OneStream : test::SmallTrace {
  OneStream() {
    builder.add(on_gpu(TrackKind::kKernels), {event(100, 200, "gemm"), event(300, 350, "relu")});
    builder.add(on_thread(TrackKind::kCudaApi), {event(50, 60, "cudaLaunchKernel")});
    builder.add(on_thread(TrackKind::kNvtxRanges), {event(0, 400, "step")});
  }
};

}  // namespace

TEST_CASE("rows of several traces stand under a heading each, and those of the first keep their keys") {
  OneStream first, second;
  const auto one = first.builder.snapshot();
  const RowTree alone(*one);
  const auto both = combine_traces(std::vector<TraceSource>{{one, "A  one.trace", 0}, {second.builder.snapshot(), "B  two.trace", 1'000}});
  const RowTree tree(*both);
  std::vector<std::string> top;
  for (const Row& row : tree.rows())
    if (!row.parent) top.push_back(row.label);
  REQUIRE(top == std::vector<std::string>{"A  one.trace", "B  two.trace"});
  REQUIRE(tree.rows().size() == 2 * alone.rows().size() + 2);
  for (const Row& row : alone.rows()) {
    const auto found = tree.find(row.key);
    REQUIRE(found.has_value());
    REQUIRE(tree.row(*found).depth == row.depth + 1);
    REQUIRE(tree.row(*found).all == row.all);
  }
  const Row& a = tree.row(*tree.find("part:0"));
  const Row& b = tree.row(*tree.find("part:1"));
  REQUIRE(a.kind == RowKind::kTrace);
  REQUIRE(a.all.size() == b.all.size());
  for (LaneId lane = 0; lane < both->lanes().size(); ++lane) REQUIRE(tree.place_of(lane).has_value());
}

TEST_CASE("GPUs of several traces have one line each, and those of two compared runs are open") {
  OneStream first, second;
  const auto gpus_of = [&](const char* run_of_first, const char* run_of_second) {
    const auto both = combine_traces(std::vector<TraceSource>{{.trace = first.builder.snapshot(), .label = "rank0.trace", .run = run_of_first},
                                                              {.trace = second.builder.snapshot(), .label = "rank1.trace", .run = run_of_second}});
    std::vector<bool> open;
    const RowTree tree(*both);
    for (const Row& row : tree.rows())
      if (row.kind == RowKind::kGpu) open.push_back(row.expanded_initially);
    return open;
  };
  CHECK(gpus_of("", "") == std::vector{false, false});
  CHECK(gpus_of("A", "B") == std::vector{true, true});
}

TEST_CASE("away from its place a row says what it belongs to, and in pictures as in the window") {
  OneStream first, second;
  const auto both = combine_traces(std::vector<TraceSource>{{first.builder.snapshot(), "A  one.trace", 0}, {second.builder.snapshot(), "B  two.trace", 0}});
  const RowTree tree(*both);
  const std::string key = "process:1/thread:4711/api";
  const RowLayout layout(tree, {.pinned = {key}}, RowMetrics{}, "");
  const auto title_of = [&](const PlacedRow& placed, TraceSides sides) { return placed_title(tree, placed, sides, tree.row(placed.row).label); };
  const PlacedRow& pinned = layout.rows().front();
  REQUIRE(tree.row(pinned.row).key == key);
  CHECK(title_of(pinned, TraceSides::kApart) == "A  CUDA API  ·  [4711] main");
  const auto in_its_place = std::find_if(layout.rows().begin() + 1, layout.rows().end(), [&](const PlacedRow& placed) { return placed.row == pinned.row; });
  REQUIRE(in_its_place != layout.rows().end());
  CHECK(title_of(*in_its_place, TraceSides::kApart) == "CUDA API");
  CHECK(title_of(*in_its_place, TraceSides::kInterleaved) == "A  CUDA API");
  const auto of_a = std::find_if(layout.rows().begin(), layout.rows().end(), [&](const PlacedRow& placed) { return tree.row(placed.row).key == "part:0"; });
  CHECK(title_of(*of_a, TraceSides::kInterleaved) == "A  one.trace");
  const std::vector<SvgRow> pictured = rows_in_sight(tree, layout, TraceSides::kApart, 0, layout.height());
  REQUIRE(!pictured.empty());
  CHECK(pictured.front().name == "A  CUDA API  ·  [4711] main");
}
