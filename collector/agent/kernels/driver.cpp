#include "agent/kernels/driver.h"

#include <dlfcn.h>

namespace lanescope::agent::kernels {

Driver Driver::find() noexcept {
  Driver driver;
  void* const library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return driver;
  const auto resolve = [library]<typename Function>(const char* name, Function*& function) { function = reinterpret_cast<Function*>(dlsym(library, name)); };
  resolve("cuDeviceGetAttribute", driver.get_attribute_);
  resolve("cuDeviceGetPCIBusId", driver.get_bus_id_);
  resolve("cuDeviceGetCount", driver.get_count_);
  resolve("cuDevicePrimaryCtxGetState", driver.get_primary_state_);
  resolve("cuDevicePrimaryCtxRetain", driver.retain_primary_);
  resolve("cuDevicePrimaryCtxRelease_v2", driver.release_primary_);
  return driver;
}

int Driver::compute_major(int device) const noexcept {
  int major = 0;
  return get_attribute_ != nullptr && get_attribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS ? major : 0;
}

bool Driver::bus_id(int device, char (&text)[32]) const noexcept { return get_bus_id_ != nullptr && get_bus_id_(text, sizeof(text), device) == CUDA_SUCCESS; }

int Driver::devices() const noexcept {
  int count = 0;
  return get_count_ != nullptr && get_count_(&count) == CUDA_SUCCESS ? count : 0;
}

CUcontext Driver::primary_context(int device) const noexcept {
  unsigned int flags = 0;
  int is_active = 0;
  CUcontext context = nullptr;
  if (get_primary_state_ == nullptr || retain_primary_ == nullptr || release_primary_ == nullptr ||
      get_primary_state_(device, &flags, &is_active) != CUDA_SUCCESS || is_active == 0 || retain_primary_(&context, device) != CUDA_SUCCESS)
    return nullptr;
  release_primary_(device);
  return context;
}

}  // namespace lanescope::agent::kernels
