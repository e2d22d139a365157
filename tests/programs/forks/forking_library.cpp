// The library of fork_beside_loading, whose constructor calls the program, and names it a function that makes a range with the library's own NVTX code.
#include <nvtx3/nvToolsExt.h>

extern "C" void while_loading(void (*range_of_library)(long));

namespace {

void one_range(long) {
  nvtxRangePushA("half loaded");
  nvtxRangePop();
}

}  // namespace

__attribute__((constructor)) static void begin() { while_loading(one_range); }
