// Which events and tables an export writes.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope {

enum class EmptyTables { kOmit, kCreate };  // tables that would have no row

// Whole lanes and counters of a trace, by number.
struct SelectedRows {
  std::vector<LaneId> lanes;        // each once, in order
  std::vector<CounterId> counters;  // the same
};

struct ExportSelection {
  std::optional<TimeRange> window;   // events that overlap it, or start in it, with their whole duration; all where there is none
  std::optional<SelectedRows> rows;  // what these hold alone; all where there are none
  std::stop_token stop;              // an export that is asked to stop takes no more events, and fails
  // Of the file that the trace was read from, by which what is written is bounded (export_limits.h); not at all where it isn't known.
  std::optional<std::uint64_t> source_bytes;

  [[nodiscard]] bool takes(LaneId lane) const;
  // Of a lane or a counter, what is taken: from the first on, up to the second. O(log n).
  [[nodiscard]] std::pair<EventIndex, EventIndex> events(const Trace& trace, LaneId lane) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> values(const Trace& trace, CounterId counter) const;
};

// Why an export that was asked to stop failed.
[[nodiscard]] Error stopped_export();

}  // namespace lanescope
