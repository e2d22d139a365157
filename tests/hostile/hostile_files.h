// Files of the .trace format that take far more time or memory than their size suggests, each in one way.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace lanescope::test {

struct HostileFile {
  std::string name;  // named by what it has too much of: "overlapping_kernels"
  void (*write)(const std::filesystem::path& path, std::size_t bytes);
};

// All kinds. Each write() makes a file of at most about `bytes`.
const std::vector<HostileFile>& hostile_files();

}  // namespace lanescope::test
