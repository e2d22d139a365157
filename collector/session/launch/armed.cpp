#include "collector/session/armed.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "collector/channel/layout.h"
#include "collector/session/inheritance.h"
#include "launch/target_environment.h"

namespace lanescope::session {

Error become_armed(const std::vector<std::string>& command, const std::filesystem::path& agent) {
  if (command.empty()) return {"There is no program to run.", ErrorKind::kUsage};
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const bool is_nvtx = std::strcmp(variable, "NVTX_INJECTION64_PATH") == 0;
    if (const char* other = std::getenv(variable); other != nullptr && agent != other && !(is_nvtx && nvtx_tool(agent) == other))
      return {std::string(variable) + " is set to " + other + " already, and only one such library is loaded. Unset it and start again."};
    setenv(variable, (is_nvtx ? nvtx_tool(agent) : agent).c_str(), 1);
  }
  setenv(channel::kArmedVariable, "1", 1);
  unsetenv(channel::kSocketVariable);
  unsetenv(channel::kFiltersVariable);
  if (const std::optional<std::string> filters = known_filters()) setenv(channel::kFiltersVariable, filters->c_str(), 1);
  std::vector<std::string> texts = command;
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  give_back_inheritance();
  execvp(arguments[0], arguments.data());
  return {command.front() + " can't be run: " + std::strerror(errno) + "."};
}

}  // namespace lanescope::session
