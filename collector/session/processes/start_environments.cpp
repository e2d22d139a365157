#include "processes/start_environments.h"

#include <algorithm>

namespace lanescope::session {

void StartEnvironments::ask_for(std::span<const std::string_view> names) {
  for (const std::string_view name : names)
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.emplace_back(name);
  known_.clear();
}

std::map<std::string, std::string> StartEnvironments::among(std::span<const std::string> environment) const {
  std::map<std::string, std::string> found;
  for (const std::string& entry : environment) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    std::string name = entry.substr(0, equals);
    if (equals < entry.size() && std::find(names_.begin(), names_.end(), name) != names_.end()) found.emplace(std::move(name), entry.substr(equals + 1));
  }
  return found;
}

// Exec sets a program's environment last, with its arguments. A number without the random part may also be another program's.
StartVariables StartEnvironments::of(pid_t pid) {
  constexpr std::size_t kMostPrograms = 4096;
  const ProgramNumber number = program_state(pid).number;
  const Program program{number.stack, number.random};
  if (const auto found = known_.find(program); found != known_.end()) return found->second;
  const bool has_all = has_arguments(pid);
  const std::vector<std::string_view> names(names_.begin(), names_.end());
  StartVariables variables = start_variables(pid, names);
  const bool is_whole = has_all && variables.of_others == StartEnvironment::kWithout;
  const bool is_of_program = number.is_known() && number.random != 0 && program_state(pid).number.is_same(number);
  if (!is_whole || !is_of_program) return variables;
  if (known_.size() == kMostPrograms) known_.clear();
  return known_.emplace(program, std::move(variables)).first->second;
}

}  // namespace lanescope::session
