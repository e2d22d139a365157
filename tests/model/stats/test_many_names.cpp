// Reports of very many names and ranges: their cost, and their order.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "model/stats/report.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/cost.h"

using namespace lanescope;
using namespace lanescope::stats;

TEST_CASE("names without events cost a report nothing") {
  constexpr std::size_t kNames = 3'000'000;
  TraceBuilder builder;
  for (std::size_t i = 0; i < kNames; ++i) builder.intern(std::to_string(i));
  const auto trace = builder.snapshot();
  for (const char* name : {"cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "osrt_sum"}) {
    CAPTURE(name);
    const auto parsed = parse_report(name, {});
    REQUIRE(parsed);
    CHECK(test::cost_of([&] { static_cast<void>(make_report(*parsed->report, *trace, parsed->options)); }).bytes < 8 * kNames);
  }
}

namespace {

// Consecutive ranges, each with a name of its own, or all with one name.
std::shared_ptr<const Trace> ranges_behind_each_other(std::size_t count, bool named_apart) {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const TrackKey track{.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, 1)};
  std::vector<Event> ranges;
  for (std::size_t i = 0; i < count; ++i)
    ranges.push_back({static_cast<Nanoseconds>(2 * i), 1, builder.intern("the work of step number " + std::to_string(named_apart ? i : 0)), 0, 0});
  builder.add(track, std::move(ranges));
  return builder.snapshot();
}

}  // namespace

TEST_CASE("a row of a summary takes its numbers and its name, once") {
  constexpr std::size_t kNames = 500'000;
  const auto trace = ranges_behind_each_other(kNames, true);
  const auto parsed = parse_report("nvtx_sum", {});
  REQUIRE(parsed);
  std::size_t rows = 0;
  const test::Cost cost = test::cost_of([&] { rows = make_report(*parsed->report, *trace, parsed->options)->row_count(); });
  CHECK(rows == kNames);
  // 64 bytes of cells, 48 of the name, 40 of the group by ids, 28 of that by labels, 24 of its sum, and tables of these.
  CHECK(cost.bytes < 250 * kNames);
}

TEST_CASE("summaries of names that are alike up to some byte, or differ behind a zero, are those of a map") {
  const auto seed = GENERATE(range(1u, 30u));
  std::mt19937 random(seed);
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  std::map<std::string, std::vector<std::int64_t>> expected;
  for (std::uint32_t number = 1; number <= 3; ++number) {  // domains, two with the same name
    builder.set_domain(process, number, number == 1 ? "a" : "b");
    TrackKey track{.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, number)};
    track.domain = number;
    std::vector<Event> ranges;
    for (Nanoseconds i = 0; i < 200; ++i) {
      std::string name(random() % 4 * 8 + random() % 3, 'x');
      for (std::uint32_t left = random() % 12; left > 0; --left) name.push_back("\0\xffxy"[random() % 4]);
      const auto duration = static_cast<Nanoseconds>(random() % 3);
      ranges.push_back({10 * i, duration, builder.intern(name), 0, 0});
      expected[(number == 1 ? "a:" : "b:") + name].push_back(duration);
    }
    builder.add(track, std::move(ranges));
  }
  struct Row {
    std::int64_t total, count;
    std::string name;
  };
  std::vector<Row> rows;
  for (const auto& [name, durations] : expected)
    rows.push_back({std::accumulate(durations.begin(), durations.end(), std::int64_t{0}), static_cast<std::int64_t>(durations.size()), name});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return std::tie(a.total, a.count) > std::tie(b.total, b.count); });
  const auto table = make_report(*parse_report("nvtx_sum", {})->report, *builder.snapshot(), {});
  REQUIRE(table);
  REQUIRE(table->row_count() == rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    REQUIRE(table->columns()[1].integer(row) == rows[row].total);
    REQUIRE(table->columns()[2].integer(row) == rows[row].count);
    REQUIRE(table->text(table->columns().back().text(row)) == rows[row].name);
  }
}

TEST_CASE("a row of nested ranges takes its place in the nest, and no copy of what the range says") {
  constexpr std::size_t kRanges = 1'000'000;
  const auto trace = ranges_behind_each_other(kRanges, false);
  const auto parsed = parse_report("nvtx_pushpop_trace", {});
  REQUIRE(parsed);
  std::size_t rows = 0;
  const test::Cost cost = test::cost_of([&] { rows = make_report(*parsed->report, *trace, parsed->options)->row_count(); });
  CHECK(rows == kRanges);
  CHECK(cost.bytes < 150 * kRanges);
}

TEST_CASE("a copy of a table and the table take texts of their own") {
  Table table({texts("Name")});
  table.add_row(table.add_text("both"));
  Table copy = table;
  copy.add_row(copy.add_text("the copy's"));
  table.add_row(table.add_text("the table's"));
  const Table moved = std::move(table);
  CHECK(copy.text(copy.columns()[0].text(1)) == "the copy's");
  CHECK(moved.text(moved.columns()[0].text(1)) == "the table's");
  CHECK(copy.text(copy.columns()[0].text(0)) == "both");
}
