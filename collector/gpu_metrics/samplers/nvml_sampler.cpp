#include "samplers/nvml_sampler.h"

#include <functional>
#include <optional>
#include <vector>

#include "collector/channel/clock.h"
#include "values/counter_description.h"

namespace lanescope::gpu_metrics {

namespace {

constexpr unsigned kPowerInstant = 186;                        // NVML_FI_DEV_POWER_INSTANT: mW, while nvmlDeviceGetPowerUsage is a mean over a second
constexpr int kTemperatureOfGpu = 0;                           // NVML_TEMPERATURE_GPU
constexpr int kSmClock = 1;                                    // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;                                // NVML_CLOCK_MEM
constexpr unsigned long long kHeldByPower = 0x4 | 0x80;        // software power cap, hardware power brake
constexpr unsigned long long kHeldByHeat = 0x8 | 0x20 | 0x40;  // hardware slowdown, software and hardware thermal slowdown

constexpr std::int64_t kMissing = CounterStream::kMissing;
constexpr std::int64_t kLongestGap = 1'000'000'000;  // ns; a reading that is older says nothing about now

// A counter, and how to read its integer.
struct Reading {
  proto::Counter counter;
  std::function<std::int64_t()> read;
};

}  // namespace

struct NvmlSampler::State {
  State(std::vector<Reading> all, CounterStream stream, std::int64_t now)
      : readings(std::move(all)), counters(std::move(stream)), values(readings.size()), last(now) {}
  std::vector<Reading> readings;
  CounterStream counters;
  std::vector<std::int64_t> values;
  std::int64_t last;  // CLOCK_MONOTONIC ns of the last reading
};

NvmlSampler::NvmlSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
NvmlSampler::~NvmlSampler() = default;

std::unique_ptr<NvmlSampler> NvmlSampler::open(std::shared_ptr<const NvmlFunctions> nvml, const GpuDevice& gpu, FrameOutput& output) {
  NvmlDevice device = nullptr;
  if (nvml->get_handle(uuid_text(gpu.uuid).c_str(), &device) != kNvmlSuccess) return nullptr;
  const auto number = [device](auto* function, auto... arguments) -> std::int64_t {
    unsigned value = 0;
    return function != nullptr && function(device, arguments..., &value) == kNvmlSuccess ? static_cast<std::int64_t>(value) : kMissing;
  };
  const auto known = [](std::int64_t value) { return value == kMissing ? 0.0 : static_cast<double>(value); };
  const auto power = [nvml, device, number]() -> std::int64_t {
    NvmlFieldValue field{};
    field.field = kPowerInstant;
    if (nvml->get_fields && nvml->get_fields(device, 1, &field) == kNvmlSuccess && field.result == kNvmlSuccess && field.value.natural > 0)
      return field.value.natural;
    return number(nvml->get_power);
  };
  const auto memory = [nvml, device]() -> std::int64_t {
    NvmlMemory info{};
    return nvml->get_memory(device, &info) == kNvmlSuccess ? static_cast<std::int64_t>(info.used >> 16) : kMissing;
  };
  // Each is asked for once a reading, for the first of the counters that show a part of it; the second one takes what came then.
  const auto reasons = std::make_shared<std::optional<unsigned long long>>();
  const auto ask_reasons = [nvml, device, reasons] {
    unsigned long long all = 0;
    *reasons = nvml->get_reasons && nvml->get_reasons(device, &all) == kNvmlSuccess ? std::optional(all) : std::nullopt;
  };
  const auto reason = [reasons](unsigned long long which) -> std::int64_t {
    if (!*reasons) return kMissing;
    return (**reasons & which) != 0 ? 100 : 0;
  };
  const auto rates = std::make_shared<std::optional<NvmlUtilization>>();
  const auto ask_rates = [nvml, device, rates] {
    NvmlUtilization both{};
    *rates = nvml->get_utilization(device, &both) == kNvmlSuccess ? std::optional(both) : std::nullopt;
  };
  const auto utilization = [rates](unsigned NvmlUtilization::*part) -> std::int64_t { return *rates ? static_cast<std::int64_t>((**rates).*part) : kMissing; };

  std::vector<Reading> candidates{
      {described(gpu, {"Power", "Board", "W", 1e-3, known(number(nvml->get_power_limit)) / 1000, "nvml.power",
                       "Electrical power that the board draws; the scale ends at its limit."}),
       power},
      {described(gpu, {"Temperature", "Board", "°C", 1, 0, "nvml.temperature", "Temperature of the GPU's die."}),
       [nvml, number] { return number(nvml->get_temperature, kTemperatureOfGpu); }},
      {described(gpu, {"Memory in use", "Board", "B", 65536, static_cast<double>(gpu.memory_bytes), "nvml.memory.used",
                       "Memory of the GPU that is allocated, by all processes."}),
       memory},
      {described(gpu, {"SM clock (NVML)", "Board", "Hz", 1e6, known(number(nvml->get_clock_maximum, kSmClock)) * 1e6, "nvml.clock.sm",
                       "Frequency of the multiprocessors' clock as the driver states it."}),
       [nvml, number] { return number(nvml->get_clock, kSmClock); }},
      {described(gpu, {"Memory clock", "Board", "Hz", 1e6, known(number(nvml->get_clock_maximum, kMemoryClock)) * 1e6, "nvml.clock.memory",
                       "Frequency of the memory's clock."}),
       [nvml, number] { return number(nvml->get_clock, kMemoryClock); }},
      {described(gpu, {"Slowed by power limit", "Board", "%", 1, 100, "nvml.throttle.power",
                       "100 % while the clocks are held down because the board draws as much power as it may."}),
       [ask_reasons, reason] {
         ask_reasons();
         return reason(kHeldByPower);
       }},
      {described(gpu, {"Slowed by heat", "Board", "%", 1, 100, "nvml.throttle.thermal",
                       "100 % while the clocks are held down because the GPU is hot, or the hardware asks for it."}),
       [reason] { return reason(kHeldByHeat); }},
      {described(gpu, {"GPU utilization (NVML)", "Board", "%", 1, 100, "nvml.utilization.gpu",
                       "Share of the driver's last sampling period in which some kernel ran."}),
       [ask_rates, utilization] {
         ask_rates();
         return utilization(&NvmlUtilization::gpu);
       }},
      {described(gpu, {"Memory utilization (NVML)", "Board", "%", 1, 100, "nvml.utilization.memory",
                       "Share of the driver's last sampling period in which memory was read or written."}),
       [utilization] { return utilization(&NvmlUtilization::memory); }},
  };
  std::erase_if(candidates, [](const Reading& reading) { return reading.read() == kMissing; });
  if (candidates.empty()) return nullptr;
  std::vector<proto::Counter> counters;
  for (const Reading& reading : candidates) counters.push_back(reading.counter);
  return std::unique_ptr<NvmlSampler>(
      new NvmlSampler(std::make_unique<State>(std::move(candidates), CounterStream(output, std::move(counters)), channel::monotonic_now())));
}

void NvmlSampler::read() {
  for (std::size_t i = 0; i < state_->readings.size(); ++i) state_->values[i] = state_->readings[i].read();
  const std::int64_t now = channel::monotonic_now();
  state_->counters.add(std::max(state_->last, now - kLongestGap), now, state_->values);
  state_->last = now;
}

void NvmlSampler::flush() { state_->counters.flush(); }

}  // namespace lanescope::gpu_metrics
