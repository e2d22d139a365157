#include "remote/text_from_there.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace lanescope::cli {

using remote::TextStream;

namespace {

constexpr std::size_t kCertainWrite = 4096;      // bytes that a pipe which is ready takes without blocking (PIPE_BUF)
constexpr std::size_t kMostHeldText = 8u << 20;  // bytes

int file_of(TextStream stream) { return stream == TextStream::kOutput ? STDOUT_FILENO : STDERR_FILENO; }

// True for a pipe or socket whose other end is closed.
bool is_without_reader(int file) {
  struct stat status {};
  pollfd end{file, 0, 0};
  return fstat(file, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) && poll(&end, 1, 0) > 0 &&
         (end.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

TextFromThere::~TextFromThere() {
  flush(TextStream::kOutput);
  flush(TextStream::kMessages);
}

void TextFromThere::print(TextStream stream, std::string_view bytes) {
  const bool is_output = stream == TextStream::kOutput;
  if (isatty(file_of(stream)) == 0) {
    Waiting& waiting = waiting_[static_cast<std::size_t>(stream)];
    waiting.append(bytes);
    wait_for_reader(stream, kMostHeldText);
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

bool TextFromThere::has_room(TextStream stream, int limit) {
  pollfd room{file_of(stream), POLLOUT, 0};
  return poll(&room, 1, limit) > 0;
}

void TextFromThere::write(TextStream stream) {
  Waiting& waiting = waiting_[static_cast<std::size_t>(stream)];
  std::fflush(stream == TextStream::kOutput ? stdout : stderr);  // what we have printed before
  while (waiting.size() > 0 && has_room(stream, 0)) {
    const ssize_t written = ::write(file_of(stream), waiting.text.data() + waiting.written, std::min(waiting.size(), kCertainWrite));
    if (written >= 0) {
      waiting.written += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      Loss& loss = losses_[static_cast<std::size_t>(stream)];
      loss.bytes += waiting.size();
      loss.error = errno;
      has_left_[static_cast<std::size_t>(stream)] = errno == EPIPE;
      waiting = {};
    }
  }
  if (waiting.size() == 0) waiting = {};
}

remote::Reading TextFromThere::reading(TextStream stream) {
  write(stream);
  const auto place = static_cast<std::size_t>(stream);
  has_left_[place] = has_left_[place] || is_without_reader(file_of(stream));
  return {waiting_[place].size(), has_left_[place]};
}

void TextFromThere::wait_for_reader(TextStream stream, std::size_t most) {
  constexpr int kLook = 50;  // ms
  const Waiting& waiting = waiting_[static_cast<std::size_t>(stream)];
  for (write(stream); waiting.size() > most && goes_on_(); write(stream)) has_room(stream, kLook);
}

void TextFromThere::finish() {
  for (const TextStream stream : {TextStream::kOutput, TextStream::kMessages}) wait_for_reader(stream, 0);
}

std::vector<std::string> TextFromThere::losses() const {
  std::vector<std::string> sentences;
  for (const TextStream stream : {TextStream::kOutput, TextStream::kMessages}) {
    const Loss& loss = losses_[static_cast<std::size_t>(stream)];
    if (loss.bytes > 0 && loss.error != EPIPE)
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
