#include "samplers/pm_sampler.h"

#include <condition_variable>
#include <mutex>

#include "frames_read_back.h"
#include "monitors.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;
using namespace std::chrono_literals;

namespace {

const std::vector<MetricWish> kWishes{{"first", "", {"a.sum"}, ""}, {"second", "", {"b.sum"}, ""}};

GpuDevice gpu() {
  GpuDevice device;
  device.name = "Imaginary GPU";
  device.uuid = "0123456789abcdef";
  return device;
}

PmPace pace_of(const Effort& effort = {}) { return {1'000'000'000 / Monitors::kInterval, effort}; }

// The trace that results from what `use` does with a sampler.
template <typename Use>
std::shared_ptr<const Trace> recorded(Monitors& imaginary, const PmPace& pace, Use use) {
  monitors = &imaginary;
  const CuptiFunctions cupti = functions_of_monitors();
  return read_back([&](FrameOutput& output) {
    Refusal refusal;
    const auto sampler = PmSampler::open({cupti}, gpu(), kWishes, pace, output, refusal);
    INFO(refusal.text);
    REQUIRE(sampler);
    REQUIRE(sampler->start());
    use(*sampler);
  });
}

// Checks that both counters have all samples from the second one on, each with its value.
void check_whole(const Trace& trace, std::uint64_t samples) {
  REQUIRE(trace.counters().size() == 2);
  for (std::size_t metric = 0; metric < 2; ++metric) {
    const CounterSeries& series = trace.counter_series(static_cast<CounterId>(metric));
    REQUIRE(series.size() == samples - 1);  // the first began before the sampling did
    // Clocks are compared in between, which moves times a little.
    const std::int64_t covered = series.summarize(series.extent()).covered;
    CHECK(std::abs(covered - static_cast<std::int64_t>(samples - 1) * Monitors::kInterval) < Monitors::kInterval / 2);
    for (std::size_t i = 0; i < series.size(); ++i) REQUIRE(static_cast<double>(series.sample(i).value) == Monitors::value(i + 1, metric));
  }
}

}  // namespace

TEST_CASE("fetching evaluates nothing, and what waited is recorded whole when somebody asks or at the end") {
  const bool asks = GENERATE(false, true);
  const test::TemporaryFolder folder;
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
  Monitors imaginary;
  imaginary.before_evaluation = [&] {  // simulates a thread that gets no processor
    std::unique_lock lock(mutex);
    opened.wait(lock, [&] { return open; });
  };
  Effort effort;
  effort.waiting = {100'000, 256 << 20, folder.path()};
  const auto trace = recorded(imaginary, pace_of(effort), [&](PmSampler& sampler) {
    for (int round = 0; round < 40; ++round) {
      imaginary.count(1'000);
      sampler.collect();
    }
    CHECK(imaginary.evaluations == 0);
    CHECK(imaginary.images_made_fresh == static_cast<int>(imaginary.images.size()));  // making one takes CUPTI as long as decoding
    CHECK(sampler.account().samples == 40'000);
    {
      const std::lock_guard lock(mutex);
      open = true;
    }
    opened.notify_all();
    if (!asks) return;
    sampler.finish();
    CHECK(imaginary.evaluations == 39'999);
  });
  check_whole(*trace, 40'000);
  CHECK(imaginary.mistakes == 0);
  CHECK_FALSE(imaginary.enabled);
}

TEST_CASE("samples that came in a long pause find room in a larger image") {
  Monitors imaginary;
  Effort effort;
  effort.look_every = 5ms;  // the usual image has room for the samples of about 60 ms
  const auto trace = recorded(imaginary, pace_of(effort), [&](PmSampler& sampler) {
    CHECK(sampler.patience() >= 500ms);
    imaginary.count(100);
    sampler.collect();
    const std::int64_t begin = channel::monotonic_now();
    while (channel::monotonic_now() - begin < 300'000'000) {  // 3,000 samples are counted in this time
    }
    imaginary.count(3'000);
    sampler.collect();
  });
  check_whole(*trace, 3'100);
  CHECK(trace->diagnostics().empty());
  CHECK(imaginary.images.size() == 2);
  CHECK(imaginary.mistakes == 0);
}

TEST_CASE("what was counted in pauses is evaluated where it was decoded to, one pause after the other, and with what came between") {
  Monitors imaginary;
  Effort effort;
  effort.look_every = 5ms;
  std::uint64_t counted = 0;
  const auto trace = recorded(imaginary, pace_of(effort), [&](PmSampler& sampler) {
    for (int pause = 0; pause < 4; ++pause) {
      for (const std::int64_t begin = channel::monotonic_now(); channel::monotonic_now() - begin < 120'000'000;) {
      }
      for (const std::size_t samples : {1'200u, 50u, 40u}) {
        imaginary.count(samples);
        sampler.collect();
        counted += samples;
      }
    }
  });
  check_whole(*trace, counted);
  CHECK(imaginary.images_made_fresh >= 5);  // the usual image, and a separate one for each pause
  CHECK(trace->diagnostics().empty());
  CHECK(imaginary.mistakes == 0);
}

TEST_CASE("where CUPTI fails, that is said, and sampling begins anew") {
  Monitors imaginary;
  const auto trace = recorded(imaginary, pace_of(), [&](PmSampler& sampler) {
    imaginary.count(100);
    imaginary.failures = 1;
    sampler.collect();
    CHECK_FALSE(sampler.is_started());
    sampler.collect();
    REQUIRE(sampler.start());
    imaginary.count(50);
    sampler.collect();
  });
  REQUIRE(trace->counters().size() == 2);
  CHECK(trace->counter_series(0).size() == 49);
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK(trace->diagnostics()[0].text.find("cuptiPmSamplingGetCounterDataInfo says CUPTI_ERROR_OF_A_TEST") != std::string::npos);
  CHECK(imaginary.mistakes == 0);
}

TEST_CASE("where the hardware's buffer was full, that is said, and samples are fetched sooner from there on") {
  Monitors imaginary;
  imaginary.hardware_samples = 500;
  const auto trace = recorded(imaginary, pace_of(), [&](PmSampler& sampler) {
    const auto patience = sampler.patience();
    imaginary.count(400);
    sampler.collect();
    CHECK(sampler.patience() == patience);
    imaginary.count(700);
    sampler.collect();
    CHECK(sampler.patience() == patience / 2);
    CHECK(imaginary.starts == 2);
    imaginary.count(10);
    sampler.collect();
    CHECK(sampler.account().overflows == 1);
  });
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("some samples are missing"));
  const CounterSeries& series = trace->counter_series(0);
  CHECK(series.summarize(series.extent()).covered == (399 + 500 + 9) * Monitors::kInterval);
  CHECK(imaginary.mistakes == 0);
}

TEST_CASE("the hardware counts into as much memory as the driver has, up to what is asked for") {
  Monitors imaginary;
  imaginary.most_memory = 100u << 20;
  Effort effort;
  effort.hardware_buffer = 512u << 20;
  GpuDevice device = gpu();
  monitors = &imaginary;
  const CuptiFunctions cupti = functions_of_monitors();
  FrameOutput nowhere(-1);
  Refusal refusal;
  const auto sampler = PmSampler::open({cupti}, device, kWishes, pace_of(effort), nowhere, refusal);
  REQUIRE(sampler);
  CHECK(imaginary.buffers_asked_for == std::vector<std::size_t>{512u << 20, 256u << 20, 128u << 20, 64u << 20});
  CHECK(sampler->account().hardware_buffer == 64u << 20);

  SECTION("a small GPU is asked for a sixteenth of its memory") {
    Monitors small;
    monitors = &small;
    device.memory_bytes = 2ull << 30;
    REQUIRE(PmSampler::open({cupti}, device, kWishes, pace_of(effort), nowhere, refusal));
    CHECK(small.buffers_asked_for == std::vector<std::size_t>{128u << 20});
    monitors = &imaginary;
  }
}
