#include "model/file/privacy.h"

#include <sys/stat.h>

#include <algorithm>

namespace lanescope {

Readers readers_of(std::span<const std::filesystem::path> sources) noexcept {
  constexpr mode_t kOthers = S_IRGRP | S_IROTH;
  const bool one_is_private = std::any_of(sources.begin(), sources.end(), [](const std::filesystem::path& source) {
    struct stat facts {};
    return stat(source.c_str(), &facts) == 0 && (facts.st_mode & kOthers) == 0;
  });
  return one_is_private ? Readers::kOwnerAlone : Readers::kAsUsual;
}

}  // namespace lanescope
