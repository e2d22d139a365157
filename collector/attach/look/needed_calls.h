// The system calls needed to inject the agent, and those that the agent makes while it records: in the C library, the loader and the agent, on the
// process's own threads and on ours. tests/e2e/attach/test_attach_filtered.cpp permits a program these calls and no others.
#pragma once

#include <sys/syscall.h>

#include <array>

namespace lanescope::attach {

struct NeededCall {
  long number;
  const char* name;
};

#define LANESCOPE_CALL(name) \
  NeededCall { SYS_##name, #name }

inline constexpr std::array kNeededCalls{
    // memory and files, for the loader
    LANESCOPE_CALL(openat), LANESCOPE_CALL(read), LANESCOPE_CALL(pread64), LANESCOPE_CALL(fstat), LANESCOPE_CALL(newfstatat), LANESCOPE_CALL(close),
    LANESCOPE_CALL(mmap), LANESCOPE_CALL(mprotect), LANESCOPE_CALL(munmap), LANESCOPE_CALL(mremap), LANESCOPE_CALL(madvise), LANESCOPE_CALL(brk),
    LANESCOPE_CALL(getrandom),
    // threads and locks
    LANESCOPE_CALL(clone), LANESCOPE_CALL(clone3), LANESCOPE_CALL(set_robust_list), LANESCOPE_CALL(rseq), LANESCOPE_CALL(exit), LANESCOPE_CALL(futex),
    LANESCOPE_CALL(gettid), LANESCOPE_CALL(getpid), LANESCOPE_CALL(geteuid), LANESCOPE_CALL(tgkill), LANESCOPE_CALL(prctl), LANESCOPE_CALL(sched_yield),
    LANESCOPE_CALL(sched_getaffinity), LANESCOPE_CALL(nanosleep), LANESCOPE_CALL(prlimit64),
    // signals
    LANESCOPE_CALL(rt_sigprocmask), LANESCOPE_CALL(rt_sigaction), LANESCOPE_CALL(rt_sigreturn), LANESCOPE_CALL(sigaltstack), LANESCOPE_CALL(rt_tgsigqueueinfo),
    // connection to the recorder
    LANESCOPE_CALL(socketpair), LANESCOPE_CALL(socket), LANESCOPE_CALL(connect), LANESCOPE_CALL(setsockopt), LANESCOPE_CALL(getsockopt), LANESCOPE_CALL(sendto),
    LANESCOPE_CALL(recvfrom), LANESCOPE_CALL(recvmsg), LANESCOPE_CALL(ppoll), LANESCOPE_CALL(fcntl), LANESCOPE_CALL(pwrite64),
    // what the agent reads about its own process
    LANESCOPE_CALL(readlink), LANESCOPE_CALL(access), LANESCOPE_CALL(process_vm_readv)};

// Needed if the process does not see the agent's file, which is then copied.
inline constexpr std::array kNeededForCopy{LANESCOPE_CALL(memfd_create), LANESCOPE_CALL(ftruncate)};

// Made by CUDA and CUPTI once CUPTI is on.
inline constexpr std::array kNeededForCuda{LANESCOPE_CALL(ioctl), LANESCOPE_CALL(getdents64), LANESCOPE_CALL(lseek), LANESCOPE_CALL(poll),
                                           LANESCOPE_CALL(pipe2), LANESCOPE_CALL(eventfd2),   LANESCOPE_CALL(uname), LANESCOPE_CALL(sysinfo)};

#undef LANESCOPE_CALL

}  // namespace lanescope::attach
