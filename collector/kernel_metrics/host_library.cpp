#include "kernel_metrics/host_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "agent/cupti/library/library.h"
#include "gpu_metrics/samplers/libraries.h"

namespace lanescope::kernel_metrics {
namespace {

constexpr int kNewestMajor = 13;

// This function is not used by sampling.
decltype(&::cuptiProfilerHostGetBaseMetrics) get_base_metrics = nullptr;

}  // namespace

Result<const gpu_metrics::CuptiFunctions*> load_host_library() {
  agent::cupti::DamagedFile damaged;
  void* library = agent::cupti::open_library(kNewestMajor, damaged);
  if (library == nullptr && damaged.path[0] != '\0')
    return Error{std::string("Counters of kernels can't be read: ") + damaged.path +
                 " is damaged or was cut short. Install it anew, or set LANESCOPE_CUPTI_LIBRARY to another file."};
  if (library == nullptr)
    return Error{"Counters of kernels can't be read: CUPTI (libcupti.so) was not found. Install the CUDA toolkit, or set LANESCOPE_CUPTI_LIBRARY to the file."};
  static const std::optional<gpu_metrics::CuptiFunctions> functions = gpu_metrics::resolve_cupti(library);
  get_base_metrics = reinterpret_cast<decltype(get_base_metrics)>(dlsym(library, "cuptiProfilerHostGetBaseMetrics"));
  if (!functions) return Error{"Counters of kernels can't be read: this CUPTI is older than CUDA 12.6."};
  // Without a driver this call is refused, but the queries made here are answered nevertheless.
  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
  functions->initialize(&initialize);
  return &*functions;
}

Result<MachineLibrary> load_for_machine() {
  const gpu_metrics::Driver driver = gpu_metrics::open_driver({});
  if (!driver.answers) return Error{"Counters of kernels can't be read: " + driver.failure + "."};
  const auto loaded = load_host_library();
  if (!loaded) return loaded.error();
  MachineLibrary machine{*loaded, {}};
  for (const gpu_metrics::GpuDevice& gpu : driver.gpus) {
    CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    chip.deviceIndex = static_cast<std::size_t>(gpu.ordinal);
    if (machine.cupti->get_chip_name(&chip) == CUPTI_SUCCESS && std::find(machine.chips.begin(), machine.chips.end(), chip.pChipName) == machine.chips.end())
      machine.chips.emplace_back(chip.pChipName);
  }
  if (machine.chips.empty()) return Error{"Counters of kernels can't be read: CUPTI knows none of this machine's GPUs."};
  return machine;
}

bool looks_able_to_count() {
  constexpr const char* kDevice = "/dev/nvidiactl";
  if (access(kDevice, R_OK | W_OK) != 0 || dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) return false;
  agent::cupti::DamagedFile damaged;
  void* const library = agent::cupti::open_library(kNewestMajor, damaged);
  return library != nullptr && gpu_metrics::resolve_cupti(library).has_value();
}

Result<std::vector<std::string>> metric_names(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip) {
  CUpti_Profiler_Host_Initialize_Params open{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
  open.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  open.pChipName = chip.c_str();
  if (get_base_metrics == nullptr || cupti.host_initialize(&open) != CUPTI_SUCCESS)
    return Error{"CUPTI does not know the chip " + chip + ".", ErrorKind::kUsage};
  std::vector<std::string> names;
  for (const CUpti_MetricType type : {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT}) {
    CUpti_Profiler_Host_GetBaseMetrics_Params get{CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE};
    get.pHostObject = open.pHostObject;
    get.metricType = type;
    if (get_base_metrics(&get) != CUPTI_SUCCESS) continue;
    for (std::size_t i = 0; i < get.numMetrics; ++i) names.emplace_back(get.ppMetricNames[i]);
  }
  CUpti_Profiler_Host_Deinitialize_Params close{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
  close.pHostObject = open.pHostObject;
  cupti.host_deinitialize(&close);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lanescope::kernel_metrics
