// The functions of the C library that the agent stands before if it is preloaded. Each calls the next function of its name and notes the time.
//
// They hold nothing while the real call runs, so a thread may be cancelled in it, a signal handler may call them again, and the child of a vfork, which shares
// our memory, finds it as its parent left it.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "agent/core/call_chain.h"
#include "agent/core/loader/call_slots.h"
#include "agent/core/loader/loader.h"
#include "agent/osrt/caller_matters.h"
#include "agent/osrt/exec_calls.h"
#include "agent/osrt/file_access.h"
#include "agent/osrt/filter_calls.h"
#include "agent/osrt/kept_callers.h"
#include "agent/osrt/trace.h"
#include "agent/process/handlers.h"
#include "agent/python_lock/python_lock.h"
#include "collector/channel/layout.h"

#if LANESCOPE_HAVE_CUPTI
#include "agent/cupti/library/injection.h"
#endif

namespace {

using lanescope::agent::osrt::call;
using lanescope::agent::osrt::copied;
using lanescope::agent::osrt::file_call;
using lanescope::agent::osrt::Function;
using lanescope::agent::osrt::mapped;
using lanescope::agent::osrt::opened;
using lanescope::agent::osrt::synced;
using lanescope::agent::osrt::transferred;
using lanescope::channel::FileOperation;
using Time = const struct timespec*;
using Address = const struct sockaddr*;

// X(result, name, symbol version or null, parameters, arguments). Calls that may wait, and calls on memory.
#define LANESCOPE_CALLS(X)                                                                                                                    \
  X(int, close, nullptr, (int a), (a))                                                                                                        \
  X(int, msync, nullptr, (void* a, size_t b, int c), (a, b, c))                                                                               \
  X(int, ftruncate, nullptr, (int a, off_t b), (a, b))                                                                                        \
  X(int, flock, nullptr, (int a, int b), (a, b))                                                                                              \
  X(int, ioctl, nullptr, (int a, unsigned long b, void* c), (a, b, c))                                                                        \
  X(int, fclose, "GLIBC_2.2.5", (FILE * a), (a))                                                                                              \
  X(int, fflush, nullptr, (FILE * a), (a))                                                                                                    \
  X(int, munmap, nullptr, (void* a, size_t b), (a, b))                                                                                        \
  X(int, poll, nullptr, (struct pollfd * a, nfds_t b, int c), (a, b, c))                                                                      \
  X(int, ppoll, nullptr, (struct pollfd * a, nfds_t b, Time c, const sigset_t* d), (a, b, c, d))                                              \
  X(int, select, nullptr, (int a, fd_set* b, fd_set* c, fd_set* d, struct timeval* e), (a, b, c, d, e))                                       \
  X(int, pselect, nullptr, (int a, fd_set* b, fd_set* c, fd_set* d, Time e, const sigset_t* f), (a, b, c, d, e, f))                           \
  X(int, epoll_wait, nullptr, (int a, struct epoll_event* b, int c, int d), (a, b, c, d))                                                     \
  X(int, epoll_pwait, nullptr, (int a, struct epoll_event* b, int c, int d, const sigset_t* e), (a, b, c, d, e))                              \
  X(ssize_t, recv, nullptr, (int a, void* b, size_t c, int d), (a, b, c, d))                                                                  \
  X(ssize_t, recvfrom, nullptr, (int a, void* b, size_t c, int d, struct sockaddr* e, socklen_t* f), (a, b, c, d, e, f))                      \
  X(ssize_t, recvmsg, nullptr, (int a, struct msghdr* b, int c), (a, b, c))                                                                   \
  X(ssize_t, send, nullptr, (int a, const void* b, size_t c, int d), (a, b, c, d))                                                            \
  X(ssize_t, sendto, nullptr, (int a, const void* b, size_t c, int d, Address e, socklen_t f), (a, b, c, d, e, f))                            \
  X(ssize_t, sendmsg, nullptr, (int a, const struct msghdr* b, int c), (a, b, c))                                                             \
  X(int, accept, nullptr, (int a, struct sockaddr* b, socklen_t* c), (a, b, c))                                                               \
  X(int, accept4, nullptr, (int a, struct sockaddr* b, socklen_t* c, int d), (a, b, c, d))                                                    \
  X(int, connect, nullptr, (int a, Address b, socklen_t c), (a, b, c))                                                                        \
  X(int, nanosleep, nullptr, (Time a, struct timespec * b), (a, b))                                                                           \
  X(int, clock_nanosleep, "GLIBC_2.17", (clockid_t a, int b, Time c, struct timespec* d), (a, b, c, d))                                       \
  X(int, usleep, nullptr, (useconds_t a), (a))                                                                                                \
  X(unsigned, sleep, nullptr, (unsigned a), (a))                                                                                              \
  X(int, sched_yield, nullptr, (), ())                                                                                                        \
  X(int, pthread_mutex_timedlock, nullptr, (pthread_mutex_t * a, Time b), (a, b))                                                             \
  X(int, pthread_rwlock_rdlock, nullptr, (pthread_rwlock_t * a), (a))                                                                         \
  X(int, pthread_rwlock_wrlock, nullptr, (pthread_rwlock_t * a), (a))                                                                         \
  X(int, pthread_barrier_wait, nullptr, (pthread_barrier_t * a), (a))                                                                         \
  X(int, pthread_join, nullptr, (pthread_t a, void** b), (a, b))                                                                              \
  X(int, sem_wait, nullptr, (sem_t * a), (a))                                                                                                 \
  X(int, sem_timedwait, nullptr, (sem_t * a, Time b), (a, b))                                                                                 \
  X(pid_t, wait, nullptr, (int* a), (a))                                                                                                      \
  X(pid_t, waitpid, nullptr, (pid_t a, int* b, int c), (a, b, c))                                                                             \
  X(pid_t, wait4, nullptr, (pid_t a, int* b, int c, struct rusage* d), (a, b, c, d))                                                          \
  X(int, syncfs, nullptr, (int a), (a))                                                                                                       \
  X(int, epoll_pwait2, nullptr, (int a, struct epoll_event* b, int c, Time d, const sigset_t* e), (a, b, c, d, e))                            \
  X(int, pthread_mutex_clocklock, nullptr, (pthread_mutex_t * a, clockid_t b, Time c), (a, b, c))                                             \
  X(int, pthread_cond_clockwait, nullptr, (pthread_cond_t * a, pthread_mutex_t * b, clockid_t c, Time d), (a, b, c, d))                       \
  X(int, pthread_rwlock_timedrdlock, nullptr, (pthread_rwlock_t * a, Time b), (a, b))                                                         \
  X(int, pthread_rwlock_timedwrlock, nullptr, (pthread_rwlock_t * a, Time b), (a, b))                                                         \
  X(int, pthread_timedjoin_np, nullptr, (pthread_t a, void** b, Time c), (a, b, c))                                                           \
  X(int, sem_clockwait, nullptr, (sem_t * a, clockid_t b, Time c), (a, b, c))                                                                 \
  X(int, posix_spawn, nullptr, (pid_t * a, const char* b, const void* c, const void* d, char* const* e, char* const* f), (a, b, c, d, e, f))  \
  X(int, posix_spawnp, nullptr, (pid_t * a, const char* b, const void* c, const void* d, char* const* e, char* const* f), (a, b, c, d, e, f)) \
  X(int, system, nullptr, (const char* a), (a))                                                                                               \
  X(FILE*, popen, "GLIBC_2.2.5", (const char* a, const char* b), (a, b))                                                                      \
  X(int, pclose, "GLIBC_2.2.5", (FILE * a), (a))                                                                                              \
  X(int, waitid, nullptr, (idtype_t a, id_t b, siginfo_t * c, int d), (a, b, c, d))                                                           \
  X(int, pause, nullptr, (), ())                                                                                                              \
  X(int, sigsuspend, nullptr, (const sigset_t* a), (a))                                                                                       \
  X(int, sigwait, nullptr, (const sigset_t* a, int* b), (a, b))                                                                               \
  X(int, sigwaitinfo, nullptr, (const sigset_t* a, siginfo_t* b), (a, b))                                                                     \
  X(int, sigtimedwait, nullptr, (const sigset_t* a, siginfo_t* b, Time c), (a, b, c))                                                         \
  X(int, lockf, nullptr, (int a, int b, off_t c), (a, b, c))                                                                                  \
  X(int, recvmmsg, nullptr, (int a, struct mmsghdr* b, unsigned c, int d, struct timespec* e), (a, b, c, d, e))                               \
  X(int, sendmmsg, nullptr, (int a, struct mmsghdr* b, unsigned c, int d), (a, b, c, d))                                                      \
  X(ssize_t, msgrcv, nullptr, (int a, void* b, size_t c, long d, int e), (a, b, c, d, e))                                                     \
  X(int, msgsnd, nullptr, (int a, const void* b, size_t c, int d), (a, b, c, d))                                                              \
  X(int, semop, nullptr, (int a, struct sembuf* b, size_t c), (a, b, c))                                                                      \
  X(int, semtimedop, nullptr, (int a, struct sembuf* b, size_t c, Time d), (a, b, c, d))

// Calls that use files: X(the same, the operation, the FileUse that describes it, where r is the result).
#define LANESCOPE_FILE_CALLS(X)                                                                                                    \
  X(ssize_t, read, nullptr, (int a, void* b, size_t c), (a, b, c), kRead, transferred(a, r))                                       \
  X(ssize_t, write, nullptr, (int a, const void* b, size_t c), (a, b, c), kWrite, transferred(a, r))                               \
  X(ssize_t, pread, nullptr, (int a, void* b, size_t c, off_t d), (a, b, c, d), kRead, transferred(a, r))                          \
  X(ssize_t, pread64, nullptr, (int a, void* b, size_t c, off_t d), (a, b, c, d), kRead, transferred(a, r))                        \
  X(ssize_t, pwrite, nullptr, (int a, const void* b, size_t c, off_t d), (a, b, c, d), kWrite, transferred(a, r))                  \
  X(ssize_t, pwrite64, nullptr, (int a, const void* b, size_t c, off_t d), (a, b, c, d), kWrite, transferred(a, r))                \
  X(ssize_t, readv, nullptr, (int a, const struct iovec* b, int c), (a, b, c), kRead, transferred(a, r))                           \
  X(ssize_t, writev, nullptr, (int a, const struct iovec* b, int c), (a, b, c), kWrite, transferred(a, r))                         \
  X(int, open, nullptr, (const char* a, int b, mode_t c), (a, b, c), kOpen, opened(r))                                             \
  X(int, open64, nullptr, (const char* a, int b, mode_t c), (a, b, c), kOpen, opened(r))                                           \
  X(int, openat, nullptr, (int a, const char* b, int c, mode_t d), (a, b, c, d), kOpen, opened(r))                                 \
  X(int, openat64, nullptr, (int a, const char* b, int c, mode_t d), (a, b, c, d), kOpen, opened(r))                               \
  X(int, fsync, nullptr, (int a), (a), kSync, synced(a, r))                                                                        \
  X(int, fdatasync, nullptr, (int a), (a), kSync, synced(a, r))                                                                    \
  X(FILE*, fopen, "GLIBC_2.2.5", (const char* a, const char* b), (a, b), kOpen, opened(r))                                         \
  X(FILE*, fopen64, nullptr, (const char* a, const char* b), (a, b), kOpen, opened(r))                                             \
  X(size_t, fread, nullptr, (void* a, size_t b, size_t c, FILE* d), (a, b, c, d), kRead, transferred(d, b, r))                     \
  X(size_t, fwrite, nullptr, (const void* a, size_t b, size_t c, FILE* d), (a, b, c, d), kWrite, transferred(d, b, r))             \
  X(void*, mmap, nullptr, (void* a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f), kMap, mapped(r, b, d, e))         \
  X(void*, mmap64, nullptr, (void* a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f), kMap, mapped(r, b, d, e))       \
  X(ssize_t, preadv, nullptr, (int a, const struct iovec* b, int c, off_t d), (a, b, c, d), kRead, transferred(a, r))              \
  X(ssize_t, pwritev, nullptr, (int a, const struct iovec* b, int c, off_t d), (a, b, c, d), kWrite, transferred(a, r))            \
  X(int, creat, nullptr, (const char* a, mode_t b), (a, b), kOpen, opened(r))                                                      \
  X(ssize_t, preadv2, nullptr, (int a, const struct iovec* b, int c, off_t d, int e), (a, b, c, d, e), kRead, transferred(a, r))   \
  X(ssize_t, pwritev2, nullptr, (int a, const struct iovec* b, int c, off_t d, int e), (a, b, c, d, e), kWrite, transferred(a, r)) \
  X(ssize_t, sendfile, nullptr, (int a, int b, off_t* c, size_t d), (a, b, c, d), kRead, copied(b, a, r))                          \
  X(ssize_t, sendfile64, nullptr, (int a, int b, off_t* c, size_t d), (a, b, c, d), kRead, copied(b, a, r))

// Functions that the C library's headers substitute if a buffer's size is known (_FORTIFY_SOURCE) or offsets have 64 bits: X(result, name, plain name,
// parameters, arguments), and the same for files.
#define LANESCOPE_OTHER_FORMS(X)                                                                                                             \
  X(int, __poll_chk, poll, (struct pollfd * a, nfds_t b, int c, size_t d), (a, b, c, d))                                                     \
  X(int, __ppoll_chk, ppoll, (struct pollfd * a, nfds_t b, Time c, const sigset_t* d, size_t e), (a, b, c, d, e))                            \
  X(ssize_t, __recv_chk, recv, (int a, void* b, size_t c, size_t d, int e), (a, b, c, d, e))                                                 \
  X(ssize_t, __recvfrom_chk, recvfrom, (int a, void* b, size_t c, size_t d, int e, struct sockaddr* f, socklen_t* g), (a, b, c, d, e, f, g)) \
  X(int, ftruncate64, ftruncate, (int a, off_t b), (a, b))                                                                                   \
  X(int, lockf64, lockf, (int a, int b, off_t c), (a, b, c))
#define LANESCOPE_OTHER_FILE_FORMS(X)                                                                                               \
  X(ssize_t, __read_chk, read, (int a, void* b, size_t c, size_t d), (a, b, c, d), kRead, transferred(a, r))                        \
  X(ssize_t, __pread_chk, pread, (int a, void* b, size_t c, off_t d, size_t e), (a, b, c, d, e), kRead, transferred(a, r))          \
  X(ssize_t, __pread64_chk, pread64, (int a, void* b, size_t c, off_t d, size_t e), (a, b, c, d, e), kRead, transferred(a, r))      \
  X(size_t, __fread_chk, fread, (void* a, size_t b, size_t c, size_t d, FILE* e), (a, b, c, d, e), kRead, transferred(e, c, r))     \
  X(int, __open_2, open, (const char* a, int b), (a, b), kOpen, opened(r))                                                          \
  X(int, __open64_2, open64, (const char* a, int b), (a, b), kOpen, opened(r))                                                      \
  X(int, __openat_2, openat, (int a, const char* b, int c), (a, b, c), kOpen, opened(r))                                            \
  X(int, __openat64_2, openat64, (int a, const char* b, int c), (a, b, c), kOpen, opened(r))                                        \
  X(int, creat64, creat, (const char* a, mode_t b), (a, b), kOpen, opened(r))                                                       \
  X(ssize_t, preadv64, preadv, (int a, const struct iovec* b, int c, off_t d), (a, b, c, d), kRead, transferred(a, r))              \
  X(ssize_t, pwritev64, pwritev, (int a, const struct iovec* b, int c, off_t d), (a, b, c, d), kWrite, transferred(a, r))           \
  X(ssize_t, preadv64v2, preadv2, (int a, const struct iovec* b, int c, off_t d, int e), (a, b, c, d, e), kRead, transferred(a, r)) \
  X(ssize_t, pwritev64v2, pwritev2, (int a, const struct iovec* b, int c, off_t d, int e), (a, b, c, d, e), kWrite, transferred(a, r))

enum Index : std::size_t {
#define LANESCOPE_INDEX(result, name, ...) k_##name,
  LANESCOPE_CALLS(LANESCOPE_INDEX) LANESCOPE_FILE_CALLS(LANESCOPE_INDEX) LANESCOPE_OTHER_FORMS(LANESCOPE_INDEX) LANESCOPE_OTHER_FILE_FORMS(LANESCOPE_INDEX)
#undef LANESCOPE_INDEX
      k_pthread_mutex_lock,
  k_pthread_mutex_trylock,
  k_pthread_cond_wait,
  k_pthread_cond_timedwait,
  k_pthread_cond_signal,
  k_fork,
  k__exit,
  k__Exit,
  k_quick_exit,
  k_fcntl,
  k_fcntl64,
};

constinit Function functions[] = {
#define LANESCOPE_FUNCTION(result, name, version, ...) {#name, version},
    LANESCOPE_CALLS(LANESCOPE_FUNCTION) LANESCOPE_FILE_CALLS(LANESCOPE_FUNCTION)
#undef LANESCOPE_FUNCTION
#define LANESCOPE_FUNCTION(result, name, plain, ...) {#name, nullptr, nullptr, #plain},
        LANESCOPE_OTHER_FORMS(LANESCOPE_FUNCTION) LANESCOPE_OTHER_FILE_FORMS(LANESCOPE_FUNCTION)
#undef LANESCOPE_FUNCTION
            {"pthread_mutex_lock", nullptr},
    {"pthread_mutex_trylock", nullptr},
    {"pthread_cond_wait", "GLIBC_2.3.2"},
    {"pthread_cond_timedwait", "GLIBC_2.3.2"},
    {"pthread_cond_signal", "GLIBC_2.3.2"},
    {"fork", nullptr},
    {"_exit", nullptr},
    {"_Exit", nullptr},
    {"quick_exit", "GLIBC_2.24"},
    {"fcntl", nullptr},
    {"fcntl64", nullptr, nullptr, "fcntl"},
};

// Adds the arguments, which are in parentheses, after the function.
#define LANESCOPE_UNPACK(...) __VA_OPT__(, ) __VA_ARGS__

}  // namespace

#define LANESCOPE_EXPORT __attribute__((visibility("default")))

// Each function has two names. The hidden one is unique: if we are not preloaded, the other name leads to the C library's function. That name is the C
// library's only for the linker, so that the C library's declarations do not matter.
#define LANESCOPE_HIDDEN __attribute__((visibility("hidden")))
#define LANESCOPE_WRAPPER(result, name, version, parameters, arguments)                                                             \
  extern "C" LANESCOPE_HIDDEN result own_##name parameters { return call<result>(functions[k_##name] LANESCOPE_UNPACK arguments); } \
  extern "C" LANESCOPE_EXPORT __attribute__((alias("own_" #name))) result lanescope_##name parameters __asm__(#name);
LANESCOPE_CALLS(LANESCOPE_WRAPPER)
LANESCOPE_OTHER_FORMS(LANESCOPE_WRAPPER)
#undef LANESCOPE_WRAPPER
#define LANESCOPE_FILE_WRAPPER(result, name, version, parameters, arguments, operation, use)                                                            \
  extern "C" LANESCOPE_HIDDEN result own_##name parameters {                                                                                            \
    return file_call<result>(functions[k_##name], FileOperation::operation, [&]([[maybe_unused]] result r) { return use; } LANESCOPE_UNPACK arguments); \
  }                                                                                                                                                     \
  extern "C" LANESCOPE_EXPORT __attribute__((alias("own_" #name))) result lanescope_##name parameters __asm__(#name);
LANESCOPE_FILE_CALLS(LANESCOPE_FILE_WRAPPER)
LANESCOPE_OTHER_FILE_FORMS(LANESCOPE_FILE_WRAPPER)
#undef LANESCOPE_FILE_WRAPPER

// Waits only for locks of files. The argument after the command is one word, or missing.
namespace {
int control_file(Function& function, int descriptor, int command, long argument) {
  if (command == F_SETLKW || command == F_OFD_SETLKW) return call<int>(function, descriptor, command, argument);
  return reinterpret_cast<int (*)(int, int, ...)>(function.address())(descriptor, command, argument);
}
}  // namespace
extern "C" LANESCOPE_HIDDEN int own_fcntl(int a, int b, long c) { return control_file(functions[k_fcntl], a, b, c); }
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_fcntl"))) int lanescope_fcntl(int, int, long) __asm__("fcntl");
extern "C" LANESCOPE_HIDDEN int own_fcntl64(int a, int b, long c) { return control_file(functions[k_fcntl64], a, b, c); }
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_fcntl64"))) int lanescope_fcntl64(int, int, long) __asm__("fcntl64");

// A free lock costs no look at the clock.
extern "C" LANESCOPE_HIDDEN int own_pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  if (!lanescope::agent::osrt::is_active.load(std::memory_order_relaxed) || lanescope::agent::Quiet::is_on())
    return reinterpret_cast<Lock>(functions[k_pthread_mutex_lock].address())(mutex);
  const int result = reinterpret_cast<Lock>(functions[k_pthread_mutex_trylock].address())(mutex);
  return result != EBUSY ? result : call<int>(functions[k_pthread_mutex_lock], mutex);
}
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_pthread_mutex_lock"))) int lanescope_pthread_mutex_lock(pthread_mutex_t* mutex) __asm__(
    "pthread_mutex_lock");

// By these calls CPython takes and drops its lock.
extern "C" LANESCOPE_HIDDEN int own_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  lanescope::agent::python_lock::will_wait(condition);
  const int result = call<int>(functions[k_pthread_cond_wait], condition, mutex);
  lanescope::agent::python_lock::has_waited(condition);
  return result;
}
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_pthread_cond_wait"))) int lanescope_pthread_cond_wait(pthread_cond_t*,
                                                                                                            pthread_mutex_t*) __asm__("pthread_cond_wait");
extern "C" LANESCOPE_HIDDEN int own_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, Time until) {
  lanescope::agent::python_lock::will_wait(condition);
  return call<int>(functions[k_pthread_cond_timedwait], condition, mutex, until);
}
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_pthread_cond_timedwait"))) int lanescope_pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*,
                                                                                                                      Time) __asm__("pthread_cond_timedwait");
extern "C" LANESCOPE_HIDDEN int own_pthread_cond_signal(pthread_cond_t* condition) {
  lanescope::agent::python_lock::will_signal(condition);
  return reinterpret_cast<int (*)(pthread_cond_t*)>(functions[k_pthread_cond_signal].address())(condition);
}
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_pthread_cond_signal"))) int lanescope_pthread_cond_signal(pthread_cond_t*) __asm__("pthread_cond_signal");

// The child has done nothing yet: it reports itself at its first own call, if ever.
extern "C" LANESCOPE_HIDDEN pid_t own_fork() {
  using Fork = pid_t (*)();
  const auto next = reinterpret_cast<Fork>(functions[k_fork].address());
  if (!lanescope::agent::osrt::is_active.load(std::memory_order_relaxed) || lanescope::agent::Quiet::is_on()) return next();
  const std::int64_t start = lanescope::agent::monotonic_now();
  const pid_t child = next();
  if (child > 0) lanescope::agent::osrt::note(functions[k_fork].name, start);
  return child;
}
extern "C" LANESCOPE_EXPORT __attribute__((alias("own_fork"))) pid_t lanescope_fork() __asm__("fork");

// ---- Ends that run no handlers: the CUPTI data that the agent holds is handed over first --------------------------------------------

namespace {

[[noreturn]] void end_with(Function& function, int code) {
  lanescope::agent::python_lock::end_of_process();
#if LANESCOPE_HAVE_CUPTI
  lanescope::agent::cupti::finish();
#endif
  reinterpret_cast<void (*)(int)>(function.address())(code);
  __builtin_unreachable();
}

}  // namespace

extern "C" [[noreturn]] LANESCOPE_EXPORT void lanescope_underscore_exit(int code) __asm__("_exit");
extern "C" void lanescope_underscore_exit(int code) { end_with(functions[k__exit], code); }
extern "C" [[noreturn]] LANESCOPE_EXPORT void lanescope_Exit(int code) __asm__("_Exit");
extern "C" void lanescope_Exit(int code) { end_with(functions[k__Exit], code); }
extern "C" [[noreturn]] LANESCOPE_EXPORT void lanescope_quick_exit(int code) __asm__("quick_exit");
extern "C" void lanescope_quick_exit(int code) { end_with(functions[k_quick_exit], code); }

namespace {

using lanescope::agent::Turn;
using lanescope::agent::osrt::redirecting;

// Shows which threads of the program are in the list of loaded files.
constinit lanescope::agent::Redirection redirected_visits;

void find_visits() noexcept {
  constexpr const char* kName = "dl_iterate_phdr";
  redirected_visits = {kName, lanescope::agent::real_dl_iterate_phdr(), reinterpret_cast<void*>(&lanescope::agent::lanescope_own_dl_iterate_phdr),
                       lanescope::agent::is_found_in_c_library(kName, nullptr)};
}

void redirect_loading_calls() noexcept {
  static constinit lanescope::agent::CallSlots slots;
  const auto kept_callers = lanescope::agent::osrt::redirected_kept_callers();
  const lanescope::agent::Redirection redirections[] = {redirected_visits, kept_callers.dlopen, kept_callers.dlsym};
  if (const Turn turn(redirecting); turn) slots.redirect(redirections);
}

// The calls by which a process forbids itself system calls or becomes another program, and those by which it asks who handles a signal.
void redirect_process_calls() noexcept {
  static constinit lanescope::agent::CallSlots slots;
  const auto handlers = lanescope::agent::handler_redirections();
  const auto execs = lanescope::agent::osrt::redirected_exec_calls();
  constexpr std::size_t kOthers = 3;
  lanescope::agent::Redirection redirections[kOthers + handlers.size() + execs.size()] = {lanescope::agent::osrt::redirected_kept_callers().syscall,
                                                                                          lanescope::agent::osrt::redirected_prctl(), redirected_visits};
  std::copy(execs.begin(), execs.end(), std::copy(handlers.begin(), handlers.end(), redirections + kOthers));
  if (const Turn turn(redirecting); turn) slots.redirect(redirections);
}

// In a process that runs already. Ends that run no handlers stay as they are: the exit hook handles the remaining CUPTI data.
lanescope::agent::Redirected redirect_all(lanescope::agent::osrt::Recorded recorded) noexcept {
  static constinit lanescope::agent::CallSlots slots;
  const lanescope::agent::Redirection redirections[] = {
#define LANESCOPE_REDIRECTION(result, name, ...) functions[k_##name].redirected_to(&own_##name),
      LANESCOPE_CALLS(LANESCOPE_REDIRECTION) LANESCOPE_FILE_CALLS(LANESCOPE_REDIRECTION) LANESCOPE_OTHER_FORMS(LANESCOPE_REDIRECTION)
          LANESCOPE_OTHER_FILE_FORMS(LANESCOPE_REDIRECTION)
#undef LANESCOPE_REDIRECTION
              functions[k_pthread_mutex_lock]
                  .redirected_to(&own_pthread_mutex_lock),
      functions[k_pthread_cond_wait].redirected_to(&own_pthread_cond_wait),
      functions[k_pthread_cond_timedwait].redirected_to(&own_pthread_cond_timedwait),
      functions[k_pthread_cond_signal].redirected_to(&own_pthread_cond_signal),
      functions[k_fork].redirected_to(&own_fork),
      functions[k_fcntl].redirected_to(&own_fcntl),
      functions[k_fcntl64].redirected_to(&own_fcntl64),
  };
  lanescope::agent::Redirected result;
  if (const Turn turn(redirecting); turn) result = slots.redirect(redirections);
  redirect_process_calls();
  lanescope::agent::osrt::files_asked.store(lanescope::agent::osrt::FilesAsked::kUnknown, std::memory_order_relaxed);
  lanescope::agent::osrt::is_active.store(recorded == lanescope::agent::osrt::Recorded::kCalls, std::memory_order_relaxed);
  return result;
}

}  // namespace

// All functions are looked up while the library is loaded: a later look-up could wait for a thread that loads another library and waits for us.
__attribute__((constructor)) static void find_functions() {
  for (Function& function : functions) function.address();
  lanescope::agent::osrt::find_kept_callers();
  find_visits();
  const bool is_preloaded = lanescope::agent::osrt::is_preloaded();
  const bool has_session = std::getenv(lanescope::channel::kSocketVariable) != nullptr;
  if (is_preloaded && has_session && std::getenv(lanescope::channel::kCallChainsVariable) != nullptr) lanescope::agent::prepare_call_chains();
  const char* python = is_preloaded && has_session ? std::getenv(lanescope::channel::kPythonLockVariable) : nullptr;
  const bool records_calls = python == nullptr || std::string_view(python) != lanescope::channel::kPythonLockAlone;
  lanescope::agent::osrt::is_active.store(is_preloaded && has_session && records_calls, std::memory_order_relaxed);
  if (python != nullptr) lanescope::agent::python_lock::look_for_interpreter();
  if (is_preloaded) lanescope::agent::osrt::note_loaded_files();
  if (is_preloaded) lanescope::agent::be_known_by_tools_path();
  if (is_preloaded) return;
  lanescope::agent::osrt::redirect.store(redirect_all, std::memory_order_release);
  lanescope::agent::osrt::redirect_process.store(redirect_process_calls, std::memory_order_release);
  lanescope::agent::osrt::redirect_loading.store(redirect_loading_calls, std::memory_order_release);
}

__attribute__((destructor)) static void end_of_process() { lanescope::agent::python_lock::end_of_process(); }
