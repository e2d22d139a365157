#include "chip_metrics.h"

#include <dlfcn.h>

namespace lanescope::gpu_metrics {
namespace {

template <typename Function>
bool resolve(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

std::vector<const char*> pointers(std::span<const std::string> texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

CUpti_Profiler_Host_Object* open_host(const CuptiFunctions& cupti, const std::string& chip, const std::uint8_t* availability) {
  CUpti_Profiler_Host_Initialize_Params open{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
  open.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  open.pChipName = chip.c_str();
  open.pCounterAvailabilityImage = availability;
  return cupti.host_initialize(&open) == CUPTI_SUCCESS ? open.pHostObject : nullptr;
}

void close_host(const CuptiFunctions& cupti, CUpti_Profiler_Host_Object* host) {
  CUpti_Profiler_Host_Deinitialize_Params close{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
  close.pHostObject = host;
  cupti.host_deinitialize(&close);
}

}  // namespace

std::optional<CuptiFunctions> resolve_cupti(void* library) {
  CuptiFunctions f;
  const bool whole = resolve(library, "cuptiGetVersion", f.get_version) && resolve(library, "cuptiGetResultString", f.get_result_string) &&
                     resolve(library, "cuptiDeviceGetChipName", f.get_chip_name) &&
                     resolve(library, "cuptiProfilerInitialize", f.initialize) &&
                     resolve(library, "cuptiProfilerDeviceSupported", f.device_supported) &&
                     resolve(library, "cuptiProfilerHostGetSupportedChips", f.get_supported_chips) &&
                     resolve(library, "cuptiProfilerHostInitialize", f.host_initialize) &&
                     resolve(library, "cuptiProfilerHostDeinitialize", f.host_deinitialize) &&
                     resolve(library, "cuptiProfilerHostConfigAddMetrics", f.add_metrics) &&
                     resolve(library, "cuptiProfilerHostGetConfigImageSize", f.get_config_size) &&
                     resolve(library, "cuptiProfilerHostGetConfigImage", f.get_config) &&
                     resolve(library, "cuptiProfilerHostGetNumOfPasses", f.get_passes) &&
                     resolve(library, "cuptiProfilerHostEvaluateToGpuValues", f.evaluate) &&
                     resolve(library, "cuptiPmSamplingGetCounterAvailability", f.get_availability) &&
                     resolve(library, "cuptiPmSamplingEnable", f.enable) && resolve(library, "cuptiPmSamplingDisable", f.disable) &&
                     resolve(library, "cuptiPmSamplingSetConfig", f.set_config) && resolve(library, "cuptiPmSamplingStart", f.start) &&
                     resolve(library, "cuptiPmSamplingStop", f.stop) && resolve(library, "cuptiPmSamplingDecodeData", f.decode) &&
                     resolve(library, "cuptiPmSamplingGetCounterDataSize", f.get_data_size) &&
                     resolve(library, "cuptiPmSamplingCounterDataImageInitialize", f.initialize_data) &&
                     resolve(library, "cuptiPmSamplingGetCounterDataInfo", f.get_data_info) &&
                     resolve(library, "cuptiPmSamplingCounterDataGetSampleInfo", f.get_sample_info);
  return whole ? std::optional(f) : std::nullopt;
}

std::string result_text(const CuptiFunctions& cupti, CUptiResult result) {
  const char* text = nullptr;
  if (cupti.get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
  return "error " + std::to_string(static_cast<int>(result));
}

ChipMetrics::ChipMetrics(const CuptiFunctions& cupti, std::string chip, std::vector<std::uint8_t> availability)
    : cupti_(cupti), chip_(std::move(chip)), availability_(std::move(availability)) {}

std::vector<std::uint8_t> ChipMetrics::config(std::span<const std::string> metrics) const {
  CUpti_Profiler_Host_Object* host = open_host(cupti_, chip_, availability());
  if (host == nullptr) return {};
  std::vector<const char*> names = pointers(metrics);
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
  add.pHostObject = host;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  CUpti_Profiler_Host_GetConfigImageSize_Params size{CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
  size.pHostObject = host;
  std::vector<std::uint8_t> config;
  if (cupti_.add_metrics(&add) == CUPTI_SUCCESS && cupti_.get_config_size(&size) == CUPTI_SUCCESS) {
    config.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params get{CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    get.pHostObject = host;
    get.configImageSize = config.size();
    get.pConfigImage = config.data();
    if (cupti_.get_config(&get) != CUPTI_SUCCESS) config.clear();
  }
  close_host(cupti_, host);
  return config;
}

std::size_t ChipMetrics::passes(std::vector<std::uint8_t>& config) const {
  CUpti_Profiler_Host_GetNumOfPasses_Params get{CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
  get.configImageSize = config.size();
  get.pConfigImage = config.data();
  return cupti_.get_passes(&get) == CUPTI_SUCCESS ? get.numOfPasses : 0;
}

bool ChipMetrics::fit_one_pass(std::span<const std::string> metrics) const {
  std::vector<std::uint8_t> image = config(metrics);
  return !image.empty() && passes(image) == 1;
}

MetricEvaluator::MetricEvaluator(const CuptiFunctions& cupti, const std::string& chip, const std::uint8_t* availability,
                                 std::span<const std::string> metrics)
    : cupti_(cupti), host_(open_host(cupti, chip, availability)), metrics_(metrics.begin(), metrics.end()), names_(pointers(metrics_)) {
  if (host_ == nullptr) return;
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  cupti_.add_metrics(&add);
}

MetricEvaluator::~MetricEvaluator() {
  if (host_ != nullptr) close_host(cupti_, host_);
}

bool MetricEvaluator::evaluate(std::span<const std::uint8_t> samples, std::size_t index, std::span<double> values) const {
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
