// The event tables of docs/tables.md: their columns, and how an event becomes a row. Internal to model/export and model/query.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/trace/trace.h"
#include "table_target.h"

namespace lanescope::exporters {

// An event for a table row.
struct EventRow {
  const Trace& trace;
  const Track& track;
  EventRef ref;
  Event event;
  std::span<const std::uint64_t> name_hashes;  // XXH64 of each name, by NameId
  std::uint32_t depth = 0;                     // position of its lane in its track
  std::int64_t number = 0;                     // of the row in its table
  std::optional<std::int64_t> parent;          // for nested NVTX ranges: the row of the enclosing range
  EventRef launch;                             // for GPU work: the call that launched it
  Event launch_call;                           // that call, if `launch` is valid
};

// A column of a table whose rows are made from `Row`.
template <typename Row>
struct ColumnSource {
  std::string_view name;
  ColumnType type = ColumnType::kInt64;
  Cell (*value)(const Row& row) = nullptr;
  // For text columns: the text of a cell. Null: the cell is a NameId.
  std::string (*text)(const Trace& trace, std::int64_t cell) = nullptr;
  Nullable nullable = Nullable::kNo;
};
using EventColumnSource = ColumnSource<EventRow>;

enum class Launches : std::uint8_t { kNone, kResolved };

struct EventTable {
  std::string_view name;
  std::span<const EventColumnSource> columns;
  bool (*has)(const Trace& trace, const Track& track, const Event& event);  // true if the event belongs to the table
  bool (*has_track)(TrackKind kind);                                        // false: no event of the track belongs to the table
  Launches launches = Launches::kNone;
  std::size_t rows_a_group = 1u << 18;
};

// All event tables. Counters, and records of kernels beyond their times, are not included.
[[nodiscard]] std::span<const EventTable> event_tables() noexcept;

// The owner of a row, and its time.
struct RowOrigin {
  const TracePart* part = nullptr;  // null in a trace with one recording
  ProcessId process = kNone;
  TimeRange time;  // of its event, kernel or window
};

// The columns that every table has after its own: the position of a row's process in a job, its recording, and whether it counts as part of the saved part.
struct ProvenanceColumn {
  std::string_view name;
  ColumnType type = ColumnType::kInt64;
  Cell (*value)(const Trace& trace, const RowOrigin& row) = nullptr;
  std::string (*text)(const Provenance& origin, std::string_view compared_run) = nullptr;  // for text columns, whose value is the recording's number
};
[[nodiscard]] std::span<const ProvenanceColumn> provenance_columns() noexcept;
[[nodiscard]] std::string provenance_text(const ProvenanceColumn& column, const Trace& trace, std::int64_t cell);

// 32 hexadecimal digits; empty if the GPU's UUID is unknown. `gpu` is a GpuId or kNone.
[[nodiscard]] std::string gpu_uuid(const Trace& trace, std::int64_t gpu);

}  // namespace lanescope::exporters
