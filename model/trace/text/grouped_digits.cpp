#include "model/trace/text/grouped_digits.h"

namespace lanescope {

void group_digits(std::string& text, std::size_t first) {
  constexpr std::size_t kGroup = 3;
  if (first < text.size() && text[first] == '-') ++first;
  std::size_t end = text.find('.', first);
  if (end == std::string::npos) end = text.size();
  while (end > first + kGroup) text.insert(end -= kGroup, 1, ',');
}

std::string grouped_digits(std::uint64_t number) {
  std::string text = std::to_string(number);
  group_digits(text);
  return text;
}

}  // namespace lanescope
