// A library for LD_PRELOAD that intercepts functions of the C library, as libraries do that redirect connections, change clocks, or watch signals.
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "stands_before.h"

extern "C" {
int connect(int, const sockaddr*, socklen_t) { return kAnswer; }
int fsync(int) { return kAnswer; }
unsigned sleep(unsigned) { return kAnswer; }
int sigaction(int, const struct sigaction*, struct sigaction*) noexcept { return kAnswer; }
sighandler_t signal(int, sighandler_t) noexcept { return reinterpret_cast<sighandler_t>(kAnswer); }
void* dlopen(const char* file, int mode) noexcept {
  if (file != nullptr && strcmp(file, kNoFile) == 0) return reinterpret_cast<void*>(kAnswer);
  return reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"))(file, mode);
}
}
