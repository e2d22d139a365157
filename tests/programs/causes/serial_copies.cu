// Copies in, works and copies out, all on one stream, although pinned memory would let them overlap. Expected first: copies that take turns with kernels.
#include "cause.h"

int main() {
  constexpr std::size_t kBytes = 64 << 20;
  void *host = nullptr, *device = nullptr;
  cudaStream_t stream;
  cause::check(cudaMallocHost(&host, kBytes), "host memory");
  cause::check(cudaMalloc(&device, kBytes), "device memory");
  cause::check(cudaStreamCreate(&stream), "stream");
  cause::warm_up();
  cause::loop("serial_copies", 60, [&](int) {
    cause::check(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, stream), "copy in");
    cause::work<<<1, 1, 0, stream>>>(2'500'000);
    cause::check(cudaMemcpyAsync(host, device, kBytes, cudaMemcpyDeviceToHost, stream), "copy out");
  });
}
