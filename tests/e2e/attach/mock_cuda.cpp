// As much of libcuda.so.1 as the agent asks: that it is there, and its version.
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
