// Rows of counters: their pixels and their texts.
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "timeline/core/pixels/counter_pixels.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_tree.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::SmallTrace;

namespace {

struct Sampled : SmallTrace {
  CounterId add(const char* name, const char* unit, const char* group, double resolution, std::vector<std::int64_t> values, GpuId on) {
    Counter counter;
    counter.gpu = on;
    counter.process = on == kNone ? process : kNone;
    counter.name = name;
    counter.unit = unit;
    counter.group = group;
    counter.resolution = resolution;
    if (counter.unit == "%") counter.maximum = 100;
    const CounterId id = builder.counter(counter);
    std::vector<Nanoseconds> times;
    for (std::size_t i = 0; i < values.size(); ++i) times.push_back(static_cast<Nanoseconds>(i) * 100);
    REQUIRE(builder.add_samples(std::vector{id}, times, std::vector<std::vector<std::int64_t>>{values}, times.back() + 100));
    return id;
  }
};

std::vector<std::string> counter_titles(const RowTree& tree) {
  std::vector<std::string> lines;
  for (const Row& row : tree.rows())
    if (row.kind == RowKind::kCounter || row.kind == RowKind::kCounters) lines.push_back(std::string(row.depth * 2, ' ') + row_title(row).english());
  return lines;
}

}  // namespace

TEST_CASE("counters of a GPU stand below it in their groups, those of a process below that") {
  Sampled sampled;
  sampled.builder.add(sampled.on_gpu(TrackKind::kKernels, 7), {sampled.event(0, 60, "gemm")});
  sampled.builder.add(sampled.on_thread(TrackKind::kCudaApi), {sampled.event(0, 5, "cudaLaunchKernel")});
  const GpuId gpu = sampled.builder.gpu_of_device(sampled.process, 0);
  sampled.add("SMs active", "%", "SM", 0.01, {1}, gpu);
  sampled.add("DRAM read", "B/s", "Memory", 1, {1}, gpu);
  sampled.add("Warps", "%", "SM", 0.01, {1}, gpu);
  sampled.add("Power", "W", "Board", 0.001, {1}, gpu);
  sampled.add("Queue", "", "", 1, {1}, kNone);
  const auto trace = sampled.builder.snapshot();
  const RowTree tree(*trace);
  CHECK(counter_titles(tree) == std::vector<std::string>{"  GPU metrics", "    SM", "      SMs active", "      Warps", "    Memory", "      DRAM read",
                                                         "    Board", "      Power", "    Queue"});
  const auto row = tree.find("gpu:0/metrics/Board");
  REQUIRE(row);
  CHECK_FALSE(tree.row(*row).expanded_initially);

  const RowMetrics metrics;
  RowArrangement opened;
  opened.expanded["gpu:0/metrics"] = true;
  const RowLayout layout(tree, opened, metrics, "");
  const auto shown = tree.find("gpu:0/metrics/SM/SMs active");
  REQUIRE(shown);
  const PlacedRow* placed = layout.nearest_shown(*shown);
  REQUIRE(placed->row == *shown);
  CHECK(placed->height == metrics.counter_height + metrics.gap);
  CHECK_FALSE(RowLayout::level_at(*placed, placed->top + 5));
}

TEST_CASE("GPU metrics are closed at first where threads that launch stand below, and open where none does") {
  for (const bool launches : {false, true}) {
    Sampled sampled;
    sampled.add("SMs active", "%", "SM", 1, {10, 20}, 0);
    sampled.builder.add(sampled.on_gpu(TrackKind::kKernels), {sampled.event(0, 100, "gemm")});
    if (launches) sampled.builder.add(sampled.on_thread(TrackKind::kCudaApi), {sampled.event(0, 5, "cudaLaunchKernel")});
    const auto trace = sampled.builder.snapshot();
    const RowTree tree(*trace);
    const auto row = tree.find("gpu:0/metrics");
    REQUIRE(row);
    CHECK(tree.row(*row).expanded_initially == !launches);
  }
}

TEST_CASE("counters of the machine stand in their groups below a row of their own") {
  Sampled sampled;
  sampled.builder.add(sampled.on_thread(TrackKind::kCudaApi), {sampled.event(0, 5, "cudaLaunchKernel")});
  for (const auto& [name, group] : {std::pair{"eth0 sent", "Network"}, {"sda read", "Disks"}, {"eth0 received", "Network"}}) {
    Counter counter;
    counter.name = name;
    counter.group = group;
    const std::vector<CounterId> id{sampled.builder.counter(counter)};
    REQUIRE(sampled.builder.add_samples(id, std::vector<Nanoseconds>{5}, std::vector<std::vector<std::int64_t>>{{7}}, 10));
  }
  const auto trace = sampled.builder.snapshot();
  const RowTree tree(*trace);
  CHECK(counter_titles(tree) == std::vector<std::string>{"Machine", "  Network", "    eth0 sent", "    eth0 received", "  Disks", "    sda read"});
  CHECK(tree.find("machine/Network/eth0 sent"));
}

TEST_CASE("a GPU that nobody used has a row for what was sampled of it") {
  TraceBuilder builder;
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.ordinal = 3;
  gpu.uuid = std::string(16, 'x');
  Counter power;
  power.gpu = builder.gpu(gpu);
  power.name = "Power";
  const std::vector<CounterId> counters{builder.counter(power)};
  REQUIRE(builder.add_samples(counters, std::vector<Nanoseconds>{5}, std::vector<std::vector<std::int64_t>>{{7}}, 10));
  const auto trace = builder.snapshot();
  const RowTree tree(*trace);
  REQUIRE(tree.rows().size() == 3);
  CHECK(tree.rows()[0].label.english() == "GPU 3  NVIDIA H200");
  CHECK(tree.rows()[1].label.english() == "GPU metrics");
  CHECK(tree.rows()[2].label.english() == "Power");
}

TEST_CASE("a column of pixels has the least, mean and most of its time, and none where nothing is known") {
  Sampled sampled;
  const CounterId id = sampled.add("x", "", "", 1, {10, 20, kNoValue, 40}, kNone);
  const auto trace = sampled.builder.snapshot();
  const auto columns = counter_columns(trace->counter_series(id), {{0, 500}, 10});  // two columns for each sample
  REQUIRE(columns.size() == 10);
  CHECK(columns[0].mean() == 10);
  CHECK(columns[3].mean() == 20);
  CHECK(columns[4].empty());
  CHECK(columns[7].mean() == 40);
  CHECK(columns[8].empty());
  const auto coarse = counter_columns(trace->counter_series(id), {{50, 450}, 2});
  CHECK(coarse[0].minimum == 10);
  CHECK(coarse[0].maximum == 20);
  CHECK(coarse[0].covered == 150);
  CHECK(coarse[0].mean() == Approx((50 * 10 + 100 * 20) / 150.0));
  // If a pixel is less than a nanosecond, the value at its time is still shown.
  for (const CounterSummary& column : counter_columns(trace->counter_series(id), {{0, 100}, 400})) CHECK(column.mean() == 10);
}

TEST_CASE("the scale begins at 0 and ends at what is possible, or at a round number") {
  Sampled sampled;
  const auto top = [&](const char* unit, double resolution, std::vector<std::int64_t> values) {
    static int number = 0;
    const CounterId id = sampled.add(("c" + std::to_string(++number)).c_str(), unit, "", resolution, std::move(values), kNone);
    return counter_scale(*sampled.builder.snapshot(), id);
  };
  CHECK(top("%", 0.01, {10, 4300}).top == 100);
  CHECK(top("W", 0.001, {310'000, 612'000}).top == 1000);
  CHECK(top("", 1, {150}).top == 200);
  CHECK(top("", 1, {20}).top == 20);
  CHECK(top("", 1, {0, 0}).top == 1);
  const CounterScale negative = top("", 1, {-30, 3});
  CHECK(negative.bottom == -50);
  CHECK(negative.top == 5);
  CHECK(negative.height_of(-50) == 0);
  CHECK(negative.height_of(5) == 1);
  CHECK(negative.height_of(99) == 1);
}

TEST_CASE("quantities are written with the prefixes of their units") {
  CHECK(format_quantity(43.21, "%") == "43.2 %");
  CHECK(format_quantity(4.8e12, "B/s") == "4.80 TB/s");
  CHECK(format_quantity(12'345, "B/s") == "12.35 kB/s");
  CHECK(format_quantity(0, "B/s") == "0 B/s");
  CHECK(format_quantity(1.98e9, "Hz") == "1.98 GHz");
  CHECK(format_quantity(612.34, "W") == "612.3 W");
  CHECK(format_quantity(61, "°C") == "61 °C");
  CHECK(format_quantity(3.0 * (1u << 30), "B") == "3.00 GiB");
  CHECK(format_quantity(7, "") == "7");
}

TEST_CASE("a pixel with one value tells it, one with several tells their least, mean and most") {
  Sampled sampled;
  const CounterId id = sampled.add("Power", "W", "Board", 0.001, {300'000, 400'000, kNoValue}, sampled.builder.gpu_of_device(sampled.process, 0));
  const auto trace = sampled.builder.snapshot();
  const auto value = [&](TimeRange pixel, const char* label) {
    for (const Property& property : describe_counter(*trace, id, pixel))
      if (property.label == label) return property.value.english();
    return std::string("none");
  };
  CHECK(value({110, 120}, "Value") == "400 W");
  CHECK(value({50, 150}, "Mean") == "350 W");
  CHECK(value({50, 150}, "Least") == "300 W");
  CHECK(value({50, 150}, "Most") == "400 W");
  CHECK(value({250, 260}, "Value") == "not known here");
  CHECK(counter_text(*trace, id, {0, 200}) == "350 W, 300 W to 400 W");
  CHECK(counter_text(*trace, id, {900, 1000}).empty());
}
