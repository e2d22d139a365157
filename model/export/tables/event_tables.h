// The tables of events that docs/tables.md has: their columns, and how an event becomes a row. Internal to model/export and
// model/query.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/trace/trace.h"
#include "table_target.h"

namespace lanescope::exporters {

// An event on its way into a table.
struct EventRow {
  const Trace& trace;
  const Track& track;
  EventRef ref;
  Event event;
  std::span<const std::uint64_t> name_hashes;  // XXH64 of each name, by NameId
  std::uint32_t depth = 0;                     // which lane of its track it is on
  std::int64_t number = 0;                     // of the row in its table
  std::optional<std::int64_t> parent;          // the row of the range around it; of NVTX ranges that nest
  EventRef launch;                             // the call that launched it; of GPU work
  Event launch_call;                           // that call; where `launch` is valid
};

// A column of a table whose rows are made of `Row`.
template <typename Row>
struct ColumnSource {
  std::string_view name;
  ColumnType type = ColumnType::kInt64;
  Cell (*value)(const Row& row) = nullptr;
  // Of columns of text: what a cell says. Null: the cell is a NameId.
  std::string (*text)(const Trace& trace, std::int64_t cell) = nullptr;
  Nullable nullable = Nullable::kNo;
};
using EventColumnSource = ColumnSource<EventRow>;

enum class Launches : std::uint8_t { kNone, kResolved };

struct EventTable {
  std::string_view name;
  std::span<const EventColumnSource> columns;
  bool (*has)(const Trace& trace, const Track& track, const Event& event);  // whether the event is one of the table's
  bool (*has_track)(TrackKind kind);                                        // false: none of the track's events is
  Launches launches = Launches::kNone;
  std::size_t rows_a_group = 1u << 18;
};

// All but counters, and what is known of kernels beyond their times.
[[nodiscard]] std::span<const EventTable> event_tables() noexcept;

// Whose a row is, and of when.
struct RowOrigin {
  const TracePart* part = nullptr;  // null in a trace of one recording
  ProcessId process = kNone;
  TimeRange time;  // of its event, its kernel or its window
};

// The columns that every table has behind its own: where a row's process stands in a job, which recording it is of, and whether it counts as of the part
// that this recording is.
struct ProvenanceColumn {
  std::string_view name;
  ColumnType type = ColumnType::kInt64;
  Cell (*value)(const Trace& trace, const RowOrigin& row) = nullptr;
  std::string (*text)(const Provenance& origin, std::string_view compared_run) = nullptr;  // of columns of text, whose value is the number of the recording
};
[[nodiscard]] std::span<const ProvenanceColumn> provenance_columns() noexcept;
[[nodiscard]] std::string provenance_text(const ProvenanceColumn& column, const Trace& trace, std::int64_t cell);

// 32 hexadecimal digits; empty where the GPU's UUID is not known. `gpu`: a GpuId, or kNone.
[[nodiscard]] std::string gpu_uuid(const Trace& trace, std::int64_t gpu);

}  // namespace lanescope::exporters
