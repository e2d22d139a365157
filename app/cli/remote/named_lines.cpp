#include "remote/named_lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/trace/text/utf8.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kLargestPart = 4096;       // bytes that a pipe which is ready takes without blocking (PIPE_BUF)
constexpr std::size_t kMostWaiting = 64u << 10;  // bytes
constexpr std::size_t kLongestLine = 64u << 10;  // bytes; a longer one is printed as several

// Letters on a terminal, approximately: names are mostly ASCII.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) { return (static_cast<unsigned char>(letter) & 0xc0) != 0x80; }));
}

}  // namespace

SharedOutput::SharedOutput(int file) : file_(file), is_terminal_(isatty(file) == 1) {}

bool SharedOutput::is_full() const noexcept { return waiting_.size() >= kMostWaiting; }

void SharedOutput::add(std::string_view whole_lines) {
  if (has_left_) return;
  if (is_terminal_)
    waiting_ += printable(whole_lines, LineBreaks::kKept);
  else
    waiting_ += whole_lines;
}

void SharedOutput::write_on() {
  std::size_t part = std::min(waiting_.size(), kLargestPart);
  // The other output may go to the same terminal: whole lines are not interrupted by it.
  if (const std::size_t end = waiting_.rfind('\n', part == 0 ? 0 : part - 1); end != std::string::npos) part = end + 1;
  const ssize_t written = ::write(file_, waiting_.data(), part);
  if (written >= 0) {
    waiting_.erase(0, static_cast<std::size_t>(written));
  } else if (errno != EINTR && errno != EAGAIN) {
    has_left_ = true;
    waiting_.clear();
  }
}

void NamedLines::take(std::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    begun_ += bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end == std::string_view::npos && begun_.size() < kLongestLine) break;
    lines += prefix_ + std::exchange(begun_, {}) + '\n';
  }
  to_->add(lines);
}

void NamedLines::finish() {
  if (!begun_.empty()) to_->add(prefix_ + std::exchange(begun_, {}) + '\n');
}

std::vector<std::string> line_prefixes(const std::vector<std::string>& names) {
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, width_of(name));
  std::vector<std::string> prefixes;
  for (const std::string& name : names) prefixes.push_back(name + std::string(width - width_of(name), ' ') + " | ");
  return prefixes;
}

}  // namespace lanescope::cli
