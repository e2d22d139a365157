#include "process_record.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "collector/attach/process_text.h"

namespace lanescope::cpu {
namespace {

constexpr pid_t kKernelThreads = 2;  // parent of all kernel threads

std::filesystem::path folder_of(pid_t process) { return std::filesystem::path("/proc") / std::to_string(process); }

std::vector<std::uint32_t> numbered_entries(const std::filesystem::path& folder) {
  std::vector<std::uint32_t> numbers;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    std::uint32_t number = 0;
    const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (problem == std::errc{} && rest == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

// Fields of a stat file from the third on. The second one, a name in parentheses, is put into `name`.
std::vector<std::string> stat_fields(const std::filesystem::path& path, std::string& name) {
  const std::string stat = attach::process_text(path);
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  name = stat.substr(open + 1, close - open - 1);
  std::istringstream fields(stat.substr(close + 1));
  return {std::istream_iterator<std::string>(fields), {}};
}
constexpr std::size_t kState = 0;
constexpr std::size_t kParent = 1;
constexpr std::size_t kProcessor = 36;  // field 39 of proc(5)

}  // namespace

std::vector<ThreadNow> threads_now(pid_t process) {
  std::vector<ThreadNow> threads;
  for (const std::uint32_t number : numbered_entries(folder_of(process) / "task")) {
    ThreadNow thread{number, {}, false, 0};
    const std::vector<std::string> fields = stat_fields(folder_of(process) / "task" / std::to_string(number) / "stat", thread.name);
    if (fields.size() <= kProcessor || fields[kState] == "Z" || fields[kState] == "X") continue;  // it has ended
    thread.may_run = fields[kState] == "R";
    thread.processor = static_cast<std::uint32_t>(std::atoi(fields[kProcessor].c_str()));
    threads.push_back(std::move(thread));
  }
  return threads;
}

std::vector<pid_t> with_descendants(pid_t process) {
  std::vector<pid_t> family{process};
  for (std::size_t i = 0; i < family.size(); ++i) {
    for (const std::uint32_t thread : numbered_entries(folder_of(family[i]) / "task")) {
      std::ifstream children(folder_of(family[i]) / "task" / std::to_string(thread) / "children");
      for (pid_t child = 0; children >> child;) family.push_back(child);
    }
  }
  return family;
}

ProcessNow process_now(pid_t process) {
  ProcessNow now;
  std::string name;
  const std::vector<std::string> fields = stat_fields(folder_of(process) / "stat", name);
  if (fields.size() > kParent) now.parent = std::atoi(fields[kParent].c_str());
  now.of_kernel = process == kKernelThreads || now.parent == kKernelThreads;
  std::error_code ignored;
  now.executable = std::filesystem::read_symlink(folder_of(process) / "exe", ignored).string();
  now.arguments = attach::process_arguments(folder_of(process));
  return now;
}

}  // namespace lanescope::cpu
