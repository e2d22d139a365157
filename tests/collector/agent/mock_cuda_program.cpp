// What a CUDA program is to the agent: it loads CUDA_INJECTION64_PATH as libcuda does, works, and ends.
//
// mock_cuda_program KERNELS [exit | hang]: how it ends: by returning from main, or not at all until it is told over its standard input.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

#include "mock_cupti.h"

int main(int argc, char** argv) {
  void* agent = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_LAZY);
  if (agent == nullptr) return 2;
  const auto inject = reinterpret_cast<int (*)()>(dlsym(agent, "InitializeInjection"));
  if (inject == nullptr || inject() != 1) return 3;
  void* cupti = dlopen(std::getenv("LANESCOPE_CUPTI_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
  const auto work = cupti == nullptr ? nullptr : reinterpret_cast<MockCuptiWork>(dlsym(cupti, "mock_cupti_work"));
  if (argc > 1 && work != nullptr) work(std::strtoull(argv[1], nullptr, 10));
  if (argc > 2 && std::strcmp(argv[2], "hang") == 0) {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) < 0) {
    }
  }
  return 0;
}
