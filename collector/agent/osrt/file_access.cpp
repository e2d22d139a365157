#include "agent/osrt/file_access.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include <sys/stat.h>

#include "agent/channel/thread_writer.h"
#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"

namespace lanescope::agent::osrt {

constinit std::atomic<FilesAsked> files_asked{FilesAsked::kUnknown};

namespace {

constexpr std::size_t kPathBytes = 1000;  // of a longer path, the beginning is kept
constexpr std::size_t kRemembered = 256;  // paths
constexpr std::string_view kNoPath = "(not named by /proc)";

struct Path {
  char bytes[kPathBytes];
  std::size_t size;
};

// Used by one thread at a time; a thread that finds it in use, as a signal handler may, does without it.
struct RememberedPath {
  std::atomic<bool> is_in_use;
  dev_t device;
  ino_t number;
  Path path;  // size 0: none
};
constinit RememberedPath remembered[kRemembered] = {};

void read_path(int descriptor, Path& path) noexcept {
  // Not /proc/self, which refers to the process's first thread, which may have ended.
  char link[48] = "/proc/thread-self/fd/";
  char* const digits = link + std::strlen(link);
  *std::to_chars(digits, link + sizeof(link) - 1, descriptor).ptr = 0;
  const long size = system::read_link(link, path.bytes, sizeof(path.bytes));
  if (size > 0) {
    path.size = static_cast<std::size_t>(size);
  } else {
    path.size = kNoPath.copy(path.bytes, sizeof(path.bytes));
  }
}

// kAsNew: the file was just opened, so the remembered path may belong to another file, whose number this one got.
enum class Looked { kAsNew, kAsKnown };
void find_path(int descriptor, const struct stat& status, Looked looked, Path& path) noexcept {
  RememberedPath& known = remembered[(status.st_ino ^ status.st_dev * 31) % kRemembered];
  const bool is_mine = !known.is_in_use.exchange(true, std::memory_order_acquire);
  if (is_mine && looked == Looked::kAsKnown && known.path.size != 0 && known.device == status.st_dev && known.number == status.st_ino) {
    std::memcpy(path.bytes, known.path.bytes, known.path.size);
    path.size = known.path.size;
  } else {
    read_path(descriptor, path);
    if (is_mine) {
      known.device = status.st_dev;
      known.number = status.st_ino;
      std::memcpy(known.path.bytes, path.bytes, path.size);
      known.path.size = path.size;
    }
  }
  if (is_mine) known.is_in_use.store(false, std::memory_order_release);
}

[[gnu::noinline]] void write_use(ThreadWriter& writer, channel::Record record, int descriptor) noexcept {
  struct stat status;
  if (descriptor < 0 || !system::file_status(descriptor, status) || !(S_ISREG(status.st_mode) || S_ISBLK(status.st_mode))) return;
  Path path;
  find_path(descriptor, status, record.category == static_cast<std::uint32_t>(channel::FileOperation::kOpen) ? Looked::kAsNew : Looked::kAsKnown, path);
  writer.write(record, {path.bytes, path.size});
}

}  // namespace

void note_file(channel::FileOperation operation, std::int64_t start, std::int64_t end, FileUse use) noexcept {
  if (use.descriptor < 0) return;
  const int saved_errno = errno;
  {
    ThreadWriter writer;
    if (writer) {
      const channel::Settings& settings = writer.settings();
      const bool is_asked = settings.trace_file_access.load(std::memory_order_relaxed) != 0;
      files_asked.store(is_asked ? FilesAsked::kYes : FilesAsked::kNo, std::memory_order_relaxed);
      if (is_asked && settings.recording.load(std::memory_order_relaxed) != 0 && may_look_at_files()) {
        channel::Record record{};
        record.type = channel::RecordType::kFileAccess;
        record.time = writer.event_time(start);
        record.id = static_cast<std::uint64_t>(end - start);
        record.category = static_cast<std::uint32_t>(operation);
        record.payload = static_cast<std::uint64_t>(use.bytes);
        write_use(writer, record, use.descriptor);
        record.category = static_cast<std::uint32_t>(channel::FileOperation::kWrite);
        write_use(writer, record, use.written);
      }
    }
  }
  errno = saved_errno;
}

}  // namespace lanescope::agent::osrt
