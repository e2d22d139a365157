#include "proc.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace lanescope::session {
namespace {

std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path folder_of(pid_t pid) { return std::filesystem::path("/proc") / std::to_string(pid); }

std::vector<std::string> split_at_zeros(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    parts.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return parts;
}

// The fields of /proc/PID/stat from the third on (state, parent, ...): the second is the name, which may hold anything.
std::vector<std::string> stat_fields(pid_t pid) {
  const std::string stat = file_content(folder_of(pid) / "stat");
  const std::size_t close = stat.rfind(')');
  if (close == std::string::npos) return {};
  std::istringstream fields(stat.substr(close + 1));
  return {std::istream_iterator<std::string>(fields), {}};
}

constexpr std::size_t kState = 0;
constexpr std::size_t kParent = 1;
constexpr std::size_t kExitStatus = 49;  // field 52 of proc(5)

pid_t parent_of(pid_t pid) {
  const std::vector<std::string> fields = stat_fields(pid);
  return fields.size() > kParent ? std::atoi(fields[kParent].c_str()) : 0;
}

}  // namespace

ProcessDescription describe_process(pid_t pid) {
  std::error_code ignored;
  return {parent_of(pid), std::filesystem::read_symlink(folder_of(pid) / "exe", ignored).string(),
          split_at_zeros(file_content(folder_of(pid) / "cmdline"))};
}

std::optional<ExitStatus> zombie_status(pid_t pid) {
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.size() <= kExitStatus || fields[kState] != "Z") return std::nullopt;
  const int status = std::atoi(fields[kExitStatus].c_str());
  if (WIFSIGNALED(status)) return ExitStatus{0, WTERMSIG(status)};
  return ExitStatus{WEXITSTATUS(status), 0};
}

std::map<std::uint32_t, std::string> thread_names(pid_t pid, std::size_t limit) {
  std::map<std::uint32_t, std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator task(folder_of(pid) / "task", failed);
  while (!failed && task != std::filesystem::directory_iterator() && names.size() < limit) {
    std::string name = file_content(task->path() / "comm");
    if (!name.empty() && name.back() == '\n') name.pop_back();
    const auto id = static_cast<std::uint32_t>(std::strtoul(task->path().filename().c_str(), nullptr, 10));
    if (!name.empty()) names.emplace(id, std::move(name));
    task.increment(failed);
  }
  return names;
}

}  // namespace lanescope::session
