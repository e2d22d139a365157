// Notes on a trace, which lie beside it as a text (run.trace.notes) that people read, edit and send to each other: a line each, the time in
// seconds since the recording began, and what is said of it.
//
//   0.123456789  first slow step
//   1.5          here the loader starves; see issue 12\nand the picture there
//
// In a text, \n is a line break, \t a tab and \\ a backslash. A line in front says which recording they are about, so that they are not taken for notes on
// another one that has its name now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/types.h"

namespace lanescope {

struct Note {
  Nanoseconds time = 0;
  std::string text;
  bool operator==(const Note&) const = default;
};

struct Notes {
  std::vector<Note> notes;               // by time
  std::vector<std::string> other_lines;  // of the file, that are none: comments, and what somebody else wrote; they stay in it
  std::int64_t utc_epoch = 0;            // of the recording that they are about, ns since 1970 of its time 0; 0 where the file does not say
  std::size_t left_out = 0;              // notes beyond kMostNotes, and those whose text was cut: to write these notes would lose something
};

inline constexpr std::size_t kMostNotes = 10'000;
inline constexpr std::size_t kLongestNote = 4'096;          // bytes of a text; it is cut there
inline constexpr std::size_t kLargestNotesFile = 4u << 20;  // bytes that are worth reading

// Whatever the text says. O(n log n).
[[nodiscard]] Notes parse_notes(std::string_view text);

// What parse_notes() reads as the same notes. `trace` is the name of the trace's file, for the line that says what this is.
[[nodiscard]] std::string format_notes(const Notes& notes, std::string_view trace);

// `theirs` with what changed from `base` to `mine`: what somebody else wrote meanwhile stays, as do their other lines. O(n log n).
[[nodiscard]] Notes merge_notes(const Notes& base, const std::vector<Note>& mine, const Notes& theirs);

}  // namespace lanescope
