#include "own_link.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>

namespace lanescope {

std::optional<std::filesystem::path> target_of_link(const std::filesystem::path& path, LinksOf trusted) {
  const int link = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0) return std::nullopt;
  struct stat facts {};
  std::array<char, PATH_MAX> text{};
  const bool is_link = fstat(link, &facts) == 0 && S_ISLNK(facts.st_mode);
  const bool is_trusted = facts.st_uid == geteuid() || (trusted == LinksOf::kThisUserAndRoot && facts.st_uid == 0);
  const ssize_t length = is_link && is_trusted ? readlinkat(link, "", text.data(), text.size()) : -1;
  close(link);
  if (length <= 0 || length == static_cast<ssize_t>(text.size())) return std::nullopt;
  return path.parent_path() / std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace lanescope
