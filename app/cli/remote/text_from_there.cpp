#include "remote/text_from_there.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace lanescope::cli {

using remote::TextStream;

TextFromThere::~TextFromThere() {
  flush(TextStream::kOutput);
  flush(TextStream::kMessages);
}

void TextFromThere::print(TextStream stream, std::string_view bytes) {
  const bool is_output = stream == TextStream::kOutput;
  if (isatty(is_output ? STDOUT_FILENO : STDERR_FILENO) == 0) {
    write(stream, bytes);
    return;
  }
  constexpr std::size_t kLongestLine = 64u << 10;
  std::string& begun = begun_[static_cast<std::size_t>(stream)];
  const std::size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    (is_output ? std::cout : std::cerr) << begun << bytes.substr(0, end + 1) << std::flush;
    begun.clear();
    bytes.remove_prefix(end + 1);
  }
  begun.append(bytes);
  if (begun.size() > kLongestLine) flush(stream);
}

void TextFromThere::write(TextStream stream, std::string_view bytes) {
  const int file = stream == TextStream::kOutput ? STDOUT_FILENO : STDERR_FILENO;
  std::fflush(stream == TextStream::kOutput ? stdout : stderr);  // what we have said before
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{file, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      Loss& loss = losses_[static_cast<std::size_t>(stream)];
      loss.bytes += bytes.size();
      loss.error = errno;
      return;
    }
  }
}

std::vector<std::string> TextFromThere::losses() const {
  std::vector<std::string> sentences;
  for (const TextStream stream : {TextStream::kOutput, TextStream::kMessages}) {
    const Loss& loss = losses_[static_cast<std::size_t>(stream)];
    if (loss.bytes > 0)
      sentences.push_back(std::to_string(loss.bytes) + " bytes that were printed there to standard " + (stream == TextStream::kOutput ? "output" : "error") +
                          " could not be written here: " + std::strerror(loss.error) + ".");
  }
  return sentences;
}

bool TextFromThere::lacks_text() const {
  return std::any_of(losses_.begin(), losses_.end(), [](const Loss& loss) { return loss.bytes > 0 && loss.error != EPIPE; });
}

void TextFromThere::flush(TextStream stream) {
  std::string& begun = begun_[static_cast<std::size_t>(stream)];
  if (!begun.empty()) (stream == TextStream::kOutput ? std::cout : std::cerr) << begun << std::flush;
  begun.clear();
}

}  // namespace lanescope::cli
