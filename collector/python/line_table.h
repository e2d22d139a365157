// Source lines of the instructions of a Python code object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lanescope::python {

enum class LineTableFormat : std::uint8_t {
  kSteps,      // 3.9: co_lnotab, a line is valid until the next step
  kRanges,     // 3.10: co_linetable, each entry covers a range
  kLocations,  // 3.11 and newer: co_linetable, with columns
};

struct LineRange {
  std::uint32_t end = 0;   // offset in bytes of the first instruction after the range
  std::uint32_t line = 0;  // 0: the instructions have no line
};

// In ascending order, without gaps from offset 0 on. If the table is truncated or damaged, the result has the ranges before the damage. O(size).
[[nodiscard]] std::vector<LineRange> decode_lines(LineTableFormat format, std::span<const std::byte> table, std::uint32_t first_line);

// The line of an instruction. If it has none, the line of the nearest instruction before it that has one, else `first_line`. O(log n).
[[nodiscard]] std::uint32_t line_at(std::span<const LineRange> ranges, std::uint32_t offset, std::uint32_t first_line);

}  // namespace lanescope::python
