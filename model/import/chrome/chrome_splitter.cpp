#include "chrome_splitter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "chrome_members.h"

namespace lanescope::importers {
namespace {

constexpr std::size_t kWindowBytes = 1u << 20;
constexpr std::size_t kLargestWindow = 64u << 20;  // a larger event is not read
constexpr std::size_t kLargestMember = 1u << 20;   // for stored members; frames of samples may fill the window

constexpr std::array<bool, 256> bytes_of(std::string_view bytes) {
  std::array<bool, 256> set{};
  for (const char byte : bytes) set[static_cast<unsigned char>(byte)] = true;
  return set;
}
constexpr auto kBlank = bytes_of(" \t\r\n");
constexpr auto kBlankOrComma = bytes_of(" \t\r\n,");
constexpr auto kStructure = bytes_of("\"{}[]");
constexpr auto kStringEnd = bytes_of("\"\\");
constexpr auto kDelimiter = bytes_of(",]} \t\r\n");

// The first byte of the set, at `position` or later.
const char* find(const char* position, const char* end, const std::array<bool, 256>& set) noexcept {
  while (position != end && !set[static_cast<unsigned char>(*position)]) ++position;
  return position;
}
const char* find_other(const char* position, const char* end, const std::array<bool, 256>& set) noexcept {
  while (position != end && set[static_cast<unsigned char>(*position)]) ++position;
  return position;
}

}  // namespace

bool ValueScan::advance_in_string(const char*& position, const char* end) noexcept {
  while (position != end) {
    if (escaped_) {
      escaped_ = false;
      ++position;
      continue;
    }
    position = find(position, end, kStringEnd);
    if (position == end) return false;
    if (*position++ == '\\') {
      escaped_ = true;
    } else {
      in_string_ = false;
      return true;
    }
  }
  return false;
}

bool ValueScan::advance(const char*& position, const char* end) noexcept {
  if (position == end) return false;
  if (!started_) {
    started_ = true;
    scalar_ = !kStructure[static_cast<unsigned char>(*position)];
  }
  if (scalar_) {
    position = find(position, end, kDelimiter);
    return position != end;
  }
  while (position != end) {
    if (in_string_) {
      if (!advance_in_string(position, end)) return false;
      if (depth_ == 0) return true;
      continue;
    }
    position = find(position, end, kStructure);
    if (position == end) return false;
    const char byte = *position++;
    if (byte == '"') {
      in_string_ = true;
    } else if (byte == '{' || byte == '[') {
      ++depth_;
    } else if (depth_ <= 1) {
      return true;
    } else {
      --depth_;
    }
  }
  return false;
}

ChromeSplitter::ChromeSplitter(TextSource& source) : source_(source), window_(kWindowBytes) {}

void ChromeSplitter::fail(std::string damage) {
  if (damage_.empty()) damage_ = std::move(damage);
  place_ = Place::kEnd;
}

bool ChromeSplitter::more() {
  if (begin_ > 0) {
    std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
    offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == window_.size()) {
    if (window_.size() >= kLargestWindow) {
      fail("the value at byte " + std::to_string(offset_) + " is larger than 64 MiB");
      return false;
    }
    window_.resize(window_.size() * 2);
  }
  const std::size_t count = source_.read(std::span(window_).subspan(end_));
  end_ += count;
  if (count == 0 && !source_.damage().empty()) fail(source_.damage());
  return count > 0;
}

void ChromeSplitter::read_behind() {
  place_ = Place::kEnd;
  if (skip_blanks() && has_events_) fail("something stands behind its end, at byte " + std::to_string(offset_ + begin_));
}

bool ChromeSplitter::skip_blanks() {
  do {
    const char* const base = window_.data();
    begin_ = static_cast<std::size_t>(find_other(base + begin_, base + end_, kBlank) - base);
    if (begin_ < end_) return true;
  } while (more());
  return false;
}

// The value at the beginning of the window; valid until the window moves. Nothing if the text ends within the value.
std::optional<std::string_view> ChromeSplitter::read_value() {
  ValueScan scan;
  std::size_t length = 0;
  for (;;) {
    const char* position = window_.data() + begin_ + length;
    const bool complete = scan.advance(position, window_.data() + end_);
    length = static_cast<std::size_t>(position - window_.data()) - begin_;
    if (complete) break;
    if (!more()) return std::nullopt;
  }
  const std::string_view value(window_.data() + begin_, length);
  begin_ += length;
  return value;
}

void ChromeSplitter::find_start() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (!more()) return fail("it is empty");
  if (std::string_view(window_.data(), end_).starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
  if (!skip_blanks()) return fail("it is empty");
  const char first = window_[begin_];
  if (first != '{' && first != '[') return fail("it is not JSON");
  ++begin_;
  bare_array_ = has_events_ = first == '[';
  place_ = bare_array_ ? Place::kEvents : Place::kMembers;
}

void ChromeSplitter::read_member() {
  const auto cut_off = [this] { fail("it is cut off at byte " + std::to_string(offset_ + end_)); };
  do {
    if (!skip_blanks()) return cut_off();
  } while (window_[begin_] == ',' && ++begin_ > 0);
  if (window_[begin_] == '}') {
    ++begin_;
    place_ = Place::kBehind;
    return;
  }
  const auto malformed = [this] { fail("it is not JSON at byte " + std::to_string(offset_ + begin_)); };
  if (window_[begin_] != '"') return malformed();
  const auto quoted = read_value();
  if (!quoted) return cut_off();
  std::string name(quoted->substr(1, quoted->size() - 2));
  if (!skip_blanks()) return cut_off();
  if (window_[begin_] != ':') return malformed();
  ++begin_;
  if (!skip_blanks()) return cut_off();
  if ((name == "traceEvents" || name == "samples") && window_[begin_] == '[') {
    ++begin_;
    place_ = name == "samples" ? Place::kSamples : Place::kEvents;
    has_events_ = has_events_ || place_ == Place::kEvents;
    return;
  }
  const auto value = read_value();
  if (!value) return cut_off();
  const bool is_wanted = std::find(std::begin(kReadMembers), std::end(kReadMembers), name) != std::end(kReadMembers);
  if (is_wanted && (name == "stackFrames" || value->size() <= kLargestMember)) members_.insert_or_assign(std::move(name), *value);
}

// Takes all complete elements in the window; reads more only while there is none.
void ChromeSplitter::fill(ChromeBatch& batch) {
  std::size_t first = 0;
  const Place place = place_;
  batch.content = place == Place::kSamples ? ChromeBatch::Content::kSamples : ChromeBatch::Content::kEvents;
  while (place_ == place) {
    const char* const base = window_.data();
    const auto blank_end = static_cast<std::size_t>(find_other(base + begin_, base + end_, kBlankOrComma) - base);
    if (blank_end == end_) {
      if (!batch.elements.empty()) break;
      begin_ = blank_end;
      if (more()) continue;
      if (!bare_array_) fail("it is cut off at byte " + std::to_string(offset_ + end_));
      place_ = Place::kEnd;  // a bare array may lack its closing bracket
      break;
    }
    if (window_[blank_end] == ']') {
      begin_ = blank_end + 1;
      place_ = bare_array_ ? Place::kBehind : Place::kMembers;
      break;
    }
    if (window_[blank_end] == '}' || window_[blank_end] == ':') {
      fail("it is not JSON at byte " + std::to_string(offset_ + blank_end));
      break;
    }
    begin_ = blank_end;
    ValueScan scan;
    const char* position = base + begin_;
    if (scan.advance(position, base + end_)) {
      const auto element_end = static_cast<std::size_t>(position - base);
      if (batch.elements.empty()) first = begin_;
      batch.elements.push_back({static_cast<std::uint32_t>(begin_ - first + 1), static_cast<std::uint32_t>(element_end - first + 1)});
      begin_ = element_end;
      batch.size = element_end;
    } else if (!batch.elements.empty() || !more()) {
      if (batch.elements.empty()) fail("it is cut off at byte " + std::to_string(offset_ + end_));
      break;
    }
  }
  if (batch.elements.empty()) return;
  const std::size_t length = batch.size - first;
  batch.text.resize(length + 2 + ChromeBatch::kPadding);
  batch.text[0] = '[';
  std::memcpy(batch.text.data() + 1, window_.data() + first, length);
  batch.text[length + 1] = ']';
  batch.size = length + 2;
}

std::optional<ChromeBatch> ChromeSplitter::next(ChromeBatch recycled) {
  recycled.elements.clear();
  recycled.size = 0;
  while (place_ != Place::kEnd && recycled.elements.empty()) {
    if (place_ == Place::kStart)
      find_start();
    else if (place_ == Place::kMembers)
      read_member();
    else if (place_ == Place::kBehind)
      read_behind();
    else
      fill(recycled);
  }
  if (recycled.elements.empty()) return std::nullopt;
  return recycled;
}

}  // namespace lanescope::importers
