#include "nvml_sampler.h"

#include <dlfcn.h>

#include <cmath>
#include <functional>

#include "collector/channel/clock.h"

namespace lanescope::gpu_metrics {

// As nvml.h declares them; that header is no part of every toolkit.
using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;
};
struct NvmlFieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int value_type;
  int result;
  union {
    double real;
    unsigned natural;
    unsigned long long wide;
  } value;
};
constexpr unsigned kPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT: mW, while nvmlDeviceGetPowerUsage is a mean over a second
constexpr int kTemperatureOfGpu = 0;     // NVML_TEMPERATURE_GPU
constexpr int kSmClock = 1;              // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;          // NVML_CLOCK_MEM
constexpr unsigned long long kHeldByPower = 0x4 | 0x80;        // software power cap, hardware power brake
constexpr unsigned long long kHeldByHeat = 0x8 | 0x20 | 0x40;  // hardware slowdown, software and hardware thermal slowdown

struct NvmlFunctions {
  int (*init)() = nullptr;
  int (*get_handle)(const char*, NvmlDevice*) = nullptr;
  int (*get_power)(NvmlDevice, unsigned*) = nullptr;
  int (*get_power_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*get_fields)(NvmlDevice, int, NvmlFieldValue*) = nullptr;
  int (*get_temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*get_memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*get_clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*get_clock_maximum)(NvmlDevice, int, unsigned*) = nullptr;
  int (*get_reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*get_utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
};

namespace {

constexpr std::int64_t kMissing = CounterStream::kMissing;
constexpr std::int64_t kLongestGap = 1'000'000'000;  // ns; a reading that is older says nothing about now

// A counter, and how to read its integer.
struct Reading {
  proto::Counter counter;
  std::function<std::int64_t()> read;
};

proto::Counter described(const GpuDevice& gpu, const char* name, const char* group, const char* unit, double resolution, double maximum,
                         const char* source, const char* description) {
  proto::Counter counter;
  counter.set_name(name);
  counter.set_group(group);
  counter.set_unit(unit);
  counter.set_resolution(resolution);
  counter.set_maximum(maximum);
  counter.set_source_name(source);
  counter.set_description(description);
  counter.set_gpu_uuid(gpu.uuid);
  return counter;
}

}  // namespace

std::shared_ptr<const NvmlFunctions> open_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto f = std::make_shared<NvmlFunctions>();
  const auto resolve = [&]<typename Function>(const char* name, Function*& function) {
    if (function == nullptr) function = reinterpret_cast<Function*>(dlsym(library, name));
  };
  resolve("nvmlInit_v2", f->init);
  resolve("nvmlDeviceGetHandleByUUID", f->get_handle);
  resolve("nvmlDeviceGetPowerUsage", f->get_power);
  resolve("nvmlDeviceGetEnforcedPowerLimit", f->get_power_limit);
  resolve("nvmlDeviceGetFieldValues", f->get_fields);
  resolve("nvmlDeviceGetTemperature", f->get_temperature);
  resolve("nvmlDeviceGetMemoryInfo", f->get_memory);
  resolve("nvmlDeviceGetClockInfo", f->get_clock);
  resolve("nvmlDeviceGetMaxClockInfo", f->get_clock_maximum);
  resolve("nvmlDeviceGetCurrentClocksEventReasons", f->get_reasons);
  resolve("nvmlDeviceGetCurrentClocksThrottleReasons", f->get_reasons);
  resolve("nvmlDeviceGetUtilizationRates", f->get_utilization);
  const bool usable = f->init && f->get_handle && f->get_power && f->get_temperature && f->get_memory && f->get_clock && f->get_utilization;
  if (!usable || f->init() != kNvmlSuccess) return nullptr;
  return f;
}

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
  const auto reason = [nvml, device](unsigned long long which) -> std::int64_t {
    unsigned long long reasons = 0;
    if (!nvml->get_reasons || nvml->get_reasons(device, &reasons) != kNvmlSuccess) return kMissing;
    return (reasons & which) != 0 ? 100 : 0;
  };
  const auto utilization = [nvml, device](unsigned NvmlUtilization::*part) -> std::int64_t {
    NvmlUtilization rates{};
    return nvml->get_utilization(device, &rates) == kNvmlSuccess ? static_cast<std::int64_t>(rates.*part) : kMissing;
  };

  std::vector<Reading> candidates{
      {described(gpu, "Power", "Board", "W", 1e-3, known(number(nvml->get_power_limit)) / 1000, "nvml.power",
                 "Electrical power that the board draws; the scale ends at its limit."),
       power},
      {described(gpu, "Temperature", "Board", "°C", 1, 0, "nvml.temperature", "Temperature of the GPU's die."),
       [nvml, number] { return number(nvml->get_temperature, kTemperatureOfGpu); }},
      {described(gpu, "Memory in use", "Board", "B", 65536, static_cast<double>(gpu.memory_bytes), "nvml.memory.used",
                 "Memory of the GPU that is allocated, by all processes."),
       memory},
      {described(gpu, "SM clock (NVML)", "Board", "Hz", 1e6, known(number(nvml->get_clock_maximum, kSmClock)) * 1e6, "nvml.clock.sm",
                 "Frequency of the multiprocessors' clock as the driver states it."),
       [nvml, number] { return number(nvml->get_clock, kSmClock); }},
      {described(gpu, "Memory clock", "Board", "Hz", 1e6, known(number(nvml->get_clock_maximum, kMemoryClock)) * 1e6, "nvml.clock.memory",
                 "Frequency of the memory's clock."),
       [nvml, number] { return number(nvml->get_clock, kMemoryClock); }},
      {described(gpu, "Slowed by power limit", "Board", "%", 1, 100, "nvml.throttle.power",
                 "100 % while the clocks are held down because the board draws as much power as it may."),
       [reason] { return reason(kHeldByPower); }},
      {described(gpu, "Slowed by heat", "Board", "%", 1, 100, "nvml.throttle.thermal",
                 "100 % while the clocks are held down because the GPU is hot, or the hardware asks for it."),
       [reason] { return reason(kHeldByHeat); }},
      {described(gpu, "GPU utilization (NVML)", "Board", "%", 1, 100, "nvml.utilization.gpu",
                 "Share of the driver's last sampling period in which some kernel ran."),
       [utilization] { return utilization(&NvmlUtilization::gpu); }},
      {described(gpu, "Memory utilization (NVML)", "Board", "%", 1, 100, "nvml.utilization.memory",
                 "Share of the driver's last sampling period in which memory was read or written."),
       [utilization] { return utilization(&NvmlUtilization::memory); }},
  };
  std::erase_if(candidates, [](const Reading& reading) { return reading.read() == kMissing; });
  if (candidates.empty()) return nullptr;
  std::vector<proto::Counter> counters;
  for (const Reading& reading : candidates) counters.push_back(reading.counter);
  return std::unique_ptr<NvmlSampler>(new NvmlSampler(
      std::make_unique<State>(std::move(candidates), CounterStream(output, std::move(counters)), channel::monotonic_now())));
}

void NvmlSampler::read() {
  for (std::size_t i = 0; i < state_->readings.size(); ++i) state_->values[i] = state_->readings[i].read();
  const std::int64_t now = channel::monotonic_now();
  state_->counters.add(std::max(state_->last, now - kLongestGap), now, state_->values);
  state_->last = now;
}

void NvmlSampler::flush() { state_->counters.flush(); }

}  // namespace lanescope::gpu_metrics
