// All work is enqueued ahead, but each kernel waits for an event after a slow host function of another stream. Expected first: enqueued, waiting on the GPU.
#include "cause.h"

namespace {
void CUDART_CB slow(void*) { cause::compute_for(std::chrono::milliseconds(5)); }
}  // namespace

int main() {
  cudaStream_t first, second;
  cudaEvent_t ready;
  cause::check(cudaStreamCreate(&first), "stream");
  cause::check(cudaStreamCreate(&second), "stream");
  cause::check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), "event");
  cause::warm_up();
  cause::loop("stream_wait", 60, [&](int) {
    cause::work<<<1, 1, 0, first>>>(200'000);
    cause::check(cudaLaunchHostFunc(first, slow, nullptr), "host function");
    cause::check(cudaEventRecord(ready, first), "record");
    cause::check(cudaStreamWaitEvent(second, ready, 0), "stream wait");
    cause::work<<<1, 1, 0, second>>>(1'000'000);
    cause::check(cudaEventRecord(ready, second), "record");
    cause::check(cudaStreamWaitEvent(first, ready, 0), "stream wait");
  });
}
