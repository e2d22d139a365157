// The end of a child that may wait for ever.
#pragma once

#include <csignal>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

// Waits up to `seconds` for the child's end and returns its wait status. A child that has not ended by then waits for ever: this is said, and the child is
// killed.
inline int await_child(pid_t child, int seconds) {
  int status = 0;
  for (int look = 0; look < seconds * 100; ++look) {
    if (waitpid(child, &status, WNOHANG) == child) return status;
    usleep(10'000);
  }
  std::puts("the child waits for ever");
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return status;
}
