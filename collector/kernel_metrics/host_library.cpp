#include "kernel_metrics/host_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "agent/cupti/library/library.h"
#include "gpu_metrics/samplers/libraries.h"

namespace lanescope::kernel_metrics {
namespace {

constexpr int kNewestMajor = 13;

// This function is not used by sampling.
decltype(&::cuptiProfilerHostGetBaseMetrics) get_base_metrics = nullptr;

// The path of a file in CUPTI's folder; empty if the folder is not known.
std::string beside(const gpu_metrics::CuptiFunctions& cupti, const char* file) {
  Dl_info place{};
  if (dladdr(reinterpret_cast<void*>(cupti.initialize), &place) == 0 || place.dli_fname == nullptr) return {};
  return (std::filesystem::path(place.dli_fname).parent_path() / file).string();
}

// Lets the system read a file, without waiting for it.
void read_ahead(const std::string& path) {
  const int file = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED);
  close(file);
}

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
  return &*functions;
}

void load_metric_library(const gpu_metrics::CuptiFunctions& cupti) {
  if (const std::string path = beside(cupti, "libnvperf_host.so"); !path.empty()) dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

void initialize_profiler(const gpu_metrics::CuptiFunctions& cupti) {
  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
  cupti.initialize(&initialize);
}

Result<MachineLibrary> load_for_machine(MetricQuestions questions) {
  const auto loaded = load_host_library();
  gpu_metrics::number_gpus_by_bus();  // while there is one thread: this changes the environment
  std::thread meanwhile;
  if (loaded && questions == MetricQuestions::kFollow) {
    read_ahead(beside(**loaded, "libnvperf_target.so"));  // for the program, which will need it
    try {
      meanwhile = std::thread([&loaded] { load_metric_library(**loaded); });
    } catch (const std::system_error&) {  // then CUPTI loads it later
    }
  }
  const gpu_metrics::Driver driver = gpu_metrics::open_driver({});
  if (meanwhile.joinable()) meanwhile.join();
  if (!driver.answers) return Error{"Counters of kernels can't be read: " + driver.failure + "."};
  if (!loaded) return loaded.error();
  initialize_profiler(**loaded);
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
  const auto functions = library != nullptr ? gpu_metrics::resolve_cupti(library) : std::nullopt;
  if (functions) read_ahead(beside(*functions, "libnvperf_host.so"));  // it is needed soon
  return functions.has_value();
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
