#include "file/earlier_files.h"

#include <fcntl.h>

#include <algorithm>

namespace lanescope::session {
namespace {

// A byte that no file has. Locks of byte ranges that belong to an open file exclude none of the locks by which a file is written or added to (flock).
struct flock mark_of(short type) {
  struct flock mark {};
  mark.l_type = type;
  mark.l_whence = SEEK_SET;
  mark.l_start = off_t{1} << 62;
  mark.l_len = 1;
  return mark;
}

int opened(const std::filesystem::path& path) { return open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); }

bool has_running_recorder(const std::filesystem::path& path) {
  if (TraceFileWriter::is_being_written(path)) return true;
  const FileDescriptor file(opened(path));
  struct flock mark = mark_of(F_WRLCK);
  return file.valid() && fcntl(file.get(), F_OFD_GETLK, &mark) == 0 && mark.l_type != F_UNLCK;
}

std::string named(const std::vector<std::filesystem::path>& files) {
  return files.front().string() + (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "");
}

}  // namespace

RunningRecordersFile::RunningRecordersFile(const std::filesystem::path& path, const std::optional<FileIdentity>& meant) {
  FileDescriptor file(opened(path));
  struct flock mark = mark_of(F_RDLCK);
  if (file.valid() && meant && identity_of(path) == meant && fcntl(file.get(), F_OFD_SETLK, &mark) == 0) file_ = std::move(file);
}

EarlierFiles::EarlierFiles(Captures captures, const Place& place) : captures_(captures) {
  for (std::uint32_t number = 1; number == 1 || captures == Captures::kSeveral; ++number) {
    const std::optional<std::filesystem::path> path = place(number);
    is_known_ = path.has_value();
    if (!is_known_) return;
    const std::optional<FileIdentity> identity = identity_of(*path);
    if (!identity || files_.contains(*path)) return;
    if (has_running_recorder(*path)) {
      files_.clear();
      return;
    }
    files_[*path] = {*identity};
    numbers_[number] = *path;
  }
}

EarlierFiles::EarlierFiles(Captures captures, const std::vector<std::filesystem::path>& of_ranks) : captures_(captures), is_known_(true) {
  std::optional<std::int64_t> oldest_of_others;
  for (const std::filesystem::path& path : of_ranks) {
    const std::optional<FileIdentity> identity = identity_of(path);
    if (!identity) continue;
    files_[path] = {*identity};
    if (has_running_recorder(path)) oldest_of_others = std::min(oldest_of_others.value_or(identity->made), identity->made);
  }
  if (oldest_of_others)
    std::erase_if(files_, [&](const auto& file) { return file.second.identity.made >= *oldest_of_others || file.second.identity.made == 0; });
}

bool EarlierFiles::may_be_replaced(const std::filesystem::path& path) const {
  if (!is_known_) return true;
  const std::optional<FileIdentity> now = identity_of(path);
  const auto earlier = files_.find(path);
  return !now || (earlier != files_.end() && earlier->second.identity == *now);
}

void EarlierFiles::note_taken(const std::filesystem::path& path) {
  if (const auto earlier = files_.find(path); earlier != files_.end()) earlier->second.is_replaced = true;
}

std::string EarlierFiles::said_of_replaced() const {
  std::vector<std::filesystem::path> replaced, left;
  for (const auto& [number, path] : numbers_)
    if (const auto earlier = files_.find(path); earlier != files_.end()) (earlier->second.is_replaced ? replaced : left).push_back(path);
  for (const auto& [path, earlier] : files_)
    if (numbers_.empty() && earlier.is_replaced) replaced.push_back(path);
  if (replaced.empty() || captures_ == Captures::kOne) return {};
  return "Replaced of an earlier recording, as -f asks: " + named(replaced) + "." +
         (left.empty() ? std::string() : " Still there, because this recording made fewer captures: " + named(left) + ".");
}

}  // namespace lanescope::session
