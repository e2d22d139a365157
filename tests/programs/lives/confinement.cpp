// Ways with restrictions: descriptors, roots, users, memory, clocks, system calls.
#include "lives.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace lives {
namespace {

int closes_all() {
  for (int descriptor = 0; descriptor < 65'536; ++descriptor) close(descriptor);
  steps(100);
  return kCode;
}
int closes_range() {
  must(syscall(SYS_close_range, 3u, ~0u, 0) == 0, "close_range");
  steps(100);
  int ends[2] = {-1, -1};
  return pipe(ends) == 0 && ends[0] == 3 && ends[1] == 4 ? kCode : 98;
}
int covers_descriptors() {
  for (int descriptor = 3; descriptor < 1'024; ++descriptor) dup2(1, descriptor);
  steps(100);
  return kCode;
}
int has_no_descriptors() {
  const rlimit limit{32, 32};
  must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
  return child_with_steps(fork);
}

int changes_root() {
  must(chroot(arguments[2]) == 0 && chdir("/") == 0, "chroot");
  return child_with_steps(fork);
}
int is_another_user() {
  must(setgid(kNobody) == 0 && setuid(kNobody) == 0, "setuid");
  return child_with_steps(fork);
}
int becomes_another_user() {
  must(setgid(kNobody) == 0 && setuid(kNobody) == 0, "setuid");
  execl(arguments[2], arguments[0], "exit", "9", nullptr);
  must(false, arguments[2]);
  return 99;
}
int can_not_be_dumped() {
  prctl(PR_SET_DUMPABLE, 0);
  steps(100);
  return kCode;
}

// A child whose clocks are a day ahead.
int lives_tomorrow() {
  must(unshare(CLONE_NEWTIME) == 0, "unshare");
  std::ofstream offsets("/proc/self/timens_offsets");
  must(static_cast<bool>(offsets << "monotonic 86400 0\n" << std::flush), "timens_offsets");
  return child_with_steps([] {
    const pid_t child = fork();
    if (child == 0) usleep(2'000);
    return child;
  });
}

// Uses the smallest stack that a thread may have.
int has_small_stacks() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  must(pthread_attr_setstacksize(&small, static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN))) == 0, "a small stack");
  int ended = 0;
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    must(pthread_create(
             &thread, &small,
             [](void*) -> void* {
               steps(10);
               usleep(2'000);
               steps(10);
               return &arguments;
             },
             nullptr) == 0,
         "a thread");
    void* result = nullptr;
    pthread_join(thread, &result);
    ended += result == &arguments ? 1 : 0;
  }
  std::printf("%d threads\n", ended);
  return kCode;
}

// All memory that it maps from now on must be present at once.
int locks_its_memory() {
  must(mlockall(MCL_FUTURE) == 0, "mlockall");
  usleep(2'000);
  steps(100);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (constexpr long kMostKib = 32L << 10; line.starts_with("RssShmem:") && std::atol(line.c_str() + 9) > kMostKib)
      std::printf("there is %s\n", line.c_str());
  return kCode;
}

#define LANESCOPE_ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// From here on the kernel ends it for every call that is not in the filter.
void must_filter(const sock_filter* code, std::size_t length) {
  const sock_fprog filter{static_cast<unsigned short>(length), const_cast<sock_filter*>(code)};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "seccomp");
}
int may_only_write() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), LANESCOPE_ALLOW(write), LANESCOPE_ALLOW(exit_group),
                        LANESCOPE_ALLOW(rt_sigreturn), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  steps(number(1'000'000));
  must(write(STDOUT_FILENO, "written\n", 8) == 8, "write");
  _exit(kCode);
}

// The kernel ends it for a call that the filter forbids.
int calls_what_is_forbidden() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  must_filter(code, std::size(code));
  syscall(SYS_getppid);
  return 98;
}
// These calls are among what an agent does, and not among what this program does.
int steps_behind_what_ends_agents() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 4, 0),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 3, 0),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 2, 0),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 1, 0),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  return child_with_steps(fork);
}
int becomes_another_behind_what_ends_agents() {
  steps_behind_what_ends_agents();
  become("children", "1");
  return 99;
}
// The program may only be loaded, load libraries, and write.
int becomes_another_that_may_only_load() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(execve),
                        LANESCOPE_ALLOW(brk),
                        LANESCOPE_ALLOW(arch_prctl),
                        LANESCOPE_ALLOW(access),
                        LANESCOPE_ALLOW(openat),
                        LANESCOPE_ALLOW(read),
                        LANESCOPE_ALLOW(pread64),
                        LANESCOPE_ALLOW(fstat),
                        LANESCOPE_ALLOW(newfstatat),
                        LANESCOPE_ALLOW(close),
                        LANESCOPE_ALLOW(mmap),
                        LANESCOPE_ALLOW(mprotect),
                        LANESCOPE_ALLOW(munmap),
                        LANESCOPE_ALLOW(set_tid_address),
                        LANESCOPE_ALLOW(set_robust_list),
                        LANESCOPE_ALLOW(rseq),
                        LANESCOPE_ALLOW(prlimit64),
                        LANESCOPE_ALLOW(getrandom),
                        LANESCOPE_ALLOW(futex),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  become("exit", "7");
  return 99;
}
// A filter that has the kernel answer with an error, to a call that neither makes.
int becomes_another_behind_harmless_filter() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  must_filter(code, std::size(code));
  become("exit", "7");
  return 99;
}
// A filter that ends the process for one call, and that agents and programs know nothing of otherwise.
void must_forbid(int call) {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  must_filter(code, std::size(code));
}
// Neither program makes these calls by itself; what the agent does needs them.
int becomes_another_that_may_set_no_handlers() {
  must_forbid(SYS_rt_sigaction);
  become("exit", "7");
  return 99;
}
int becomes_another_that_may_read_no_links() {
#if defined(SYS_readlink)
  must_forbid(SYS_readlink);
#else
  must_forbid(SYS_readlinkat);
#endif
  become("exit", "7");
  return 99;
}
// The child of a vfork, which tells nobody of its filter, becomes a program that may have no sockets.
int child_without_sockets() {
  const pid_t child = vfork();
  if (child == 0) {
    must_forbid(SYS_socket);
    become("exit", "7");
  }
  return code_of(child);
}
// Another thread has the only other filter, which is harmless.
int becomes_another_behind_filter_beside_one_of_another_thread() {
  std::thread([] { must_forbid(SYS_acct); }).join();
  return child_without_sockets();
}
// A harmless filter for all threads is not installed, because a thread has one already.
int becomes_another_behind_filter_that_not_all_take_over() {
  std::atomic<bool> is_guarded = false, is_over = false;
  std::thread other([&] {
    must_forbid(SYS_acct);
    is_guarded = true;
    while (!is_over) usleep(1'000);
  });
  while (!is_guarded) usleep(1'000);
  sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{1, code};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
  must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) > 0, "a thread that is in the way");
  const int code_of_child = child_without_sockets();
  is_over = true;
  other.join();
  return code_of_child;
}
// As in many sandboxes: the program has no /proc, and would be ended for a socket.
int becomes_another_in_sandbox() {
  must(unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && umount2("/proc", MNT_DETACH) == 0, "a namespace");
  must_forbid(SYS_socket);
  execl(arguments[2], arguments[0], "exit", "7", nullptr);
  must(false, arguments[2]);
  return 99;
}
// Its first ranges come after the filter.
int is_guarded_first() {
  may_only_write();
  return 98;
}
// It has no address space for what it would report in, and its files may not grow.
int may_grow_nothing() {
  constexpr rlim_t kAddresses = 200ul << 20;
  const rlimit room{kAddresses, kAddresses}, files{0, 0};
  must(setrlimit(RLIMIT_AS, &room) == 0 && setrlimit(RLIMIT_FSIZE, &files) == 0, "setrlimit");
  steps(100);
  return kCode;
}
// It may have no memory of its own beside what it has. Its ranges can't be recorded, and must be counted.
// It lives on for the given number of milliseconds.
int may_take_no_memory() {
  const rlimit none{0, 0};
  must(setrlimit(RLIMIT_DATA, &none) == 0, "setrlimit");
  steps(100);
  usleep(static_cast<useconds_t>(number(0)) * 1000);
  return kCode;
}
// Its first ranges, and those of its children, come when it has no descriptor left. Nothing of that is recorded, and each of the six processes must be
// reported. It lives on for the given number of milliseconds in between.
int may_open_nothing() {
  const rlimit none{3, 3};
  must(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
  steps(100);
  usleep(static_cast<useconds_t>(number(0)) * 1000);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps(10);
      _exit(3);
    }
    must(code_of(child) == 3, "the end of a child");
  }
  return kCode;
}
// Sockets are refused.
int may_have_no_sockets() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  must_filter(code, std::size(code));
  steps(100);
  return kCode;
}
// A thread that may only write, a child with such a thread, and then other threads.
int has_strict_threads() {
  const auto be_strict = [](int code) {
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict");
    steps(10);
    if (write(STDOUT_FILENO, "strict\n", 7) != 7) code = 98;
    syscall(SYS_exit, code);
  };
  std::thread(be_strict, 0).join();
  const pid_t child = fork();
  if (child == 0) be_strict(3);
  must(code_of(child) == 3, "the end of a child");
  std::thread([] { steps(50); }).join();
  steps(50);
  return kCode;
}
// Its first ranges come after that, and loading an agent for them is forbidden.
int is_strict_first() {
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict");
  steps(number(100));
  if (write(STDOUT_FILENO, "written\n", 8) == 8) syscall(SYS_exit, kCode);
  return 98;
}
// The child of a vfork installs a filter for itself only.
[[gnu::noinline]] void vfork_and_filter() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const pid_t child = vfork();
  if (child == 0) {
    must_filter(code, std::size(code));
    _exit(3);
  }
  must(code_of(child) == 3, "the child of a vfork");
}
int has_a_guarded_vfork() {
  vfork_and_filter();
  return child_with_steps(fork);
}
// A child that makes ranges before and after its filter, and a child whose first ranges come after it.
int has_guarded_children() {
  for (const int before : {10, 0}) {
    const pid_t child = fork();
    if (child == 0) {
      steps(before);
      sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), LANESCOPE_ALLOW(write), LANESCOPE_ALLOW(exit_group),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
      must_filter(code, std::size(code));
      steps(10);
      _exit(write(STDOUT_FILENO, "child\n", 6) == 6 ? 3 : 4);
    }
    must(code_of(child) == 3, "the end of a child");
  }
  return kCode;
}

// It may only have threads, and write.
int may_only_have_threads() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(clone),
                        LANESCOPE_ALLOW(clone3),
                        LANESCOPE_ALLOW(mmap),
                        LANESCOPE_ALLOW(munmap),
                        LANESCOPE_ALLOW(mprotect),
                        LANESCOPE_ALLOW(madvise),
                        LANESCOPE_ALLOW(brk),
                        LANESCOPE_ALLOW(futex),
                        LANESCOPE_ALLOW(set_robust_list),
                        LANESCOPE_ALLOW(rseq),
                        LANESCOPE_ALLOW(sched_getaffinity),
                        LANESCOPE_ALLOW(getrandom),
                        LANESCOPE_ALLOW(prctl),
                        LANESCOPE_ALLOW(rt_sigprocmask),
                        LANESCOPE_ALLOW(rt_sigaction),
                        LANESCOPE_ALLOW(rt_sigreturn),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(exit),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  for (int i = 0; i < 5; ++i) std::thread([] { steps(10); }).join();
  must(write(STDOUT_FILENO, "written\n", 8) == 8, "write");
  _exit(kCode);
}
// It may only fork, and write.
int may_only_fork() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        LANESCOPE_ALLOW(clone),
                        LANESCOPE_ALLOW(wait4),
                        LANESCOPE_ALLOW(set_robust_list),
                        LANESCOPE_ALLOW(rt_sigprocmask),
                        LANESCOPE_ALLOW(rt_sigreturn),
                        LANESCOPE_ALLOW(write),
                        LANESCOPE_ALLOW(exit_group),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  must_filter(code, std::size(code));
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps(10);
      _exit(write(STDOUT_FILENO, "child\n", 6) == 6 ? 3 : 4);
    }
    must(code_of(child) == 3, "the end of a child");
  }
  steps(10);
  _exit(kCode);
}
// After a filter it repeatedly loads a library that has its own NVTX code. The filter allows only the calls for that.
enum class Signals { kMayBeHeld, kMayNot };
int loads_libraries(long flags, Signals signals) {
  const std::string library = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "liblanescope_program_nvtx_life.so";
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                LANESCOPE_ALLOW(openat),
                                LANESCOPE_ALLOW(read),
                                LANESCOPE_ALLOW(pread64),
                                LANESCOPE_ALLOW(fstat),
                                LANESCOPE_ALLOW(newfstatat),
                                LANESCOPE_ALLOW(close),
                                LANESCOPE_ALLOW(mmap),
                                LANESCOPE_ALLOW(mprotect),
                                LANESCOPE_ALLOW(munmap),
                                LANESCOPE_ALLOW(brk),
                                LANESCOPE_ALLOW(futex),
                                LANESCOPE_ALLOW(clock_nanosleep),
                                LANESCOPE_ALLOW(rt_sigreturn),
                                LANESCOPE_ALLOW(write),
                                LANESCOPE_ALLOW(exit_group)};
  if (signals == Signals::kMayBeHeld) code.insert(code.end(), {LANESCOPE_ALLOW(rt_sigprocmask)});
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog filter{static_cast<unsigned short>(code.size()), code.data()};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) == 0, "seccomp");
  for (int life = 0; life < 100; ++life) {
    void* loaded = dlopen(library.c_str(), RTLD_NOW);
    must(loaded != nullptr, "a library");
    reinterpret_cast<void (*)(long)>(dlsym(loaded, "one_range"))(life);
    dlclose(loaded);
    steps(1);
  }
  return kCode;
}
int loads_behind_filter() { return loads_libraries(0, Signals::kMayBeHeld); }
int loads_without_signals() { return loads_libraries(0, Signals::kMayNot); }
// Threads other than its own, if there were any, live longer than they may wait.
int loads_behind_filter_of_all() {
  const int code = loads_libraries(SECCOMP_FILTER_FLAG_TSYNC, Signals::kMayBeHeld);
  usleep(1'200'000);
  return code;
}
#undef LANESCOPE_ALLOW

// Was given a file by number 9, with a lock on it (flock()), which ends when the last copy of that number is closed.
int gives_up_lock() {
  close(9);
  const int again = open("lock", O_RDWR | O_CLOEXEC);
  must(again >= 0, "the file of the lock");
  std::puts(flock(again, LOCK_EX | LOCK_NB) == 0 ? "free" : "held");
  std::fflush(stdout);
  steps(50);
  return kCode;
}

}  // namespace

std::vector<Way> confinement() {
  return {
      {"small-stacks", has_small_stacks, Begin::kWithItsWay},
      {"tomorrow", lives_tomorrow},
      {"mlockall", locks_its_memory, Begin::kWithItsWay},
      {"close", closes_all},
      {"unlocks", gives_up_lock},
      {"close_range", closes_range},
      {"dup2", covers_descriptors},
      {"no-descriptors", has_no_descriptors},
      {"chroot", changes_root},
      {"chroot-first", changes_root, Begin::kWithItsWay},
      {"setuid", is_another_user},
      {"setuid-exec", becomes_another_user},
      {"not-dumpable", can_not_be_dumped},
      {"seccomp", may_only_write},
      {"seccomp-first", is_guarded_first, Begin::kWithItsWay},
      {"seccomp-ends", calls_what_is_forbidden},
      {"seccomp-late", steps_behind_what_ends_agents, Begin::kWithItsWay},
      {"seccomp-exec", becomes_another_behind_what_ends_agents},
      {"seccomp-loading-exec", becomes_another_that_may_only_load},
      {"seccomp-harmless-exec", becomes_another_behind_harmless_filter},
      {"seccomp-no-handlers-exec", becomes_another_that_may_set_no_handlers},
      {"seccomp-no-links-exec", becomes_another_that_may_read_no_links},
      {"seccomp-threads-exec", becomes_another_behind_filter_beside_one_of_another_thread},
      {"seccomp-refused-exec", becomes_another_behind_filter_that_not_all_take_over},
      {"sandbox-exec", becomes_another_in_sandbox},
      {"opens-nothing", may_open_nothing, Begin::kWithItsWay},
      {"seccomp-no-sockets", may_have_no_sockets, Begin::kWithItsWay},
      {"no-growth", may_grow_nothing, Begin::kWithItsWay},
      {"no-data", may_take_no_memory, Begin::kWithItsWay},
      {"seccomp-strict", has_strict_threads},
      {"seccomp-strict-first", is_strict_first, Begin::kWithItsWay},
      {"seccomp-children", has_guarded_children},
      {"seccomp-vfork", has_a_guarded_vfork},
      {"seccomp-threads", may_only_have_threads},
      {"seccomp-forks", may_only_fork},
      {"seccomp-loads", loads_behind_filter},
      {"seccomp-loads-no-signals", loads_without_signals},
      {"seccomp-loads-all-threads", loads_behind_filter_of_all},
  };
}

}  // namespace lives
