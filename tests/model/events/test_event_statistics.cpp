#include "model/events/event_statistics.h"

#include <algorithm>
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
  for (std::size_t i = 0; i < durations.size(); ++i)
    events.push_back({static_cast<Nanoseconds>(i) * 1'000'000, durations[i], builder.intern("gemm"), 0, 0});
  builder.add(
      {.kind = TrackKind::kKernels, .process = builder.process_of_instance(1), .gpu = builder.gpu(Gpu{}), .context = 1, .stream = 7},
      events);
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
  CHECK(statistics[0].percentile_95 == 95);
  CHECK(statistics[0].minimum == 1);
  CHECK(statistics[0].maximum == 100);
}

TEST_CASE("every name's statistics equal those of its sorted durations, and shares of a kind add up to one") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const std::vector<EventRef> events = all_events(*trace);
  std::map<std::pair<EventKind, NameId>, std::vector<Nanoseconds>> durations;
  for (const EventRef event : events)
    durations[{event_kind(*trace, event), trace->event(event).name}].push_back(trace->event(event).duration);
  const auto statistics = statistics_by_name(*trace, events);
  REQUIRE(statistics.size() == durations.size());
  std::map<EventKind, double> share_of_kind;
  for (const NameStatistics& entry : statistics) {
    std::vector<Nanoseconds>& sorted = durations.at({entry.kind, entry.name});
    std::sort(sorted.begin(), sorted.end());
    REQUIRE(entry.count == sorted.size());
    REQUIRE(entry.total == std::accumulate(sorted.begin(), sorted.end(), Nanoseconds{0}));
    REQUIRE(entry.median == static_cast<double>(sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2);
    const auto not_above = [&](Nanoseconds limit) {
      return std::count_if(sorted.begin(), sorted.end(), [&](Nanoseconds d) { return d <= limit; });
    };
    REQUIRE(not_above(entry.percentile_95) * 100 >= 95 * static_cast<std::ptrdiff_t>(sorted.size()));
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
  CHECK(duration_histogram(*trace, {}, 10).empty());
}
