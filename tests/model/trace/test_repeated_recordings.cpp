// The recordings that benchmarks measure with have the properties that they claim.
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "../../bench/repeat_trace.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

using ValuesByCounter = std::map<std::pair<std::string, std::string>, std::uint64_t>;  // number of values by group and name

ValuesByCounter values_of(const Trace& trace) {
  ValuesByCounter values;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    if (trace.counters()[id].origin != CounterOrigin::kRead) continue;
    const CounterSeries& series = trace.counter_series(id);
    for (std::size_t i = 0; i < series.size(); ++i) values[{trace.counters()[id].group, trace.counters()[id].name}] += series.sample(i).has_value() ? 1 : 0;
  }
  return values;
}

std::shared_ptr<const Trace> loaded(const std::filesystem::path& path) {
  auto trace = load_trace(path);
  REQUIRE(trace);
  return std::move(*trace);
}

}  // namespace

TEST_CASE("a recording that is made of several repeated has all that each of them has as often as it was repeated") {
  const std::vector<std::filesystem::path> sources{data_file("cuda_streams.trace"), data_file("gpu_metrics.trace"), data_file("torch_training_workers0.trace")};
  constexpr std::uint64_t kRounds = 3;
  std::uint64_t events = 0;
  ValuesByCounter values;
  for (const std::filesystem::path& source : sources) {
    const auto trace = loaded(source);
    events += trace->event_count();
    for (const auto& [counter, count] : values_of(*trace)) values[counter] += kRounds * count;
  }
  REQUIRE(!values.empty());
  const TemporaryFolder folder;
  const std::filesystem::path repeated = folder.path() / "repeated.trace";
  const auto of_round = bench::repeat_trace(sources, 1, repeated);
  REQUIRE(of_round);
  REQUIRE(bench::repeat_trace(sources, kRounds * *of_round, repeated));
  const auto trace = loaded(repeated);
  CHECK(trace->provenance().condition == std::string());
  CHECK(trace->event_count() == kRounds * events);
  const ValuesByCounter repeated_values = values_of(*trace);
  CHECK(repeated_values.size() == values.size());
  for (const auto& [counter, count] : values) {
    INFO(counter.first << ": " << counter.second);
    const auto found = repeated_values.find(counter);
    CHECK((found == repeated_values.end() ? 0 : found->second) == count);
  }
}
