// What is asked of the CUDA driver: which GPU a device is.
#pragma once

#include <cuda.h>

namespace lanescope::agent::kernels {

class Driver {
 public:
  // Of the libcuda that is in the process; without one all answers are empty.
  static Driver find() noexcept;

  // Of its compute capability; 0 where it is not known.
  [[nodiscard]] int compute_major(int device) const noexcept;
  // "0000:17:00.0"; false where it is not known.
  bool bus_id(int device, char (&text)[32]) const noexcept;
  [[nodiscard]] int devices() const noexcept;  // 0 where the driver is not up
  // The one that the CUDA runtime uses; null where there is none yet.
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
