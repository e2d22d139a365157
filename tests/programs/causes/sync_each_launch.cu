// The CPU waits for the GPU after each of many short kernels. Expected first: waits for the GPU.
#include "cause.h"

int main() {
  cause::warm_up();
  cause::loop("sync_each_launch", 20, [](int) {
    for (int i = 0; i < 500; ++i) {
      cause::work<<<1, 1>>>(5'000);
      cause::check(cudaDeviceSynchronize(), "wait");
    }
  });
}
