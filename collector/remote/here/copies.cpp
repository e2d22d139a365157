#include "here/copies.h"

#include <sys/stat.h>

#include <algorithm>

#include "model/file/trace_file.h"

namespace lanescope::remote {
namespace {

constexpr std::size_t kMostFiles = 1'000;

Error senseless(const std::string& what) { return {"What came from there makes no sense: " + what + "."}; }

Error not_a_beginning(const std::filesystem::path& path) {
  return {path.string() + " exists already, and is no beginning of the file there. Give another name with -o, or allow overwriting with -f."};
}

bool is_whole_recording(const std::filesystem::path& path) {
  const Result<TraceFileReader> reader = TraceFileReader::open(path);
  return reader && !reader->index().empty();
}

// True if the file at `path` is the file there itself, for example in a folder that both machines share. Network file systems may cache a file's attributes
// for a while, so that the modification time of a growing file may differ by that time.
bool is_file_there(const proto::RemoteReply::File& file, const std::filesystem::path& path) {
  constexpr std::int64_t kOutdated = 120'000'000'000;  // ns
  struct stat facts {};
  if (file.inode() == 0 || stat(path.c_str(), &facts) != 0 || facts.st_ino != file.inode()) return false;
  const std::int64_t modified = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  // Unsigned: the other side may send any number.
  const std::uint64_t apart = static_cast<std::uint64_t>(std::max(modified, file.modified())) - static_cast<std::uint64_t>(std::min(modified, file.modified()));
  return apart < kOutdated;
}

}  // namespace

void Copies::describe(proto::RemoteRequest::Follow& request) const {
  for (const Copy& copy : copies_) {
    auto& position = *request.add_files();
    position.set_name(copy.name);
    copy.file.sums().describe(position);
  }
}

// An empty file is not treated as a copy.
Result<LocalCopy> Copies::make(const proto::RemoteReply::File& file, const std::filesystem::path& path) {
  if (is_file_there(file, path))
    return Error{path.string() + " is the file there itself, in a folder that both machines have. It needs no copy; for one, give another name with -o."};
  std::error_code missing;
  const bool may_be_beginning = beginnings_ == Beginnings::kContinued && overwrite_ == Overwrite::kRefuse &&
                                std::filesystem::is_regular_file(std::filesystem::symlink_status(path, missing)) &&
                                std::filesystem::file_size(path, missing) > 0;
  if (may_be_beginning) return LocalCopy::go_on(path);
  return LocalCopy::create(path, overwrite_, file.owner_alone() ? Readers::kOwnerAlone : Readers::kAsUsual);
}

Result<void> Copies::take(const proto::RemoteReply::File& file) {
  constexpr std::size_t kLongestName = 255;
  if (file.name().size() > kLongestName) return senseless("a file's name is longer than names may be");
  if (by_number_.contains(file.number())) return senseless("two files have one number");
  auto copy = std::find_if(copies_.begin(), copies_.end(), [&file](const Copy& each) { return each.name == file.name(); });
  if (copy == copies_.end()) {
    if (made_ == (of_ == Of::kFile ? 1 : kMostFiles)) return senseless("there are more files than a recording has");
    if (file.from() != 0) return senseless("a file begins behind its first byte");
    const Result<std::filesystem::path> path = place_(made_ + 1);
    if (!path) return path.error();
    Result<LocalCopy> made = make(file, *path);
    if (!made) return made.error();
    ++made_;
    const bool was_here = made->sums().size() > 0;
    const bool is_whole = was_here && is_whole_recording(*path);
    copy = copies_.insert(copies_.end(), Copy{.name = file.name(), .file = std::move(*made), .is_kept = was_here, .is_whole = is_whole});
    if (was_here) {
      has_found_beginning_ = true;
      return {};
    }
  }
  if (file.from() > copy->file.sums().size()) return senseless("a file goes on behind what came of it");
  if (copy->is_kept && file.from() != copy->file.sums().size()) return not_a_beginning(copy->file.path());
  copy->is_kept = false;
  by_number_[file.number()] = &*copy;
  return copy->file.cut(file.from());
}

Result<void> Copies::take(const proto::RemoteReply::Bytes& bytes) {
  const auto copy = by_number_.find(bytes.file());
  if (copy == by_number_.end()) return senseless("bytes of a file that was not named");
  if (bytes.offset() != copy->second->file.sums().size()) return senseless("bytes that do not follow those before");
  // Only the other side says that its file starts with what is here.
  if (copy->second->is_whole && !bytes.data().empty()) return not_a_beginning(copy->second->file.path());
  return copy->second->file.append(bytes.data());
}

bool Copies::is_first(std::uint32_t number) const {
  const auto copy = by_number_.find(number);
  return copy != by_number_.end() && copy->second == &copies_.front();
}

bool Copies::are_equal(const proto::RemoteReply::End& end) {
  std::size_t equal = 0;
  for (const proto::RemotePosition& there : end.files()) {
    const auto copy = std::find_if(copies_.begin(), copies_.end(), [&there](const Copy& each) { return each.name == there.name(); });
    if (copy == copies_.end()) return false;
    if (copy->file.sums().size() != there.size() || copy->file.sums().all() != there.tail()) return false;
    if (++equal > kMostFiles) return false;
  }
  by_number_.clear();
  std::erase_if(copies_, [this, &end](Copy& copy) {
    const auto is_copy = [&copy](const proto::RemotePosition& there) { return there.name() == copy.name; };
    if (std::any_of(end.files().begin(), end.files().end(), is_copy)) return false;
    return !keep_what_came(copy, end);
  });
  return true;
}

// Returns true if the copy is kept.
bool Copies::keep_what_came(Copy& copy, const proto::RemoteReply::End& end) {
  const auto names = [&copy](const auto& each) { return std::find(each.begin(), each.end(), copy.name) != each.end(); };
  const bool was_removed = names(end.removed());
  if (copy.is_kept || (was_removed && copy.file.sums().size() == 0)) return false;
  if (names(end.thrown_away())) {
    copy.file.discard();
    return false;
  }
  copy.is_cut_off = true;
  lost_.push_back({copy.file.is_in_place() ? copy.file.path() : std::filesystem::path(), copy.name, was_removed});
  return copy.file.is_in_place();  // otherwise it was worth less than the file that it was to replace
}

Result<void> Copies::finish() {
  for (Copy& copy : copies_) {
    if (copy.is_cut_off) continue;
    if (Result<void> finished = copy.file.finish(); !finished) return finished;
  }
  return {};
}

std::vector<std::filesystem::path> Copies::earlier() const {
  std::vector<std::filesystem::path> earlier;
  for (const Copy& copy : copies_) earlier.push_back(copy.file.earlier());
  std::erase(earlier, std::filesystem::path());
  return earlier;
}

std::vector<CopiedFile> Copies::files() const {
  std::vector<CopiedFile> files;
  for (const Copy& copy : copies_)
    if (copy.file.is_in_place() && !copy.is_kept) files.push_back({copy.file.path(), copy.file.sums().size()});
  return files;
}

}  // namespace lanescope::remote
