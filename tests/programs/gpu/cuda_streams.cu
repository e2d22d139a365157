// A CUDA program with known content: two threads, four streams, copies of known sizes and memory kinds, sets, nested NVTX ranges and one that starts on a
// thread and ends on another. Use: cuda_streams [LAUNCHES]. Prints the time of a launch.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "cuda_streams_facts.h"

using namespace lanescope::programs::cuda_streams;

namespace {

__global__ void scale(float* values, float factor) { values[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }

__global__ void reduce(const float* values, float* sums) {
  extern __shared__ float part[];
  part[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cuda_streams: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

struct Lane {
  cudaStream_t stream = nullptr;
  float* device = nullptr;
  float* other = nullptr;
  float* pinned = nullptr;
};

// Copies, sets and one big kernel: the same on every stream.
void move_data(Lane& lane) {
  nvtxRangePushA("move data");
  for (int i = 0; i < kPinnedCopies; ++i) check(cudaMemcpyAsync(lane.device, lane.pinned, kPinnedBytes, cudaMemcpyHostToDevice, lane.stream), "copy in");
  for (int i = 0; i < kSets; ++i) check(cudaMemsetAsync(lane.other, kSetValue, kSetBytes, lane.stream), "set");
  for (int i = 0; i < kDeviceCopies; ++i) check(cudaMemcpyAsync(lane.other, lane.device, kPinnedBytes, cudaMemcpyDeviceToDevice, lane.stream), "copy");
  reduce<<<kBigBlocks, kBigThreadsPerBlock, kReduceSharedBytes, lane.stream>>>(lane.device, lane.other);
  for (int i = 0; i < kPinnedCopies; ++i) check(cudaMemcpyAsync(lane.pinned, lane.device, kPinnedBytes, cudaMemcpyDeviceToHost, lane.stream), "copy out");
  check(cudaStreamSynchronize(lane.stream), "synchronise");
  nvtxRangePop();
}

void drive(int thread, std::vector<Lane>& lanes, int launches, nvtxRangeId_t started_by_main) {
  const std::string name = "driver " + std::to_string(thread);
  nvtxNameOsThreadA(static_cast<uint32_t>(gettid()), name.c_str());
  if (thread == 0) nvtxRangeEnd(started_by_main);
  nvtxRangePushA(name.c_str());
  const int first = thread * kStreams / kThreads;
  const int count = kStreams / kThreads;
  for (int i = 0; i < count; ++i) move_data(lanes[first + i]);
  nvtxRangePushA("launches");
  for (int i = 0; i < launches; ++i) scale<<<kBlocks, kThreadsPerBlock, 0, lanes[first + i % count].stream>>>(lanes[first + i % count].device, 1.0001f);
  nvtxRangePop();
  for (int i = 0; i < count; ++i) check(cudaStreamSynchronize(lanes[first + i].stream), "synchronise");
  nvtxRangePop();
}

}  // namespace

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : kDefaultLaunches;
  nvtxRangePushA("set-up");
  std::vector<Lane> lanes(kStreams);
  for (Lane& lane : lanes) {
    check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "stream");
    check(cudaMalloc(&lane.device, kPinnedBytes), "allocate");
    check(cudaMalloc(&lane.other, kPinnedBytes), "allocate");
    check(cudaMallocHost(&lane.pinned, kPinnedBytes), "allocate");
  }
  float* device = nullptr;
  check(cudaMalloc(&device, kPageableBytes), "allocate");
  std::vector<char> pageable(kPageableBytes, 1);
  for (int i = 0; i < kPageableCopies; ++i) check(cudaMemcpy(device, pageable.data(), kPageableBytes, cudaMemcpyHostToDevice), "pageable copy in");
  for (int i = 0; i < kPageableCopies; ++i) check(cudaMemcpy(pageable.data(), device, kPageableBytes, cudaMemcpyDeviceToHost), "pageable copy out");
  nvtxRangePop();

  const nvtxRangeId_t handed_over = nvtxRangeStartA("handed over");
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(drive, thread, std::ref(lanes), launches / kThreads, handed_over);
  for (std::thread& thread : threads) thread.join();
  check(cudaDeviceSynchronize(), "synchronise");
  const double nanoseconds = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  nvtxMarkA("done");
  std::printf("launches: %d\nns per launch: %.1f\n", launches, nanoseconds / launches);
  return 0;
}
