// Functions whose behaviour depends on their caller, or that return twice: dlopen(), dlsym() and syscall(). A few instructions decide if the call can be timed,
// and what must be done before it. Otherwise they jump to the real function, which finds the stack and the registers as its caller left them.
#include "agent/osrt/kept_callers.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "agent/channel/membership.h"
#include "agent/core/kept_caller.h"
#include "agent/core/loader/loader.h"
#include "agent/nvtx_entry/entry.h"
#include "agent/osrt/caller_matters.h"
#include "agent/osrt/exec_calls.h"
#include "agent/osrt/filter_calls.h"
#include "agent/osrt/trace.h"
#include "agent/process/forks.h"
#include "agent/python_lock/python_lock.h"

#if defined(__x86_64__)

namespace {

using lanescope::agent::osrt::Function;

constinit Function real_dlopen{"dlopen", nullptr};
constinit Function real_dlsym{"dlsym", nullptr};
constinit Function real_syscall{"syscall", nullptr};

bool are_recorded() { return lanescope::agent::osrt::is_active.load(std::memory_order_relaxed) && !lanescope::agent::Quiet::is_on(); }

bool awaits_python() { return lanescope::agent::python_lock::is_awaited.load(std::memory_order_relaxed); }

bool are_files_looked_at() { return lanescope::agent::osrt::look_at_new_files.load(std::memory_order_relaxed) != nullptr; }

// Set after a call of dlopen() on this thread whose end the agent does not see, or after which files could not be examined.
constinit thread_local bool is_look_due = false;

void tell_of_lost_list() {
  static constinit std::atomic<bool> is_told{false};
  const int saved_errno = errno;
  const lanescope::agent::Quiet quiet;
  if (!lanescope::agent::join_recording() || is_told.exchange(true, std::memory_order_relaxed)) return;
  lanescope::agent::report(lanescope::agent::Component::kNvtx, lanescope::agent::ComponentState::kRecording, lanescope::agent::Severity::kWarning,
                           "Libraries that this process loads are not recorded: it was forked while a thread of its parent was in the loader's list of files "
                           "(dl_iterate_phdr).",
                           lanescope::agent::DiagnosticKind::kLoss);
  errno = saved_errno;
}

void look_at_new_files() {
  is_look_due = false;
  const auto look = lanescope::agent::osrt::look_at_new_files.load(std::memory_order_acquire);
  if (look == nullptr) return;
  if (lanescope::agent::has_lost_list()) {
    const bool does_nvtx_find_us = lanescope::agent::osrt::redirect.load(std::memory_order_relaxed) == nullptr;
    if (!does_nvtx_find_us) tell_of_lost_list();
    return;
  }
  is_look_due = !lanescope::agent::is_list_free_of_program();
  if (is_look_due) return;
  const int saved_errno = errno;
  {
    const lanescope::agent::Quiet quiet;
    look();
  }
  errno = saved_errno;
}

constinit std::string_view own_name;  // of the agent's file

std::string_view name_of(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// In a child that was forked unannounced (_Fork, the system call), the loader's lock may belong for ever to a thread that is not there. Where such a child
// has called dlopen() itself, as it may alone, the lock is free.
constinit std::atomic<std::uint32_t> loading_generation{0};  // the process that has

// True if NVTX looks for us there, as it does not without us.
bool might_wait_for_ever(const char* file) {
  if (!lanescope::agent::was_forked_unnoticed() || file == nullptr) return false;
  const std::uint32_t generation = lanescope::agent::process_generation();
  const bool is_own_call = name_of(file) != own_name && name_of(file) != lanescope::agent::kNvtxEntryFile;
  if (is_own_call) loading_generation.store(generation, std::memory_order_relaxed);
  return !is_own_call && loading_generation.load(std::memory_order_relaxed) != generation;
}

void* refused_dlopen(const char*, int) {
  static constinit std::atomic<std::uint32_t> told{0};  // the process that has told
  const std::uint32_t generation = lanescope::agent::process_generation();
  if (told.exchange(generation, std::memory_order_relaxed) == generation) return nullptr;
  const int saved_errno = errno;
  const lanescope::agent::Quiet quiet;
  if (lanescope::agent::join_recording())
    lanescope::agent::report(
        lanescope::agent::Component::kNvtx, lanescope::agent::ComponentState::kRecording, lanescope::agent::Severity::kWarning,
        "NVTX ranges of a library are missing in this process: it was forked by _Fork() or the system call alone, perhaps while the library "
        "was being loaded, and could wait for ever for the loader.",
        lanescope::agent::DiagnosticKind::kLoss);
  errno = saved_errno;
  return nullptr;
}

void* timed_dlopen(const char* file, int mode) {
  const auto next = reinterpret_cast<void* (*)(const char*, int)>(real_dlopen.address());
  const std::int64_t start = lanescope::agent::monotonic_now();
  void* library = next(file, mode);
  if (are_recorded()) lanescope::agent::osrt::note(real_dlopen.name, start);
  if (library == nullptr) return library;
  if (awaits_python()) lanescope::agent::python_lock::look_for_interpreter();
  look_at_new_files();
  return library;
}

using Word = long;
using SystemCall = Word (*)(Word, Word, Word, Word, Word, Word, Word);

Word timed_futex(Word number, Word a, Word b, Word c, Word d, Word e, Word f) {
  const std::int64_t start = lanescope::agent::monotonic_now();
  const Word result = reinterpret_cast<SystemCall>(real_syscall.address())(number, a, b, c, d, e, f);
  lanescope::agent::osrt::note("futex", start);
  return result;
}

Word filtering(Word number, Word a, Word b, Word c, Word d, Word e) {
  return lanescope::agent::osrt::install_filter(reinterpret_cast<Word (*)(Word, ...)>(real_syscall.address()), number, a, b, c, d, e);
}

bool waits(Word number, Word operation) {
  if (number == SYS_futex_waitv) return true;
  if (number != SYS_futex) return false;
  const auto what = operation & FUTEX_CMD_MASK;
  return what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET || what == FUTEX_LOCK_PI || what == FUTEX_WAIT_REQUEUE_PI;
}

}  // namespace

#define LANESCOPE_HIDDEN __attribute__((visibility("hidden"), used))

// Returns the function with which the call continues.
extern "C" LANESCOPE_HIDDEN void* lanescope_choose_dlopen(const char* file, int, const void* caller) {
  void* next = real_dlopen.address();
  if (might_wait_for_ever(file)) return reinterpret_cast<void*>(&refused_dlopen);
  if (!are_recorded() && !awaits_python() && !are_files_looked_at()) return next;
  if (!lanescope::agent::osrt::caller_matters(file, caller)) return reinterpret_cast<void*>(&timed_dlopen);
  is_look_due = are_files_looked_at();
  return next;
}
extern "C" LANESCOPE_HIDDEN void* lanescope_choose_dlsym() {
  if (is_look_due) look_at_new_files();
  return real_dlsym.address();
}
extern "C" LANESCOPE_HIDDEN void* lanescope_choose_syscall(Word number, Word first, Word operation) {
  if (number == SYS_execve) lanescope::agent::osrt::hand_over_before_exec(reinterpret_cast<const char*>(first));
  if (number == SYS_execveat) lanescope::agent::osrt::hand_over_before_exec(nullptr);
  if (lanescope::agent::osrt::installs_filter(number, first)) return reinterpret_cast<void*>(&filtering);
  void* next = real_syscall.address();
  return are_recorded() && waits(number, operation) ? reinterpret_cast<void*>(&timed_futex) : next;
}

// dlopen(rdi, rsi): passes the return address as the third argument.
__asm__(LANESCOPE_CODE LANESCOPE_LABEL_OF_LIBRARY("lanescope_own_dlopen") LANESCOPE_LABEL_OF_ALL("dlopen")
            LANESCOPE_JUMP_TO_CHOSEN("lanescope_choose_dlopen", "  movq (%rsp), %rdx\n") LANESCOPE_END_OF_LABEL("dlopen")
                LANESCOPE_END_OF_LABEL("lanescope_own_dlopen"));
__asm__(LANESCOPE_CODE LANESCOPE_LABEL_OF_LIBRARY("lanescope_own_dlsym") LANESCOPE_JUMP_TO_CHOSEN("lanescope_choose_dlsym", "")
            LANESCOPE_END_OF_LABEL("lanescope_own_dlsym"));
__asm__(LANESCOPE_CODE LANESCOPE_LABEL_OF_LIBRARY("lanescope_own_syscall") LANESCOPE_LABEL_OF_ALL("syscall")
            LANESCOPE_JUMP_TO_CHOSEN("lanescope_choose_syscall", "") LANESCOPE_END_OF_LABEL("syscall") LANESCOPE_END_OF_LABEL("lanescope_own_syscall"));

extern "C" __attribute__((visibility("hidden"))) char lanescope_own_dlopen[];
extern "C" __attribute__((visibility("hidden"))) char lanescope_own_dlsym[];
extern "C" __attribute__((visibility("hidden"))) char lanescope_own_syscall[];

namespace lanescope::agent::osrt {

void find_kept_callers() noexcept {
  real_dlopen.address();
  real_dlsym.address();
  real_syscall.address();
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&refused_dlopen), &self) != 0) own_name = name_of(self.dli_fname);
}

KeptCallers redirected_kept_callers() noexcept {
  return {real_dlopen.redirected_to(lanescope_own_dlopen), real_dlsym.redirected_to(lanescope_own_dlsym), real_syscall.redirected_to(lanescope_own_syscall)};
}

}  // namespace lanescope::agent::osrt

#else

namespace lanescope::agent::osrt {

void find_kept_callers() noexcept {}
KeptCallers redirected_kept_callers() noexcept { return {}; }

}  // namespace lanescope::agent::osrt

#endif
