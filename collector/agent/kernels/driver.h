// Questions to the CUDA driver: which GPU a device is.
#pragma once

#include <cuda.h>

namespace lanescope::agent::kernels {

class Driver {
 public:
  // Uses the libcuda that is loaded in the process; without one all answers are empty.
  static Driver find() noexcept;

  // Major number of its compute capability; 0 if unknown.
  [[nodiscard]] int compute_major(int device) const noexcept;
  // "0000:17:00.0"; false if unknown.
  bool bus_id(int device, char (&text)[32]) const noexcept;
  [[nodiscard]] int devices() const noexcept;  // 0 if the driver is not initialized
  // The context that the CUDA runtime uses; null if it does not exist yet.
  [[nodiscard]] CUcontext primary_context(int device) const noexcept;

 private:
  CUresult (*get_attribute_)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*get_bus_id_)(char*, int, CUdevice) = nullptr;
  CUresult (*get_count_)(int*) = nullptr;
  CUresult (*get_primary_state_)(CUdevice, unsigned int*, int*) = nullptr;
  CUresult (*retain_primary_)(CUcontext*, CUdevice) = nullptr;
  CUresult (*release_primary_)(CUdevice) = nullptr;
};

}  // namespace lanescope::agent::kernels
