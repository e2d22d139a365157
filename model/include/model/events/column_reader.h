// Reads one column of many events at once, as numbers to sort by.
//
// Where EventValues asks the trace anew for each event, the reader sweeps once over what a column needs (launches, NVTX stacks, gaps), so
// that reading n events costs O(n).
#pragma once

#include <memory>
#include <span>
#include <stop_token>

#include "model/events/event_values.h"

namespace lanescope {

class ColumnReader {
 public:
  static constexpr std::int64_t kMissing = INT64_MIN;

  // O(events of the scope's processes) for gaps, queue times and NVTX ranges; O(names · log names) for text; else O(1). Of a trace whose
  // events are not in memory, gaps and NVTX ranges are asked of EventValues for each event. `values` must outlive it.
  ColumnReader(const EventValues& values, EventColumn column, std::stop_token stop = {});
  ~ColumnReader();
  ColumnReader(const ColumnReader&) = delete;
  ColumnReader& operator=(const ColumnReader&) = delete;

  // numbers[i] becomes the value of events[i], as EventValues::number() has it; of text, its rank among all texts of the column; kMissing
  // where there is none. Requires: equal sizes. May run in several threads.
  void read(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
