// How long a program stands still when it starts and ends a capture. Use, with the agent in the program:
//   lanescope profile -c nvtx -p wanted --capture-range-end=repeat -o /tmp/part lanescope_bench_capture_cost nvtx
//   lanescope profile -c cudaProfilerApi --capture-range-end=repeat -o /tmp/part lanescope_bench_capture_cost profiler
// The second needs no GPU if LANESCOPE_CUPTI_LIBRARY names the tests' libmock_cupti.so. Prints the median and the longest of 50 rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

namespace {

using Clock = std::chrono::steady_clock;

void (*profile)(unsigned) = nullptr;  // how CUPTI's subscriber sees cudaProfilerStart (1) and cudaProfilerStop (0)

void begin() {
  if (profile == nullptr)
    nvtxRangePushA("wanted");
  else
    profile(1);
}
void end() {
  if (profile == nullptr)
    nvtxRangePop();
  else
    profile(0);
}

bool load_mock() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* agent = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY);
  const auto inject = agent == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(agent, "InitializeInjection"));
  if (inject == nullptr || inject() != 1) return false;
  void* cupti = dlopen(std::getenv("LANESCOPE_CUPTI_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
  profile = cupti == nullptr ? nullptr : reinterpret_cast<void (*)(unsigned)>(dlsym(cupti, "mock_cupti_profile"));
  return profile != nullptr;
}

void print(const char* what, std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%s: median %.2f ms, longest %.2f ms\n", what, milliseconds[milliseconds.size() / 2], milliseconds.back());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "profiler") == 0 && !load_mock()) return 2;
  constexpr int kRounds = 50;
  std::vector<double> begins;
  std::vector<double> ends;
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    begin();
    const Clock::time_point middle = Clock::now();
    end();
    begins.push_back(std::chrono::duration<double, std::milli>(middle - start).count());
    ends.push_back(std::chrono::duration<double, std::milli>(Clock::now() - middle).count());
  }
  print("begin", begins);
  print("end", ends);
}
