// The functions of libcupti and libcuda that counting needs, from the libraries that the process has loaded.
#pragma once

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

namespace lanescope::agent::kernel_counters {

struct Functions {
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&::cuptiEnableCallback) enable_callback = nullptr;
  decltype(&::cuptiGetDeviceId) get_device_id = nullptr;
  decltype(&::cuptiDeviceGetChipName) get_chip_name = nullptr;
  decltype(&::cuptiProfilerInitialize) initialize = nullptr;
  decltype(&::cuptiProfilerDeviceSupported) device_supported = nullptr;
  decltype(&::cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&::cuptiRangeProfilerStart) start = nullptr;
  decltype(&::cuptiRangeProfilerStop) stop = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) get_data_size = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize) initialize_data = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) get_data_info = nullptr;
  // For ranges; null if this libcupti lacks them. The same holds for the driver's functions below.
  decltype(&::cuptiRangeProfilerPushRange) push_range = nullptr;
  decltype(&::cuptiRangeProfilerPopRange) pop_range = nullptr;
  decltype(&::cuptiGetContextId) get_context_id = nullptr;
  decltype(&::cuptiGetStreamIdEx) get_stream_id = nullptr;
  CUresult (*push_context)(CUcontext) = nullptr;  // cuCtxPushCurrent
  CUresult (*pop_context)(CUcontext*) = nullptr;  // cuCtxPopCurrent
  // For counts of instructions; null if missing, too.
  decltype(&::cuptiSassMetricsGetProperties) sass_properties = nullptr;
  decltype(&::cuptiSassMetricsSetConfig) sass_set_config = nullptr;
  decltype(&::cuptiSassMetricsEnable) sass_enable = nullptr;
  decltype(&::cuptiSassMetricsDisable) sass_disable = nullptr;
  decltype(&::cuptiSassMetricsGetDataProperties) sass_data_properties = nullptr;
  decltype(&::cuptiSassMetricsFlushData) sass_flush = nullptr;
  decltype(&::cuptiGetCubinCrc) get_cubin_crc = nullptr;
  CUresult (*synchronize)() = nullptr;                                   // cuCtxSynchronize
  CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;  // cuStreamIsCapturing
};

// True if instructions can be counted with these functions.
[[nodiscard]] inline bool has_sass_metrics(const Functions& f) noexcept {
  return f.sass_properties != nullptr && f.sass_set_config != nullptr && f.sass_enable != nullptr && f.sass_disable != nullptr &&
         f.sass_data_properties != nullptr && f.sass_flush != nullptr && f.get_cubin_crc != nullptr && f.synchronize != nullptr;
}

// True if ranges can be counted with these functions.
[[nodiscard]] inline bool has_ranges(const Functions& f) noexcept {
  return f.push_range != nullptr && f.pop_range != nullptr && f.push_context != nullptr && f.pop_context != nullptr && f.synchronize != nullptr;
}

// From the libcupti that contains this function. False if some are missing, as in all versions before CUDA 12.6 Update 2.
[[nodiscard]] bool resolve(const void* function_of_cupti, Functions& functions) noexcept;

}  // namespace lanescope::agent::kernel_counters
