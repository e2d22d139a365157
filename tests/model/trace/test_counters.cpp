#include <algorithm>
#include <numeric>
#include <random>

#include "model/trace/counter.h"
#include "recording.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// A counter as a list of its value in each nanosecond: slow and obvious.
struct Sampled {
  std::vector<Nanoseconds> times;
  std::vector<std::int64_t> values;
  Nanoseconds end = 0;
};

Sampled random_samples(unsigned seed, std::size_t count, std::int64_t largest) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<Nanoseconds> step(1, 9);
  std::uniform_int_distribution<std::int64_t> value(-largest, largest);
  Sampled samples;
  Nanoseconds time = 100;
  for (std::size_t i = 0; i < count; ++i) {
    samples.times.push_back(time);
    samples.values.push_back(random() % 7 == 0 ? kNoValue : value(random));
    time += step(random);
  }
  samples.end = time;
  return samples;
}

CounterSummary summed_one_by_one(const Sampled& samples, TimeRange window) {
  CounterSummary summary;
  std::size_t i = 0;
  for (Nanoseconds t = std::max(window.begin, samples.times.front()); t < std::min(window.end, samples.end); ++t) {
    while (i + 1 < samples.times.size() && samples.times[i + 1] <= t) ++i;
    summary.add(samples.values[i], 1);
  }
  return summary;
}

void check_same(const CounterSummary& a, const CounterSummary& b) {
  REQUIRE(a.covered == b.covered);
  REQUIRE(a.empty() == b.empty());
  if (a.empty()) return;
  REQUIRE(a.minimum == b.minimum);
  REQUIRE(a.maximum == b.maximum);
  REQUIRE_THAT(a.integral, Catch::Matchers::WithinRel(b.integral, 1e-9) || Catch::Matchers::WithinAbs(b.integral, 1e-3));
}

proto::EventChunk chunk_of(std::initializer_list<std::uint32_t> counters, std::int64_t base, std::initializer_list<int> deltas,
                           std::vector<std::vector<int>> values, std::uint64_t last) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch + base);
  proto::CounterSamples& samples = *chunk.mutable_counter_samples();
  for (const std::uint32_t id : counters) samples.add_counter(id);
  for (const int delta : deltas) samples.add_time_delta(delta);
  for (const std::vector<int>& column : values) {
    proto::CounterColumn& added = *samples.add_columns();
    int before = 0;
    for (const int value : column) added.add_value_delta(value - std::exchange(before, value));
  }
  samples.set_last_duration(last);
  return chunk;
}

proto::Resources two_counters() {
  proto::Resources resources;
  proto::Device& device = *resources.add_devices();
  device.set_name("NVIDIA H200");
  device.set_uuid("0123456789abcdef");
  for (const std::uint32_t id : {1u, 2u}) {
    proto::Counter& counter = *resources.add_counters();
    counter.set_id(id);
    counter.set_name(id == 1 ? "Power" : "Temperature");
    counter.set_unit(id == 1 ? "W" : "°C");
    counter.set_resolution(id == 1 ? 0.001 : 1);
    counter.set_gpu_uuid("0123456789abcdef");
  }
  return resources;
}

}  // namespace

TEST_CASE("least, mean and most of any window are those of its nanoseconds") {
  const auto seed = GENERATE(range(1u, 8u));
  const bool wide = seed % 2 == 0;  // values that need eight bytes
  const Sampled samples = random_samples(seed, 700, wide ? std::int64_t{1} << 40 : 1000);
  const CounterSeries series(samples.times, samples.values, samples.end);
  for (Nanoseconds begin = 0; begin < samples.end + 100; begin += 97)
    for (Nanoseconds length = 1; length < samples.end; length = length * 3 + 1)
      check_same(series.summarize({begin, begin + length}), summed_one_by_one(samples, {begin, begin + length}));
}

TEST_CASE("a series of several segments reads as one") {
  const std::size_t count = 2 * CounterSegment::kCapacity + 700;
  const Sampled samples = random_samples(3, count, 1000);
  const CounterSeries series(samples.times, samples.values, samples.end);
  REQUIRE(series.segments().size() == 3);
  REQUIRE(series.size() == count);
  CHECK(series.extent() == TimeRange{100, samples.end});
  const Nanoseconds border = series.segments()[1]->extent().begin;
  for (const TimeRange window : {TimeRange{border - 500, border + 500}, TimeRange{0, samples.end}, TimeRange{border, border + 1}})
    check_same(series.summarize(window), summed_one_by_one(samples, window));
  const std::size_t at_border = CounterSegment::kCapacity;
  CHECK(series.sample(at_border).time == samples.times[at_border]);
  CHECK(series.sample(at_border - 1).duration == samples.times[at_border] - samples.times[at_border - 1]);
  CHECK(series.overlapping({border - 1, border + 1}) == std::pair(at_border - 1, at_border + 1));
}

TEST_CASE("neighbouring windows that are asked for together are those that are asked for one by one") {
  const Sampled samples = random_samples(5, 20'000, 1000);
  const CounterSeries series(samples.times, samples.values, samples.end);
  std::vector<Nanoseconds> edges;
  for (Nanoseconds edge = -500; edge < samples.end + 900; edge += 313) edges.push_back(edge);
  std::vector<CounterSummary> together(edges.size() - 1);
  series.summarize(edges, together);
  for (std::size_t i = 0; i < together.size(); ++i) check_same(together[i], series.summarize({edges[i], edges[i + 1]}));
}

TEST_CASE("a value holds until the next one, and no longer than the last was said to") {
  const CounterSeries series(std::vector<Nanoseconds>{10, 20, 30}, std::vector<std::int64_t>{5, kNoValue, 7}, 35);
  CHECK_FALSE(series.at(9));
  CHECK(series.at(10)->value == 5);
  CHECK(series.at(19)->value == 5);
  CHECK_FALSE(series.at(20));
  CHECK(series.at(34)->value == 7);
  CHECK_FALSE(series.at(35));
}

TEST_CASE("counters that are read together take under six bytes a value") {
  constexpr std::size_t kCounters = 24;
  constexpr std::size_t kSamples = 4 * CounterSegment::kCapacity;
  TraceBuilder builder;
  std::vector<CounterId> counters;
  for (std::size_t i = 0; i < kCounters; ++i) {
    Counter counter;
    counter.name = std::to_string(i);
    counters.push_back(builder.counter(counter));
  }
  std::vector<Nanoseconds> times(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) times[i] = static_cast<Nanoseconds>(i) * 100'000;
  const std::vector<std::vector<std::int64_t>> columns(kCounters, std::vector<std::int64_t>(kSamples, 4321));
  REQUIRE(builder.add_samples(counters, times, columns, times.back() + 100'000));
  CHECK(builder.snapshot()->memory_bytes() < 6 * kCounters * kSamples);
}

TEST_CASE("samples of counters arrive in chunks that follow each other, with what was not known in between") {
  Recording recording;
  recording.add(proto::FRAME_RESOURCES, 0, proto::SOURCE_GPU_METRICS, two_counters());
  recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk_of({1, 2}, 100, {0, 10}, {{7000, 8000}, {40, 41}}, 10));
  recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk_of({1, 2}, 120, {0, 5}, {{9000, 9500}, {42, 42}}, 5));
  const auto before = recording.trace();
  recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk_of({1, 2}, 200, {0}, {{1000}, {39}}, 7));
  const auto trace = recording.trace();

  REQUIRE(trace->counters().size() == 2);
  const Counter& power = trace->counters()[0];
  CHECK(power.name == "Power");
  CHECK(power.unit == "W");
  CHECK(power.process == kNone);
  REQUIRE(power.gpu != kNone);
  CHECK(trace->gpus()[power.gpu].name == "NVIDIA H200");
  CHECK(trace->processes().empty());
  const CounterSeries& series = trace->counter_series(0);
  CHECK(series.at(100)->value == 7000);
  CHECK(series.at(124)->value == 9000);
  CHECK(series.at(129)->value == 9500);
  CHECK_FALSE(series.at(130));
  CHECK_FALSE(series.at(199));
  CHECK(series.at(206)->value == 1000);
  CHECK_FALSE(series.at(207));
  CHECK(trace->extent() == TimeRange{100, 207});
  CHECK(trace->counter_series(1).at(110)->value == 41);
  CHECK(trace->counter_series(0).segments()[0]->times() == trace->counter_series(1).segments()[0]->times());
  // A snapshot does not change.
  CHECK(before->counter_series(0).extent() == TimeRange{100, 130});
  CHECK_FALSE(before->counter_series(0).at(200));
}

TEST_CASE("what makes no sense in a chunk of samples is left out and counted") {
  const auto malformed = [](const proto::EventChunk& chunk) {
    Recording recording;
    recording.add(proto::FRAME_RESOURCES, 0, proto::SOURCE_GPU_METRICS, two_counters());
    recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk_of({1, 2}, 100, {0, 10}, {{1, 2}, {3, 4}}, 10));
    recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk);
    const auto trace = recording.trace();
    CHECK(trace->counter_series(0).extent() == TimeRange{100, 120});
    return recording.malformed();
  };
  CHECK(malformed(chunk_of({1, 2}, 90, {0}, {{1}, {2}}, 11)) == 1);                    // starts before what came, and reaches into it
  CHECK(malformed(chunk_of({1, 2}, 119, {0}, {{1}, {2}}, 5)) == 1);                    // within it
  CHECK(malformed(chunk_of({1, 2}, 130, {0, 0}, {{1, 1}, {2, 2}}, 5)) == 1);           // times that do not ascend
  CHECK(malformed(chunk_of({1, 2}, 130, {0}, {{1}, {2}}, 0)) == 1);                    // a last value that is never valid
  CHECK(malformed(chunk_of({1, 2}, 130, {0}, {{1}}, 5)) == 1);                         // a column is missing
  CHECK(malformed(chunk_of({1, 2}, 130, {0}, {{1}, {2, 3}}, 5)) == 1);                 // and one is too long
  CHECK(malformed(chunk_of({1}, 130, {0}, {{1}}, 5)) == 1);                            // this counter is otherwise read together with another
  CHECK(malformed(chunk_of({1, 9}, 130, {0}, {{1}, {2}}, 5)) == 1);                    // a counter that was never defined
  CHECK(malformed(chunk_of({1, 2}, std::int64_t{1} << 62, {0}, {{1}, {2}}, 5)) == 1);  // times beyond all recordings
  CHECK(malformed(chunk_of({1, 2}, 130, {0}, {{1}, {2}}, ~0ull)) == 1);
}

TEST_CASE("a value that could not be read is none") {
  Recording recording;
  recording.add(proto::FRAME_RESOURCES, 0, proto::SOURCE_GPU_METRICS, two_counters());
  proto::EventChunk chunk = chunk_of({1, 2}, 100, {0, 10}, {{1, 2}, {3, 3}}, 10);
  chunk.mutable_counter_samples()->mutable_columns(1)->add_missing(1);
  recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk);
  const auto trace = recording.trace();
  CHECK(trace->counter_series(0).at(115)->value == 2);
  CHECK(trace->counter_series(1).at(105)->value == 3);
  CHECK_FALSE(trace->counter_series(1).at(115));
}

TEST_CASE("samples that come late are put into their places, whatever the order in which chunks come") {
  const auto seed = GENERATE(range(1u, 25u));
  std::mt19937 random(seed);
  struct Chunk {
    std::vector<Nanoseconds> times;
    std::vector<std::vector<std::int64_t>> columns;
    Nanoseconds end;
  };
  // Chunks of a few samples each, with gaps between some of them; one is so long that segments are closed.
  std::vector<Chunk> chunks;
  Nanoseconds time = 100;
  for (int i = 0; i < 12; ++i) {
    Chunk chunk;
    const int count = i == 5 ? static_cast<int>(CounterSegment::kCapacity) + 300 : 1 + static_cast<int>(random() % 5);
    for (int k = 0; k < count; ++k) {
      chunk.times.push_back(time);
      time += 1 + static_cast<Nanoseconds>(random() % 9);
    }
    chunk.end = time;
    for (int counter = 0; counter < 2; ++counter) {
      std::vector<std::int64_t>& values = chunk.columns.emplace_back();
      for (int k = 0; k < count; ++k) values.push_back(random() % 7 == 0 ? kNoValue : static_cast<std::int64_t>(random() % 1'000));
    }
    if (random() % 2 == 0) time += 1 + static_cast<Nanoseconds>(random() % 50);
    chunks.push_back(std::move(chunk));
  }
  const auto built = [&](const std::vector<std::size_t>& order, std::size_t snapshot_after) {
    TraceBuilder builder;
    std::vector<CounterId> counters;
    for (const char* name : {"a", "b"}) {
      Counter counter;
      counter.name = name;
      counters.push_back(builder.counter(counter));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(builder.add_samples(counters, chunks[order[i]].times, chunks[order[i]].columns, chunks[order[i]].end));
      if (i == snapshot_after) (void)builder.snapshot();
    }
    REQUIRE_FALSE(builder.add_samples(counters, chunks[3].times, chunks[3].columns, chunks[3].end));  // these times are already known
    return builder.snapshot();
  };
  std::vector<std::size_t> order(chunks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto expected = built(order, order.size());
  std::shuffle(order.begin(), order.end(), random);
  const auto shuffled = built(order, seed % order.size());
  for (CounterId id = 0; id < 2; ++id)
    for (Nanoseconds t = 90; t < time + 10; ++t) {
      const auto a = expected->counter_series(id).at(t), b = shuffled->counter_series(id).at(t);
      if (a.has_value() != b.has_value() || (a && a->value != b->value)) FAIL("counter " << id << " at " << t);
    }
}
