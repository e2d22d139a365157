#include "line_table.h"

#include <algorithm>
#include <optional>

namespace lanescope::python {
namespace {

constexpr std::uint32_t kCodeUnit = 2;              // bytes of an instruction
constexpr std::int8_t kNoLine = -128;               // in kRanges
constexpr std::int64_t kMaximumLine = 0x7fff'ffff;  // CPython's own limit

std::uint32_t as_line(std::int64_t line) { return line < 0 || line > kMaximumLine ? 0 : static_cast<std::uint32_t>(line); }

std::vector<LineRange> decode_steps(std::span<const std::byte> table, std::uint32_t first_line) {
  std::vector<LineRange> ranges;
  std::uint32_t offset = 0;
  std::int64_t line = first_line;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const auto step = static_cast<std::uint8_t>(table[at]);
    if (step > 0) ranges.push_back({offset += step, as_line(line)});
    line += static_cast<std::int8_t>(table[at + 1]);
  }
  ranges.push_back({~std::uint32_t{0}, as_line(line)});  // the last line is valid to the end
  return ranges;
}

std::vector<LineRange> decode_ranges(std::span<const std::byte> table, std::uint32_t first_line) {
  std::vector<LineRange> ranges;
  std::uint32_t offset = 0;
  std::int64_t line = first_line;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const auto step = static_cast<std::int8_t>(table[at + 1]);
    if (step != kNoLine) line += step;
    const auto length = static_cast<std::uint8_t>(table[at]);
    if (length > 0) ranges.push_back({offset += length, step == kNoLine ? 0 : as_line(line)});
  }
  return ranges;
}

// The entries of a table of locations. Each begins with a byte that gives the form of the rest and the number of instructions that it covers.
class Locations {
 public:
  explicit Locations(std::span<const std::byte> bytes) : bytes_(bytes) {}

  struct Entry {
    std::uint32_t length;                   // bytes of instructions
    std::optional<std::int64_t> line_step;  // nothing: the instructions have no line
  };
  // Nothing at the end, or if the table is damaged.
  std::optional<Entry> next() {
    constexpr std::uint8_t kStart = 0x80;
    constexpr unsigned kOneLineFirst = 10;
    constexpr unsigned kOneLineLast = 12;
    constexpr unsigned kWithoutColumns = 13;
    constexpr unsigned kLong = 14;
    constexpr unsigned kNone = 15;
    const std::optional<std::uint8_t> first = take();
    if (!first || (*first & kStart) == 0) return std::nullopt;
    const unsigned kind = (*first >> 3) & 15;
    Entry entry{((*first & 7u) + 1) * kCodeUnit, 0};
    if (kind == kNone) {
      entry.line_step.reset();
    } else if (kind == kLong || kind == kWithoutColumns) {
      entry.line_step = take_signed();
      for (int i = 0; kind == kLong && i < 3; ++i) take_number();  // end line, columns
    } else if (kind >= kOneLineFirst && kind <= kOneLineLast) {
      entry.line_step = kind - kOneLineFirst;
      take();
      take();
    } else {
      take();
    }
    if (damaged_) return std::nullopt;
    return entry;
  }

 private:
  std::optional<std::uint8_t> take() {
    if (bytes_.empty()) {
      damaged_ = true;
      return std::nullopt;
    }
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  std::uint64_t take_number() {
    constexpr unsigned kBits = 6;
    constexpr unsigned kMaximumBits = 42;
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift <= kMaximumBits; shift += kBits) {
      const std::optional<std::uint8_t> byte = take();
      if (!byte) return 0;
      number |= std::uint64_t{*byte & 63u} << shift;
      if ((*byte & 64) == 0) return number;
    }
    damaged_ = true;
    return 0;
  }
  std::int64_t take_signed() {
    const std::uint64_t number = take_number();
    const auto half = static_cast<std::int64_t>(number >> 1);
    return (number & 1) != 0 ? -half : half;
  }

  std::span<const std::byte> bytes_;
  bool damaged_ = false;
};

std::vector<LineRange> decode_locations(std::span<const std::byte> table, std::uint32_t first_line) {
  std::vector<LineRange> ranges;
  std::uint32_t offset = 0;
  std::int64_t line = first_line;
  Locations locations(table);
  while (const std::optional<Locations::Entry> entry = locations.next()) {
    line += entry->line_step.value_or(0);
    const std::uint32_t own = entry->line_step ? as_line(line) : 0;
    offset += entry->length;
    if (!ranges.empty() && ranges.back().line == own)
      ranges.back().end = offset;
    else
      ranges.push_back({offset, own});
  }
  return ranges;
}

}  // namespace

std::vector<LineRange> decode_lines(LineTableFormat format, std::span<const std::byte> table, std::uint32_t first_line) {
  switch (format) {
    case LineTableFormat::kSteps:
      return decode_steps(table, first_line);
    case LineTableFormat::kRanges:
      return decode_ranges(table, first_line);
    case LineTableFormat::kLocations:
      break;
  }
  return decode_locations(table, first_line);
}

std::uint32_t line_at(std::span<const LineRange> ranges, std::uint32_t offset, std::uint32_t first_line) {
  auto range = std::upper_bound(ranges.begin(), ranges.end(), offset, [](std::uint32_t at, const LineRange& each) { return at < each.end; });
  if (range == ranges.end()) return first_line;
  while (range->line == 0 && range != ranges.begin()) --range;
  return range->line != 0 ? range->line : first_line;
}

}  // namespace lanescope::python
