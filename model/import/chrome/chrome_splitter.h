// Divides the text of a Chrome trace into batches of complete events. Internal to model/import.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text_source.h"

namespace lanescope::importers {

// A run of complete elements from the array of events or of samples, as separate JSON text.
struct ChromeBatch {
  static constexpr std::size_t kPadding = 64;  // readable bytes behind the text, for SIMD
  enum class Content : std::uint8_t { kEvents, kSamples };

  Content content = Content::kEvents;
  std::vector<char> text;  // "[", the elements with their separators, "]", kPadding bytes
  std::size_t size = 0;    // without the padding
  struct Element {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<Element> elements;  // positions in `text`
};

// Walks over one JSON value, piece by piece. Only recognizes strings and nesting.
class ValueScan {
 public:
  // Moves `position` forward. Returns true when it is behind the value. If false, call again with the following text.
  bool advance(const char*& position, const char* end) noexcept;

 private:
  bool advance_in_string(const char*& position, const char* end) noexcept;
  std::uint64_t depth_ = 0;
  bool started_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  bool scalar_ = false;  // a number or a word, which ends at a delimiter
};

class ChromeSplitter {
 public:
  explicit ChromeSplitter(TextSource& source);

  // The next batch, in the memory of `recycled`. Nothing at the end of the text.
  std::optional<ChromeBatch> next(ChromeBatch recycled);

  // For an object with traceEvents, the members in kReadMembers, as JSON text by name. Large members except stackFrames are left out. Complete after the last
  // batch.
  [[nodiscard]] const std::map<std::string, std::string>& members() const noexcept { return members_; }

  // True if the text was JSON with an array of events.
  [[nodiscard]] bool has_events() const noexcept { return has_events_; }
  // Describes damage of the text, as the end of a sentence; empty if there is none. Final after the last batch.
  [[nodiscard]] const std::string& damage() const noexcept { return damage_; }

 private:
  enum class Place : std::uint8_t { kStart, kMembers, kEvents, kSamples, kBehind, kEnd };

  bool more();         // reads more behind the window; false at the end of the text, or if the window is full
  bool skip_blanks();  // to the next non-blank byte; false at the end of the text
  std::optional<std::string_view> read_value();
  void find_start();
  void read_member();
  void read_behind();  // the final bracket; nothing should follow it
  void fill(ChromeBatch& batch);
  void fail(std::string damage);

  TextSource& source_;
  Place place_ = Place::kStart;
  bool bare_array_ = false;
  bool has_events_ = false;
  std::uint64_t offset_ = 0;  // position of window_[0] in the text
  std::vector<char> window_;  // [begin_, end_) was read but not used yet
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::map<std::string, std::string> members_;
  std::string damage_;
};

}  // namespace lanescope::importers
