#include "agent/kernels/driver.h"

#include <dlfcn.h>

namespace lanescope::agent::kernels {

Driver Driver::find() noexcept {
  Driver driver;
  void* const library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return driver;
  const auto resolve = [library]<typename Function>(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
  };
  resolve("cuDeviceGetCount", driver.get_count_);
  resolve("cuDevicePrimaryCtxGetState", driver.get_state_);
  resolve("cuDevicePrimaryCtxRetain", driver.retain_);
  resolve("cuDevicePrimaryCtxRelease_v2", driver.release_);
  resolve("cuDeviceGetAttribute", driver.get_attribute_);
  resolve("cuDeviceGetPCIBusId", driver.get_bus_id_);
  return driver;
}

int Driver::device_count() const noexcept {
  int count = 0;
  return get_count_ != nullptr && get_count_(&count) == CUDA_SUCCESS ? count : 0;
}

CUcontext Driver::primary_context(int device) const noexcept {
  unsigned flags = 0;
  int is_active = 0;
  CUcontext context = nullptr;
  if (get_state_ == nullptr || retain_ == nullptr || release_ == nullptr) return nullptr;
  if (get_state_(device, &flags, &is_active) != CUDA_SUCCESS || is_active == 0 || retain_(&context, device) != CUDA_SUCCESS) return nullptr;
  release_(device);  // it was there before
  return context;
}

int Driver::compute_major(int device) const noexcept {
  int major = 0;
  return get_attribute_ != nullptr && get_attribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS ? major : 0;
}

bool Driver::bus_id(int device, char (&text)[32]) const noexcept {
  return get_bus_id_ != nullptr && get_bus_id_(text, sizeof(text), device) == CUDA_SUCCESS;
}

}  // namespace lanescope::agent::kernels
