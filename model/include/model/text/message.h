// A text for people that can be translated: an English template with placeholders in braces, and values for them.
//
//   Message("{gpu} was idle for {time}", {{"gpu", gpu_label(trace, gpu)}, {"time", duration_text(idle)}})
//
// Values are names and numbers, which are the same in every language, or messages. The template is the key of its translation, which has the same placeholders
// in any order. A sentence that varies therefore needs a template for each variant; pieces of text are never appended to each other.
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
  Message(const char* words);  // NOLINT: implicit; a literal template without placeholders
  explicit Message(std::string_view pattern);
  Message(std::string_view pattern, std::vector<Value> values);
  [[nodiscard]] static Message verbatim(std::string text);  // the same in every language

  [[nodiscard]] bool empty() const noexcept { return english_.empty(); }
  [[nodiscard]] const std::string& english() const noexcept { return english_; }
  operator const std::string&() const noexcept { return english_; }  // NOLINT: implicit, because a text is English unless another language is requested
  [[nodiscard]] std::string in(const Language& language) const;

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }  // empty if the text is verbatim
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

// `first` followed by `then`, as two sentences. An empty message changes nothing.
[[nodiscard]] Message followed_by(Message first, Message then);
// "first, then". An empty message changes nothing.
[[nodiscard]] Message listed(Message first, Message then);

std::ostream& operator<<(std::ostream& out, const Message& message);

}  // namespace lanescope
