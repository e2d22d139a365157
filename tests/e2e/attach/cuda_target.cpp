// A running CUDA program as the agent sees it: libcuda is loaded, and CUPTI (a mock, named by LANESCOPE_CUPTI_LIBRARY) sees its work.
//
// cuda_target LIBCUDA: reads numbers from standard input, runs as many kernels (tests/collector/agent/mock_cupti.h) and answers "done". sample: one round of PC
// samples; answers "sampled", or that nobody samples. launch, launch no more: starts and stops kernels on a separate thread.
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "../../collector/agent/mock_cupti.h"

int main(int, char** arguments) {
  if (dlopen(arguments[1], RTLD_NOW) == nullptr) return 2;
  std::cout << "ready" << std::endl;
  pollfd input{STDIN_FILENO, POLLIN, 0};  // a call that is known to hold no lock even if stacks cannot be followed
  for (std::string line; poll(&input, 1, -1), std::getline(std::cin, line);) {
    void* cupti = dlopen(std::getenv("LANESCOPE_CUPTI_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
    if (cupti != nullptr && line == "sample") {
      std::cout << (reinterpret_cast<MockCuptiMakeSamples>(dlsym(cupti, "mock_cupti_make_samples"))() != 0 ? "sampled" : "not sampled") << std::endl;
      continue;
    }
    if (cupti != nullptr && line.starts_with("launch"))
      reinterpret_cast<MockCuptiLaunch>(dlsym(cupti, "mock_cupti_launch"))(line == "launch" ? 1 : 0);
    else if (cupti != nullptr)
      reinterpret_cast<MockCuptiWork>(dlsym(cupti, "mock_cupti_work"))(std::stoull(line));
    std::cout << "done" << std::endl;
  }
  return 7;
}
