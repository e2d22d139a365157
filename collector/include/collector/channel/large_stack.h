// A stack that does not depend on the process's limits (ulimit -s), for programs of the recorder: with a low hard limit, or much environment, which lies on the
// first thread's stack as well, a recorder would end where its program runs.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include <cstddef>

namespace lanescope::channel {

// Returns program(count, arguments). The call is made on a stack of 8 MiB if the process's own is limited to less than 1 MiB, and if there is room for it;
// otherwise on its own. The thread stays the first one. Requires: called once, on the first thread.
inline int on_large_stack(int (*program)(int, char**), int count, char** arguments) noexcept {
  constexpr rlim_t kEnough = 1u << 20;
  constexpr std::size_t kSize = 8u << 20;
  constexpr std::size_t kGuard = 1u << 16;  // at its lower end, at least a page
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnough) return program(count, arguments);
  void* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return program(count, arguments);
  mprotect(memory, kGuard, PROT_NONE);

  struct Call {
    int (*program)(int, char**);
    int count;
    char** arguments;
    int result;
    ucontext_t back;
    ucontext_t there;
  };
  static Call call;
  call.program = program;
  call.count = count;
  call.arguments = arguments;
  getcontext(&call.there);
  call.there.uc_stack.ss_sp = memory;
  call.there.uc_stack.ss_size = kSize;
  call.there.uc_link = &call.back;
  const auto run = [] { call.result = call.program(call.count, call.arguments); };
  makecontext(&call.there, run, 0);
  swapcontext(&call.back, &call.there);
  return call.result;
}

}  // namespace lanescope::channel
