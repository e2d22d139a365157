// Each step prepares its batch on the launching thread, and the GPU waits for it. Expected first: CPU code, in "load batch".
#include "cause.h"

int main() {
  constexpr std::size_t kBytes = 1 << 20;
  void *host = nullptr, *device = nullptr;
  cause::check(cudaMallocHost(&host, kBytes), "host memory");
  cause::check(cudaMalloc(&device, kBytes), "device memory");
  cause::warm_up();
  cause::loop("slow_loader", 30, [&](int) {
    {
      const cause::Range range("load batch");
      cause::compute_for(std::chrono::milliseconds(15));
    }
    const cause::Range range("train");
    cause::check(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice), "copy");
    cause::work<<<1, 1>>>(3'000'000);
    cause::check(cudaStreamSynchronize(nullptr), "wait");
  });
}
