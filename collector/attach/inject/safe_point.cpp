#include "inject/safe_point.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "collector/attach/memory_map.h"

namespace lanescope::attach {
namespace {

// Functions during which, or in whose callbacks, such a lock may be held. Names are compared without leading underscores, "libc_" and "GI_".
constexpr std::array<std::string_view, 44> kUnsafe{"malloc",
                                                   "calloc",
                                                   "realloc",
                                                   "reallocarray",
                                                   "free",
                                                   "cfree",
                                                   "memalign",
                                                   "aligned_alloc",
                                                   "posix_memalign",
                                                   "valloc",
                                                   "pvalloc",
                                                   "malloc_trim",
                                                   "malloc_info",
                                                   "mallinfo",
                                                   "mallinfo2",
                                                   "malloc_stats",
                                                   "malloc_usable_size",
                                                   "int_malloc",
                                                   "int_free",
                                                   "int_realloc",
                                                   "sysmalloc",
                                                   "systrim",
                                                   "malloc_consolidate",
                                                   "tcache_thread_shutdown",
                                                   "arena_get2",
                                                   "dlopen",
                                                   "dlmopen",
                                                   "dlclose",
                                                   "dlsym",
                                                   "dlvsym",
                                                   "dladdr",
                                                   "dladdr1",
                                                   "dlinfo",
                                                   "dl_iterate_phdr",
                                                   "tls_get_addr",
                                                   "fork",
                                                   "vfork",
                                                   "posix_spawn",
                                                   "posix_spawnp",
                                                   "spawni",
                                                   "pthread_create",
                                                   "run_exit_handlers",
                                                   "cxa_finalize",
                                                   "abort"};

// Waits that the C library itself never makes while it holds such a lock. They are sufficient if the stack can't be followed.
constexpr std::array kQuietWaits{SYS_nanosleep,  SYS_clock_nanosleep, SYS_poll,     SYS_ppoll,         SYS_select,          SYS_pselect6,
                                 SYS_epoll_wait, SYS_epoll_pwait,     SYS_pause,    SYS_rt_sigsuspend, SYS_accept,          SYS_accept4,
                                 SYS_wait4,      SYS_waitid,          SYS_recvfrom, SYS_recvmsg,       SYS_rt_sigtimedwait, SYS_epoll_pwait2};
constexpr std::array kOtherWaits{SYS_futex, SYS_read,       SYS_readv,        SYS_pread64,     SYS_restart_syscall, SYS_ioctl,  SYS_io_uring_enter, SYS_msgrcv,
                                 SYS_semop, SYS_semtimedop, SYS_io_getevents, SYS_sched_yield, SYS_write,           SYS_sendto, SYS_sendmsg};
// Waits that end with EINTR if the thread is stopped in them.
constexpr std::array kFragileWaits{SYS_epoll_wait, SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_semop,
                                   SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_uring_enter};

template <typename Numbers>
bool contains(const Numbers& numbers, long number) {
  return std::any_of(numbers.begin(), numbers.end(), [&](auto each) { return static_cast<long>(each) == number; });
}

std::string_view plain(std::string_view name) {
  if (const std::size_t version = name.find('@'); version != std::string_view::npos) name = name.substr(0, version);
  while (name.starts_with('_')) name.remove_prefix(1);
  if (name.starts_with("libc_")) name.remove_prefix(5);
  if (name.starts_with("GI_")) name.remove_prefix(3);
  while (name.starts_with('_')) name.remove_prefix(1);
  return name;
}

bool is_unsafe_function(std::string_view name) {
  const std::string_view base = plain(name);
  return base.starts_with("dl_") || base.starts_with("malloc_hook") || std::find(kUnsafe.begin(), kUnsafe.end(), base) != kUnsafe.end();
}

bool is_allocator(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.find("malloc") != std::string_view::npos;  // libjemalloc, libtcmalloc, libmimalloc, ...
}

bool is_c_library(std::string_view path) { return is_glibc(path) || file_name(path).starts_with("libpthread"); }

// True for functions that only move bytes, by the start of their names. Programs may spend all their time in them.
bool only_moves_bytes(std::string_view function) {
  const std::string_view base = plain(function);
  return base.starts_with("mem") && !base.starts_with("memalign");
}

std::optional<std::string> objection_to_place(const Frame& innermost, std::optional<long> system_call) {
  const bool in_library = is_c_library(innermost.file);
  if (!system_call) {
    if (in_library && !only_moves_bytes(innermost.function)) return "it runs in the C library";
    return std::nullopt;
  }
  if (in_library && !contains(kQuietWaits, *system_call) && !contains(kOtherWaits, *system_call))
    return "it is in the middle of system call " + std::to_string(*system_call);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> objection(const CallStack& stack, std::optional<long> system_call) {
  for (const Frame& frame : stack.frames) {
    if (is_loader(frame.file)) return "it is in the loader";
    if (is_allocator(frame.file)) return "it is in the memory allocator " + std::string(file_name(frame.file));
    if (is_unsafe_function(frame.function)) return "it is in " + frame.function + "()";
  }
  if (std::optional<std::string> reason = objection_to_place(stack.frames.front(), system_call)) return reason;
  const bool waits_quietly = system_call && contains(kQuietWaits, *system_call);
  if (stack.extent == StackExtent::kPart && !waits_quietly) return "its call stack can't be followed";
  return std::nullopt;
}

Suitability suitability(std::optional<long> system_call) {
  if (!system_call) return Suitability::kBusy;
  if (contains(kFragileWaits, *system_call)) return Suitability::kWaitsFragile;
  if (contains(kQuietWaits, *system_call) || contains(kOtherWaits, *system_call)) return Suitability::kWaits;
  return Suitability::kBusy;
}

}  // namespace lanescope::attach
