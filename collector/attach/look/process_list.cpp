#include "collector/attach/process_list.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "collector/attach/candidate.h"
#include "model/file/last_path_part.h"

namespace lanescope::attach {
namespace {

std::string login_name(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(user, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(user);
}

// The kernel keeps 15 bytes of a name, and many programs have these in common. Returns the program's own name if it continues that prefix.
std::string whole_name(const Candidate& candidate) {
  constexpr std::size_t kKept = 15;
  const std::string program = candidate.command_line.substr(0, candidate.command_line.find(' '));
  const std::string last(last_path_part(program));
  return candidate.name.size() == kKept && last.starts_with(candidate.name) ? last : candidate.name;
}

}  // namespace

std::vector<pid_t> process_numbers() {
  std::vector<pid_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem == std::errc{} && rest == name.data() + name.size()) numbers.push_back(pid);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<ProcessSummary> list_processes() {
  std::vector<ProcessSummary> list;
  std::map<uid_t, std::string> names;
  for (const pid_t pid : process_numbers()) {
    if (pid == getpid()) continue;
    const Result<Candidate> candidate = read_candidate(pid);
    if (!candidate || candidate->kernel_thread || candidate->state == RunState::kHeadless || candidate->state == RunState::kEnding ||
        candidate->state == RunState::kZombie || is_of_a_recorder(*candidate))
      continue;
    auto [name, is_new] = names.try_emplace(candidate->user);
    if (is_new) name->second = login_name(candidate->user);
    const TracerRights rights = read_rights(*candidate);
    list.push_back({pid, whole_name(*candidate), candidate->command_line, name->second, candidate->uses_cuda, candidate->has_agent,
                    refusal(*candidate, rights).value_or(""), observation_refusal(*candidate, rights).value_or("")});
  }
  return list;
}

}  // namespace lanescope::attach
