// Iterates over the rows of a table of events, by start. Internal to model/query.
//
// Threads: a source and its rows may be used by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "../export/tables/event_tables.h"
#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::query {

using exporters::EventColumnSource;
using exporters::EventRow;
using exporters::EventTable;

// Data shared by the tables of one trace; each part is made when it is first needed. The trace must outlive it.
class RowSource {
 public:
  explicit RowSource(const Trace& trace, std::stop_token stop = {}) : trace_(&trace), stop_(std::move(stop)) {}
  [[nodiscard]] const Trace& trace() const noexcept { return *trace_; }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
  [[nodiscard]] const LaunchIndex& launches();                 // O(CUDA calls) at the first call
  [[nodiscard]] std::span<const std::uint64_t> name_hashes();  // XXH64 of each name, by NameId; O(names) at the first call
  [[nodiscard]] std::uint32_t depth(LaneId lane);              // position of the lane in its track; O(lanes) at the first call

 private:
  const Trace* trace_;
  std::stop_token stop_;
  std::optional<LaunchIndex> launches_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> depths_;
};

// The selected rows; by default all.
struct RowChoice {
  enum class Time { kOverlaps, kStartsIn };
  std::optional<TimeRange> window;
  Time time = Time::kOverlaps;               // kOverlaps: events that overlap the window, or start in it
  std::optional<std::uint32_t> correlation;  // only events with this correlation id
};

// True if columns of the table refer to its rows by number, so that it must be read from its beginning.
[[nodiscard]] bool numbers_rows(const EventTable& table);

class EventRows {
 public:
  // Row numbers count the selected rows. O(lanes · log n).
  EventRows(RowSource& source, const EventTable& table, const RowChoice& choice = {});
  ~EventRows();
  EventRows(const EventRows&) = delete;
  EventRows& operator=(const EventRows&) = delete;

  // Moves to the next row. Returns false if there is none, or if a stop was requested. O(log lanes).
  bool next();
  // Both require that the last next() returned true. row() lacks data that only some columns need; row_for() adds what this column needs.
  [[nodiscard]] const EventRow& row() const noexcept { return *row_; }
  [[nodiscard]] const EventRow& row_for(const EventColumnSource& column);

 private:
  struct Heads;
  struct Open {
    std::int64_t row = -1;
    Nanoseconds end = 0;
  };
  void find_parent();

  RowSource& source_;
  const EventTable& table_;
  std::unique_ptr<Heads> heads_;
  std::optional<EventRow> row_;
  bool names_rows_;  // its columns refer to rows by number
  std::int64_t rows_ = 0;
  std::map<const Track*, std::vector<Open>> open_;  // ranges by depth, to find the enclosing row
};

}  // namespace lanescope::query
