#include "samplers/record_source.h"

#include <unistd.h>

#include "frames_read_back.h"
#include "records.h"
#include "samplers/pm_sampler.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kFrequency = 1'000'000'000 / Monitors::kInterval;

// Keeps the numbers of the samples that it receives.
struct Taken final : SampleReceiver {
  void began() override {}
  void take(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::span<const RawSample> samples) override {
    for (const RawSample& sample : samples) {
      std::uint64_t number = 0;
      std::memcpy(&number, image.data() + Monitors::kHeaderBytes + sample.index * Monitors::kSampleBytes, sizeof(number));
      numbers.push_back(number);
    }
    std::copy(fresh.begin(), fresh.end(), image.begin());
    largest = std::max(largest, image.size());
  }
  void await_image() override { FAIL("no image is handed over"); }
  void take(OwnedImage, std::span<const RawSample>) override { FAIL("no image is handed over"); }
  void evaluate() override { ++evaluations; }
  void lost_some(const std::string& sentence) override { losses.push_back(sentence); }
  void failed(const std::string& call, const std::string& answer) override { failures.push_back(call + " says " + answer); }

  std::vector<std::uint64_t> numbers;
  std::vector<std::string> losses, failures;
  std::size_t largest = 0;
  int evaluations = 0;
};

// A source and the objects that it uses.
struct Bench {
  explicit Bench(const Effort& effort = {}, const std::vector<std::string>& metrics = {"a.sum", "b.avg"}, std::size_t gpus = 1)
      : pace{kFrequency, effort, gpus} {
    monitors = &imaginary;
    records = &buffer;
    gpu.bus_id = Records::kBusId;
    program = std::make_unique<MetricProgram>(cupti, chip, availability, metrics);
    source = RecordSource::open(functions, {gpu, chip, availability, *program, pace, taken, account}, reason, [this] { return alone; });
  }
  // True if `samples` samples came, numbered from 0 without a gap.
  bool has_all(std::uint64_t samples) const {
    for (std::size_t i = 0; i < taken.numbers.size(); ++i)
      if (taken.numbers[i] != i) return false;
    return taken.numbers.size() == samples;
  }

  Monitors imaginary;
  Records buffer;
  CuptiFunctions cupti = functions_of_monitors();
  nvperf::Functions functions = functions_of_records();
  std::string chip = "GH100";
  std::vector<std::uint8_t> availability;
  GpuDevice gpu;
  PmPace pace;
  Taken taken;
  PmAccount account;
  std::string reason;
  bool alone = false;
  std::unique_ptr<MetricProgram> program;
  std::unique_ptr<RecordSource> source;
};

Effort buffer_of(std::size_t mebibytes) {
  Effort effort;
  effort.hardware_buffer = mebibytes << 20;
  return effort;
}

}  // namespace

TEST_CASE("while others want the processors, samples stay in the hardware's memory, and all come at the end") {
  Bench bench(buffer_of(256));
  REQUIRE(bench.source);
  REQUIRE(bench.source->start());
  for (int look = 0; look < 12; ++look) {
    bench.imaginary.count(1'000);
    CHECK(bench.source->fetch(Due::kNo) == Round::kPutOff);
  }
  CHECK(bench.buffer.decodes == 0);
  bench.source->stop_with_rest();
  CHECK(bench.has_all(12'000));
  CHECK_FALSE(bench.source->is_started());
  CHECK_FALSE(bench.imaginary.started);
  CHECK(bench.taken.losses.empty());
  CHECK(bench.taken.largest < 512 * 1024);  // as much as a processor's cache holds
  bench.source.reset();
  CHECK(bench.imaginary.mistakes == 0);
}

TEST_CASE("where a processor is idle, samples are fetched as they are counted, and the one that is being counted is not torn") {
  Bench bench(buffer_of(256));
  bench.alone = true;
  REQUIRE(bench.source->start());
  const int each = GENERATE(1, 37, 512, 1'000);  // an image has room for 512
  for (int look = 0; look < 100; ++look) {
    bench.imaginary.count(each);
    CHECK(bench.source->fetch(Due::kNo) == Round::kDone);
  }
  bench.source->fetch(Due::kAll);
  CHECK(bench.imaginary.held.empty());
  CHECK(bench.has_all(100 * each));
  bench.imaginary.count(3);
  bench.source->stop_with_rest();
  CHECK(bench.has_all(100 * each + 3));
  CHECK(bench.buffer.torn == 0);
  CHECK(bench.taken.losses.empty());
  CHECK(bench.imaginary.mistakes == 0);
}

TEST_CASE("no sample is torn where samples begin to take more bytes than before") {
  Bench bench(buffer_of(256));
  bench.alone = true;
  bench.buffer.quiet_samples = 5'000;
  REQUIRE(bench.source->start());
  for (int look = 0; look < 400; ++look) {
    bench.imaginary.count(37);
    bench.source->fetch(Due::kNo);
  }
  bench.source->stop_with_rest();
  CHECK(bench.has_all(400 * 37));
  CHECK(bench.buffer.torn == 0);
  CHECK(bench.imaginary.mistakes == 0);
}

TEST_CASE("samples are due once three quarters of the hardware's memory are full, and are then fetched no further than needed") {
  Bench bench(buffer_of(128));
  REQUIRE(bench.source->start());
  const std::size_t quarter = bench.buffer.total / 4 / Records::kRecordBytes;
  bench.imaginary.count(2 * quarter);
  bench.source->fetch(Due::kUrgent);
  CHECK(bench.taken.numbers.empty());
  bench.imaginary.count(quarter + quarter / 10);
  bench.source->fetch(Due::kUrgent);
  CHECK(bench.imaginary.held.size() <= 3 * quarter * 8 / 9 + 1);
  CHECK(bench.imaginary.held.size() >= 3 * quarter * 8 / 9 - 512);
  CHECK(bench.imaginary.unacknowledged == 0);

  SECTION("where nobody says so, it knows itself when that time is over") {
    while (bench.source->patience() > 100ms) {  // more than what that time allows is counted
      bench.imaginary.count(500);
      bench.source->fetch(Due::kUrgent);
    }
    const std::size_t before = bench.taken.numbers.size();
    bench.imaginary.count(quarter / 2);
    Round round = Round::kPutOff;
    while (round == Round::kPutOff) round = bench.source->fetch(Due::kNo);
    CHECK(bench.taken.numbers.size() > before);
  }
  const std::uint64_t counted = bench.imaginary.next;
  bench.source->stop_with_rest();
  CHECK(bench.has_all(counted));
  CHECK(bench.imaginary.mistakes == 0);
}

TEST_CASE("samples may wait as long as the hardware's memory has room for those that are counted, or shorter where that is asked for") {
  {
    Bench bench(buffer_of(256));
    REQUIRE(bench.source->start());
    // 16 KiB a sample are expected: 192 MiB hold the samples of 1.23 s.
    CHECK(bench.source->patience() > 1200ms);
    CHECK(bench.source->patience() < 1250ms);
    bench.imaginary.count(5'000);
    bench.source->fetch(Due::kUrgent);
    CHECK(bench.source->patience() > 750ms);
    CHECK(bench.source->patience() < 850ms);  // 70 MB less
  }
  Effort effort = buffer_of(256);
  effort.patience = 300ms;
  Bench hasty(effort);
  REQUIRE(hasty.source->start());
  CHECK(hasty.source->patience() >= 299ms);
  CHECK(hasty.source->patience() <= 300ms);
  hasty.imaginary.count(4'000);
  hasty.source->fetch(Due::kUrgent);
  CHECK(hasty.taken.numbers.size() > 500);
}

TEST_CASE("who waits for values while much is fetched is given some each second") {
  Bench bench(buffer_of(256));
  REQUIRE(bench.source->start());
  bench.imaginary.count(15'000);
  bench.functions.get_sample_times = [](nvperf::SampleTimes* times) {
    times->begin = times->end = 1;
    for (const std::int64_t begin = channel::monotonic_now(); channel::monotonic_now() - begin < 150'000;) {
    }
    return 0;
  };
  bench.source->stop_with_rest();
  CHECK(bench.taken.numbers.size() == 15'000);
  CHECK(bench.taken.evaluations >= 1);
}

TEST_CASE("where the hardware's memory was full, that is said, all that it holds is kept, and sampling begins anew") {
  Bench bench(buffer_of(32));
  REQUIRE(bench.source->start());
  const std::size_t room = bench.imaginary.hardware_samples;
  bench.imaginary.count(room + 500);
  bench.source->fetch(Due::kUrgent);
  CHECK(bench.has_all(room));
  REQUIRE(bench.taken.losses.size() == 1);
  CHECK_THAT(bench.taken.losses[0], contains_text("some samples are missing"));
  CHECK(bench.account.overflows == 1);
  CHECK(bench.source->is_started());
  CHECK(bench.imaginary.starts == 2);
  bench.imaginary.count(100);
  bench.source->stop_with_rest();
  CHECK(bench.taken.numbers.size() == room + 100);
  CHECK(bench.taken.numbers.back() == room + 500 + 99);
  CHECK(bench.imaginary.mistakes == 0);
}

TEST_CASE("where decoding is refused, that is said, and the rest comes once it begins anew") {
  Bench bench(buffer_of(64));
  REQUIRE(bench.source->start());
  bench.imaginary.count(1'000);
  bench.buffer.decode_answer = 1;
  bench.source->fetch(Due::kAll);
  CHECK(bench.taken.failures == std::vector<std::string>{"NVPW_GPU_PeriodicSampler_DecodeCounters_V3 says 1"});
  CHECK_FALSE(bench.source->is_started());
  REQUIRE(bench.source->start());
  bench.imaginary.count(10);
  bench.source->stop_with_rest();
  CHECK(bench.has_all(1'010));
  CHECK(bench.imaginary.mistakes == 0);
}

TEST_CASE("the hardware's memory is as large as a minute of samples takes, the driver gives, and machine and GPUs can spare") {
  const auto asked = [](const Bench& bench) { return bench.buffer.buffers_asked_for; };
  const auto machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  CHECK(asked(Bench(buffer_of(512)))[0] == 512u << 20);
  CHECK(asked(Bench(buffer_of(1 << 20)))[0] <= machine / 16);
  CHECK(asked(Bench(buffer_of(1 << 20), {"a.sum"}, 16))[0] <= machine / 8 / 16);

  monitors = nullptr;
  Monitors imaginary;
  Records buffer;
  monitors = &imaginary;
  records = &buffer;
  buffer.most_memory = 100u << 20;
  const CuptiFunctions cupti = functions_of_monitors();
  const nvperf::Functions functions = functions_of_records();
  GpuDevice gpu;
  gpu.bus_id = Records::kBusId;
  const std::string chip = "GH100";
  const std::vector<std::string> metrics{"a.sum"};
  const MetricProgram program(cupti, chip, {}, metrics);
  Taken taken;
  PmAccount account;
  std::string reason;
  const PmPace pace{kFrequency, buffer_of(512), 1};
  REQUIRE(RecordSource::open(functions, {gpu, chip, {}, program, pace, taken, account}, reason));
  CHECK(buffer.buffers_asked_for == std::vector<std::size_t>{512u << 20, 256u << 20, 128u << 20, 64u << 20});
  CHECK(account.hardware_buffer == 64u << 20);
}

TEST_CASE("what each unit counted is kept only where a metric is of the most or the least of them") {
  CHECK_FALSE(Bench(buffer_of(64)).buffer.keeps_units);
  CHECK(Bench(buffer_of(64), {"a.sum", "b.max.pct_of_peak_sustained_elapsed"}).buffer.keeps_units);
}

TEST_CASE("samples that waited are recorded whole, at their times, which are the GPU's own") {
  Monitors imaginary;
  Records buffer;
  monitors = &imaginary;
  records = &buffer;
  const CuptiFunctions cupti = functions_of_monitors();
  const nvperf::Functions functions = functions_of_records();
  GpuDevice gpu;
  gpu.name = "Imaginary GPU";
  gpu.uuid = "0123456789abcdef";
  gpu.bus_id = Records::kBusId;
  const std::int64_t monotonic = channel::monotonic_now();
  const std::int64_t realtime = channel::realtime_now();
  const auto trace = read_back([&](FrameOutput& output) {
    Refusal refusal;
    const auto sampler =
        PmSampler::open({cupti, &functions, {}}, gpu, std::vector<MetricWish>{{"first", "", {"a.sum"}, ""}}, {kFrequency, buffer_of(256), 1}, output, refusal);
    REQUIRE(sampler);
    CHECK_THAT(sampler->way(), contains_text("libnvperf_target"));
    CHECK(sampler->keeps_its_time());
    REQUIRE(sampler->start());
    for (int look = 0; look < 10; ++look) {
      imaginary.count(1'000);
      sampler->collect(Due::kNo);
    }
    sampler->stop_with_rest();
  });
  REQUIRE(trace->counters().size() == 1);
  const CounterSeries& series = trace->counter_series(0);
  REQUIRE(series.size() == 9'999);  // the first began before the sampling did
  for (std::size_t i = 0; i < series.size(); ++i) REQUIRE(static_cast<double>(series.sample(i).value) == Monitors::value(i + 1, 0));
  CHECK(trace->diagnostics().empty());
  const std::int64_t begins = series.extent().begin;
  const std::int64_t expected = static_cast<std::int64_t>(imaginary.begin_of(1)) - realtime + monotonic;
  CHECK(std::abs(begins - expected) < 1'000'000);
  CHECK(imaginary.mistakes == 0);
  CHECK_FALSE(buffer.in_session);
}

TEST_CASE("where the library below CUPTI can't have the monitors, CUPTI fetches, and why is known") {
  Monitors imaginary;
  Records buffer;
  monitors = &imaginary;
  records = &buffer;
  buffer.begin_answer = 20;
  const CuptiFunctions cupti = functions_of_monitors();
  const nvperf::Functions functions = functions_of_records();
  GpuDevice gpu;
  gpu.bus_id = Records::kBusId;
  FrameOutput nowhere(-1);
  Refusal refusal;
  const std::vector<MetricWish> wishes{{"first", "", {"a.sum"}, ""}};
  const auto sampler = PmSampler::open({cupti, &functions, {}}, gpu, wishes, {kFrequency, {}, 1}, nowhere, refusal);
  REQUIRE(sampler);
  CHECK(sampler->way() == "by CUPTI, since NVPW_GPU_PeriodicSampler_BeginSession_V2 says 20");
  CHECK(imaginary.enabled);
  gpu.bus_id = "0000:99:00.0";
  imaginary.enabled = false;
  CHECK_THAT(PmSampler::open({cupti, &functions, {}}, gpu, wishes, {kFrequency, {}, 1}, nowhere, refusal)->way(), contains_text("does not know the GPU"));
}
