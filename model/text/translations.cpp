#include "translations.h"

namespace lanescope {
namespace {

// Adds the text between the quotes of a line, with its escapes decoded.
void add_quoted(std::string_view line, std::string& text) {
  const std::size_t open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || close == open) return;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (line[i] != '\\' || i + 1 == close) {
      text += line[i];
      continue;
    }
    ++i;
    text += line[i] == 'n' ? '\n' : line[i] == 't' ? '\t' : line[i];
  }
}

}  // namespace

std::unordered_map<std::string, std::string> read_translations(std::string_view po) {
  std::unordered_map<std::string, std::string> texts;
  std::string english, translated;
  std::string* current = nullptr;
  bool fuzzy = false;
  const auto keep = [&] {
    if (!fuzzy && !english.empty() && !translated.empty()) texts.emplace(english, translated);
    english.clear();
    translated.clear();
    current = nullptr;
    fuzzy = false;
  };
  while (!po.empty()) {
    const std::size_t end = po.find('\n');
    const std::string_view line = po.substr(0, end);
    po = end == std::string_view::npos ? std::string_view() : po.substr(end + 1);
    if (line.empty()) {
      keep();
    } else if (line.starts_with("#,")) {
      fuzzy = fuzzy || line.find("fuzzy") != std::string_view::npos;
    } else if (line.front() != '#') {
      if (line.starts_with("msgid ")) current = &english;
      if (line.starts_with("msgstr ")) current = &translated;
      if (current != nullptr) add_quoted(line, *current);
    }
  }
  keep();
  return texts;
}

}  // namespace lanescope
