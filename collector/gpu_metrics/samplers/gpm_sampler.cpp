#include "samplers/gpm_sampler.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "values/counter_description.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::int64_t kLongestGap = 1'000'000'000;  // ns; an older reading says nothing about the present
constexpr double kMebibyte = 1 << 20;

struct Wish {
  unsigned id;  // NVML_GPM_METRIC_*
  double unit;  // factor from NVML's value to the counter's unit
  CounterDescription counter;
};

// The counters have the names that the performance monitors' counters for the same quantities have.
constexpr std::array kWishes{
    Wish{2, 1, {"SMs active", "SM", "%", 0.01, 100, "nvml.gpm.sm_util", "Share of time in which a multiprocessor was busy, mean of all."}},
    Wish{5, 1, {"Tensor cores active", "SM", "%", 0.01, 100, "nvml.gpm.any_tensor_util", "Share of time in which the tensor pipes worked."}},
    Wish{3, 1, {"Warps in flight", "SM", "%", 0.01, 100, "nvml.gpm.sm_occupancy", "Warps on the multiprocessors, of the most that fit."}},
    Wish{1, 1, {"GPU active", "SM", "%", 0.01, 100, "nvml.gpm.graphics_util", "Share of time in which the compute engine worked."}},
    Wish{11, 1, {"FP64 active", "SM", "%", 0.01, 100, "nvml.gpm.fp64_util", "Share of time in which the FP64 pipes worked, tensor cores aside."}},
    Wish{12, 1, {"FP32 active", "SM", "%", 0.01, 100, "nvml.gpm.fp32_util", "Share of time in which the FP32 pipes worked, tensor cores aside."}},
    Wish{13, 1, {"FP16 active", "SM", "%", 0.01, 100, "nvml.gpm.fp16_util", "Share of time in which the FP16 pipes worked, tensor cores aside."}},
    Wish{4, 1, {"Integer active", "SM", "%", 0.01, 100, "nvml.gpm.integer_util", "Share of time in which the integer pipes worked."}},
    Wish{10, 1, {"DRAM bandwidth", "Memory", "%", 0.01, 100, "nvml.gpm.dram_bw_util", "Throughput of the GPU's memory, of the most that it could be."}},
    Wish{21, kMebibyte, {"PCIe read", "Links", "B/s", 1e4, 0, "nvml.gpm.pcie_rx_per_sec", "Bytes that the GPU received over PCIe."}},
    Wish{20, kMebibyte, {"PCIe write", "Links", "B/s", 1e4, 0, "nvml.gpm.pcie_tx_per_sec", "Bytes that the GPU sent over PCIe."}},
    Wish{60, kMebibyte, {"NVLink received", "Links", "B/s", 1e4, 0, "nvml.gpm.nvlink_total_rx_per_sec", "Bytes that the GPU received over NVLink."}},
    Wish{61, kMebibyte, {"NVLink sent", "Links", "B/s", 1e4, 0, "nvml.gpm.nvlink_total_tx_per_sec", "Bytes that the GPU sent over NVLink."}},
};
static_assert(kWishes.size() <= kMostGpmMetrics);

}  // namespace

struct GpmSampler::State {
  State(std::shared_ptr<const NvmlFunctions> functions, const GpuDevice& of, NvmlDevice handle, FrameOutput& frames)
      : nvml(std::move(functions)), gpu(of), device(handle), output(frames) {}
  ~State() {
    for (NvmlGpmSample sample : samples)
      if (sample != nullptr) nvml->gpm_free(sample);
  }

  bool ask(NvmlGpmRequest& request);
  void choose(const NvmlGpmRequest& answered);

  std::shared_ptr<const NvmlFunctions> nvml;
  GpuDevice gpu;
  NvmlDevice device;
  FrameOutput& output;
  std::array<NvmlGpmSample, 2> samples{};  // the previous one and the newest
  std::int64_t last = 0;                   // CLOCK_MONOTONIC ns of the previous sample; 0: there is none
  std::vector<std::size_t> chosen;         // indices into kWishes of what the GPU supports; known from the first answer on
  std::unique_ptr<CounterStream> counters;
  std::vector<std::int64_t> values;
};

GpmSampler::GpmSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
GpmSampler::~GpmSampler() = default;

std::unique_ptr<GpmSampler> GpmSampler::open(std::shared_ptr<const NvmlFunctions> nvml, const GpuDevice& gpu, FrameOutput& output, std::string& refusal) {
  if (!nvml->gpm_query_support || !nvml->gpm_allocate || !nvml->gpm_free || !nvml->gpm_sample || !nvml->gpm_get_metrics) return nullptr;
  NvmlDevice device = nullptr;
  NvmlGpmSupport support;
  if (nvml->get_handle(uuid_text(gpu.uuid).c_str(), &device) != kNvmlSuccess) return nullptr;
  if (nvml->gpm_query_support(device, &support) != kNvmlSuccess || support.is_supported == 0) return nullptr;
  auto state = std::make_unique<State>(std::move(nvml), gpu, device, output);
  for (NvmlGpmSample& sample : state->samples)
    if (state->nvml->gpm_allocate(&sample) != kNvmlSuccess) return nullptr;
  if (const int result = state->nvml->gpm_sample(device, state->samples[0]); result != kNvmlSuccess) {
    refusal = "NVML does not say what GPU " + std::to_string(gpu.ordinal) + " does, either (nvmlGpmSampleGet says " + std::to_string(result) +
              (result == kNvmlNoPermission ? ", no permission)." : ").");
    return nullptr;
  }
  return std::unique_ptr<GpmSampler>(new GpmSampler(std::move(state)));
}

bool GpmSampler::State::ask(NvmlGpmRequest& request) {
  request.from = samples[0];
  request.until = samples[1];
  return nvml->gpm_get_metrics(&request) == kNvmlSuccess;
}

void GpmSampler::State::choose(const NvmlGpmRequest& answered) {
  std::vector<proto::Counter> descriptions;
  for (std::size_t i = 0; i < kWishes.size(); ++i) {
    if (answered.metrics[i].result != kNvmlSuccess || !std::isfinite(answered.metrics[i].value)) continue;
    chosen.push_back(i);
    descriptions.push_back(described(gpu, kWishes[i].counter));
  }
  if (!chosen.empty()) counters = std::make_unique<CounterStream>(output, std::move(descriptions));
}

void GpmSampler::read(std::int64_t now) {
  State& state = *state_;
  if (state.last != 0 && now - state.last < kGpmInterval) return;
  const bool continues = state.last != 0 && now - state.last <= kLongestGap;
  if (state.nvml->gpm_sample(state.device, state.samples[continues ? 1 : 0]) != kNvmlSuccess) return;
  const std::int64_t begin = std::exchange(state.last, now);
  if (!continues) return;
  NvmlGpmRequest request;
  if (state.chosen.empty()) {
    request.count = kWishes.size();
    for (std::size_t i = 0; i < kWishes.size(); ++i) request.metrics[i].id = kWishes[i].id;
    if (state.ask(request)) state.choose(request);
    request = {};
  }
  request.count = static_cast<unsigned>(state.chosen.size());
  for (std::size_t i = 0; i < state.chosen.size(); ++i) request.metrics[i].id = kWishes[state.chosen[i]].id;
  if (state.counters && state.ask(request)) {
    state.values.clear();
    for (std::size_t i = 0; i < state.chosen.size(); ++i) {
      const Wish& wish = kWishes[state.chosen[i]];
      const NvmlGpmMetric& metric = request.metrics[i];
      const bool is_known = metric.result == kNvmlSuccess && std::isfinite(metric.value);
      state.values.push_back(is_known ? std::llround(metric.value * wish.unit / wish.counter.resolution) : CounterStream::kMissing);
    }
    state.counters->add(begin, now, state.values);
  }
  std::swap(state.samples[0], state.samples[1]);
}

void GpmSampler::flush() {
  if (state_->counters) state_->counters->flush();
}

}  // namespace lanescope::gpu_metrics
