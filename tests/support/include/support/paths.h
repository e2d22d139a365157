// Where tests find their input.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <unistd.h>

namespace lanescope::test {

// A trace recorded on a real machine (tests/data/README.md says how).
inline std::filesystem::path data_file(const std::string& name) { return std::filesystem::path(LANESCOPE_TEST_DATA) / name; }

// A program of this build.
inline std::filesystem::path program(const std::string& name) { return std::filesystem::path(LANESCOPE_BINARY_DIR) / "bin" / name; }

// The folder of traces from other tools, if it exists (LANESCOPE_CORPUS).
inline std::optional<std::filesystem::path> corpus() {
  const char* variable = std::getenv("LANESCOPE_CORPUS");
  std::filesystem::path path = variable ? variable : LANESCOPE_CORPUS_DEFAULT;
  if (!std::filesystem::is_directory(path)) return std::nullopt;
  return path;
}

// A new empty folder that is removed with its content at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lanescope-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lanescope::test
