#include "model/text/message.h"

#include <algorithm>

namespace lanescope {
namespace {

// The pattern with its placeholders replaced. A placeholder without a value stays unchanged.
template <typename Say>
std::string filled(std::string_view pattern, const std::vector<Message::Value>& values, Say say) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = pattern.find('{', at);
    const std::size_t close = open == std::string_view::npos ? open : pattern.find('}', open);
    text.append(pattern.substr(at, open == std::string_view::npos ? open : open - at));
    if (close == std::string_view::npos) {
      if (open != std::string_view::npos) text.append(pattern.substr(open));
      break;
    }
    const std::string_view name = pattern.substr(open + 1, close - open - 1);
    const auto value = std::find_if(values.begin(), values.end(), [&](const Message::Value& one) { return one.name == name; });
    if (value == values.end())
      text.append(pattern.substr(open, close + 1 - open));
    else
      text.append(say(value->message));
    at = close + 1;
  }
  return text;
}

}  // namespace

Message::Message(const char* words) : Message(std::string_view(words)) {}
Message::Message(std::string_view pattern) : pattern_(pattern), english_(pattern) {}
Message::Message(std::string_view pattern, std::vector<Value> values)
    : pattern_(pattern), values_(std::move(values)), english_(filled(pattern_, values_, [](const Message& value) { return value.english(); })) {}

Message Message::verbatim(std::string text) {
  Message message;
  message.english_ = std::move(text);
  return message;
}

std::string Message::in(const Language& language) const {
  if (pattern_.empty() || &language == &lanescope::english()) return english_;
  return filled(language.translate(pattern_), values_, [&](const Message& value) { return value.in(language); });
}

Message followed_by(Message first, Message then) {
  if (first.empty() || then.empty()) return first.empty() ? then : first;
  return Message("{first} {then}", {{"first", std::move(first)}, {"then", std::move(then)}});
}

Message listed(Message first, Message then) {
  if (first.empty() || then.empty()) return first.empty() ? then : first;
  return Message("{first}, {then}", {{"first", std::move(first)}, {"then", std::move(then)}});
}

std::ostream& operator<<(std::ostream& out, const Message& message) { return out << message.english(); }

}  // namespace lanescope
