#include "samplers/nvperf.h"

#include <dlfcn.h>

#include <cstdio>

namespace lanescope::gpu_metrics::nvperf {
namespace {

// The folder of the library that has the function, with a trailing slash.
std::string folder_of(const void* function) {
  Dl_info info{};
  if (function == nullptr || dladdr(function, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

void* open(const std::string& folder, const char* name) {
  void* library = folder.empty() ? nullptr : dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr ? library : dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

// Looks up functions of a library, and remembers the first missing one.
class Resolver {
 public:
  explicit Resolver(void* library) : library_(library) {}
  template <typename Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace

std::optional<Functions> load(const void* function_of_cupti, std::string& reason) {
  const std::string folder = folder_of(function_of_cupti);
  void* const target = open(folder, "libnvperf_target.so");
  void* const host = target != nullptr ? open(folder, "libnvperf_host.so") : nullptr;
  if (host == nullptr) {
    reason = std::string(target == nullptr ? "libnvperf_target.so" : "libnvperf_host.so") + " was not found beside CUPTI";
    return std::nullopt;
  }
  Functions f;
  Resolver of_target(target);
  of_target.find("NVPW_InitializeTarget", f.initialize_target);
  of_target.find("NVPW_CUDA_LoadDriver", f.load_driver);
  of_target.find("NVPW_GetDeviceCount", f.get_device_count);
  of_target.find("NVPW_Device_GetPciBusIds", f.get_bus_ids);
  of_target.find("NVPW_GPU_PeriodicSampler_BeginSession_V2", f.begin_session);
  of_target.find("NVPW_GPU_PeriodicSampler_EndSession", f.end_session);
  of_target.find("NVPW_GPU_PeriodicSampler_SetConfig", f.set_config);
  of_target.find("NVPW_GPU_PeriodicSampler_StartSampling", f.start);
  of_target.find("NVPW_GPU_PeriodicSampler_StopSampling", f.stop);
  of_target.find("NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize", f.get_image_size);
  of_target.find("NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize", f.initialize_image);
  of_target.find("NVPW_GPU_PeriodicSampler_GetRecordBufferStatus_V2", f.get_buffer_status);
  of_target.find("NVPW_GPU_PeriodicSampler_DecodeCounters_V3", f.decode);
  of_target.find("NVPW_GPU_PeriodicSampler_AcknowledgeRecordBuffer", f.acknowledge);
  of_target.find("NVPW_GPU_PeriodicSampler_GetGpuTimestamp", f.get_gpu_time);
  of_target.find("NVPW_PeriodicSampler_CounterData_GetInfo", f.get_image_info);
  of_target.find("NVPW_PeriodicSampler_CounterData_GetSampleTime", f.get_sample_times);
  Resolver of_host(host);
  of_host.find("NVPW_InitializeHost", f.initialize_host);
  of_host.find("NVPW_Config_GetRawCounters", f.get_config_counters);
  of_host.find("NVPW_CUDA_CounterDataBuilder_Create", f.create_builder);
  of_host.find("NVPW_CounterDataBuilder_AddRawCounters", f.add_counters);
  of_host.find("NVPW_CounterDataBuilder_GetCounterDataPrefix", f.get_prefix);
  of_host.find("NVPW_CounterDataBuilder_Destroy", f.destroy_builder);
  for (const Resolver* resolver : {&of_target, &of_host}) {
    if (resolver->missing().empty()) continue;
    reason = "the library beside CUPTI has no " + resolver->missing();
    return std::nullopt;
  }
  Plain target_call, host_call, driver_call;
  const int initialized = f.initialize_target(&target_call);
  const int host_initialized = f.initialize_host(&host_call);
  const int loaded = f.load_driver(&driver_call);
  if (initialized != 0 || host_initialized != 0 || loaded != 0) {
    reason = "libnvperf_target.so does not work with this driver (it says " + std::to_string(loaded != 0 ? loaded : initialized | host_initialized) + ")";
    return std::nullopt;
  }
  return f;
}

std::optional<std::size_t> find_device(const Functions& functions, const std::string& bus_id) {
  unsigned domain = 0, bus = 0, device = 0;
  if (std::sscanf(bus_id.c_str(), "%x:%x:%x", &domain, &bus, &device) != 3) return std::nullopt;
  DeviceCount count;
  if (functions.get_device_count(&count) != 0 || count.devices == 0) return std::nullopt;
  std::vector<BusId> ids(count.devices);
  BusIds get;
  get.ids = ids.data();
  get.devices = ids.size();
  if (functions.get_bus_ids(&get) != 0) return std::nullopt;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i].domain == domain && ids[i].bus == bus && ids[i].device == device) return i;
  return std::nullopt;
}

std::vector<std::uint8_t> image_prefix(const Functions& functions, std::span<const std::uint8_t> config, const std::string& chip,
                                       std::span<const std::uint8_t> availability, Units units) {
  ConfigCounters counters;
  counters.config = config.data();
  counters.config_size = config.size();
  if (functions.get_config_counters(&counters) != 0) return {};
  std::vector<const char*> names(counters.count);
  counters.names = names.data();
  if (functions.get_config_counters(&counters) != 0) return {};
  std::vector<CounterRequest> requests(counters.count);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].name = names[i];
    requests[i].keeps_instances = units == Units::kEach ? 1 : 0;
  }
  CreateBuilder create;
  if (availability.empty())
    create.chip = chip.c_str();
  else
    create.availability = availability.data();
  if (functions.create_builder(&create) != 0) return {};
  AddCounters add;
  add.builder = create.builder;
  add.count = requests.size();
  add.requests = requests.data();
  std::vector<std::uint8_t> prefix;
  GetPrefix get;
  get.builder = create.builder;
  if (functions.add_counters(&add) == 0 && functions.get_prefix(&get) == 0) {
    prefix.resize(get.size);
    get.room = prefix.size();
    get.bytes = prefix.data();
    if (functions.get_prefix(&get) != 0) prefix.clear();
  }
  DestroyBuilder destroy;
  destroy.builder = create.builder;
  functions.destroy_builder(&destroy);
  return prefix;
}

}  // namespace lanescope::gpu_metrics::nvperf
