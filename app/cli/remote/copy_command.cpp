#include "remote/copy_command.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "text.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

// What a recorder consists of, as seen from the folder of programs.
constexpr std::array<std::string_view, 12> kParts{
    "lanescope",
    "lanescope-code-names",
    "lanescope-gpu-metrics",
    "lanescope-kernel-metrics",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-agent.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-kernels.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-mpi.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-ucx.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-opengl.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-openmp.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-openacc.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/lanescope",
};

}  // namespace

std::string advice_to_copy(const remote::Target& target) {
  std::error_code failed;
  const fs::path programs = fs::read_symlink("/proc/self/exe", failed).parent_path();
  const fs::path prefix = programs.parent_path();
  if (failed || prefix.empty()) return "Install lanescope there, or name it with --remote-lanescope PATH.";
  std::vector<std::string> pack{"tar", "-C", prefix.string(), "-czf", "-"};
  for (const std::string_view part : kParts) {
    const fs::path path = (programs / part).lexically_normal();
    if (fs::exists(path, failed)) pack.push_back(path.lexically_relative(prefix).string());
  }
  // Where others may write, a folder that is there already may be theirs, who could then put another program into it.
  const std::string make = target.folder.starts_with("/tmp/") ? "mkdir -m 700 " : "mkdir -p ";
  const std::string unpack = make + target.folder + " && tar -C " + target.folder + " -xzf -";
  return "Copy this one there with: " + command_text(pack) + " | " + command_text(remote::command_on(target, {"sh", "-c", unpack})) +
         "; then add: --remote-lanescope " + target.folder + "/bin/lanescope";
}

}  // namespace lanescope::cli
