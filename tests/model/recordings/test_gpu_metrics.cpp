// GPU metrics of kernels that ncu measured on the same GPU: memory-bound additions, matrix products on tensor cores, and pulses of work with pauses between
// them (tests/gpu/metrics.py).
#include <algorithm>

#include "model/stats/report.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::shared_ptr<const Trace> recorded() {
  auto trace = load_trace(test::data_file("gpu_metrics.trace"));
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

// The mean of a metric while the work of an NVTX range ran.
double mean_of(const Trace& trace, const std::string& metric, const std::string& range) {
  stats::ReportOptions options;
  options.range = stats::RangeFilter{range, std::nullopt, 0};
  const auto table = stats::make_report(*stats::find_report("gpu_metric_sum"), trace, options);
  REQUIRE(table);
  for (std::size_t row = 0; row < table->row_count(); ++row)
    if (table->text(table->columns()[0].text(row)) == metric) return table->columns()[2].real(row);
  FAIL("no metric " + metric);
  return 0;
}

const CounterSeries& series_of(const Trace& trace, const std::string& metric) {
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (trace.counters()[id].name == metric) return trace.counter_series(id);
  FAIL("no metric " + metric);
  return trace.counter_series(0);
}

}  // namespace

TEST_CASE("metrics of known kernels are those that ncu measured") {
  const auto trace = recorded();
  // The start and the end of a range's work cut a sample; the mean of many samples is close to the kernel's value.
  CHECK(mean_of(*trace, "DRAM bandwidth", "memory_bound") == Approx(88.1).margin(2));
  CHECK(mean_of(*trace, "Tensor cores active", "memory_bound") < 0.1);
  CHECK(mean_of(*trace, "SMs active", "memory_bound") == Approx(99.7).margin(2));
  CHECK(mean_of(*trace, "DRAM bandwidth", "tensor_cores") == Approx(17.7).margin(2));
  CHECK(mean_of(*trace, "Tensor cores active", "tensor_cores") == Approx(93.7).margin(2));
}

TEST_CASE("samples lie on the kernels that they were taken of") {
  const auto trace = recorded();
  const CounterSeries& active = series_of(*trace, "SMs active");
  double inside = 0, all = 0;
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace->lane(id).size(); ++i)
        if (trace->name(trace->lane(id).name(i)) == "pulses") all += active.summarize({trace->lane(id).start(i), trace->lane(id).end(i)}).integral;
  }
  REQUIRE(all > 0);
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace->lane(id);
      // The last 200 kernels belong to the pulses.
      for (EventIndex i = lane.size() - std::min<EventIndex>(lane.size(), 200); i < lane.size(); ++i)
        inside += active.summarize({lane.start(i), lane.end(i)}).integral;
    }
  }
  CHECK(inside / all > 0.95);
}

TEST_CASE("samples follow each other at the rate that was asked for") {
  const auto trace = recorded();
  const CounterSeries& active = series_of(*trace, "SMs active");
  REQUIRE(active.size() > 10'000);
  std::vector<Nanoseconds> durations;
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active.sample(i).has_value()) durations.push_back(active.sample(i).duration);
  std::nth_element(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2), durations.end());
  CHECK(durations[durations.size() / 2] == Approx(100'000).margin(200));
}
