// Counters through every format that can hold them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/export/nsys_sqlite_export.h"
#include "model/export/text_export.h"
#include "model/export/trace_file_export.h"
#include "model/import/open_trace.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

constexpr Nanoseconds kStep = 100'000;

// Two GPUs that are sampled in the same way with a pause, one counter of a process, and one counter that is computed.
std::shared_ptr<const Trace> sampled_trace() {
  TraceBuilder builder;
  builder.provenance().monotonic_epoch = 5'000'000;
  builder.provenance().finished = true;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 4711;
  builder.process(process).executable = "python";
  TrackKey calls{TrackKind::kCudaApi, process};
  calls.thread = builder.thread(process, 4711);
  builder.add(calls, {{0, 5, builder.intern("cudaMalloc"), 0, 0}});
  for (std::uint32_t number = 0; number < 2; ++number) {
    Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.ordinal = number;
    gpu.uuid = std::string(16, static_cast<char>('a' + number));
    Counter active{kNone, builder.gpu(gpu), "SMs active", "%", 0.01, "SM", 100, "sm__cycles_active.avg", "How busy."};
    Counter read{kNone, builder.gpu(gpu), "DRAM read", "B/s", 10'000, "Memory", 0, "dram__bytes_read", ""};
    const std::vector<CounterId> counters{builder.counter(active), builder.counter(read)};
    for (const Nanoseconds begin : {Nanoseconds{0}, 500 * kStep}) {
      std::vector<Nanoseconds> times;
      std::vector<std::vector<std::int64_t>> columns(2);
      for (std::int64_t i = 0; i < 200; ++i) {
        times.push_back(begin + i * kStep + i % 3);
        columns[0].push_back(i % 50 == 7 ? kNoValue : (i * 37 + number) % 10'001);
        columns[1].push_back(i * 1'000'003 % 400'000'000);
      }
      REQUIRE(builder.add_samples(counters, times, columns, begin + 200 * kStep));
    }
  }
  const CounterId queue = builder.counter({process, kNone, "Queue", "", 1, "", 0, "", ""});
  REQUIRE(builder.add_samples(std::vector<CounterId>{queue}, std::vector<Nanoseconds>{10, 30}, std::vector<std::vector<std::int64_t>>{{1ll << 40, -5}}, 90));
  builder.set_series(builder.counter({process, kNone, "Computed", "B", 1, "", 0, "", ""}),
                     CounterSeries(std::vector<Nanoseconds>{0}, std::vector<std::int64_t>{1}, 10));
  return builder.snapshot();
}

std::shared_ptr<const Trace> opened(const std::filesystem::path& path) {
  auto trace = open_trace(path);
  std::filesystem::remove(path);
  REQUIRE(trace);
  return *trace;
}

std::vector<CounterSample> values_of(const CounterSeries& series) {
  std::vector<CounterSample> values;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (series.sample(i).has_value()) values.push_back(series.sample(i));
  return values;
}

const Counter* find_counter(const Trace& trace, const Counter& like, const Trace& of, CounterId& id) {
  for (id = 0; id < trace.counters().size(); ++id) {
    const Counter& counter = trace.counters()[id];
    const bool same_gpu =
        (counter.gpu == kNone) == (like.gpu == kNone) && (like.gpu == kNone || trace.gpus()[counter.gpu].ordinal == of.gpus()[like.gpu].ordinal);
    if (same_gpu && counter.name == like.name) return &counter;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("counters that were saved load as the same, sample by sample") {
  const auto trace = sampled_trace();
  const auto path = std::filesystem::temp_directory_path() / "lanescope-counters.trace";
  REQUIRE(export_trace_file(*trace, path, Overwrite::kAllow));
  const auto loaded = opened(path);
  CHECK(loaded->provenance().condition.empty());
  REQUIRE(loaded->counters().size() == 5);  // computed counters are computed again, from events
  CHECK(loaded->processes().size() == 1);
  for (CounterId before = 0; before < 5; ++before) {
    const Counter& was = trace->counters()[before];
    CounterId id = 0;
    const Counter* is = find_counter(*loaded, was, *trace, id);
    INFO(was.name);
    REQUIRE(is != nullptr);
    CHECK(is->unit == was.unit);
    CHECK(is->resolution == was.resolution);
    CHECK(is->group == was.group);
    CHECK(is->maximum == was.maximum);
    CHECK(is->source_name == was.source_name);
    CHECK(is->description == was.description);
    CHECK((is->process == kNone) == (was.process == kNone));
    const auto a = values_of(trace->counter_series(before));
    const auto b = values_of(loaded->counter_series(id));
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      REQUIRE(a[i].time == b[i].time);
      REQUIRE(a[i].duration == b[i].duration);
      REQUIRE(a[i].value == b[i].value);
    }
  }
}

TEST_CASE("a part of a trace has the samples of that part") {
  const auto trace = sampled_trace();
  const auto path = std::filesystem::temp_directory_path() / "lanescope-counters-part.trace";
  ExportSelection selection;
  selection.window = TimeRange{50 * kStep + 10, 60 * kStep + 10};
  REQUIRE(export_trace_file(*trace, path, Overwrite::kAllow, selection));
  const auto loaded = opened(path);
  CounterId id = 0;
  REQUIRE(find_counter(*loaded, trace->counters()[1], *trace, id) != nullptr);
  CHECK(loaded->counter_series(id).extent() == TimeRange{50 * kStep + 2, 61 * kStep + 1});
}

TEST_CASE("GPU metrics come back from an Nsight Systems export with their values, and the pause between them") {
  const auto trace = sampled_trace();
  const auto path = std::filesystem::temp_directory_path() / "lanescope-counters.sqlite";
  REQUIRE(export_nsys_sqlite(*trace, path, Overwrite::kAllow));
  const auto loaded = opened(path);
  REQUIRE(loaded->counters().size() == 4);  // of GPUs only
  for (CounterId before = 0; before < 4; ++before) {
    const Counter& was = trace->counters()[before];
    CounterId id = 0;
    const Counter* is = find_counter(*loaded, was, *trace, id);
    INFO(was.name);
    REQUIRE(is != nullptr);
    CHECK(is->unit == was.unit);
    CHECK(is->maximum == was.maximum);
    const auto a = values_of(trace->counter_series(before));
    const auto b = values_of(loaded->counter_series(id));
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      REQUIRE(a[i].time == b[i].time);
      REQUIRE_THAT(static_cast<double>(b[i].value) * is->resolution, Catch::Matchers::WithinRel(static_cast<double>(a[i].value) * was.resolution, 1e-9) ||
                                                                         Catch::Matchers::WithinAbs(static_cast<double>(a[i].value) * was.resolution, 1e-9));
    }
    CHECK_FALSE(loaded->counter_series(id).at(350 * kStep));
  }
}

TEST_CASE("counters that began before the recording have no times below zero in Chrome JSON, and the same time of day") {
  constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;
  constexpr Nanoseconds kBefore = 30'259'875;
  TraceBuilder builder;
  builder.provenance().utc_epoch = kEpoch;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 4711;
  TrackKey calls{TrackKind::kCudaApi, process};
  calls.thread = builder.thread(process, 4711);
  builder.add(calls, {{1'000, 5, builder.intern("cudaMalloc"), 0, 0}});
  const CounterId queue = builder.counter({process, kNone, "Queue", "", 1, "", 0, "", ""});
  REQUIRE(builder.add_samples(std::vector<CounterId>{queue}, std::vector<Nanoseconds>{-kBefore, 30}, std::vector<std::vector<std::int64_t>>{{4, 5}}, 90));
  const auto path = std::filesystem::temp_directory_path() / ("lanescope-early-" + std::to_string(getpid()) + ".json");
  std::string text;
  REQUIRE(export_chrome_json(*builder.snapshot(),
                             [&](std::string_view piece) {
                               text += piece;
                               return true;
                             },
                             {}));
  CHECK(text.find("\"ts\":-") == std::string::npos);
  CHECK(text.find("\"baseTimeNanoseconds\":" + std::to_string(kEpoch - kBefore)) != std::string::npos);
  std::ofstream(path) << text;
  const auto back = opened(path);
  REQUIRE(back->counters().size() == 1);
  CHECK(back->provenance().utc_epoch + back->counter_series(0).sample(0).time == kEpoch - kBefore);
  CHECK(back->provenance().utc_epoch + back->extent().begin <= kEpoch + 1'000);
}
