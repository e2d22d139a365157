/* A program with another C library than the agent's: 100 NVTX ranges, then "ready". It waits for the end of its input, and returns 7. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

int main(void) {
  for (int i = 0; i < 100; ++i) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 7;
}
