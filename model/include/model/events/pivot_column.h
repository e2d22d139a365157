// What events can be summed by, and told apart by: columns of an events table, and families of names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

enum class PivotColumn : std::uint8_t {
  kName,
  kFamily,  // of names that differ in their counters only (name_family)
  kKind,
  kProcess,
  kThread,
  kDevice,
  kContext,
  kStream,
  kNvtxRange,   // the innermost range around the event; for GPU work, around the call that launched it
  kNvtxFamily,  // of the names of such ranges
  kGrid,
  kBlock,
  kRegisters,
  kSharedMemory,
  kOccupancy,
  kWaves,
  kMemory,
  kBytes,
  kRun,  // which of the runs that are compared it is of: "A"; of one run alone, nothing
};
inline constexpr std::size_t kPivotColumnCount = 19;
[[nodiscard]] std::array<PivotColumn, kPivotColumnCount> all_pivot_columns() noexcept;

[[nodiscard]] std::string_view pivot_column_title(PivotColumn column) noexcept;  // "NVTX range"
[[nodiscard]] std::string_view pivot_column_word(PivotColumn column) noexcept;   // "range", as command lines have it
[[nodiscard]] std::optional<PivotColumn> pivot_column_of(std::string_view word) noexcept;

// What a column says of some events, numbers in their plain form; empty for events that have no such thing. Processes, threads, devices and
// streams that are not the same have different texts where anything tells them apart: "Stream 7 · [4711] python".
struct ColumnValue {
  PivotColumn column = PivotColumn::kName;
  std::string text;
  bool operator==(const ColumnValue&) const = default;
};

}  // namespace lanescope
