// Values of counters that are decoded when they are needed give the same answers as values in memory, however little memory there is.
#include "model/trace/segments/demanded_counters.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "compact/counter_frames.h"
#include "in_file.h"
#include "lanescope/trace.pb.h"
#include "model/export/text_export.h"
#include "model/file/trace_file.h"
#include "model/trace/combining/combine.h"
#include "recordings.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kEpochOfLog = 1'000'000;
constexpr std::uint8_t kSource = proto::SOURCE_GPU_METRICS;

proto::Resources counters_of(std::uint32_t first, std::uint32_t count) {
  proto::Resources resources;
  proto::Device& device = *resources.add_devices();
  device.set_name("NVIDIA H200");
  device.set_uuid("0123456789abcdef");
  for (std::uint32_t id = first; id < first + count; ++id) {
    proto::Counter& counter = *resources.add_counters();
    counter.set_id(id);
    counter.set_name("Counter " + std::to_string(id));
    counter.set_resolution(0.5);
    counter.set_gpu_uuid(device.uuid());
  }
  return resources;
}

// A recording made of chunks of counters.
class LogOfCounters {
 public:
  explicit LogOfCounters(const fs::path& path) : writer_(*TraceFileWriter::create(path, Overwrite::kAllow)) {
    proto::SessionStart start;
    start.set_epoch(kEpochOfLog);
    add(proto::FRAME_SESSION_START, start);
  }
  ~LogOfCounters() {
    add(proto::FRAME_SESSION_END, proto::SessionEnd());
    REQUIRE(writer_.finish());
  }
  template <typename Message>
  void add(proto::FrameType type, const Message& message) {
    std::vector<std::byte> frame;
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.source = kSource;
    append_frame(header, message.SerializeAsString(), frame);
    REQUIRE(writer_.append(frame));
  }

 private:
  TraceFileWriter writer_;
};

// A chunk of random values, some of which are missing; it begins at `time`, which is then its end.
proto::EventChunk random_chunk(std::mt19937_64& random, std::uint32_t first, std::uint32_t count, std::size_t rows, Nanoseconds& time, std::int64_t largest) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpochOfLog + time);
  proto::CounterSamples& samples = *chunk.mutable_counter_samples();
  Nanoseconds before = 0, within = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    samples.add_time_delta(within - before);
    before = within;
    within += 1 + static_cast<Nanoseconds>(random() % 20);
  }
  samples.set_last_duration(static_cast<std::uint64_t>(within - before));
  time += within;
  for (std::uint32_t id = first; id < first + count; ++id) {
    samples.add_counter(id);
    proto::CounterColumn& column = *samples.add_columns();
    const bool is_constant = random() % 4 == 0;
    std::int64_t last = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      if (!is_constant && random() % 9 == 0) column.add_missing(static_cast<std::uint32_t>(row));
      const std::int64_t value = is_constant ? 7 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * largest)) - largest;
      column.add_value_delta(value - last);
      last = value;
    }
  }
  return chunk;
}

// Counters 1 to 3 are read together, and 4 and 5, which need eight bytes. Some chunks come late, and between some nothing is known.
void write_random_log(const fs::path& path, unsigned seed) {
  std::mt19937_64 random(seed);
  LogOfCounters log(path);
  log.add(proto::FRAME_RESOURCES, counters_of(1, 5));
  std::vector<proto::EventChunk> chunks;
  Nanoseconds time = 50;
  for (int i = 0; i < 60; ++i) {
    chunks.push_back(random_chunk(random, 1, 3, 1 + random() % (i % 7 == 0 ? 20'000 : 700), time, 1'000));
    if (random() % 3 == 0) time += 1 + static_cast<Nanoseconds>(random() % 5'000);
  }
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i)
    if (random() % 4 == 0) std::swap(chunks[i], chunks[i + 1]);
  Nanoseconds other = 1'000;
  for (const proto::EventChunk& chunk : chunks) {
    log.add(proto::FRAME_EVENTS, chunk);
    if (random() % 2 == 0) log.add(proto::FRAME_EVENTS, random_chunk(random, 4, 2, 1 + random() % 300, other, std::int64_t{1} << 40));
  }
}

bool same(const CounterSummary& a, const CounterSummary& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  const double most = std::max(std::abs(static_cast<double>(a.minimum)), std::abs(static_cast<double>(a.maximum)));
  return a.minimum == b.minimum && a.maximum == b.maximum && a.covered == b.covered &&
         std::abs(a.integral - b.integral) <= 1e-9 * (1 + most * static_cast<double>(a.covered));
}
bool same(const CounterSample& a, const CounterSample& b) { return a.time == b.time && a.duration == b.duration && a.value == b.value; }
bool same(const std::optional<CounterSample>& a, const std::optional<CounterSample>& b) { return a && b ? same(*a, *b) : a.has_value() == b.has_value(); }

void check_answers(const CounterSeries& memory, const CounterSeries& file, unsigned seed) {
  REQUIRE(file.size() == memory.size());
  REQUIRE(file.extent() == memory.extent());
  if (memory.empty()) return;
  CounterReader of_file(file), of_memory(memory);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) wrong += !same(of_file.sample(i), of_memory.sample(i));
  CHECK(wrong == 0);
  std::mt19937_64 random(seed);
  const TimeRange extent = memory.extent();
  const auto some_time = [&] { return extent.begin - 100 + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 200)); };
  for (int question = 0; question < 300; ++question) {
    const Nanoseconds t = some_time(), u = some_time();
    const TimeRange window{std::min(t, u), std::max(t, u)};
    wrong += !same(file.summarize(window), memory.summarize(window));
    wrong += !same(file.at(t), memory.at(t));
    wrong += file.overlapping(window) != memory.overlapping(window);
    const std::size_t i = random() % memory.size();
    wrong += !same(file.sample(i), memory.sample(i));
    const TimeRange one{memory.sample(i).time, memory.sample(i).time + memory.sample(i).duration};
    wrong += file.overlapping(one) != std::pair(i, i + 1);
  }
  CHECK(wrong == 0);
  for (const std::size_t width : {1u, 10u, 997u}) {
    std::vector<Nanoseconds> edges;
    for (std::size_t x = 0; x <= width; ++x)
      edges.push_back(extent.begin - 50 + (extent.length() + 100) / static_cast<Nanoseconds>(width) * static_cast<Nanoseconds>(x));
    std::vector<CounterSummary> a(width), b(width);
    memory.summarize(edges, a);
    file.summarize(edges, b);
    for (std::size_t x = 0; x < width; ++x) wrong += !same(a[x], b[x]);
  }
  CHECK(wrong == 0);
}

std::string chrome_text(const Trace& trace) {
  std::string text;
  REQUIRE(export_chrome_json(trace, [&](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

}  // namespace

TEST_CASE("counters on demand answer as counters in memory, with and without heads in the file") {
  const auto seed = GENERATE(range(1u, 4u));
  const bool has_heads = GENERATE(true, false);
  CAPTURE(seed, has_heads);
  const MemoryBudget budget(64u << 10);
  const TemporaryFolder folder;
  write_random_log(folder.path() / "log.trace", seed);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  fs::path path = folder.path() / "compact.trace";
  if (!has_heads) path = without_counter_heads(path, folder.path() / "older.trace");
  const auto memory = loaded(folder.path() / "log.trace"), file = opened_in_file(path);
  REQUIRE(memory->counters().size() == 5);
  REQUIRE(file->counters().size() == 5);
  CHECK(demands_counters(*file));
  CHECK_FALSE(holds_events(*file));
  for (CounterId id = 0; id < 5; ++id) {
    REQUIRE(file->counters()[id].name == memory->counters()[id].name);
    REQUIRE(file->counter_series(id).demanded() != nullptr);
    check_answers(memory->counter_series(id), file->counter_series(id), seed);
  }
  CHECK(file->counter_series(0).times_identity() == file->counter_series(2).times_identity());
  CHECK(file->counter_series(0).times_identity() != file->counter_series(3).times_identity());
  CHECK(file->extent() == memory->extent());
  CHECK((chrome_text(*file) == chrome_text(*memory)));
  CHECK((chrome_text(*loaded(path)) == chrome_text(*memory)));  // the file, with all values in memory
  CHECK(check_all_was_read(*file));
}

TEST_CASE("counters of several files on demand answer as those in memory") {
  const auto clock = GENERATE(ClockLine(0), ClockLine(-12'345), ClockLine(777, 4e-4, 20'000));
  CAPTURE(clock.shift(), clock.drift());
  const MemoryBudget budget(64u << 10);
  const TemporaryFolder folder;
  std::vector<TraceSource> in_memory, in_file;
  for (const unsigned seed : {5u, 6u}) {
    const fs::path log = folder.path() / "log.trace", compact = folder.path() / ("compact" + std::to_string(seed) + ".trace");
    write_random_log(log, seed);
    compacted(log, compact);
    const ClockLine of_this = in_file.empty() ? ClockLine(0) : clock;
    in_memory.push_back({loaded(log), "", of_this});
    in_file.push_back({opened_in_file(compact), "", of_this});
  }
  const std::uint64_t decoded = SegmentCache::of_process().use().counters;
  const auto memory = combine_traces(in_memory), file = combine_traces(in_file);
  if (clock.is_shift()) CHECK(SegmentCache::of_process().use().counters == decoded);
  REQUIRE(memory->counters().size() == 10);
  CHECK(file->memory_bytes() < memory->memory_bytes() / 2);
  for (CounterId id = 0; id < 10; ++id) {
    REQUIRE(file->counter_series(id).demanded() != nullptr);
    check_answers(memory->counter_series(id), file->counter_series(id), id);
  }
  CHECK(file->counter_series(5).times_identity() == file->counter_series(7).times_identity());
  CHECK(file->counter_series(5).times_identity() != file->counter_series(8).times_identity());
  CHECK((chrome_text(*file) == chrome_text(*memory)));
  CHECK(check_all_was_read(*file));

  std::ofstream(folder.path() / "compact6.trace", std::ios::in | std::ios::out).seekp(200) << std::string(1'000'000, 'x');
  (void)SegmentCache::of_process().take_problems();  // of other tests
  CounterReader reader(file->counter_series(5));
  for (std::size_t i = 0; i < file->counter_series(5).size(); ++i) (void)reader.sample(i);
  CHECK(has_substitutes(*file));
  const auto problems = SegmentCache::of_process().take_problems();
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().find("compact6.trace") != std::string::npos);
}

TEST_CASE("opening a file with heads decodes no value, and holds a fraction of them") {
  const TemporaryFolder folder;
  constexpr std::size_t kChunks = 100, kRows = 4'000, kCounters = 10;
  {
    std::mt19937_64 random(1);
    LogOfCounters log(folder.path() / "log.trace");
    log.add(proto::FRAME_RESOURCES, counters_of(1, kCounters));
    Nanoseconds time = 0;
    for (std::size_t i = 0; i < kChunks; ++i) log.add(proto::FRAME_EVENTS, random_chunk(random, 1, kCounters, kRows, time, 10'000));
  }
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  constexpr std::uint64_t kBudget = 1u << 20;
  const MemoryBudget budget(kBudget);
  const std::uint64_t decoded = SegmentCache::of_process().use().counters;
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const CounterSeries& series = file->counter_series(0);
  CHECK(series.size() == kChunks * kRows);
  CHECK_FALSE(series.summarize(series.extent()).empty());
  CHECK(SegmentCache::of_process().use().counters == decoded);
  CHECK(file->memory_bytes() < 64u << 10);  // of 4 million values
  CHECK(loaded(folder.path() / "compact.trace")->memory_bytes() > kChunks * kRows * kCounters * 3);

  // Who reads everything stays within the budget, except for what is read at the moment.
  std::uint64_t most = 0;
  for (CounterId id = 0; id < kCounters; ++id) {
    CounterReader reader(file->counter_series(id));
    for (std::size_t i = 0; i < series.size(); i += 100) {
      (void)reader.sample(i);
      most = std::max(most, SegmentCache::of_process().use().used);
    }
  }
  CHECK(most < kBudget + (256u << 10));
  // A window that cuts two chunks decodes these, and their times.
  const std::uint64_t before = SegmentCache::of_process().use().counters;
  const TimeRange extent = series.extent();
  (void)series.summarize({extent.begin + 1, extent.end - 1});
  CHECK(SegmentCache::of_process().use().counters - before <= 4);
}

TEST_CASE("the outline of a counter decodes nothing, and says where it is not exact") {
  const TemporaryFolder folder;
  write_random_log(folder.path() / "log.trace", 9);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const CounterSeries& series = file->counter_series(0);
  const auto blocks = series.demanded()->blocks();
  std::vector<Nanoseconds> edges;
  for (const DemandedCounters::Block& block : blocks) edges.push_back(block.extent.begin);
  edges.push_back(series.extent().end);
  std::vector<CounterSummary> outline(edges.size() - 1), exact(edges.size() - 1);
  const std::uint64_t decoded = SegmentCache::of_process().use().counters;
  CHECK(series.outline(edges, outline) == CounterSeries::Detail::kExact);  // no edge cuts a chunk
  CHECK(SegmentCache::of_process().use().counters == decoded);
  series.summarize(edges, exact);
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(same(outline[i], exact[i]));

  edges = {series.extent().begin, (blocks[0].extent.begin + blocks[0].extent.end) / 2, series.extent().end};
  outline.resize(2);
  exact.resize(2);
  CHECK(series.outline(edges, outline) == CounterSeries::Detail::kOutline);
  CHECK(SegmentCache::of_process().use().counters == decoded);
  series.summarize(edges, exact);
  const CounterSummary all = series.summarize(series.extent());
  for (std::size_t i = 0; i < 2; ++i) {  // extremes may belong to the other part of the chunk that is cut
    CHECK(outline[i].minimum <= exact[i].minimum);
    CHECK(outline[i].maximum >= exact[i].maximum);
  }
  CHECK(std::abs(outline[0].covered + outline[1].covered - all.covered) <= 2);
  CHECK(series.outline(edges, outline) == CounterSeries::Detail::kExact);  // it is decoded now
  for (std::size_t i = 0; i < 2; ++i) CHECK(same(outline[i], exact[i]));
}

TEST_CASE("of chunks that overlap, the first in the file counts, on demand as in memory") {
  const TemporaryFolder folder;
  {
    std::mt19937_64 random(3);
    LogOfCounters log(folder.path() / "log.trace");
    log.add(proto::FRAME_RESOURCES, counters_of(1, 2));
    Nanoseconds first = 500, second = 0, third = 100'000;
    log.add(proto::FRAME_EVENTS, random_chunk(random, 1, 2, 100, first, 50));
    log.add(proto::FRAME_EVENTS, random_chunk(random, 1, 2, 100, second, 50));  // ends behind the begin of the one before
    log.add(proto::FRAME_EVENTS, random_chunk(random, 1, 2, 100, third, 50));
  }
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "log.trace"), file = opened_in_file(folder.path() / "compact.trace");
  CHECK(memory->counter_series(0).extent().begin == 500);
  for (CounterId id = 0; id < 2; ++id) check_answers(memory->counter_series(id), file->counter_series(id), 1);
  CHECK(file->provenance().condition == "1 frame could not be understood and was skipped.");
}

TEST_CASE("values that can't be read any more are missing, and it is said") {
  const TemporaryFolder folder;
  write_random_log(folder.path() / "log.trace", 4);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const CounterSeries& series = file->counter_series(0);
  const std::size_t size = series.size();
  const TimeRange extent = series.extent();
  {  // another program writes over all of it but its begin
    std::fstream bytes(folder.path() / "compact.trace", std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(200);
    bytes << std::string(fs::file_size(folder.path() / "compact.trace") - 200, 'x');
  }
  (void)SegmentCache::of_process().take_problems();  // of other tests
  CounterReader reader(series);
  std::size_t known = 0;
  Nanoseconds time = std::numeric_limits<Nanoseconds>::min();
  for (std::size_t i = 0; i < size; ++i) {
    const CounterSample sample = reader.sample(i);
    known += sample.has_value();
    REQUIRE(sample.time > time);
    time = sample.time;
  }
  CHECK(known == 0);
  CHECK(series.extent() == extent);
  CHECK(has_substitutes(*file));
  const auto checked = check_all_was_read(*file);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().text.find("Not all values of counters of ") == 0);
  const std::vector<std::string> problems = SegmentCache::of_process().take_problems();
  CHECK(problems == std::vector<std::string>{checked.error().text});
}

TEST_CASE("chunks of very many counters are read at once, so that each costs as much as its values") {
  const TemporaryFolder folder;
  constexpr std::uint32_t kMany = 5'000;
  {
    std::mt19937_64 random(5);
    LogOfCounters log(folder.path() / "log.trace");
    log.add(proto::FRAME_RESOURCES, counters_of(1, kMany + 2));
    Nanoseconds time = 0, other = 0;
    for (int i = 0; i < 3; ++i) {
      log.add(proto::FRAME_EVENTS, random_chunk(random, 1, kMany, 2, time, 50));
      log.add(proto::FRAME_EVENTS, random_chunk(random, kMany + 1, 2, 20, other, 50));
    }
  }
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "log.trace"), file = opened_in_file(folder.path() / "compact.trace");
  REQUIRE(file->counters().size() == kMany + 2);
  CHECK(file->counter_series(0).demanded() == nullptr);
  CHECK(file->counter_series(kMany).demanded() != nullptr);
  for (const CounterId id : {CounterId{0}, CounterId{kMany - 1}, CounterId{kMany}, CounterId{kMany + 1}})
    check_answers(memory->counter_series(id), file->counter_series(id), 2);
  CHECK(file->provenance().condition.empty());
}

TEST_CASE("heads that can't be of a chunk are not used") {
  CounterHead head{kSource, kEpochOfLog, kEpochOfLog + 1'000, 10, {1, 2}, {{-3, 8, 100, 1'000}, {}}};
  const auto decoded = decode_counter_head(encode_counter_head(head));
  REQUIRE(decoded);
  CHECK(decoded->first_time == head.first_time);
  CHECK(decoded->end == head.end);
  CHECK(decoded->rows == 10);
  CHECK(decoded->counters == head.counters);
  CHECK(same(decoded->summaries[0], head.summaries[0]));
  CHECK(decoded->summaries[1].empty());
  const auto is_refused = [&](auto change) {
    CounterHead changed = head;
    change(changed);
    return !decode_counter_head(encode_counter_head(changed));
  };
  CHECK(is_refused([](CounterHead& h) { h.rows = 0; }));
  CHECK(is_refused([](CounterHead& h) { h.rows = 1'001; }));  // more times than ns
  CHECK(is_refused([](CounterHead& h) { h.end = std::numeric_limits<Nanoseconds>::max(); }));
  CHECK(is_refused([](CounterHead& h) { h.summaries[0].covered = 1'001; }));
  CHECK(is_refused([](CounterHead& h) { h.summaries[0].minimum = 9; }));
  CHECK(is_refused([](CounterHead& h) { h.summaries[0].integral = 8'001; }));
  CHECK(is_refused([](CounterHead& h) { h.summaries[0].integral = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK_FALSE(decode_counter_head("no message"));
}
