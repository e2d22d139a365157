#include "samplers/libraries.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace lanescope::gpu_metrics {
namespace {

template <typename Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

std::optional<DeviceChoice> parse_devices(const std::string& text) {
  if (text == "all") return DeviceChoice{};
  if (text == "cuda-visible") return DeviceChoice{DeviceChoice::Kind::kCudaVisible, {}};
  DeviceChoice choice{DeviceChoice::Kind::kListed, {}};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    choice.listed.push_back(number);
    if (next == end) return choice;
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
}

void number_gpus_by_bus() {
  constexpr const char* kOrder = "CUDA_DEVICE_ORDER";
  constexpr const char* kByBus = "PCI_BUS_ID";
  unsetenv("CUDA_VISIBLE_DEVICES");
  if (const char* const order = std::getenv(kOrder); order == nullptr || std::strcmp(order, kByBus) != 0) setenv(kOrder, kByBus, 1);
}

Driver open_driver(const DeviceChoice& choice) {
  // CUDA reads these variables once. For `cuda-visible`, the program's own numbering is kept.
  if (choice.kind != DeviceChoice::Kind::kCudaVisible) number_gpus_by_bus();
  Driver driver;
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    driver.failure = "no NVIDIA driver is installed (libcuda.so.1)";
    return driver;
  }
  const auto init = function<CUresult(unsigned)>(library, "cuInit");
  const auto get_version = function<CUresult(int*)>(library, "cuDriverGetVersion");
  const auto get_count = function<CUresult(int*)>(library, "cuDeviceGetCount");
  const auto get_device = function<CUresult(CUdevice*, int)>(library, "cuDeviceGet");
  const auto get_name = function<CUresult(char*, int, CUdevice)>(library, "cuDeviceGetName");
  const auto get_uuid = function<CUresult(CUuuid*, CUdevice)>(library, "cuDeviceGetUuid");
  const auto get_bus_id = function<CUresult(char*, int, CUdevice)>(library, "cuDeviceGetPCIBusId");
  const auto get_attribute = function<CUresult(int*, CUdevice_attribute, CUdevice)>(library, "cuDeviceGetAttribute");
  const auto get_memory = function<CUresult(std::size_t*, CUdevice)>(library, "cuDeviceTotalMem_v2");
  if (!init || !get_version || !get_count || !get_device || !get_name || !get_uuid || !get_bus_id || !get_attribute || !get_memory) {
    driver.failure = "the NVIDIA driver is too old";
    return driver;
  }
  if (const CUresult result = init(0); result != CUDA_SUCCESS) {
    driver.failure = "the NVIDIA driver does not answer (cuInit says " + std::to_string(static_cast<int>(result)) + ")";
    return driver;
  }
  driver.answers = true;
  get_version(&driver.version);
  int count = 0;
  get_count(&count);
  for (int i = 0; i < count; ++i) {
    const bool chosen = choice.kind != DeviceChoice::Kind::kListed || std::find(choice.listed.begin(), choice.listed.end(), i) != choice.listed.end();
    CUdevice device = 0;
    if (!chosen || get_device(&device, i) != CUDA_SUCCESS) continue;
    const auto attribute = [&](CUdevice_attribute which) {
      int value = 0;
      get_attribute(&value, which, device);
      return static_cast<std::uint32_t>(value);
    };
    char text[256] = {};
    GpuDevice gpu;
    gpu.ordinal = i;
    if (get_name(text, sizeof(text), device) == CUDA_SUCCESS) gpu.name = text;
    if (get_bus_id(text, sizeof(text), device) == CUDA_SUCCESS) gpu.bus_id = text;
    CUuuid uuid{};
    if (get_uuid(&uuid, device) == CUDA_SUCCESS) gpu.uuid.assign(uuid.bytes, sizeof(uuid.bytes));
    std::size_t memory = 0;
    get_memory(&memory, device);
    gpu.memory_bytes = memory;
    gpu.multiprocessor_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    gpu.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    gpu.compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    driver.gpus.push_back(std::move(gpu));
  }
  return driver;
}

std::string uuid_text(const std::string& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace lanescope::gpu_metrics
