#include "remote/text_from_there.h"

#include <unistd.h>

#include <cstdio>
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
    std::FILE* const file = is_output ? stdout : stderr;
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fflush(file);
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

void TextFromThere::flush(TextStream stream) {
  std::string& begun = begun_[static_cast<std::size_t>(stream)];
  if (!begun.empty()) (stream == TextStream::kOutput ? std::cout : std::cerr) << begun << std::flush;
  begun.clear();
}

}  // namespace lanescope::cli
