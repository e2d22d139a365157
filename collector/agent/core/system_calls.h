// System calls of the agent, made without the C library, because the agent itself stands before the functions of these names (osrt/wrappers.cpp). None is a
// cancellation point, none sets errno, and all may be called in a signal handler and in the child of a fork.
//
// If the kernel refuses, the result is -errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "collector/channel/system_call.h"

namespace lanescope::agent::system {

using channel::system_call;
using channel::word;

inline std::uint32_t thread_id() noexcept { return static_cast<std::uint32_t>(system_call(SYS_gettid)); }
inline std::int32_t process_id() noexcept { return static_cast<std::int32_t>(system_call(SYS_getpid)); }

inline int close(int descriptor) noexcept { return static_cast<int>(system_call(SYS_close, descriptor)); }
inline long read(int descriptor, void* bytes, std::size_t size) noexcept { return system_call(SYS_read, descriptor, word(bytes), static_cast<long>(size)); }
inline long write(int descriptor, const void* bytes, std::size_t size) noexcept {
  return system_call(SYS_write, descriptor, word(bytes), static_cast<long>(size));
}
inline long write_at(int descriptor, const void* bytes, std::size_t size, std::int64_t place) noexcept {
  return system_call(SYS_pwrite64, descriptor, word(bytes), static_cast<long>(size), place);
}
inline long read_at(int descriptor, void* bytes, std::size_t size, std::int64_t place) noexcept {
  return system_call(SYS_pread64, descriptor, word(bytes), static_cast<long>(size), place);
}
inline int open(const char* path, int flags) noexcept {
  constexpr int kFromHere = -100;  // AT_FDCWD
  return static_cast<int>(system_call(SYS_openat, kFromHere, word(path), flags));
}
// Returns the number of bytes of the path to which `link` leads.
inline long read_link(const char* link, char* path, std::size_t size) noexcept {
  constexpr int kFromHere = -100;  // AT_FDCWD
  return system_call(SYS_readlinkat, kFromHere, word(link), word(path), static_cast<long>(size));
}
// Needs no descriptor.
inline int make_link(const char* target, const char* path) noexcept {
  constexpr int kFromHere = -100;  // AT_FDCWD
  return static_cast<int>(system_call(SYS_symlinkat, word(target), kFromHere, word(path)));
}
// The status of an open file; false if the descriptor is not open.
inline bool file_status(int descriptor, struct stat& status) noexcept { return system_call(SYS_fstat, descriptor, word(&status)) == 0; }

// The status of the file at this path; false if there is none.
inline bool file_status(const char* path, struct stat& status) noexcept {
  constexpr int kFromHere = -100;  // AT_FDCWD
  return system_call(SYS_newfstatat, kFromHere, word(path), word(&status), 0) == 0;
}
inline std::uint32_t user_id() noexcept { return static_cast<std::uint32_t>(system_call(SYS_geteuid)); }

inline void* address_or_null(long answer) noexcept {
  constexpr long kLastError = -4095;
  return answer < 0 && answer >= kLastError ? nullptr : reinterpret_cast<void*>(answer);
}
// map() and remap() return null if there is no memory; remap() may move the memory.
inline void* map(void* place, std::size_t bytes, int protection, int flags, int file) noexcept {
  return address_or_null(system_call(SYS_mmap, word(place), static_cast<long>(bytes), protection, flags, file, 0));
}
inline void* remap(void* place, std::size_t bytes, std::size_t wanted) noexcept {
  constexpr long kMayMove = 1;  // MREMAP_MAYMOVE
  return address_or_null(system_call(SYS_mremap, word(place), static_cast<long>(bytes), static_cast<long>(wanted), kMayMove));
}
// Moves the memory at `place` over the memory at `over`; afterwards nothing is mapped at `place`.
inline void* move_over(void* place, std::size_t bytes, void* over) noexcept {
  constexpr long kMoveThere = 1 | 2;  // MREMAP_MAYMOVE | MREMAP_FIXED
  const auto size = static_cast<long>(bytes);
  return address_or_null(system_call(SYS_mremap, word(place), size, size, kMoveThere, word(over)));
}
inline void unmap(void* place, std::size_t bytes) noexcept { system_call(SYS_munmap, word(place), static_cast<long>(bytes)); }

inline int connect(int socket, const sockaddr* address, socklen_t size) noexcept {
  return static_cast<int>(system_call(SYS_connect, socket, word(address), size));
}
inline int accept(int socket, int flags) noexcept { return static_cast<int>(system_call(SYS_accept4, socket, 0, 0, flags)); }
inline long send(int socket, const void* bytes, std::size_t size, int flags) noexcept {
  return system_call(SYS_sendto, socket, word(bytes), static_cast<long>(size), flags);
}
inline long receive(int socket, void* bytes, std::size_t size, int flags) noexcept {
  return system_call(SYS_recvfrom, socket, word(bytes), static_cast<long>(size), flags);
}
inline long receive_message(int socket, msghdr* message, int flags) noexcept { return system_call(SYS_recvmsg, socket, word(message), flags); }
// `milliseconds` < 0: no limit.
inline int poll(pollfd* descriptors, std::size_t count, int milliseconds) noexcept {
  const timespec limit{.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1'000'000L};
  return static_cast<int>(system_call(SYS_ppoll, word(descriptors), static_cast<long>(count), milliseconds < 0 ? 0 : word(&limit), 0, sizeof(std::uint64_t)));
}

inline void sleep(std::int64_t nanoseconds) noexcept {
  const timespec time{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  system_call(SYS_nanosleep, word(&time));
}
inline void yield() noexcept { system_call(SYS_sched_yield); }

// FUTEX_WAIT and FUTEX_WAKE of a word that only this process uses. Waits at most `nanoseconds`.
inline long futex_wait(const void* place, std::uint32_t seen, std::int64_t nanoseconds) noexcept {
  const timespec limit{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  return system_call(SYS_futex, word(place), FUTEX_WAIT_PRIVATE, seen, word(&limit));
}
inline void futex_wake(const void* place, int how_many) noexcept { system_call(SYS_futex, word(place), FUTEX_WAKE_PRIVATE, how_many); }

}  // namespace lanescope::agent::system
