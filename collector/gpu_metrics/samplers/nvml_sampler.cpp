#include "samplers/nvml_sampler.h"

#include <optional>
#include <utility>
#include <vector>

#include "collector/channel/clock.h"
#include "values/counter_description.h"

namespace lanescope::gpu_metrics {

namespace {

constexpr unsigned kPowerInstant = 186;                        // NVML_FI_DEV_POWER_INSTANT: mW; nvmlDeviceGetPowerUsage is a mean over a second
constexpr int kTemperatureOfGpu = 0;                           // NVML_TEMPERATURE_GPU
constexpr int kSmClock = 1;                                    // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;                                // NVML_CLOCK_MEM
constexpr unsigned long long kHeldByPower = 0x4 | 0x80;        // software power cap, hardware power brake
constexpr unsigned long long kHeldByHeat = 0x8 | 0x20 | 0x40;  // hardware slowdown, software and hardware thermal slowdown

constexpr std::int64_t kMissing = CounterStream::kMissing;
constexpr std::int64_t kLongestGap = 1'000'000'000;  // ns; an older reading says nothing about the present

// NVML's values for one GPU, as integers; kMissing for values that NVML does not report.
class Board {
 public:
  Board(std::shared_ptr<const NvmlFunctions> nvml, NvmlDevice device) : nvml_(std::move(nvml)), device_(device) {}

  [[nodiscard]] std::int64_t power() const {  // mW
    NvmlFieldValue field{};
    field.field = kPowerInstant;
    if (nvml_->get_fields && nvml_->get_fields(device_, 1, &field) == kNvmlSuccess && field.result == kNvmlSuccess && field.value.natural > 0)
      return field.value.natural;
    return number(nvml_->get_power);
  }
  [[nodiscard]] std::int64_t power_limit() const { return number(nvml_->get_power_limit); }                      // mW
  [[nodiscard]] std::int64_t temperature() const { return number(nvml_->get_temperature, kTemperatureOfGpu); }   // °C
  [[nodiscard]] std::int64_t clock(int which) const { return number(nvml_->get_clock, which); }                  // MHz
  [[nodiscard]] std::int64_t clock_maximum(int which) const { return number(nvml_->get_clock_maximum, which); }  // MHz
  [[nodiscard]] std::int64_t memory_in_use() const {                                                             // 64 KiB each
    NvmlMemory info{};
    return nvml_->get_memory(device_, &info) == kNvmlSuccess ? static_cast<std::int64_t>(info.used >> 16) : kMissing;
  }

  // Each asks once for an answer that several counters share; held_by() and utilization() return parts of it.
  void ask_reasons() {
    unsigned long long all = 0;
    reasons_ = nvml_->get_reasons && nvml_->get_reasons(device_, &all) == kNvmlSuccess ? std::optional(all) : std::nullopt;
  }
  void ask_utilization() {
    NvmlUtilization both{};
    utilization_ = nvml_->get_utilization(device_, &both) == kNvmlSuccess ? std::optional(both) : std::nullopt;
  }
  [[nodiscard]] std::int64_t held_by(unsigned long long reasons) const {  // 100 while one of these reasons holds the clocks down, else 0
    if (!reasons_) return kMissing;
    return (*reasons_ & reasons) != 0 ? 100 : 0;
  }
  [[nodiscard]] std::int64_t utilization(unsigned NvmlUtilization::*part) const {  // %
    return utilization_ ? static_cast<std::int64_t>((*utilization_).*part) : kMissing;
  }

 private:
  template <class Function, class... Arguments>
  [[nodiscard]] std::int64_t number(Function* function, Arguments... arguments) const {
    unsigned value = 0;
    return function != nullptr && function(device_, arguments..., &value) == kNvmlSuccess ? static_cast<std::int64_t>(value) : kMissing;
  }

  std::shared_ptr<const NvmlFunctions> nvml_;
  NvmlDevice device_;
  std::optional<unsigned long long> reasons_;
  std::optional<NvmlUtilization> utilization_;
};

// A counter, and how to read its integer.
struct Reading {
  proto::Counter counter;
  std::int64_t (*read)(Board&);
};

double known(std::int64_t value) { return value == kMissing ? 0.0 : static_cast<double>(value); }

// In reading order: the first of several counters that share an answer asks for it.
std::vector<Reading> readings_of(const Board& board, const GpuDevice& gpu) {
  return {
      {described(gpu, {"Power", "Board", "W", 1e-3, known(board.power_limit()) / 1000, "nvml.power",
                       "Electrical power that the board draws; the scale ends at its limit."}),
       [](Board& of) { return of.power(); }},
      {described(gpu, {"Temperature", "Board", "°C", 1, 0, "nvml.temperature", "Temperature of the GPU's die."}), [](Board& of) { return of.temperature(); }},
      {described(gpu, {"Memory in use", "Board", "B", 65536, static_cast<double>(gpu.memory_bytes), "nvml.memory.used",
                       "Memory of the GPU that is allocated, by all processes."}),
       [](Board& of) { return of.memory_in_use(); }},
      {described(gpu, {"SM clock (NVML)", "Board", "Hz", 1e6, known(board.clock_maximum(kSmClock)) * 1e6, "nvml.clock.sm",
                       "Frequency of the multiprocessors' clock as the driver states it."}),
       [](Board& of) { return of.clock(kSmClock); }},
      {described(gpu,
                 {"Memory clock", "Board", "Hz", 1e6, known(board.clock_maximum(kMemoryClock)) * 1e6, "nvml.clock.memory", "Frequency of the memory's clock."}),
       [](Board& of) { return of.clock(kMemoryClock); }},
      {described(gpu, {"Slowed by power limit", "Board", "%", 1, 100, "nvml.throttle.power",
                       "100 % while the clocks are held down because the board draws as much power as it may."}),
       [](Board& of) {
         of.ask_reasons();
         return of.held_by(kHeldByPower);
       }},
      {described(gpu, {"Slowed by heat", "Board", "%", 1, 100, "nvml.throttle.thermal",
                       "100 % while the clocks are held down because the GPU is hot, or the hardware asks for it."}),
       [](Board& of) { return of.held_by(kHeldByHeat); }},
      {described(gpu, {"GPU utilization (NVML)", "Board", "%", 1, 100, "nvml.utilization.gpu",
                       "Share of the driver's last sampling period in which some kernel ran."}),
       [](Board& of) {
         of.ask_utilization();
         return of.utilization(&NvmlUtilization::gpu);
       }},
      {described(gpu, {"Memory utilization (NVML)", "Board", "%", 1, 100, "nvml.utilization.memory",
                       "Share of the driver's last sampling period in which memory was read or written."}),
       [](Board& of) { return of.utilization(&NvmlUtilization::memory); }},
  };
}

}  // namespace

struct NvmlSampler::State {
  State(Board of, std::vector<Reading> all, CounterStream stream, std::int64_t now)
      : board(std::move(of)), readings(std::move(all)), counters(std::move(stream)), values(readings.size()), last(now) {}
  Board board;
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
  Board board(std::move(nvml), device);
  std::vector<Reading> readings = readings_of(board, gpu);
  std::erase_if(readings, [&board](const Reading& reading) { return reading.read(board) == kMissing; });
  if (readings.empty()) return nullptr;
  std::vector<proto::Counter> counters;
  for (const Reading& reading : readings) counters.push_back(reading.counter);
  return std::unique_ptr<NvmlSampler>(
      new NvmlSampler(std::make_unique<State>(std::move(board), std::move(readings), CounterStream(output, std::move(counters)), channel::monotonic_now())));
}

void NvmlSampler::read() {
  for (std::size_t i = 0; i < state_->readings.size(); ++i) state_->values[i] = state_->readings[i].read(state_->board);
  const std::int64_t now = channel::monotonic_now();
  state_->counters.add(std::max(state_->last, now - kLongestGap), now, state_->values);
  state_->last = now;
}

void NvmlSampler::flush() { state_->counters.flush(); }

}  // namespace lanescope::gpu_metrics
