// Writes tables as text: for people (column, table) and for programs (csv, tsv, json).
//
// As Nsight Systems does: sizes in MB (10^6 bytes) and rates in MB/s with three decimals, averages and shares with one; times in nanoseconds as they
// are, and in other units with four decimals. The unit follows the column's title. In formats for people, text is left-aligned, and numbers are
// right-aligned with separators of thousands, and shares that would be 0.0 are "<0.1"; `column` clips cells at 100 characters.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/stats/table.h"

namespace lanescope::stats {

enum class Format { kColumn, kTable, kCsv, kTsv, kJson };
enum class TimeUnit { kNanoseconds, kMicroseconds, kMilliseconds, kSeconds };

struct NamedFormat {
  std::string_view name;       // "csv"
  std::string_view extension;  // of files: ".csv"
  std::string_view description;
  Format format;
};
[[nodiscard]] std::span<const NamedFormat> formats() noexcept;
[[nodiscard]] std::optional<Format> format_of(std::string_view name) noexcept;
// "nsec", "usec", "msec", "sec", recognized by their start as Nsight Systems does: "ms", "us", "s".
[[nodiscard]] std::optional<TimeUnit> time_unit_of(std::string_view name) noexcept;

// "Total Time (ms)": the title with the unit in which its cells are shown.
[[nodiscard]] std::string shown_title(const Column& column, TimeUnit unit);

enum class Separators { kNone, kThousands };
// Appends a cell as text; nothing for an absent value. Requires: row < table.row_count().
void append_cell(std::string& text, const Table& table, const Column& column, std::size_t row, TimeUnit unit, Separators separators);

// Passes the whole table on, with its header, as text that ends with a line break: some megabytes at a time, until `write` refuses a piece. Returns
// true if all was taken.
bool write_table(const Table& table, Format format, TimeUnit unit, const std::function<bool(std::string_view)>& write);
// The same as one text.
[[nodiscard]] std::string format_table(const Table& table, Format format, TimeUnit unit = TimeUnit::kNanoseconds);

}  // namespace lanescope::stats
