#include "base/condition_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/text/to_translate.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kLongest = 16'384;  // bytes of a text that is looked through
constexpr std::size_t kLongestValue = 8'192;

// {count} and {byte} stand for numbers, other places for any words.
constexpr std::array kSentences = {
    to_translate("{count} frame is damaged and skipped, the first at byte {byte}."),
    to_translate("{count} frames are damaged and skipped, the first at byte {byte}."),
    to_translate("Behind byte {byte} much looks like frames and is none: what follows was not searched for more."),
    to_translate("Can't read {file} at byte {byte}: {reason}; what had been read by then is here."),
    to_translate("The file was cut, or written anew, while it was read: what had been read by then is here."),
    to_translate("The recording was cut off or is still being written: everything up to its last whole frame is here."),
    to_translate("What follows byte {byte} was not read: the file unpacks to more than a recording of its size may hold (docs/file-format.md, Limits). Where you trust it, this makes one that is "
                 "read whole: {command}"),
    to_translate("{count} frame could not be understood and was skipped."),
    to_translate("{count} frames could not be understood and were skipped."),
    to_translate("{count} event could not be read any more and were left out."),
    to_translate("{count} events could not be read any more and were left out."),
    to_translate("{count} event had no room in the file."),
    to_translate("{count} events had no room in the file."),
    to_translate("The file is damaged: {damage}; the {count} event before that were read."),
    to_translate("The file is damaged: {damage}; the {count} events before that were read."),
    to_translate("And {count} more are not whole."),
};
constexpr std::array kLosses = {
    to_translate("{count} record dropped"),
    to_translate("{count} records dropped"),
    to_translate("{count} record invalid"),
    to_translate("{count} records invalid"),
    to_translate("{count} CUPTI buffer lost"),
    to_translate("{count} CUPTI buffers lost"),
    to_translate("{count} event had no room in the file"),
    to_translate("{count} events had no room in the file"),
    to_translate("{count} recording not whole"),
    to_translate("{count} recordings not whole"),
    to_translate("processes could not be followed"),
    to_translate("{count} warning says what else is missing"),
    to_translate("{count} warnings say what else is missing"),
};

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == ','; }

struct Known {
  Message message;
  std::size_t length = 0;
};

// The pattern, where the text begins with what it says; the last place has the rest of the text.
std::optional<Known> match(std::string_view pattern, std::string_view text) {
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
                                   : next.empty() ? from.size() : from.find(next);
    if (length == 0 || length == std::string_view::npos) return std::nullopt;
    values.emplace_back(name, std::string(from.substr(0, length)));
    at += length;
  }
  return Known{values.empty() ? Message(pattern) : Message(pattern, std::move(values)), at};
}

std::optional<Known> known(std::string_view text, std::span<const std::string_view> patterns) {
  for (const std::string_view pattern : patterns)
    if (auto found = match(pattern, text)) return found;
  return std::nullopt;
}

// Names of parts, and what others wrote, stand between what is known.
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

}  // namespace

Message condition_message(std::string_view sentences) { return known_parts(sentences, kSentences, " ", followed_by); }

Message completeness_message(std::string_view text) {
  constexpr std::string_view kIncomplete = "incomplete: ";
  if (!text.starts_with(kIncomplete)) return Message(text);
  for (const std::string_view whole : {"incomplete: not all of it could be read", "incomplete: the recording was cut off"})
    if (text == whole) return Message(whole);
  return Message("incomplete: {list}", {{"list", known_parts(text.substr(kIncomplete.size()), kLosses, ", ", listed)}});
}

}  // namespace lanescope::ui
