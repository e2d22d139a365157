#include <map>
#include <string>

#include "frames_read_back.h"
#include "samplers/gpm_sampler.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;

namespace {

// A driver that counts up, for a GPU that has only these metrics.
struct Counted {
  int samples = 0;
  int freed = 0;
  int answer = kNvmlSuccess;
  std::map<unsigned, double> values{{2, 87.5}, {10, 12.25}, {21, 3.0}};
};
Counted* driver = nullptr;

NvmlFunctions functions() {
  NvmlFunctions f;
  f.get_handle = [](const char*, NvmlDevice* device) {
    *device = driver;
    return kNvmlSuccess;
  };
  f.gpm_query_support = [](NvmlDevice, NvmlGpmSupport* support) {
    support->is_supported = 1;
    return kNvmlSuccess;
  };
  f.gpm_allocate = [](NvmlGpmSample* sample) {
    *sample = new int{0};
    return kNvmlSuccess;
  };
  f.gpm_free = [](NvmlGpmSample sample) {
    delete static_cast<int*>(sample);
    ++driver->freed;
    return kNvmlSuccess;
  };
  f.gpm_sample = [](NvmlDevice, NvmlGpmSample sample) {
    *static_cast<int*>(sample) = ++driver->samples;
    return driver->answer;
  };
  // A value covers the time between two successive samples: it is multiplied by their distance.
  f.gpm_get_metrics = [](NvmlGpmRequest* request) {
    const int distance = *static_cast<int*>(request->until) - *static_cast<int*>(request->from);
    for (unsigned i = 0; i < request->count; ++i) {
      const auto found = driver->values.find(request->metrics[i].id);
      request->metrics[i].result = found == driver->values.end() ? 3 : kNvmlSuccess;
      if (found != driver->values.end()) request->metrics[i].value = found->second * distance;
    }
    return kNvmlSuccess;
  };
  return f;
}

GpuDevice gpu() {
  GpuDevice device;
  device.uuid = "0123456789abcdef";
  return device;
}

constexpr std::int64_t kMillisecond = 1'000'000;

}  // namespace

TEST_CASE("in place of performance monitors stands what NVML counts between two readings") {
  Counted counted;
  driver = &counted;
  const auto trace = read_back([](FrameOutput& output) {
    std::string refusal;
    const auto sampler = GpmSampler::open(std::make_shared<NvmlFunctions>(functions()), gpu(), output, refusal);
    REQUIRE(sampler);
    CHECK(refusal.empty());
    for (const std::int64_t time : {1'000, 1'050, 1'100, 1'150, 1'210, 5'000, 5'100}) sampler->read(time * kMillisecond);
    sampler->flush();
  });
  CHECK(counted.freed == 2);
  REQUIRE(trace->counters().size() == 3);
  const std::map<std::string, std::int64_t> expected{{"SMs active", 8'750}, {"DRAM bandwidth", 1'225}, {"PCIe read", 315}};
  for (std::size_t i = 0; i < 3; ++i) {
    const CounterSeries& series = trace->counter_series(static_cast<std::uint32_t>(i));
    INFO(trace->counters()[i].name);
    // Readings of less than 100 ms are left out, and the seconds in which nobody read are not covered.
    CHECK(series.summarize({0, 10'000 * kMillisecond}).covered == (100 + 110 + 100) * kMillisecond);
    CHECK_FALSE(series.at(3'000 * kMillisecond));
    for (const std::int64_t time : {1'050, 1'200, 5'050}) CHECK(series.at(time * kMillisecond)->value == expected.at(trace->counters()[i].name));
  }
}

TEST_CASE("a user who may not read them is told so") {
  Counted counted;
  counted.answer = kNvmlNoPermission;
  driver = &counted;
  FrameOutput nowhere(-1);
  std::string refusal;
  CHECK_FALSE(GpmSampler::open(std::make_shared<NvmlFunctions>(functions()), gpu(), nowhere, refusal));
  CHECK(refusal == "NVML does not say what GPU 0 does, either (nvmlGpmSampleGet says 4, no permission).");
  CHECK(counted.freed == 2);
}
