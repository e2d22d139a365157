// Gaps of many events at once (event_values.h). Internal to model/events.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/events/column_reader.h"

namespace lanescope {

// Calls take(lane, index, gap) for the events of one row that start within [from, until], by start, outer lanes first; the gap is kMissing for the first event
// of the row. Keeps one segment of each lane in memory.
template <typename Take>
void sweep_gaps(const Trace& trace, std::span<const LaneId> row, Nanoseconds from, Nanoseconds until, Take take) {
  struct Cursor {
    const Lane* lane;
    LaneId id;
    std::size_t position;
    EventIndex next = 0;
    std::shared_ptr<const LaneSegment> segment;
    Nanoseconds start = 0, end = 0;

    // False if there are no more events.
    bool read() {
      if (next == lane->size()) return false;
      if (!segment || next % LaneSegment::kCapacity == 0) segment = lane->segment(next / LaneSegment::kCapacity);
      start = segment->start(next % LaneSegment::kCapacity);
      end = start + segment->duration(next % LaneSegment::kCapacity);
      return true;
    }
  };
  std::vector<Cursor> heap;
  std::optional<Nanoseconds> last_end;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Lane& lane = trace.lane(row[i]);
    Cursor cursor{&lane, row[i], i, lane.lower_bound(from), nullptr};
    if (cursor.next > 0) last_end = std::max(last_end.value_or(INT64_MIN), lane.end(cursor.next - 1));
    if (cursor.read()) heap.push_back(std::move(cursor));
  }
  const auto later = [](const Cursor& a, const Cursor& b) { return a.start != b.start ? a.start > b.start : a.position > b.position; };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty() && heap.front().start <= until) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Cursor& earliest = heap.back();
    // For events before everything else on the row, the other lanes need not be checked.
    const Nanoseconds others = heap.size() > 1 ? heap.front().start : INT64_MAX;
    bool is_more = true;
    do {
      take(earliest.id, earliest.next, last_end ? std::max<Nanoseconds>(0, earliest.start - *last_end) : ColumnReader::kMissing);
      last_end = std::max(last_end.value_or(INT64_MIN), earliest.end);
      ++earliest.next;
    } while ((is_more = earliest.read()) && earliest.start < others && earliest.start <= until);
    if (is_more)
      std::push_heap(heap.begin(), heap.end(), later);
    else
      heap.pop_back();
  }
}

// Sets numbers[i] to the gap before events[i], or to ColumnReader::kMissing if there is none. Events of one call mostly lie near each other, so one sweep over
// each row finds the gaps before all of them. Requires: equal sizes.
void gaps_before(const EventValues& values, std::span<const EventRef> events, std::span<std::int64_t> numbers);

}  // namespace lanescope
