// The columns of an events table, and its kinds of events.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

enum class EventColumn : std::uint8_t {
  kName,
  kStart,      // ns
  kDuration,   // ns
  kGapBefore,  // ns of idle time before the event on its row
  kQueueTime,  // ns from the end of the launching call to the start of the GPU work
  kKind,
  kProcess,
  kThread,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kBytes,
  kGrid,
  kBlock,
  kRegisters,     // per thread
  kNvtxRange,     // the innermost range around the event; for GPU work, around the call that launched it
  kOccupancy,     // of kernels, hundredths of a percent: theoretical, from the shape of the launch
  kWaves,         // of kernels, hundredths: the grid's blocks divided by the number that the GPU holds at once
  kMemory,        // of copies and sets: kinds of memory, source and destination
  kThroughput,    // of copies and sets, bytes per second
  kSharedMemory,  // of kernels, bytes per block: static and dynamic
  kRun,           // the compared run that it belongs to: "A"
};
inline constexpr std::size_t kEventColumnCount = 23;
[[nodiscard]] std::array<EventColumn, kEventColumnCount> all_event_columns() noexcept;
// All columns that have values in a trace. The run comes first if runs are compared; otherwise it is left out.
[[nodiscard]] std::vector<EventColumn> event_columns_of(const Trace& trace);

[[nodiscard]] std::string_view event_column_title(EventColumn column) noexcept;   // "Gap Before"
[[nodiscard]] std::string_view event_column_header(EventColumn column) noexcept;  // with its unit, for files: "Gap Before (ns)"

// How to read the values of a column.
// kHundredths: of the unit in the header. kExtent: three numbers, as in a grid.
enum class ColumnContent : std::uint8_t { kText, kTime, kDuration, kBytes, kThroughput, kNumber, kHundredths, kExtent };
[[nodiscard]] ColumnContent event_column_content(EventColumn column) noexcept;

enum class EventKind : std::uint8_t {
  kKernel,
  kCopy,
  kSet,
  kGraphLaunch,
  kSynchronization,
  kCudaApi,
  kNvtxRange,
  kNvtxMark,
  kOsRuntime,
  kOverhead,
  kCompilation,
  kPageFault,
  kThreadState,
  kCpuSample,
  kBacktrace,
  kMemoryUsage,
  kCudaEvent,
  kPythonLock,  // who holds Python's GIL, and who waits for it
  kProcessor,   // which thread ran on a processor: the states of threads once more, by processor
};
inline constexpr std::size_t kEventKindCount = 19;
[[nodiscard]] std::array<EventKind, kEventKindCount> all_event_kinds() noexcept;
[[nodiscard]] std::string_view event_kind_name(EventKind kind) noexcept;  // "Kernel", "Copy", "CUDA API"
[[nodiscard]] std::string event_kind_word(EventKind kind);                // "cuda-api", as in command lines
[[nodiscard]] std::optional<EventKind> event_kind_of(std::string_view word);
[[nodiscard]] EventKind event_kind(const Trace& trace, EventRef event) noexcept;
// The name of the event in tables. For a sample or backtrace, it is the function that ran or called, if its chain is known.
[[nodiscard]] NameId listed_name(const Trace& trace, EventRef event) noexcept;

}  // namespace lanescope
