#include "model/file/privacy.h"

#include <sys/stat.h>

namespace lanescope {

Readers readers_of(std::span<const std::filesystem::path> sources) noexcept {
  Readers readers = Readers::kAsUsual;
  for (const std::filesystem::path& source : sources) {
    struct stat facts {};
    if (stat(source.c_str(), &facts) == 0) readers.permitted &= facts.st_mode | 0700;
  }
  return readers;
}

}  // namespace lanescope
