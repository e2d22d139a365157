// Launches kernels at full speed for SECONDS on four streams, with a copy and a wait every 100, then says how many there were. Use: long_run
// SECONDS [long]: with "long", one kernel that runs for as long instead, and nothing is waited for before its end.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void step(float* x) { x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f; }

__global__ void persistent(unsigned long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  constexpr int kStreams = 4;
  cudaStream_t streams[kStreams];
  float* memory[kStreams];
  float* host = nullptr;
  cudaMallocHost(&host, 4096);
  for (int i = 0; i < kStreams; ++i) {
    cudaStreamCreate(&streams[i]);
    cudaMalloc(&memory[i], 4096);
  }
  if (argc > 2 && std::string(argv[2]) == "long") {
    for (int i = 0; i < 100; ++i) step<<<1, 64, 0, streams[1]>>>(memory[1]);
    persistent<<<1, 1, 0, streams[0]>>>(static_cast<unsigned long long>(seconds * 1e9));
    std::puts("running");
    std::fflush(stdout);
    cudaDeviceSynchronize();
    std::printf("done: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 5;
  }
  const auto begin = std::chrono::steady_clock::now();
  unsigned long long launches = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
    for (int i = 0; i < 100; ++i, ++launches) step<<<1, 64, 0, streams[i % kStreams]>>>(memory[i % kStreams]);
    cudaMemcpyAsync(memory[0], host, 4096, cudaMemcpyHostToDevice, streams[0]);
    cudaStreamSynchronize(streams[0]);
  }
  cudaDeviceSynchronize();
  std::printf("%llu launches\n", launches);
}
