// The columns by which events can be summed and distinguished: columns of an events table, and families of names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

enum class PivotColumn : std::uint8_t {
  kName,
  kFamily,  // names that differ only in their counters (name_family)
  kKind,
  kProcess,
  kThread,
  kDevice,
  kContext,
  kStream,
  kNvtxRange,   // the innermost range around the event; for GPU work, around the call that launched it
  kNvtxFamily,  // family of the name of such a range
  kGrid,
  kBlock,
  kRegisters,
  kSharedMemory,
  kOccupancy,
  kWaves,
  kMemory,
  kBytes,
  kDomain,  // of NVTX ranges and marks, by name; empty for the default domain, and for other events
  kRun,     // the compared run that it belongs to: "A"; empty if there is only one run
};
inline constexpr std::size_t kPivotColumnCount = 20;
[[nodiscard]] std::array<PivotColumn, kPivotColumnCount> all_pivot_columns() noexcept;

[[nodiscard]] std::string_view pivot_column_title(PivotColumn column) noexcept;  // "NVTX Range"
[[nodiscard]] std::string_view pivot_column_word(PivotColumn column) noexcept;   // "range", as in command lines
[[nodiscard]] std::optional<PivotColumn> pivot_column_of(std::string_view word) noexcept;

// The value of a column for some events, numbers in their plain form; empty for events that have no such value. Different processes, threads, devices and
// streams have different texts if anything distinguishes them: "Stream 7 · [4711] python".
struct ColumnValue {
  PivotColumn column = PivotColumn::kName;
  std::string text;
  bool operator==(const ColumnValue&) const = default;
};

}  // namespace lanescope
