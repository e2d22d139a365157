#include "collector/attach/process_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <sstream>

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

PartsRead read_parts(const std::filesystem::path& path, std::size_t limit, const std::function<Reading(std::string_view part)>& take) {
  constexpr std::size_t kPiece = 16u << 10;
  const channel::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return PartsRead::kNone;
  std::string part;  // the part that has begun
  bool is_too_long = false;
  bool has_passed_over = false;
  char piece[kPiece];
  for (std::size_t size = 0; size < limit;) {
    const ssize_t got = read(file.get(), piece, std::min(sizeof(piece), limit - size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const bool is_ended = part.empty() || take(part) == Reading::kGoesOn;
      return is_ended && !is_too_long && !has_passed_over ? PartsRead::kAll : PartsRead::kSome;
    }
    size += static_cast<std::size_t>(got);
    for (std::string_view rest(piece, static_cast<std::size_t>(got)); !rest.empty();) {
      const std::size_t end = rest.find('\0');
      const std::string_view more = rest.substr(0, end);
      is_too_long = is_too_long || part.size() + more.size() > kMostPartBytes;
      if (!is_too_long) part += more;
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      has_passed_over = has_passed_over || is_too_long;
      if (!is_too_long && take(part) == Reading::kEnds) return PartsRead::kSome;
      is_too_long = false;
      part.clear();
    }
  }
  return PartsRead::kSome;
}

char ProcessStat::state() const { return fields.empty() || fields.front().empty() ? '\0' : fields.front().front(); }

std::uint64_t ProcessStat::number(std::size_t field) const {
  constexpr std::size_t kFirst = 3;
  return field < kFirst || field - kFirst >= fields.size() ? 0 : std::strtoull(fields[field - kFirst].c_str(), nullptr, 10);
}

ProcessStat process_stat(const std::filesystem::path& folder) {
  const std::string text = process_text(folder / "stat");
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');  // no field after the name contains one
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::istringstream fields(text.substr(close + 1));
  return {text.substr(open + 1, close - open - 1), {std::istream_iterator<std::string>(fields), {}}};
}

std::string status_value(std::string_view status, std::string_view word) {
  for (std::size_t begin = 0; begin < status.size();) {
    const std::size_t end = std::min(status.find('\n', begin), status.size());
    const std::string_view line = status.substr(begin, end - begin);
    if (line.starts_with(word)) return std::string(line.substr(std::min(line.find_first_not_of(" \t", word.size()), line.size())));
    begin = end + 1;
  }
  return {};
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
