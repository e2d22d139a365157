// Kernels whose arithmetic is known by hand: pairs of FP16 and of BF16, products and sums that may not be fused; and one that waits for another.
// Use: kernels_arithmetic [half|bfloat|unfused|wait]. Each of 2^20 threads does kRounds of what its kernel is named after.
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kThreads = 1 << 20, kRounds = 512;

__global__ void half_fma(__half2* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 v = y[i];
  const __half2 a = __halves2half2(__int2half_rn(i & 3), __int2half_rn(i & 1));
#pragma unroll 16
  for (int k = 0; k < kRounds; ++k) v = __hfma2(v, a, a);
  y[i] = v;
}
__global__ void bfloat_fma(__nv_bfloat162* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __nv_bfloat162 v = y[i];
  const __nv_bfloat162 a = __halves2bfloat162(__int2bfloat16_rn(i & 3), __int2bfloat16_rn(i & 1));
#pragma unroll 16
  for (int k = 0; k < kRounds; ++k) v = __hfma2(v, a, a);
  y[i] = v;
}
__global__ void unfused(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = y[i], w = v + 1;
  const float a = i & 3;
#pragma unroll 16
  for (int k = 0; k < kRounds; ++k) {
    v = __fadd_rn(__fmul_rn(v, a), a);
    w = __fadd_rn(__fmul_rn(w, a), a);
  }
  y[i] = v + w;
}
__global__ void wait_for_flag(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void set_flag(volatile int* flag) { *flag = 1; }

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "all";
  const auto is = [what](const char* name) { return !std::strcmp(what, name) || (!std::strcmp(what, "all") && std::strcmp(name, "wait")); };
  void* y = nullptr;
  cudaMalloc(&y, kThreads * sizeof(float));
  cudaMemset(y, 0, kThreads * sizeof(float));
  if (is("half")) half_fma<<<kThreads / 256, 256>>>(static_cast<__half2*>(y));
  if (is("bfloat")) bfloat_fma<<<kThreads / 256, 256>>>(static_cast<__nv_bfloat162*>(y));
  if (is("unfused") || is("wait")) unfused<<<kThreads / 256, 256>>>(static_cast<float*>(y));
  if (is("wait")) {
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof(int));
    // A kernel's code is loaded at its first launch, for which running kernels are waited for: so it is loaded before one waits for it.
    set_flag<<<1, 1>>>(flag);
    cudaMemset(flag, 0, sizeof(int));
    cudaDeviceSynchronize();
    wait_for_flag<<<1, 1, 0, streams[0]>>>(flag);
    set_flag<<<1, 1, 0, streams[1]>>>(flag);
  }
  const cudaError_t result = cudaDeviceSynchronize();
  std::printf("%s: %s\n", what, cudaGetErrorString(result));
  return result != cudaSuccess;
}
