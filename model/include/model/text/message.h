// A text for people that can be said in another language: a template in English with places in braces, and what stands in them.
//
//   Message("{gpu} was idle for {time}", {{"gpu", gpu_label(trace, gpu)}, {"time", duration_text(idle)}})
//
// Values are names and numbers, which every language has as they are, or messages themselves. The template is the key of its translation, which
// has the same places, in any order; so what varies in a sentence is a template of its own, never a piece of text that is added to another.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/language.h"

namespace lanescope {

class Message {
 public:
  struct Value;

  Message() = default;
  Message(const char* words);  // NOLINT: implicit; a template without places, as a literal
  explicit Message(std::string_view pattern);
  Message(std::string_view pattern, std::vector<Value> values);
  [[nodiscard]] static Message verbatim(std::string text);  // the same in every language

  [[nodiscard]] bool empty() const noexcept { return english_.empty(); }
  [[nodiscard]] const std::string& english() const noexcept { return english_; }
  operator const std::string&() const noexcept { return english_; }  // NOLINT: where no language is asked for, it is English
  [[nodiscard]] std::string in(const Language& language) const;

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }  // empty where the text is verbatim
  [[nodiscard]] const std::vector<Value>& values() const noexcept { return values_; }

 private:
  std::string pattern_;
  std::vector<Value> values_;
  std::string english_;
};

struct Message::Value {
  Value(std::string_view place, Message text) : name(place), message(std::move(text)) {}
  Value(std::string_view place, std::string text) : name(place), message(verbatim(std::move(text))) {}
  Value(std::string_view place, std::string_view text) : name(place), message(verbatim(std::string(text))) {}
  Value(std::string_view place, const char* words) : name(place), message(words) {}  // a template, as in Message

  std::string name;
  Message message;
};

// One sentence behind another; an empty one changes nothing.
[[nodiscard]] Message followed_by(Message first, Message then);
// "a, b"; an empty one changes nothing.
[[nodiscard]] Message listed(Message first, Message then);

std::ostream& operator<<(std::ostream& out, const Message& message);

}  // namespace lanescope
