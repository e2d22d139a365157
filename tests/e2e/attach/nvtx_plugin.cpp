// A library with its own NVTX: an instance of the function table other than the program's.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void plugin_range() {
  nvtxRangePushA("in plugin");
  nvtxRangePop();
}
