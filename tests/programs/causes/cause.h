// Shared by the programs of known causes. Each leaves the GPU idle, or slow, for one reason, in a loop of NVTX ranges "step N".
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

namespace cause {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Keeps the GPU busy for about this time, with one block.
__global__ void work(long long nanoseconds) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

// Keeps the CPU busy for this time, without a call into the C library.
inline void compute_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

// An NVTX range during the lifetime of a scope.
class Range {
 public:
  explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// Loads the kernel, so that the loop does not include the time for it.
inline void warm_up() {
  work<<<1, 1>>>(1'000);
  check(cudaDeviceSynchronize(), "warm up");
}

// Runs the step `steps` times, each in its range, and prints the time of one step.
template <typename Step>
void loop(const char* program, int steps, Step step) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) {
    const Range range("step " + std::to_string(i));
    step(i);
  }
  check(cudaDeviceSynchronize(), "finish");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s: %d steps, %.3f ms each\n", program, steps, took.count() / steps);
}

}  // namespace cause
