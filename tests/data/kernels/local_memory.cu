// Two kernels that use local memory for one reason each. local_memory.cubin was made of this file: nvcc -arch=sm_90 -cubin -Xptxas -v local_memory.cu
// (CUDA 13.0), which says: "spilled": 236 bytes spill stores, 272 bytes spill loads; "indexed": 256 bytes stack frame, 0 bytes spill stores, 0 bytes spill
// loads.
extern "C" __global__ void indexed(float* out, const int* at, int count) {
  float values[64];
  for (int i = 0; i < 64; ++i) values[i] = out[i];
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += values[at[i] & 63];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(1024, 2) spilled(float* out, const float* in) {
  constexpr int kValues = 44;
  float values[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) values[i] = in[i * 32 + threadIdx.x];
#pragma unroll
  for (int round = 0; round < 2; ++round) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kValues; ++i) values[i] = values[i] * values[(i * 7 + 3) % kValues] + values[(i + 11) % kValues];
  }
#pragma unroll
  for (int i = 0; i < kValues; ++i) out[i * 32 + threadIdx.x] = values[i];
}
