// A range that a program has open: what a running recording reports about it for drawing. Frames, and so the file, contain it only after it or the recording
// has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lanescope {

struct OpenRange {
  enum class Style : std::uint8_t { kNested, kOfProcess };  // pushed, and popped later; or started, and ended later by any thread
  std::uint32_t process = 0;                                // instance
  std::uint32_t thread = 0;                                 // on which it was started
  std::uint32_t domain = 0;
  Style style = Style::kNested;
  std::uint32_t depth = 0;  // of a nested range
  std::int64_t start = 0;   // CLOCK_MONOTONIC ns
  std::int64_t seen = 0;    // likewise: when the process's newest record was made; the range was open until then
  std::uint32_t name = 0;   // number of its string in frames of the session
  std::string text;         // the name, if no frame has contained it yet
  std::uint32_t category = 0;
  std::uint32_t color = 0;  // ARGB
  bool operator==(const OpenRange&) const = default;
};

struct OpenRanges {
  std::vector<OpenRange> ranges;
  std::size_t left_out = 0;  // number of further open ranges
  bool operator==(const OpenRanges&) const = default;
};

}  // namespace lanescope
