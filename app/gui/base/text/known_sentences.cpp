#include "base/text/known_sentences.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lanescope::ui {
namespace {

constexpr std::size_t kLongest = 16'384;  // bytes; longer texts are not searched
constexpr std::size_t kLongestValue = 8'192;

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == ','; }

struct Known {
  Message message;
  std::size_t length = 0;
};

// A dot followed by a blank, because names of files contain dots, too.
std::size_t end_of_sentence(std::string_view text) {
  const std::size_t between = text.find(". ");
  return between != std::string_view::npos || !text.ends_with('.') ? between : text.size() - 1;
}

std::optional<Known> known(std::string_view text, std::span<const std::string_view> patterns);

// A reason has patterns of its own among the others.
Message::Value value_of(std::string_view name, std::string_view text, std::span<const std::string_view> patterns) {
  if (name == "reason")
    if (std::optional<Known> reason = known(text, patterns); reason && reason->length == text.size()) return {name, std::move(reason->message)};
  return {name, std::string(text)};
}

// Matches the pattern at the start of the text; a placeholder at the end takes the rest of the text.
std::optional<Known> match(std::string_view pattern, std::string_view text, std::span<const std::string_view> patterns) {
  std::vector<Message::Value> values;
  std::size_t at = 0;
  for (std::string_view rest = pattern; !rest.empty();) {
    const std::size_t open = std::min(rest.find('{'), rest.size());
    if (!text.substr(at).starts_with(rest.substr(0, open))) return std::nullopt;
    at += open;
    rest.remove_prefix(open);
    if (rest.empty()) break;
    const std::size_t close = rest.find('}');
    const std::string_view name = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    const std::string_view next = rest.substr(0, rest.find('{'));
    const std::string_view from = text.substr(at, kLongestValue);
    const std::size_t length = name == "count" || name == "byte"
                                   ? static_cast<std::size_t>(std::find_if_not(from.begin(), from.end(), is_of_number) - from.begin())
                               : next.empty()                ? from.size()
                               : next == "." && rest == next ? end_of_sentence(from)
                                                             : from.find(next);
    if (length == 0 || length == std::string_view::npos) return std::nullopt;
    values.push_back(value_of(name, from.substr(0, length), patterns));
    at += length;
  }
  return Known{values.empty() ? Message(pattern) : Message(pattern, std::move(values)), at};
}

std::optional<Known> known(std::string_view text, std::span<const std::string_view> patterns) {
  for (const std::string_view pattern : patterns)
    if (auto found = match(pattern, text, patterns)) return found;
  return std::nullopt;
}

}  // namespace

Message known_parts(std::string_view text, std::span<const std::string_view> patterns, std::string_view between, Message (*join)(Message, Message)) {
  if (text.size() > kLongest) return Message::verbatim(std::string(text));
  Message all;
  std::string unknown;
  const auto add_unknown = [&] {
    while (unknown.ends_with(' ')) unknown.pop_back();
    if (!unknown.empty()) all = join(std::move(all), Message::verbatim(std::exchange(unknown, {})));
  };
  while (!text.empty()) {
    std::size_t length = std::min(text.find(' '), text.size() - 1) + 1;  // of the next word
    if (auto found = known(text, patterns)) {
      add_unknown();
      all = join(std::move(all), std::move(found->message));
      length = found->length;
      if (text.substr(length).starts_with(between)) length += between.size();
    } else {
      unknown.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  add_unknown();
  return all;
}

}  // namespace lanescope::ui
