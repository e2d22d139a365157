#include "samplers/nvml_functions.h"

#include <dlfcn.h>

namespace lanescope::gpu_metrics {

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
  resolve("nvmlGpmQueryDeviceSupport", f->gpm_query_support);
  resolve("nvmlGpmSampleAlloc", f->gpm_allocate);
  resolve("nvmlGpmSampleFree", f->gpm_free);
  resolve("nvmlGpmSampleGet", f->gpm_sample);
  resolve("nvmlGpmMetricsGet", f->gpm_get_metrics);
  const bool usable = f->init && f->get_handle && f->get_power && f->get_temperature && f->get_memory && f->get_clock && f->get_utilization;
  if (!usable || f->init() != kNvmlSuccess) return nullptr;
  return f;
}

}  // namespace lanescope::gpu_metrics
