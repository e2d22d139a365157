// The library of nvtx_reloading, with its own NVTX code: a range "life N" around a sleep of a millisecond. Built with LANESCOPE_BEGINS_EARLY, it makes a
// range "loading" while it is loaded; with LANESCOPE_LIVES_SHORTLY, it does not sleep.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

#include <unistd.h>

extern "C" __attribute__((visibility("default"))) void one_range(long life) {
  char name[32];
  std::snprintf(name, sizeof(name), "life %ld", life);
  nvtxRangePushA(name);
#if !defined(LANESCOPE_LIVES_SHORTLY)
  usleep(1'000);
#endif
  nvtxRangePop();
}

#if defined(LANESCOPE_BEGINS_EARLY)
__attribute__((constructor)) static void begin() {
  nvtxRangePushA("loading");
  nvtxRangePop();
}
#endif
