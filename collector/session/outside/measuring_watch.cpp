#include "collector/session/measuring_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "collector/channel/kernel_counters.h"
#include "file_descriptor.h"

namespace lanescope::session {
namespace {

constexpr std::size_t kMostRecordFiles = 4096;
constexpr std::uint64_t kLongestName = 4096;
constexpr std::chrono::seconds kLongestPause{10};  // between looks; time beyond this does not count

// True if the file belongs to one of these processes.
bool is_of(const std::filesystem::path& path, std::span<const std::uint32_t> processes) {
  const std::string name = path.filename().string();
  std::uint32_t instance = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), instance);
  return failure == std::errc() && end == name.data() + name.size() && std::find(processes.begin(), processes.end(), instance) != processes.end();
}

template <typename Record>
bool read_at(int file, off_t place, Record& record) {
  return pread(file, &record, sizeof(record), place) == static_cast<ssize_t>(sizeof(record));
}

}  // namespace

void MeasuringWatch::read_on(const std::filesystem::path& path, File& file, Clock::time_point now) {
  const FileDescriptor opened(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!opened.valid() || fstat(opened.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if ((facts.st_mode & S_IWUSR) == 0) {  // its process has no room to record how its measurement continues
    file.kernel.reset();
    return;
  }
  channel::RecordHead head{};
  while (facts.st_size - file.read >= static_cast<off_t>(sizeof(head)) && read_at(opened.get(), file.read, head)) {
    // A record that is being written now is complete at the next look.
    if (head.bytes < sizeof(head) || head.bytes > channel::kMostCounterBytes || static_cast<off_t>(head.bytes) > facts.st_size - file.read) return;
    if (channel::BeginRecord begin{}; head.mark == channel::kBeginRecordMark && head.bytes >= sizeof(begin) && read_at(opened.get(), file.read, begin)) {
      std::string name(std::min({begin.name_bytes, head.bytes - sizeof(begin), kLongestName}), '\0');
      if (pread(opened.get(), name.data(), name.size(), file.read + static_cast<off_t>(sizeof(begin))) != static_cast<ssize_t>(name.size())) return;
      file.correlation = begin.correlation;
      file.kernel = std::move(name);
      file.since = now;
    }
    if (channel::CounterRecord end{};
        head.mark == channel::kCounterRecordMark && head.bytes >= sizeof(end) && read_at(opened.get(), file.read, end) && end.correlation == file.correlation)
      file.kernel.reset();
    file.read += static_cast<off_t>(head.bytes);
  }
}

std::optional<std::string> MeasuringWatch::look(const std::filesystem::path& records, std::span<const std::uint32_t> running, std::chrono::nanoseconds patience,
                                                Clock::time_point now) {
  const Clock::duration unseen = last_look_ ? now - *last_look_ - kLongestPause : Clock::duration::zero();
  last_look_ = now;
  if (unseen > Clock::duration::zero())
    for (auto& [path, file] : files_) file.since += unseen;
  std::error_code ended;
  for (std::filesystem::directory_iterator entry(records, ended), end; !ended && entry != end && files_.size() < kMostRecordFiles; entry.increment(ended))
    files_.try_emplace(entry->path());
  const File* longest = nullptr;
  for (auto& [path, file] : files_) {
    read_on(path, file, now);
    if (file.kernel && is_of(path, running) && (longest == nullptr || file.since < longest->since)) longest = &file;
  }
  return longest != nullptr && now - longest->since > patience ? longest->kernel : std::nullopt;
}

}  // namespace lanescope::session
