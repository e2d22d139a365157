#include "values/chip_metrics.h"

#include <dlfcn.h>

namespace lanescope::gpu_metrics {
namespace {

template <typename Function>
bool resolve(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<CuptiFunctions> resolve_cupti(void* library) {
  CuptiFunctions f;
  const bool whole =
      resolve(library, "cuptiGetVersion", f.get_version) && resolve(library, "cuptiGetResultString", f.get_result_string) &&
      resolve(library, "cuptiDeviceGetChipName", f.get_chip_name) && resolve(library, "cuptiProfilerInitialize", f.initialize) &&
      resolve(library, "cuptiProfilerDeviceSupported", f.device_supported) && resolve(library, "cuptiProfilerHostGetSupportedChips", f.get_supported_chips) &&
      resolve(library, "cuptiProfilerHostInitialize", f.host_initialize) && resolve(library, "cuptiProfilerHostDeinitialize", f.host_deinitialize) &&
      resolve(library, "cuptiProfilerHostConfigAddMetrics", f.add_metrics) && resolve(library, "cuptiProfilerHostGetConfigImageSize", f.get_config_size) &&
      resolve(library, "cuptiProfilerHostGetConfigImage", f.get_config) && resolve(library, "cuptiProfilerHostGetNumOfPasses", f.get_passes) &&
      resolve(library, "cuptiProfilerHostEvaluateToGpuValues", f.evaluate) && resolve(library, "cuptiPmSamplingGetCounterAvailability", f.get_availability) &&
      resolve(library, "cuptiPmSamplingEnable", f.enable) && resolve(library, "cuptiPmSamplingDisable", f.disable) &&
      resolve(library, "cuptiPmSamplingSetConfig", f.set_config) && resolve(library, "cuptiPmSamplingStart", f.start) &&
      resolve(library, "cuptiPmSamplingStop", f.stop) && resolve(library, "cuptiPmSamplingDecodeData", f.decode) &&
      resolve(library, "cuptiPmSamplingGetCounterDataSize", f.get_data_size) &&
      resolve(library, "cuptiPmSamplingCounterDataImageInitialize", f.initialize_data) &&
      resolve(library, "cuptiPmSamplingGetCounterDataInfo", f.get_data_info) && resolve(library, "cuptiPmSamplingCounterDataGetSampleInfo", f.get_sample_info);
  return whole ? std::optional(f) : std::nullopt;
}

std::string result_text(const CuptiFunctions& cupti, CUptiResult result) {
  const char* text = nullptr;
  if (cupti.get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
  return "error " + std::to_string(static_cast<int>(result));
}

MetricProgram::MetricProgram(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::uint8_t> availability,
                             std::span<const std::string> metrics, CUpti_ProfilerType type)
    : cupti_(cupti), chip_(chip), metrics_(metrics.begin(), metrics.end()) {
  for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
  CUpti_Profiler_Host_Initialize_Params open{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
  open.profilerType = type;
  open.pChipName = chip_.c_str();
  open.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  if (cupti_.host_initialize(&open) != CUPTI_SUCCESS) return;
  host_ = open.pHostObject;
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  CUpti_Profiler_Host_GetConfigImageSize_Params size{CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
  size.pHostObject = host_;
  if (cupti_.add_metrics(&add) != CUPTI_SUCCESS || cupti_.get_config_size(&size) != CUPTI_SUCCESS) return;
  config_.resize(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params get{CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
  get.pHostObject = host_;
  get.configImageSize = config_.size();
  get.pConfigImage = config_.data();
  if (cupti_.get_config(&get) != CUPTI_SUCCESS) config_.clear();
}

MetricProgram::~MetricProgram() {
  if (host_ == nullptr) return;
  CUpti_Profiler_Host_Deinitialize_Params close{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
  close.pHostObject = host_;
  cupti_.host_deinitialize(&close);
}

std::size_t MetricProgram::passes() const {
  if (config_.empty()) return 0;
  CUpti_Profiler_Host_GetNumOfPasses_Params get{CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
  get.configImageSize = config_.size();
  get.pConfigImage = const_cast<std::uint8_t*>(config_.data());
  return cupti_.get_passes(&get) == CUPTI_SUCCESS ? get.numOfPasses : 0;
}

bool MetricProgram::evaluate(std::span<const std::uint8_t> samples, std::size_t index, std::span<double> values) const {
  CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate{CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
  evaluate.pHostObject = host_;
  evaluate.pCounterDataImage = samples.data();
  evaluate.counterDataImageSize = samples.size();
  evaluate.rangeIndex = index;
  evaluate.ppMetricNames = const_cast<const char**>(names_.data());
  evaluate.numMetrics = names_.size();
  evaluate.pMetricValues = values.data();
  return cupti_.evaluate(&evaluate) == CUPTI_SUCCESS;
}

}  // namespace lanescope::gpu_metrics
