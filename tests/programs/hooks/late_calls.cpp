// A program that looks functions up when it calls them (-z lazy), and whose calls other definitions intercept: its own pause(), which one of its libraries
// calls, that library's fdatasync(), and those of stands_before.cpp, which is preloaded.
//
// Waits for a line or the end of its input, calls each once, and prints how many of the eight were answered by the intercepting definition; usleep() is the C
// library's.
// library's.
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>

#include "stands_before.h"

extern "C" int pause_by_library();
extern "C" int sync_by_library();
extern "C" __attribute__((visibility("default"))) int pause() { return kAnswer; }

namespace {

// 1 if the intercepting definition answered.
int count(long answer) { return answer == kAnswer ? 1 : 0; }

}  // namespace

int main() {
  if (sync_by_library() != kAnswer) return 99;  // its slot leads to the library itself from here on
  std::puts("ready");
  std::fflush(stdout);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, 1) == 0) {
  }
  alarm(20);  // ends it if a call goes to the C library's pause()
  const sockaddr_un nowhere{};
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  int answered = count(connect(-1, reinterpret_cast<const sockaddr*>(&nowhere), sizeof(nowhere)));
  answered += count(fsync(-1));
  answered += count(sleep(1));
  answered += count(sigaction(SIGUSR2, &action, nullptr));
  answered += count(reinterpret_cast<long>(signal(SIGUSR1, SIG_IGN)));
  answered += count(reinterpret_cast<long>(dlopen(kNoFile, RTLD_NOW)));
  answered += count(pause_by_library());
  answered += count(sync_by_library());
  usleep(2'000);
  std::printf("%d answered\n", answered);
  return 7;
}
