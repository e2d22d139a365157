// Calls of the kernel with known numbers and results, page faults and signals. It prints what it counts itself.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPages = 6000 };

int main(void) {
  signal(SIGUSR1, SIG_IGN);
  for (int i = 0; i < 7; ++i) syscall(SYS_sched_get_priority_max, 1);
  for (int i = 0; i < 5; ++i) close(-1);
  for (int i = 0; i < 4; ++i) kill(getpid(), SIGUSR1);
  const struct timespec time = {0, 20000000};
  nanosleep(&time, NULL);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; ++i) syscall(SYS_sched_get_priority_min, 1);
    execlp("true", "true", (char*)0);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  struct rusage before, after;
  char* pages = mmap(NULL, (size_t)kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, (size_t)kPages * 4096, MADV_NOHUGEPAGE);
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < kPages; ++i) pages[(size_t)i * 4096] = 1;
  getrusage(RUSAGE_SELF, &after);
  printf("faults %ld of %ld\n", after.ru_minflt - before.ru_minflt, after.ru_minflt);
  fflush(stdout);
  nanosleep(&time, NULL);
  _exit(0);
}
