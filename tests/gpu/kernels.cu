// Programs whose results show whether measuring kernels changes them. Use: kernels WHAT
//   saxpy    y = 2 x + y, 12 launches: any that ran twice, or not at all, shows
//   graph    the same with half of the launches in a CUDA graph, captured and replayed
//   threads  four threads, each with a stream and memory of its own
//   coop     a cooperative launch between others
//   exit     the program ends in the middle, with a code of its own
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

namespace {

constexpr int kElements = 1 << 20;
constexpr int kLaunches = 12;

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void together(float* y) {
  y[blockIdx.x] += 1;
  cooperative_groups::this_grid().sync();
  y[gridDim.x + blockIdx.x] += y[(blockIdx.x + 1) % gridDim.x];
}

struct Vectors {
  float *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  Vectors() {
    const std::vector<float> ones(kElements, 1);
    cudaMalloc(&x, kElements * sizeof(float));
    cudaMalloc(&y, kElements * sizeof(float));
    cudaMemcpy(x, ones.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, ones.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaStreamCreate(&stream);
  }
  void launch() { saxpy<<<kElements / 256, 256, 0, stream>>>(kElements, 2, x, y); }
  int wrong(float wanted) {
    std::vector<float> y_now(kElements);
    cudaStreamSynchronize(stream);
    cudaMemcpy(y_now.data(), y, kElements * sizeof(float), cudaMemcpyDeviceToHost);
    int count = 0;
    for (const float value : y_now) count += value != wanted;
    return count;
  }
};

int work() {
  Vectors v;
  for (int i = 0; i < kLaunches; ++i) v.launch();
  return v.wrong(1 + 2 * kLaunches);
}

}  // namespace

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "saxpy";
  int wrong = 0;
  if (!std::strcmp(what, "saxpy")) wrong = work();
  if (!std::strcmp(what, "graph")) {
    Vectors v;
    v.launch();
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamBeginCapture(v.stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < kLaunches / 2; ++i) v.launch();
    cudaStreamEndCapture(v.stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    for (int i = 0; i < 3; ++i) {
      cudaGraphLaunch(run, v.stream);
      v.launch();
    }
    wrong = v.wrong(1 + 2 * (1 + 3 * (kLaunches / 2 + 1)));
  }
  if (!std::strcmp(what, "threads")) {
    std::vector<int> results(4);
    std::vector<std::thread> threads;
    for (int& result : results) threads.emplace_back([&result] { result = work(); });
    for (std::thread& thread : threads) thread.join();
    for (const int result : results) wrong += result;
  }
  if (!std::strcmp(what, "coop")) {
    Vectors v;
    v.launch();
    void* parameters[] = {&v.y};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(8), dim3(1), parameters, 0, v.stream);
    v.launch();
    float first = 0;
    cudaStreamSynchronize(v.stream);
    cudaMemcpy(&first, v.y + 8, sizeof(first), cudaMemcpyDeviceToHost);
    wrong = first != 3 + 4 + 2;
  }
  if (!std::strcmp(what, "exit")) {
    Vectors v;
    v.launch();
    v.launch();
    std::printf("left\n");
    std::fflush(stdout);
    std::exit(7);
  }
  std::printf("%s: %d wrong, %s\n", what, wrong, cudaGetErrorString(cudaGetLastError()));
  return wrong != 0;
}
