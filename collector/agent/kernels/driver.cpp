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
  resolve("cuDeviceGetAttribute", driver.get_attribute_);
  resolve("cuDeviceGetPCIBusId", driver.get_bus_id_);
  return driver;
}

int Driver::compute_major(int device) const noexcept {
  int major = 0;
  return get_attribute_ != nullptr && get_attribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS ? major : 0;
}

bool Driver::bus_id(int device, char (&text)[32]) const noexcept {
  return get_bus_id_ != nullptr && get_bus_id_(text, sizeof(text), device) == CUDA_SUCCESS;
}

}  // namespace lanescope::agent::kernels
