#include "agent/core/own_thread.h"

#include <csignal>
#include <initializer_list>

#include <pthread.h>

#include "agent/core/quiet.h"

namespace lanescope::agent {

int start_own_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes) noexcept {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int result = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

void name_own_thread() noexcept {
  pthread_setname_np(pthread_self(), "lanescope");
  Quiet::this_thread();
}

}  // namespace lanescope::agent
