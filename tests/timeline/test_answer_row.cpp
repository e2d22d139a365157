// A row for ranges that answer a question: its place, its height, and what is found in it.
#include <limits>

#include "support/catch.h"
#include "timeline/core/rows/answer_row.h"
#include "timeline/core/rows/row_layout.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

TEST_CASE("ranges that overlap have levels of their own; of many that do, one says how busy they are") {
  const AnswerRow apart("found", {{{0, 10}, "a"}, {{20, 30}, "b"}});
  CHECK(apart.levels().size() == 1);
  const AnswerRow overlapping("found", {{{0, 100}, "a"}, {{50, 150}, "b"}, {{200, 210}, "c"}});
  REQUIRE(overlapping.levels().size() == 2);
  CHECK(overlapping.levels()[0].busy({0, 300}) + overlapping.levels()[1].busy({0, 300}) == 210);
  std::vector<AnsweredRange> many;
  for (Nanoseconds i = 0; i < 20; ++i) many.push_back({{i, 100 + i}, "x"});
  const AnswerRow together("found", many);
  REQUIRE(together.levels().size() == 1);
  CHECK(together.levels()[0].busy({0, 1'000}) == 119);
  CHECK(together.size() == 20);
}

TEST_CASE("the nearest range is found on every level, and no range is nearest of none") {
  const AnswerRow row("found", {{{0, 100}, "a"}, {{50, 150}, "b"}, {{200, 210}, "c"}});
  CHECK(row.nearest(120) == TimeRange{50, 150});
  CHECK(row.nearest(190) == TimeRange{200, 210});
  CHECK(row.nearest(-5) == TimeRange{0, 100});
  CHECK_FALSE(AnswerRow("found", {}).nearest(0));
  CHECK(AnswerRow("found", {}).levels().size() == 1);
}

TEST_CASE("ranges at times that no recording has are left out") {
  constexpr Nanoseconds kFar = std::numeric_limits<Nanoseconds>::max();
  const AnswerRow row("found", {{{0, 10}, "a"}, {{kFar - 1, kFar}, "b"}, {{10, 0}, "c"}});
  CHECK(row.size() == 1);
}

TEST_CASE("an answer's row is in front of all others, as high as it has levels, and goes without a trace") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 10, "gemm")});
  RowTree tree(*small.builder.snapshot());
  const std::size_t rows = tree.rows().size();
  tree.set_answer("Answer: 3 ranges", 3);
  tree.set_answer("Answer: 2 ranges", 2);
  REQUIRE(tree.rows().size() == rows + 1);
  const RowMetrics metrics;
  const RowLayout layout(tree, {}, metrics, "");
  const PlacedRow& first = layout.rows().front();
  CHECK(tree.row(first.row).label.english() == "Answer: 2 ranges");
  CHECK(first.height == 2 * metrics.stacked_height + metrics.gap);
  CHECK(layout.rows()[1].top == first.height);
  tree.set_answer("", 0);
  CHECK(tree.rows().size() == rows);
  CHECK_FALSE(tree.find(RowTree::kAnswerKey));
}
