#include "perf_map.h"

#include <sys/stat.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace lanescope::cpu {
namespace {

// The process's number as it knows it itself, which in a container is not ours.
std::string own_number(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    return line.substr(line.find_last_of(" \t") + 1);
  }
  return std::to_string(process);
}

std::uint64_t size_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

}  // namespace

std::optional<PythonName> python_name(std::string_view name) {
  constexpr std::string_view kPrefix = "py::";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t colon = name.find(':');  // names of functions hold none
  if (colon == std::string_view::npos) return PythonName{name, {}};
  return PythonName{name.substr(0, colon), name.substr(colon + 1)};
}

void PerfMap::refresh() {
  if (path_.empty() || size_of(path_) == 0) {
    const std::string through_process = "/proc/" + std::to_string(process_) + "/root/tmp/perf-" + own_number(process_) + ".map";
    const std::string plain = "/tmp/perf-" + std::to_string(process_) + ".map";
    path_ = size_of(plain) > 0 ? plain : through_process;
  }
  if (size_of(path_) <= read_) return;
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(read_));
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    add(std::string_view(text).substr(begin, end - begin));
    read_ += end + 1 - begin;
  }
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
  if (length.ec != std::errc{} || length.ptr == end) return;
  std::string name(length.ptr + 1, end);
  auto covered = entries_.lower_bound(start);
  while (covered != entries_.end() && covered->first < start + size) covered = entries_.erase(covered);
  entries_[start] = {start + size, std::move(name)};
}

std::string_view PerfMap::find(std::uint64_t address) const {
  auto entry = entries_.upper_bound(address);
  if (entry == entries_.begin()) return {};
  --entry;
  return address < entry->second.end ? std::string_view(entry->second.name) : std::string_view();
}

}  // namespace lanescope::cpu
