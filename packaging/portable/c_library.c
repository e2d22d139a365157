// Functions that objects of GCC 12 and of the recorder ask for and that glibc 2.28 lacks (cmake/LanescopePortable.cmake). Newer C libraries have
// them as well; the program then uses these.
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

char __libc_single_threaded = 0;  // 2.32; libstdc++ then always takes its locks

// 2.30
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// 2.36
uint32_t arc4random(void) {
  uint32_t word = 0;
  while (getrandom(&word, sizeof(word), 0) != (ssize_t)sizeof(word)) {
  }
  return word;
}

// 2.30; a clock that is set meanwhile makes it wait otherwise.
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) { real.tv_nsec += 1000000000; --real.tv_sec; }
  if (real.tv_nsec >= 1000000000) { real.tv_nsec -= 1000000000; ++real.tv_sec; }
  return pthread_cond_timedwait(condition, mutex, &real);
}

// 2.32
const char *sigabbrev_np(int number) {
  static const char *const names[] = {
      [SIGHUP] = "HUP", [SIGINT] = "INT", [SIGQUIT] = "QUIT", [SIGILL] = "ILL", [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS",
      [SIGFPE] = "FPE", [SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",
      [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN",
      [SIGTTOU] = "TTOU", [SIGURG] = "URG", [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
      [SIGIO] = "POLL", [SIGPWR] = "PWR", [SIGSYS] = "SYS"};
  return number > 0 && (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

// 2.35; libgcc finds the unwind tables of an address with it. The layout of the result is part of glibc's ABI.
struct lanescope_found_object {
  unsigned long long flags;
  void *map_start, *map_end, *link_map, *eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct lanescope_found_object *result;
};

static int look(struct dl_phdr_info *info, size_t size, void *data) {
  struct search *search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  const ElfW(Phdr) *frames = NULL;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type == PT_GNU_EH_FRAME) frames = header;
    if (header->p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (start < begin) begin = start;
    if (start + header->p_memsz > end) end = start + header->p_memsz;
  }
  if (search->address < begin || search->address >= end) return 0;
  if (frames == NULL) return -1;
  search->result->flags = 0;
  search->result->map_start = (void *)begin;
  search->result->map_end = (void *)end;
  search->result->link_map = NULL;
  search->result->eh_frame = (void *)(info->dlpi_addr + frames->p_vaddr);
  return 1;
}
int find_object(void *address, struct lanescope_found_object *result) __asm__("_dl_find_object");
int find_object(void *address, struct lanescope_found_object *result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
