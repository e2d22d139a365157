// Large copies from memory that is not pinned, and one from memory that is, to compare with. Expected first: pageable copies.
#include <vector>

#include "cause.h"

int main() {
  constexpr std::size_t kBytes = 64 << 20;
  std::vector<char> pageable(kBytes, 1);
  void *pinned = nullptr, *device = nullptr;
  cause::check(cudaMallocHost(&pinned, kBytes), "host memory");
  cause::check(cudaMalloc(&device, kBytes), "device memory");
  cause::warm_up();
  cause::check(cudaMemcpy(device, pinned, kBytes, cudaMemcpyHostToDevice), "pinned copy");
  cause::loop("pageable_copies", 20, [&](int) {
    const cause::Range range("upload");
    cause::check(cudaMemcpyAsync(device, pageable.data(), kBytes, cudaMemcpyHostToDevice), "copy");
    cause::work<<<1, 1>>>(500'000);
  });
}
