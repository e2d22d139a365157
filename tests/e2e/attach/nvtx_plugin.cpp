// A library with NVTX of its own: another instance of its function table than the program's.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void plugin_range() {
  nvtxRangePushA("in plugin");
  nvtxRangePop();
}
