// That this process samples a GPU, and no other of the machine does.
//
// Two that sample one GPU at the same time break each other: CUPTI fails in the later one, and gives no records of kernels any more, either.
#pragma once

#include "agent/process/own_descriptor.h"

namespace lanescope::agent::kernels {

class GpuClaim {
 public:
  GpuClaim() noexcept = default;
  GpuClaim(const GpuClaim&) = delete;
  GpuClaim& operator=(const GpuClaim&) = delete;
  ~GpuClaim() { give_back(); }

  // False where another process holds it. The name is the GPU's, of at most 64 letters.
  bool take(const char* gpu) noexcept;
  // Also in a forked child, which would hold it as long as it lives.
  void give_back() noexcept { socket_.close(); }

 private:
  OwnDescriptor socket_;
};

}  // namespace lanescope::agent::kernels
