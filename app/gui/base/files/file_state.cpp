#include "base/files/file_state.h"

#include <sys/stat.h>

namespace lanescope::ui {

std::optional<FileState> state_of(const std::filesystem::path& file) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return std::nullopt;
  return FileState{facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec};
}

}  // namespace lanescope::ui
