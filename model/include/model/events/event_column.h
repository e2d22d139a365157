// The columns of an events table, and the kinds of events that it tells apart.
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
  kGapBefore,  // ns of idle time in front of the event on its row
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
  kOccupancy,     // of kernels, hundredths of a percent: theoretical, by the shape of the launch
  kWaves,         // of kernels, hundredths: the grid's blocks, by how many the GPU holds at once
  kMemory,        // of copies and sets: kinds of memory, from where to where
  kThroughput,    // of copies and sets, bytes per second
  kSharedMemory,  // of kernels, bytes per block: static and dynamic
  kRun,           // which of the runs that are compared it is of: "A"
};
inline constexpr std::size_t kEventColumnCount = 23;
[[nodiscard]] std::array<EventColumn, kEventColumnCount> all_event_columns() noexcept;
// All that say something of a trace: the run in front, where runs are compared, else not.
[[nodiscard]] std::vector<EventColumn> event_columns_of(const Trace& trace);

[[nodiscard]] std::string_view event_column_title(EventColumn column) noexcept;   // "Gap before"
[[nodiscard]] std::string_view event_column_header(EventColumn column) noexcept;  // with its unit, for files: "Gap before (ns)"

// How the values of a column are to be read.
// kHundredths: of what the header says. kExtent: three numbers, as in a grid.
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
};
inline constexpr std::size_t kEventKindCount = 18;
[[nodiscard]] std::array<EventKind, kEventKindCount> all_event_kinds() noexcept;
[[nodiscard]] std::string_view event_kind_name(EventKind kind) noexcept;  // "Kernel", "Copy", "CUDA API"
[[nodiscard]] std::string event_kind_word(EventKind kind);                // "cuda-api", as command lines have it
[[nodiscard]] std::optional<EventKind> event_kind_of(std::string_view word);
[[nodiscard]] EventKind event_kind(const Trace& trace, EventRef event) noexcept;
// What tables call the event: its name; of a sample or backtrace the function that ran, or that called, where its chain is known.
[[nodiscard]] NameId listed_name(const Trace& trace, EventRef event) noexcept;

}  // namespace lanescope
