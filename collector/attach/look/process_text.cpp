#include "collector/attach/process_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collector/channel/file_descriptor.h"

namespace lanescope::attach {

std::string process_text(const std::filesystem::path& path, std::size_t limit) {
  constexpr std::size_t kPiece = 4096;
  std::string text;
  const channel::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (std::size_t size = 0; file.valid() && size < limit;) {
    text.resize(std::min(limit, std::max(kPiece, 2 * size)));
    const ssize_t got = read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got <= 0) text.resize(size);
    if (got <= 0) break;
    text.resize(size);
  }
  return text;
}

std::vector<std::string_view> parts_at_zeros(std::string_view text, std::size_t limit) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < text.size() && parts.size() < limit;) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> process_arguments(const std::filesystem::path& folder) {
  const std::string text = process_text(folder / "cmdline", kMostArgumentBytes);
  const std::vector<std::string_view> parts = parts_at_zeros(text, kMostArguments);
  return {parts.begin(), parts.end()};
}

}  // namespace lanescope::attach
