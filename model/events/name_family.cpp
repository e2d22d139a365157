#include "model/events/name_family.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lanescope {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool ends_with_counting_word(std::string_view text) {
  constexpr std::array<std::string_view, 6> kWords{"step", "iter", "iteration", "batch", "epoch", "frame"};
  const std::size_t last_word = text.size() - std::min<std::size_t>(text.size(), 16);
  std::string tail(text.substr(last_word));
  std::transform(tail.begin(), tail.end(), tail.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return tail.ends_with(word); });
}

bool contains_without_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace

std::string name_family(std::string_view name) {
  std::string family;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_digit(name[i])) {
      family.push_back(name[i++]);
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    const bool touches_letter_behind = end < name.size() && is_letter(name[end]);
    const bool follows_letter = i > 0 && is_letter(name[i - 1]) && !ends_with_counting_word(name.substr(0, i));
    if (touches_letter_behind || follows_letter)
      family.append(name.substr(i, end - i));
    else
      family.push_back('*');
    i = end;
  }
  return family;
}

bool name_matches(std::string_view name, std::string_view text) {
  if (contains_without_case(name, text)) return true;
  return text.find('*') != std::string_view::npos && contains_without_case(name_family(name), text);
}

}  // namespace lanescope
