// Notes on a trace. They are stored beside it in a text file (run.trace.notes) that people read, edit and send to each other. Each line has a time in seconds
// since the recording began, and a text.
//
//   0.123456789  first slow step
//   1.5          here the loader starves; see issue 12\nand the picture there
//
// In a text, \n is a line break, \t a tab and \\ a backslash. A line at the beginning identifies the recording, so that the notes are not applied to another
// recording that has the same name now.
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
  std::vector<std::string> other_lines;  // lines of the file that are not notes: comments, and lines written by others; they are kept
  std::int64_t utc_epoch = 0;            // of the recording: its time 0 in ns since 1970; 0 if the file does not say
  std::size_t left_out = 0;              // notes beyond kMostNotes and notes whose text was cut; if not 0, writing these notes loses something
};

inline constexpr std::size_t kMostNotes = 10'000;
inline constexpr std::size_t kLongestNote = 4'096;          // bytes of a text; longer texts are cut
inline constexpr std::size_t kLargestNotesFile = 4u << 20;  // bytes; larger files are not read

// The text of a note as it is once it was written and read again: without spaces around it and carriage returns in it, with everything that can't be shown
// replaced, and at most kLongestNote bytes long.
[[nodiscard]] std::string stored_text(std::string_view text);

// Accepts any text. O(n log n).
[[nodiscard]] Notes parse_notes(std::string_view text);

// Text that parse_notes() reads as the same notes. `trace` is the name of the trace's file, for the line that describes the file.
[[nodiscard]] std::string format_notes(const Notes& notes, std::string_view trace);

// Applies the changes from `base` to `mine` to `theirs`: notes and other lines that somebody else wrote meanwhile are kept. O(n log n).
[[nodiscard]] Notes merge_notes(const Notes& base, const std::vector<Note>& mine, const Notes& theirs);

}  // namespace lanescope
