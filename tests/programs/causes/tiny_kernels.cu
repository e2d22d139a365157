// Kernels that take less time than their launches. Expected first: the GPU runs at the pace of launches, or small kernels.
#include "cause.h"

__global__ void tiny(float* value) { *value += 1; }

int main() {
  float* value = nullptr;
  cause::check(cudaMalloc(&value, sizeof(float)), "device memory");
  cause::warm_up();
  tiny<<<1, 1>>>(value);
  cause::check(cudaDeviceSynchronize(), "warm up");
  cause::loop("tiny_kernels", 20, [&](int) {
    for (int i = 0; i < 2'000; ++i) tiny<<<1, 1>>>(value);
  });
}
