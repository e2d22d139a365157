#include "model/events/event_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model/events/event_query.h"
#include "random_trace.h"
#include "support/catch.h"

using namespace lanescope;
using lanescope::test::random_trace;

namespace {

std::shared_ptr<const Trace> kernels_of(const std::vector<Nanoseconds>& durations) {
  TraceBuilder builder;
  std::vector<Event> events;
  for (std::size_t i = 0; i < durations.size(); ++i) events.push_back({static_cast<Nanoseconds>(i) * 1'000'000, durations[i], builder.intern("gemm"), 0, 0});
  builder.add({.kind = TrackKind::kKernels, .process = builder.process_of_instance(1), .gpu = builder.gpu(Gpu{}), .context = 1, .stream = 7}, events);
  return builder.snapshot();
}

std::vector<EventRef> all_events(const Trace& trace) { return gather_events(trace, EventScope::whole_trace(trace).lanes(), {}); }

}  // namespace

TEST_CASE("durations 1 to 100 have the statistics that a table of percentiles says") {
  std::vector<Nanoseconds> durations(100);
  std::iota(durations.rbegin(), durations.rend(), Nanoseconds{1});
  const auto trace = kernels_of(durations);
  const auto statistics = statistics_by_name(*trace, all_events(*trace));
  REQUIRE(statistics.size() == 1);
  CHECK(trace->name(statistics[0].name) == "gemm");
  CHECK(statistics[0].kind == EventKind::kKernel);
  CHECK(statistics[0].count == 100);
  CHECK(statistics[0].total == 5050);
  CHECK(statistics[0].share == 1);
  CHECK(statistics[0].average == 50.5);
  CHECK(statistics[0].median == 50.5);
  CHECK(statistics[0].percentile_95 == 95 + 0.05);  // at place 94.05 of 0 to 99
  CHECK(statistics[0].minimum == 1);
  CHECK(statistics[0].maximum == 100);
}

TEST_CASE("every name's statistics equal those of its sorted durations, and shares of a kind add up to one") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const std::vector<EventRef> events = all_events(*trace);
  std::map<std::pair<EventKind, NameId>, std::vector<Nanoseconds>> durations;
  for (const EventRef event : events) durations[{event_kind(*trace, event), trace->event(event).name}].push_back(trace->event(event).duration);
  const auto statistics = statistics_by_name(*trace, events);
  REQUIRE(statistics.size() == durations.size());
  std::map<EventKind, double> share_of_kind;
  for (const NameStatistics& entry : statistics) {
    std::vector<Nanoseconds>& sorted = durations.at({entry.kind, entry.name});
    std::sort(sorted.begin(), sorted.end());
    REQUIRE(entry.count == sorted.size());
    REQUIRE(entry.total == std::accumulate(sorted.begin(), sorted.end(), Nanoseconds{0}));
    REQUIRE(entry.median == static_cast<double>(sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2);
    const double place = static_cast<double>(sorted.size() - 1) * 0.95;
    REQUIRE(entry.percentile_95 >= static_cast<double>(sorted[static_cast<std::size_t>(place)]));
    REQUIRE(entry.percentile_95 <= static_cast<double>(sorted[static_cast<std::size_t>(std::ceil(place))]));
    REQUIRE(entry.minimum == sorted.front());
    REQUIRE(entry.maximum == sorted.back());
    share_of_kind[entry.kind] += entry.share;
    REQUIRE(events_named(*trace, events, entry.kind, entry.name).size() == entry.count);
  }
  for (const auto& [kind, share] : share_of_kind) CHECK(share == Approx(1));
}

TEST_CASE("every duration is counted in the bin whose bounds hold it") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const std::vector<EventRef> events = all_events(*trace);
  const DurationHistogram histogram = duration_histogram(*trace, events, 20);
  REQUIRE(histogram.counts.size() == 20);
  REQUIRE(histogram.bounds.size() == 21);
  REQUIRE(std::is_sorted(histogram.bounds.begin(), histogram.bounds.end()));
  for (std::size_t bin = 0; bin < 20; ++bin) {
    const auto inside = [&](EventRef event) {
      const double duration = static_cast<double>(trace->event(event).duration);
      const bool below_end = bin + 1 == 20 ? duration <= histogram.bounds[20] : duration < histogram.bounds[bin + 1];
      return duration >= histogram.bounds[bin] && below_end;
    };
    REQUIRE(histogram.counts[bin] == static_cast<std::uint64_t>(std::count_if(events.begin(), events.end(), inside)));
  }
}

TEST_CASE("equal durations make one bin, no events none") {
  const auto trace = kernels_of({5, 5, 5});
  CHECK(duration_histogram(*trace, all_events(*trace), 10).counts == std::vector<std::uint64_t>{3});
  CHECK(duration_histogram(*trace, std::span<const EventRef>(), 10).empty());
}

TEST_CASE("families of names are counted as one, and are what a search for them finds") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 7);
  std::vector<Event> ranges;
  for (int i = 0; i < 20; ++i) {
    ranges.push_back({i * 100, 10 + i, builder.intern("step " + std::to_string(i)), 0, 0});
    ranges.push_back({i * 100 + 50, 5, builder.intern(i % 2 == 0 ? "conv2d" : "layer1"), 0, 0});
  }
  builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread}, ranges);
  const auto trace = builder.snapshot();
  const std::vector<LaneId> lanes{0};
  const std::vector<EventRef> events = gather_events(*trace, lanes, {});
  const std::vector<NameStatistics> families = statistics_by_name(*trace, events, {}, Grouping::kFamilies);
  REQUIRE(families.size() == 3);
  CHECK(families[0].count == 20);
  CHECK(families[0].total == 20 * 10 + 190);
  CHECK(families[0].maximum == 29);
  CHECK(trace->name(trace->event(families[0].longest).name) == "step 19");
  CHECK(events_named(*trace, events, EventKind::kNvtxRange, families[0].name, Grouping::kFamilies).size() == 20);
  CHECK(events_named(*trace, events, EventKind::kNvtxRange, families[0].name).size() == 1);
  CHECK(gather_events(*trace, lanes, {.text = "Step *"}).size() == 20);
  CHECK(gather_events(*trace, lanes, {.text = "*"}).size() == 20);
  CHECK(gather_events(*trace, lanes, {.text = "step 1"}).size() == 11);  // 1 and 10 to 19: a text without a star is taken literally
}
