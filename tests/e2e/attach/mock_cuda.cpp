// The functions of libcuda.so.1 that the agent calls: for its presence, its version, the context of a stream, and the existing contexts.
#include "../../collector/agent/mock_cupti.h"

extern "C" __attribute__((visibility("default"))) int cuStreamGetCtx(const void* stream, const void** context) {
  using namespace lanescope::test::mock_cupti;
  *context = stream == kStreamHandle ? kContextHandle : nullptr;
  return stream == kStreamHandle ? 0 : 1;
}

// One GPU, whose primary context exists.
extern "C" __attribute__((visibility("default"))) int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
extern "C" __attribute__((visibility("default"))) int cuDevicePrimaryCtxGetState(int, unsigned int* flags, int* is_active) {
  *flags = 0;
  *is_active = 1;
  return 0;
}
extern "C" __attribute__((visibility("default"))) int cuDevicePrimaryCtxRetain(const void** context, int) {
  *context = lanescope::test::mock_cupti::kContextHandle;
  return 0;
}
extern "C" __attribute__((visibility("default"))) int cuDevicePrimaryCtxRelease_v2(int) { return 0; }

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
