// The agent's own sources in a program, built like the program: with a sanitizer if the build has one. What can meet in the agent happens at the same time:
// threads that begin and end, names of all kinds, bursts, forks, searches for libraries, and signals whose handlers make ranges. Exits with 0.
//
// The agent that enters other programs is never instrumented (cmake/LanescopeOptions.cmake).
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "agent/attach/late_nvtx.h"
#include "agent/core/clock.h"
#include "agent/osrt/trace.h"
#include "agent_inside_facts.h"

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t);

namespace {

using namespace lanescope::test::agent_inside;

std::atomic<bool> is_over{false};

void name_things(int number) {
  const std::string name = "domain " + std::to_string(number % 6);
  const nvtxDomainHandle_t domain = nvtxDomainCreateA(name.c_str());
  nvtxDomainNameCategoryA(domain, static_cast<std::uint32_t>(number % 5 + 1), ("category " + std::to_string(number)).c_str());
  nvtxDomainRegisterStringA(domain, ("text " + std::to_string(number % 50)).c_str());
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), ("thread " + std::to_string(number)).c_str());
}

void work(int number) {
  name_things(number);
  for (int i = 0; i < kRanges; ++i) {
    nvtxRangePushA("short");
    nvtxMarkA(("mark " + std::to_string(i)).c_str());
    lanescope::agent::osrt::note("read", lanescope::agent::monotonic_now() - lanescope::agent::kMillisecond);
    nvtxRangePop();
  }
}

void churn(int churner) {
  for (int i = 0; i < kThreads; ++i) std::thread(work, churner * kThreads + i).join();
}

void burst(int) {
  for (int i = 0; i < kBurst; ++i) {
    nvtxRangePushA("burst");
    nvtxRangePop();
  }
}

void fork_often() {
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < kRangesOfChild; ++k) {
        nvtxRangePushA("child");
        nvtxRangePop();
      }
      _exit(3);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) std::_Exit(4);
  }
}

// The search reads memory around the places that the loader has filled in, which the address sanitizer reports as an error.
void look_for_libraries() {
#if defined(__SANITIZE_ADDRESS__)
  is_over = true;
#endif
  while (!is_over) {
    lanescope::agent::attach::take_over_nvtx(lanescope::agent::attach::Search::kAll);
    std::this_thread::yield();
  }
}

// The thread sanitizer calls handlers at any time, even while the agent holds signals.
#if defined(__SANITIZE_THREAD__)
void be_interrupted() {}
#else
void be_interrupted() {
  struct sigaction action {};
  static std::atomic<int> handled{0};
  action.sa_handler = [](int) {
    nvtxRangePushA("handler");
    nvtxRangePop();
    ++handled;
  };
  sigaction(SIGRTMIN + 5, &action, nullptr);  // these signals are queued: each arrives
  std::atomic<bool> is_interrupted{true};
  std::thread target([&] {
    while (is_interrupted) {
      nvtxRangePushA("interrupted");
      nvtxRangePop();
    }
  });
  for (int i = 0; i < kSignals; ++i) {
    const sigval none{};
    while (pthread_sigqueue(target.native_handle(), SIGRTMIN + 5, none) != 0) {
    }
  }
  while (handled < kSignals) std::this_thread::yield();  // a thread that is ending takes no signals
  is_interrupted = false;
  target.join();
}
#endif

}  // namespace

int main() {
  unsetenv("NVTX_INJECTION64_PATH");
  InitializeInjectionNvtx2_fnptr = InitializeInjectionNvtx2;  // through this pointer NVTX finds a tool in the program itself
  nvtxMarkA("begin");                                         // NVTX initialises itself without anything that the thread sanitizer could see
  std::vector<std::thread> threads;
  for (int i = 0; i < kChurners; ++i) threads.emplace_back(churn, i);
  for (int i = 0; i < kBursts; ++i) threads.emplace_back(burst, i);
  threads.emplace_back(fork_often);
  threads.emplace_back(be_interrupted);
  std::thread looking(look_for_libraries);
  for (std::thread& thread : threads) thread.join();
  is_over = true;
  looking.join();
  return 0;
}
