// How many blocks of kernels in clusters a GPU holds at once: what the driver says (cudaOccupancyMaxActiveClusters), and how many ran side by side. clusters.sh builds and
// runs it. Ends with the number of lines that model/kernels/occupancy.cpp is wrong about, on a GPU of compute capability 9.0.
#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr long long kRuns = 4'000'000, kAtOnce = 3'000'000;  // ns that a block runs, and within which those that run side by side begin
constexpr int kMostSharedMemory = 200 * 1024;
constexpr int kBlocksInClusters = 8;

__device__ long long now() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void hold(unsigned* multiprocessors, long long* times) {
  if (threadIdx.x == 0) {
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    multiprocessors[blockIdx.x] = multiprocessor;
    const long long begin = times[blockIdx.x] = now();
    while (now() - begin < kRuns) {
    }
  }
  __syncthreads();
}

int failures = 0;
unsigned* multiprocessors = nullptr;
long long* times = nullptr;
int multiprocessor_count = 0;

// cluster 0: launched without.
void try_shape(int threads, int shared_memory, int cluster) {
  int blocks = 0, clusters = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hold, threads, shared_memory);
  cudaLaunchConfig_t launch = {};
  launch.blockDim = threads;
  launch.gridDim = 48 * multiprocessor_count;  // a multiple of each size of a cluster
  launch.dynamicSmemBytes = shared_memory;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  launch.attrs = &attribute;
  launch.numAttrs = cluster != 0;
  if (cluster != 0) cudaOccupancyMaxActiveClusters(&clusters, hold, &launch);
  const int grid = (2 * multiprocessor_count * blocks / 48 + 1) * 48;
  launch.gridDim = grid;
  if (cudaLaunchKernelEx(&launch, hold, multiprocessors, times) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    std::printf("FAIL %d threads, clusters of %d: %s\n", threads, cluster, cudaGetErrorString(cudaGetLastError()));
    ++failures;
    return;
  }
  std::vector<long long> begun(grid);
  std::vector<unsigned> where(grid);
  cudaMemcpy(begun.data(), times, grid * sizeof(begun[0]), cudaMemcpyDeviceToHost);
  cudaMemcpy(where.data(), multiprocessors, grid * sizeof(where[0]), cudaMemcpyDeviceToHost);
  const long long first = *std::min_element(begun.begin(), begun.end());
  int at_once = 0;
  std::set<unsigned> used;
  for (int i = 0; i < grid; ++i)
    if (begun[i] - first < kAtOnce) {
      ++at_once;
      used.insert(where[i]);
    }
  const int said = cluster == 0 ? blocks * multiprocessor_count : clusters * cluster;
  const int ours = (cluster == 0 ? blocks : std::min(blocks, kBlocksInClusters)) * multiprocessor_count;
  const bool is_right = said == at_once && (cluster > 2 ? said <= ours : said == ours);
  failures += !is_right;
  std::printf("%s %4d threads, %6d B, clusters of %2d: %d blocks a multiprocessor, %4d of the GPU by the driver, %4d side by side on %zu multiprocessors, %s %d by us\n",
              is_right ? "PASS" : "FAIL", threads, shared_memory, cluster, blocks, said, at_once, used.size(), cluster > 2 ? "at most" : "", ours);
}

}  // namespace

int main() {
  cudaDeviceProp properties = {};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  multiprocessor_count = properties.multiProcessorCount;
  std::printf("%s, compute capability %d.%d, %d multiprocessors\n", properties.name, properties.major, properties.minor, multiprocessor_count);
  cudaFuncSetAttribute(hold, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, kMostSharedMemory);
  cudaMalloc(&multiprocessors, 1 << 20);
  cudaMalloc(&times, 1 << 20);
  for (const int threads : {32, 64, 96, 128, 192, 256, 512, 1024})
    for (const int cluster : {0, 1, 2, 4}) try_shape(threads, 0, cluster);
  for (const int shared_memory : {200, 110, 70, 50, 30, 10, 0})
    for (const int cluster : {1, 2, 3, 4, 6, 8, 12, 16}) try_shape(128, shared_memory * 1024, cluster);
  std::printf("%d failed\n", failures);
  return failures;
}
