#include "agent/kernel_counters/counting/functions.h"

#include <dlfcn.h>

#include "agent/core/loader/loader.h"

namespace lanescope::agent::kernel_counters {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

bool resolve(const void* function_of_cupti, Functions& f) noexcept {
  Dl_info place{};
  if (dladdr(function_of_cupti, &place) == 0 || place.dli_fname == nullptr) return false;
  void* cupti = load_file(place.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  void* driver = load_file("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  if (cupti == nullptr) return false;
  if (driver != nullptr) {
    find(driver, "cuStreamIsCapturing", f.is_capturing);
    find(driver, "cuCtxSynchronize", f.synchronize);
    find(driver, "cuCtxPushCurrent_v2", f.push_context);
    find(driver, "cuCtxPopCurrent_v2", f.pop_context);
  }
  find(cupti, "cuptiRangeProfilerPushRange", f.push_range);
  find(cupti, "cuptiRangeProfilerPopRange", f.pop_range);
  find(cupti, "cuptiGetContextId", f.get_context_id);
  find(cupti, "cuptiGetStreamIdEx", f.get_stream_id);
  find(cupti, "cuptiSassMetricsGetProperties", f.sass_properties);
  find(cupti, "cuptiSassMetricsSetConfig", f.sass_set_config);
  find(cupti, "cuptiSassMetricsEnable", f.sass_enable);
  find(cupti, "cuptiSassMetricsDisable", f.sass_disable);
  find(cupti, "cuptiSassMetricsGetDataProperties", f.sass_data_properties);
  find(cupti, "cuptiSassMetricsFlushData", f.sass_flush);
  find(cupti, "cuptiGetCubinCrc", f.get_cubin_crc);
  return find(cupti, "cuptiGetResultString", f.get_result_string) && find(cupti, "cuptiGetCallbackName", f.get_callback_name) &&
         find(cupti, "cuptiEnableCallback", f.enable_callback) && find(cupti, "cuptiGetDeviceId", f.get_device_id) &&
         find(cupti, "cuptiDeviceGetChipName", f.get_chip_name) && find(cupti, "cuptiProfilerInitialize", f.initialize) &&
         find(cupti, "cuptiProfilerDeviceSupported", f.device_supported) && find(cupti, "cuptiRangeProfilerEnable", f.enable) &&
         find(cupti, "cuptiRangeProfilerDisable", f.disable) && find(cupti, "cuptiRangeProfilerSetConfig", f.set_config) &&
         find(cupti, "cuptiRangeProfilerStart", f.start) && find(cupti, "cuptiRangeProfilerStop", f.stop) &&
         find(cupti, "cuptiRangeProfilerDecodeData", f.decode) && find(cupti, "cuptiRangeProfilerGetCounterDataSize", f.get_data_size) &&
         find(cupti, "cuptiRangeProfilerCounterDataImageInitialize", f.initialize_data) && find(cupti, "cuptiRangeProfilerGetCounterDataInfo", f.get_data_info);
}

}  // namespace lanescope::agent::kernel_counters
