// Reads one column of many events at once, as numbers to sort by.
//
// EventValues asks the trace again for each event. The reader instead sweeps once over the data that a column needs (launches, NVTX stacks, gaps), so that
// reading n events costs O(n).
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string_view>

#include "model/events/event_values.h"

namespace lanescope {

// The order of texts: letter case ignored, then by bytes, so that it is total.
[[nodiscard]] bool reads_before(std::string_view a, std::string_view b) noexcept;

class ColumnReader {
 public:
  static constexpr std::int64_t kMissing = INT64_MIN;

  // O(events of the scope's processes) for gaps, queue times and NVTX ranges; O(names · log names) for text; else O(1). If the events of the trace are not in
  // memory, gaps and NVTX ranges are asked of EventValues for each event. `values` must outlive it.
  ColumnReader(const EventValues& values, EventColumn column, std::stop_token stop = {});
  ~ColumnReader();
  ColumnReader(const ColumnReader&) = delete;
  ColumnReader& operator=(const ColumnReader&) = delete;

  // Sets numbers[i] to the value of events[i], as EventValues::number() returns it; for text, to its rank among all texts of the column; to kMissing if there
  // is none.
  // Requires: equal sizes. Several threads may call it at once.
  void read(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
