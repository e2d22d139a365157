// Which events and tables an export writes.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/file/progress.h"
#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope {

enum class EmptyTables { kOmit, kCreate };  // tables that would have no rows

// Whole lanes and counters of a trace, by number.
struct SelectedRows {
  std::vector<LaneId> lanes;        // sorted, without duplicates
  std::vector<CounterId> counters;  // likewise
};

struct ExportSelection {
  std::optional<TimeRange> window;   // events that overlap it, or start in it, with their whole duration; if absent, all events
  std::optional<SelectedRows> rows;  // only the events and values of these; if absent, of all rows
  std::stop_token stop;              // an export that is asked to stop reads no more events and fails
  // Size of the file that the trace was read from. It bounds what is written (export_limits.h). If unknown, nothing is bounded.
  std::optional<std::uint64_t> source_bytes;

  Progress progress;  // of the export, in events

  [[nodiscard]] bool takes(LaneId lane) const;
  [[nodiscard]] std::uint64_t event_count(const Trace& trace) const;  // of all its lanes. O(lanes · log n)
  // The selected part of a lane or a counter: from the first index to before the second. O(log n).
  [[nodiscard]] std::pair<EventIndex, EventIndex> events(const Trace& trace, LaneId lane) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> values(const Trace& trace, CounterId counter) const;
};

// The error of an export that was asked to stop.
[[nodiscard]] Error stopped_export();

}  // namespace lanescope
