#include "perf_map.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "collector/attach/process_text.h"

namespace lanescope::cpu {
namespace {

constexpr std::uint64_t kMostBytes = 64u << 20;   // of one file; ten times the largest size seen from large programs
constexpr std::size_t kLongestName = 1024;        // longer names are cut
constexpr std::size_t kPiece = 1u << 20;          // bytes read at a time; no line is longer
constexpr std::size_t kEntryBytes = 96;           // in memory, without the name
constexpr std::uint64_t kLargestCode = 1u << 30;  // bytes of one piece of code

struct Facts {
  std::optional<uid_t> user;
  std::string own_number;  // the number that the process has for itself, which differs from ours in a container
};

Facts facts_of(pid_t process) {
  Facts facts{{}, std::to_string(process)};
  const std::string status = attach::process_text("/proc/" + std::to_string(process) + "/status");
  const std::string users = attach::status_value(status, "Uid:"), numbers = attach::status_value(status, "NSpid:");
  if (!users.empty()) facts.user = static_cast<uid_t>(std::strtoul(users.c_str(), nullptr, 10));
  if (!numbers.empty()) facts.own_number = numbers.substr(numbers.find_last_of(" \t") + 1);
  return facts;
}

}  // namespace

std::optional<PythonName> python_name(std::string_view name) {
  constexpr std::string_view kPrefix = "py::";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t colon = name.find(':');  // names of functions contain no colon
  if (colon == std::string_view::npos) return PythonName{name, {}};
  return PythonName{name.substr(0, colon), name.substr(colon + 1)};
}

PerfMap::PerfMap(pid_t process, std::shared_ptr<PerfMapBudget> budget) : process_(process), budget_(std::move(budget)) {
  Facts facts = facts_of(process);
  user_ = facts.user;
  own_path_ = "/tmp/perf-" + facts.own_number + ".map";
}

PerfMap::~PerfMap() { budget_->left += taken_; }

bool PerfMap::counts(const attach::ForeignFile& file) const {
  return file.facts.st_size > 0 && (file.facts.st_uid == 0 || file.facts.st_uid == user_.value_or(geteuid()));
}

std::optional<attach::ForeignFile> PerfMap::open() {
  std::optional<attach::ForeignFile> file = attach::open_file("/tmp/perf-" + std::to_string(process_) + ".map", attach::Links::kRefuseLast);
  if (file && counts(*file)) return file;
  file = attach::open_file_of(process_, own_path_, attach::Links::kRefuseLast);
  if (file && counts(*file)) return file;
  return std::nullopt;
}

void PerfMap::refresh() {
  if (is_cut_) return;
  const std::optional<attach::ForeignFile> file = open();
  if (!file || static_cast<std::uint64_t>(file->facts.st_size) <= std::max(read_, size_)) return;
  size_ = static_cast<std::uint64_t>(file->facts.st_size);
  std::vector<char> piece(static_cast<std::size_t>(std::min<std::uint64_t>(size_ - read_, kPiece)));
  while (!is_cut_) {
    const ssize_t count = pread(file->descriptor.get(), piece.data(), piece.size(), static_cast<off_t>(read_));
    if (count <= 0) return;
    const std::string_view text(piece.data(), static_cast<std::size_t>(count));
    const std::size_t end = text.rfind('\n');
    if (end == std::string_view::npos && text.size() < kPiece) return;  // a line that is still being written
    const std::size_t whole = end == std::string_view::npos ? text.size() : end + 1;
    if (end != std::string_view::npos) take(text.substr(0, whole));
    read_ += whole;
    is_cut_ = is_cut_ || read_ >= kMostBytes;
  }
}

void PerfMap::take(std::string_view text) {
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos && !is_cut_; begin = end + 1)
    add(text.substr(begin, end - begin));
}

void PerfMap::add(std::string_view line) {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data() + (line.starts_with("0x") ? 2 : 0), end, start, 16);
  if (first.ec != std::errc{} || first.ptr == end) return;
  const char* second = first.ptr + 1;
  if (end - second > 2 && second[0] == '0' && second[1] == 'x') second += 2;
  const auto length = std::from_chars(second, end, size, 16);
  if (length.ec != std::errc{} || length.ptr == end || size > kLargestCode || start > ~std::uint64_t{0} - size) return;
  const std::string_view whole(length.ptr + 1, static_cast<std::size_t>(end - length.ptr - 1));
  std::string name(whole.substr(0, kLongestName));
  const std::uint64_t bytes = kEntryBytes + name.size();
  is_cut_ = budget_->left < bytes;
  if (is_cut_) return;
  auto covered = entries_.lower_bound(start);
  while (covered != entries_.end() && covered->first < start + size) {
    budget_->left += kEntryBytes + covered->second.name.size();
    taken_ -= kEntryBytes + covered->second.name.size();
    covered = entries_.erase(covered);
  }
  const bool is_new = entries_.try_emplace(start, Entry{start + size, std::move(name)}).second;
  if (!is_new) return;  // an entry of size 0 at the start of another entry
  budget_->left -= bytes;
  taken_ += bytes;
}

std::string_view PerfMap::find(std::uint64_t address) const {
  auto entry = entries_.upper_bound(address);
  if (entry == entries_.begin()) return {};
  --entry;
  return address < entry->second.end ? std::string_view(entry->second.name) : std::string_view();
}

}  // namespace lanescope::cpu
