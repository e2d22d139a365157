// As much of libcuda.so.1 as the agent asks: that it is there, its version, and the context of a stream.
#include "../../collector/agent/mock_cupti.h"

extern "C" __attribute__((visibility("default"))) int cuStreamGetCtx(const void* stream, const void** context) {
  using namespace lanescope::test::mock_cupti;
  *context = stream == kStreamHandle ? kContextHandle : nullptr;
  return stream == kStreamHandle ? 0 : 1;
}

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
