// CUPTI's functions for metrics, from a libcupti loaded at run time.
#pragma once

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lanescope::gpu_metrics {

struct CuptiFunctions {
  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiDeviceGetChipName) get_chip_name = nullptr;
  decltype(&::cuptiProfilerInitialize) initialize = nullptr;
  decltype(&::cuptiProfilerDeviceSupported) device_supported = nullptr;
  decltype(&::cuptiProfilerHostGetSupportedChips) get_supported_chips = nullptr;
  decltype(&::cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) get_config_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) get_config = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) get_passes = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  decltype(&::cuptiPmSamplingGetCounterAvailability) get_availability = nullptr;
  decltype(&::cuptiPmSamplingEnable) enable = nullptr;
  decltype(&::cuptiPmSamplingDisable) disable = nullptr;
  decltype(&::cuptiPmSamplingSetConfig) set_config = nullptr;
  decltype(&::cuptiPmSamplingStart) start = nullptr;
  decltype(&::cuptiPmSamplingStop) stop = nullptr;
  decltype(&::cuptiPmSamplingDecodeData) decode = nullptr;
  decltype(&::cuptiPmSamplingGetCounterDataSize) get_data_size = nullptr;
  decltype(&::cuptiPmSamplingCounterDataImageInitialize) initialize_data = nullptr;
  decltype(&::cuptiPmSamplingGetCounterDataInfo) get_data_info = nullptr;
  decltype(&::cuptiPmSamplingCounterDataGetSampleInfo) get_sample_info = nullptr;
};

// Resolves all functions from a loaded libcupti. Nothing if one is missing, as in every libcupti before CUDA 12.6.
[[nodiscard]] std::optional<CuptiFunctions> resolve_cupti(void* library);

// "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES".
[[nodiscard]] std::string result_text(const CuptiFunctions& cupti, CUptiResult result);

// Metrics of one chip as CUPTI knows them: how they are counted together, and what the counts mean. Needs no GPU.
class MetricProgram {
 public:
  // `availability`: what the device at hand can count; empty: everything that the chip may have. It must outlive this object.
  MetricProgram(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::uint8_t> availability, std::span<const std::string> metrics,
                CUpti_ProfilerType type = CUPTI_PROFILER_TYPE_PM_SAMPLING);
  ~MetricProgram();
  MetricProgram(const MetricProgram&) = delete;
  MetricProgram& operator=(const MetricProgram&) = delete;

  // The configuration for the hardware. Empty if CUPTI refuses the metrics.
  [[nodiscard]] std::span<const std::uint8_t> config() const noexcept { return config_; }
  [[nodiscard]] bool fits_one_pass() const { return passes() == 1; }
  [[nodiscard]] std::size_t passes() const;  // 0 if CUPTI refuses the metrics
  [[nodiscard]] std::span<const char* const> names() const noexcept { return names_; }
  // Computes one value for each metric of one sample. Returns false if CUPTI refuses.
  [[nodiscard]] bool evaluate(std::span<const std::uint8_t> samples, std::size_t index, std::span<double> values) const;

 private:
  const CuptiFunctions& cupti_;
  std::string chip_;
  std::vector<std::string> metrics_;
  std::vector<const char*> names_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> config_;
};

}  // namespace lanescope::gpu_metrics
