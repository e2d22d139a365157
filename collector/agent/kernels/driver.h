// What is asked of the CUDA driver: which contexts there were before us, and which GPU a device is.
#pragma once

#include <cstdint>
#include <optional>

#include <cuda.h>

namespace lanescope::agent::kernels {

class Driver {
 public:
  // Of the libcuda that is in the process; without one all answers are empty.
  static Driver find() noexcept;

  [[nodiscard]] int device_count() const noexcept;
  // The context that all users of the runtime share, where it is up; null otherwise.
  [[nodiscard]] CUcontext primary_context(int device) const noexcept;
  // Of its compute capability; 0 where it is not known.
  [[nodiscard]] int compute_major(int device) const noexcept;
  // "0000:17:00.0"; false where it is not known.
  bool bus_id(int device, char (&text)[32]) const noexcept;

 private:
  CUresult (*get_count_)(int*) = nullptr;
  CUresult (*get_state_)(CUdevice, unsigned*, int*) = nullptr;
  CUresult (*retain_)(CUcontext*, CUdevice) = nullptr;
  CUresult (*release_)(CUdevice) = nullptr;
  CUresult (*get_attribute_)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*get_bus_id_)(char*, int, CUdevice) = nullptr;
};

}  // namespace lanescope::agent::kernels
