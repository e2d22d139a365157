// A program that launches ten kernels every 10 ms, through a CUPTI without a GPU, until SIGTERM ends it; then it returns 5.
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>

#include "../collector/agent/mock_cupti.h"

int main() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  void* agent = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_LAZY);
  const auto inject = agent == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(agent, "InitializeInjection"));
  if (inject == nullptr || inject() != 1) return 3;
  void* cupti = dlopen(std::getenv("LANESCOPE_CUPTI_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
  const auto work = cupti == nullptr ? nullptr : reinterpret_cast<MockCuptiWork>(dlsym(cupti, "mock_cupti_work"));
  if (work == nullptr) return 4;
  constexpr timespec kPause{0, 10'000'000};
  while (sigtimedwait(&ending, nullptr, &kPause) != SIGTERM) work(10);
  return 5;
}
