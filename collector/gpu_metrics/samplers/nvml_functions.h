// Functions of the driver's management library (NVML), from a libnvidia-ml.so.1 loaded at run time, and their types as nvml.h declares them. Not
// every toolkit has that header.
#pragma once

#include <memory>

namespace lanescope::gpu_metrics {

using NvmlDevice = void*;
using NvmlGpmSample = void*;
inline constexpr int kNvmlSuccess = 0;
inline constexpr int kNvmlNoPermission = 4;

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
struct NvmlGpmSupport {
  unsigned version = 1;
  unsigned is_supported = 0;
};
struct NvmlGpmMetric {
  unsigned id;
  int result;
  double value;
  const char* names[3];
};
inline constexpr unsigned kMostGpmMetrics = 32;  // in one request; nvml.h has room for more, but only `count` of them are read
struct NvmlGpmRequest {
  unsigned version = 1;
  unsigned count = 0;
  NvmlGpmSample from = nullptr;
  NvmlGpmSample until = nullptr;
  NvmlGpmMetric metrics[kMostGpmMetrics] = {};
};

// Functions that the driver does not have are null.
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
  int (*gpm_query_support)(NvmlDevice, NvmlGpmSupport*) = nullptr;
  int (*gpm_allocate)(NvmlGpmSample*) = nullptr;
  int (*gpm_free)(NvmlGpmSample) = nullptr;
  int (*gpm_sample)(NvmlDevice, NvmlGpmSample) = nullptr;
  int (*gpm_get_metrics)(NvmlGpmRequest*) = nullptr;
};

// Loads and initialises libnvidia-ml.so.1. Null if it is not installed.
[[nodiscard]] std::shared_ptr<const NvmlFunctions> open_nvml();

}  // namespace lanescope::gpu_metrics
