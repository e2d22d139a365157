// Rows of several traces on one time axis.
#include "model/trace/combine.h"
#include "support/catch.h"
#include "timeline/core/row_tree.h"
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
