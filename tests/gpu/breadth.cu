// One program for each part of CUDA that a recording is to show; what each does is known by construction, and breadth.sh counts it.
//
// breadth memory | managed | events | reset | launches | streams | graphs | waits | green
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t result = (call);                                                            \
    if (result != cudaSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(result));        \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (false)

namespace {

constexpr std::size_t kMiB = 1u << 20;

__global__ void add_one(float* values, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x) values[i] += 1;
}

__global__ void together(int* value) {
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *value += 1;
}

__global__ void in_clusters(int* value) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *value += 1;
}

__global__ void spin(long long nanoseconds) {
  long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

// 8 blocks of 1 MiB by cudaMalloc, 3 of them freed; 2 pinned blocks of 64 KiB, 1 freed; 1 managed block of 512 KiB; 5 blocks of 256 KiB from
// the device's pool, 2 freed.
void use_memory() {
  float* blocks[8];
  for (float*& block : blocks) CHECK(cudaMalloc(&block, kMiB));
  for (int i = 0; i < 3; ++i) CHECK(cudaFree(blocks[i]));
  void* pinned[2];
  for (void*& block : pinned) CHECK(cudaMallocHost(&block, 64 << 10));
  CHECK(cudaFreeHost(pinned[0]));
  float* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 512 << 10));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float* pooled[5];
  for (float*& block : pooled) CHECK(cudaMallocAsync(&block, 256 << 10, stream));
  for (int i = 0; i < 2; ++i) CHECK(cudaFreeAsync(pooled[i], stream));
  CHECK(cudaStreamSynchronize(stream));
}

// 64 MiB that the CPU writes, the GPU changes, and the CPU reads again.
void use_managed_memory() {
  constexpr std::size_t count = 64 * kMiB / sizeof(float);
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, count * sizeof(float)));
  for (std::size_t i = 0; i < count; ++i) values[i] = 1;
  add_one<<<256, 256>>>(values, count);
  CHECK(cudaDeviceSynchronize());
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  std::printf("sum %.0f\n", sum);
}

// 20 times: a kernel on one stream, an event behind it, and a kernel on another stream that waits for the event.
void use_events() {
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  nvtxNameCudaDeviceA(0, "the first");
  nvtxNameCuContextA(context, "trunk");
  nvtxNameCudaEventA(event, "batch done");
  for (int i = 0; i < 20; ++i) {
    spin<<<1, 1, 0, first>>>(200'000);
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(second, event));
    spin<<<1, 1, 0, second>>>(100'000);
  }
  CHECK(cudaDeviceSynchronize());
}

// 50 kernels, and the end of the context; 50 more, which still run when that ends; 25 more.
void reset() {
  const auto launch = [](int count) {
    for (int i = 0; i < count; ++i) spin<<<1, 1>>>(20'000);
  };
  launch(50);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceReset());
  launch(50);
  CHECK(cudaDeviceReset());
  launch(25);
  CHECK(cudaDeviceSynchronize());
}

// 10 cooperative launches, 10 in clusters of 2, 10 plain ones.
void launch_in_all_ways() {
  int* value = nullptr;
  CHECK(cudaMalloc(&value, sizeof(int)));
  CHECK(cudaMemset(value, 0, sizeof(int)));
  void* arguments[] = {&value};
  for (int i = 0; i < 10; ++i) CHECK(cudaLaunchCooperativeKernel(together, dim3(4), dim3(64), arguments));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(4);
  configuration.blockDim = dim3(64);
  configuration.attrs = &cluster;
  configuration.numAttrs = 1;
  for (int i = 0; i < 10; ++i) CHECK(cudaLaunchKernelEx(&configuration, in_clusters, value));
  for (int i = 0; i < 10; ++i) in_clusters<<<4, 64>>>(value);
  CHECK(cudaDeviceSynchronize());
}

// A stream of the highest priority called "compute", and one of the lowest called "copies"; three kernels each.
void use_named_streams() {
  int lowest = 0, highest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  std::printf("priorities %d %d\n", highest, lowest);
  cudaStream_t compute, copies;
  CHECK(cudaStreamCreateWithPriority(&compute, cudaStreamNonBlocking, highest));
  CHECK(cudaStreamCreateWithPriority(&copies, cudaStreamNonBlocking, lowest));
  nvtxNameCudaStreamA(compute, "compute");
  nvtxNameCudaStreamA(copies, "copies");
  for (int i = 0; i < 3; ++i) {
    spin<<<1, 1, 0, compute>>>(50'000);
    spin<<<1, 1, 0, copies>>>(50'000);
  }
  CHECK(cudaDeviceSynchronize());
}

// A graph of 5 kernels, a copy and a set, launched 20 times, each within the NVTX range "replay".
void use_graphs() {
  float *values = nullptr, *more = nullptr;
  CHECK(cudaMalloc(&values, kMiB));
  CHECK(cudaMalloc(&more, kMiB));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 5; ++i) add_one<<<16, 256, 0, stream>>>(values, kMiB / sizeof(float));
  CHECK(cudaMemcpyAsync(more, values, kMiB, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemsetAsync(values, 0, kMiB, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 20; ++i) {
    nvtxRangePushA("replay");
    CHECK(cudaGraphLaunch(executable, stream));
    nvtxRangePop();
  }
  CHECK(cudaStreamSynchronize(stream));
}

// 10 kernels on a stream of a green context that has 16 multiprocessors or more, and 5 on the primary one's; 1 kernel of which the code is PTX.
void use_green_context() {
  int* value = nullptr;
  CHECK(cudaMalloc(&value, sizeof(int)));
  CUdevResource all{}, part{};
  unsigned int parts = 1;
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  CUstream stream = nullptr;
  const auto succeeds = [](CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(result));
    std::exit(1);
  };
  succeeds(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
  succeeds(cuDevSmResourceSplitByCount(&part, &parts, &all, nullptr, 0, 16), "cuDevSmResourceSplitByCount");
  succeeds(cuDevResourceGenerateDesc(&description, &part, 1), "cuDevResourceGenerateDesc");
  succeeds(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
  succeeds(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate");
  for (int i = 0; i < 10; ++i) in_clusters<<<4, 64, 0, stream>>>(value);
  for (int i = 0; i < 5; ++i) in_clusters<<<4, 64>>>(value);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaDeviceSynchronize());
  constexpr char kCode[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry compiled_late() { ret; }\n";
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  succeeds(cuModuleLoadData(&module, kCode), "cuModuleLoadData");
  succeeds(cuModuleGetFunction(&function, module, "compiled_late"), "cuModuleGetFunction");
  succeeds(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), "cuLaunchKernel");
  CHECK(cudaDeviceSynchronize());
}

// Ten waits of 5 ms, each called by wait_inside by wait_outside.
extern "C" __attribute__((noinline, visibility("default"))) void wait_inside() {
  spin<<<1, 1>>>(5'000'000);
  CHECK(cudaDeviceSynchronize());
}
extern "C" __attribute__((noinline, visibility("default"))) void wait_outside() {
  for (int i = 0; i < 10; ++i) wait_inside();
  std::printf("waited\n");
}

}  // namespace

int main(int argc, char** argv) {
  struct Part {
    const char* name;
    void (*run)();
  };
  constexpr Part kParts[] = {{"memory", use_memory},   {"managed", use_managed_memory}, {"events", use_events}, {"reset", reset},
                             {"launches", launch_in_all_ways}, {"streams", use_named_streams},  {"graphs", use_graphs}, {"waits", wait_outside}, {"green", use_green_context}};
  for (const Part& part : kParts)
    if (argc > 1 && std::strcmp(argv[1], part.name) == 0) {
      part.run();
      return 0;
    }
  std::fprintf(stderr, "Which part?\n");
  return 2;
}
