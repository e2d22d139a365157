// Which files the program reads and writes, if that is requested (--osrt-file-access): a record for each call that opens, reads, writes, maps or syncs one,
// however short it is, with the file's path and the bytes.
//
// Each call asks the kernel which file its descriptor is (fstat), because programs close, replace and inherit descriptors in ways that nobody stands before.
// Only regular files and block devices count. The path is the file's name when it was opened, or first used; for some files in use it is remembered, by the
// file's number. Takes no memory, and no lock that anybody waits for.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <sys/mman.h>

#include "agent/osrt/trace.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::osrt {

// What a call did to a file. -1: no file.
struct FileUse {
  int descriptor = -1;
  std::int64_t bytes = 0;
  int written = -1;  // another file, to which the bytes went (sendfile)
};
// -1 for a stream in memory; keeps errno, which fileno() sets in that case.
inline int descriptor_of(std::FILE* stream) noexcept {
  const int saved_errno = errno;
  const int descriptor = fileno(stream);
  errno = saved_errno;
  return descriptor;
}
inline FileUse opened(int result) noexcept { return {result}; }
inline FileUse opened(std::FILE* result) noexcept { return {result != nullptr ? descriptor_of(result) : -1}; }
inline FileUse transferred(int descriptor, std::int64_t bytes) noexcept { return bytes < 0 ? FileUse{} : FileUse{descriptor, bytes}; }
inline FileUse transferred(std::FILE* stream, std::size_t size, std::size_t items) noexcept {
  return {descriptor_of(stream), static_cast<std::int64_t>(size * items)};
}
inline FileUse copied(int from, int to, std::int64_t bytes) noexcept { return bytes < 0 ? FileUse{} : FileUse{from, bytes, to}; }
inline FileUse mapped(const void* result, std::size_t bytes, int flags, int descriptor) noexcept {
  return result == MAP_FAILED || (flags & MAP_ANONYMOUS) != 0 ? FileUse{} : FileUse{descriptor, static_cast<std::int64_t>(bytes)};
}
inline FileUse synced(int descriptor, int result) noexcept { return {result == 0 ? descriptor : -1}; }

// Whether files are requested, as far as one load can tell: the session's wishes are known once a record could be written.
enum class FilesAsked : std::uint8_t { kUnknown, kNo, kYes };
extern constinit std::atomic<FilesAsked> files_asked;

// Keeps errno.
void note_file(channel::FileOperation operation, std::int64_t start, std::int64_t end, FileUse use) noexcept;

// Same as call(), for a function that uses a file. `use`: makes a FileUse of its result.
template <typename Result, typename Use, typename... Parameters>
Result file_call(Function& function, channel::FileOperation operation, Use use, Parameters... parameters) noexcept(false) {
  const auto next = reinterpret_cast<Result (*)(Parameters...)>(function.address());
  if (!is_active.load(std::memory_order_relaxed) || Quiet::is_on()) return next(parameters...);
  const std::int64_t start = monotonic_now();
  const Result result = next(parameters...);
  const std::int64_t end = note(function.shown(), start);
  if (files_asked.load(std::memory_order_relaxed) != FilesAsked::kNo) note_file(operation, start, end, use(result));
  return result;
}

}  // namespace lanescope::agent::osrt
