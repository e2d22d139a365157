// A claim of this process to sample a GPU, which excludes other processes of the machine.
//
// Two processes that sample one GPU at the same time disturb each other: CUPTI fails in the later one, which then also gets no records of kernels.
#pragma once

#include "agent/process/own_descriptor.h"

namespace lanescope::agent::kernels {

class GpuClaim {
 public:
  GpuClaim() noexcept = default;
  GpuClaim(const GpuClaim&) = delete;
  GpuClaim& operator=(const GpuClaim&) = delete;
  ~GpuClaim() { give_back(); }

  // False if another process holds the claim. `gpu`: the name of the GPU, at most 64 letters.
  bool take(const char* gpu) noexcept;
  // Also called in a forked child, which would otherwise hold the claim as long as it lives.
  void give_back() noexcept { socket_.close(); }

 private:
  OwnDescriptor socket_;
};

}  // namespace lanescope::agent::kernels
