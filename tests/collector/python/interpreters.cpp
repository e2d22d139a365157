#include "interpreters.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

namespace lanescope::test {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  char part[4096];
  for (std::size_t size = 0; pipe && (size = fread(part, 1, sizeof(part), pipe.get())) > 0;) output.append(part, size);
  return output;
}

std::uint32_t line_with(const std::string& file, std::string_view text) {
  std::ifstream lines(file);
  std::uint32_t number = 1;
  for (std::string line; std::getline(lines, line); ++number)
    if (line.find(text) != std::string::npos) return number;
  return 0;
}

std::vector<std::string> interpreters() {
  std::vector<std::string> found;
  // The interpreter itself, not a script that starts it.
  std::string own = output_of("python3 -c 'import sys; sys.version_info >= (3, 9) and print(sys.executable, end=\"\")' 2>/dev/null");
  if (!own.empty()) found.push_back(std::move(own));
  const char* others = std::getenv("LANESCOPE_PYTHONS");
  std::istringstream paths(others != nullptr ? others : "");
  for (std::string path; std::getline(paths, path, ':');)
    if (!path.empty()) found.push_back(path);
  return found;
}

bool is_free_threaded(const std::string& interpreter) {
  return output_of(interpreter + " -c 'import sysconfig; print(sysconfig.get_config_var(\"Py_GIL_DISABLED\"), end=\"\")'") == "1";
}

unsigned minor_version(const std::string& interpreter) {
  return static_cast<unsigned>(std::stoul(output_of(interpreter + " -c 'import sys; print(sys.version_info[1])'")));
}

}  // namespace lanescope::test
