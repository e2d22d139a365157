// Goes through the rows of a table of events, by start. Internal to model/query.
//
// Threads: a source and its rows belong to one thread at a time.
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

// What the tables of one trace have in common; each part is made when it is first asked for. The trace must outlive it.
class RowSource {
 public:
  explicit RowSource(const Trace& trace, std::stop_token stop = {}) : trace_(&trace), stop_(std::move(stop)) {}
  [[nodiscard]] const Trace& trace() const noexcept { return *trace_; }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
  [[nodiscard]] const LaunchIndex& launches();                 // O(CUDA calls) the first time
  [[nodiscard]] std::span<const std::uint64_t> name_hashes();  // XXH64 of each name, by NameId; O(names) the first time
  [[nodiscard]] std::uint32_t depth(LaneId lane);              // which lane of its track it is; O(lanes) the first time

 private:
  const Trace* trace_;
  std::stop_token stop_;
  std::optional<LaunchIndex> launches_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> depths_;
};

// Which rows are wanted; all where nothing is said.
struct RowChoice {
  enum class Time { kOverlaps, kStartsIn };
  std::optional<TimeRange> window;
  Time time = Time::kOverlaps;               // kOverlaps: those that overlap the window, or start in it
  std::optional<std::uint32_t> correlation;  // those with this correlation id
};

// Whether columns of the table name its rows by their numbers, so that it is read from its beginning.
[[nodiscard]] bool numbers_rows(const EventTable& table);

class EventRows {
 public:
  // Row numbers count the rows that are chosen. O(lanes · log n).
  EventRows(RowSource& source, const EventTable& table, const RowChoice& choice = {});
  ~EventRows();
  EventRows(const EventRows&) = delete;
  EventRows& operator=(const EventRows&) = delete;

  // To the next row; false where there is none, or the source's token asked to stop. O(log lanes).
  bool next();
  // Requires, for both: the last next() returned true. The row without what only some columns need, and as this column needs it.
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
  bool names_rows_;  // its columns name rows by their numbers
  std::int64_t rows_ = 0;
  std::map<const Track*, std::vector<Open>> open_;  // ranges, by depth: the row around another is found among them
};

}  // namespace lanescope::query
