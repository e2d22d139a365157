#include "trace_tables.h"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <utility>

#include "../event_order.h"
#include "../lane_merge.h"
#include "event_tables.h"
#include "model/events/launch_index.h"
#include "name_patterns.h"
#include "record_tables.h"

namespace lanescope::exporters {
namespace {

constexpr const char* kTablesVersion = "4";  // of names and meanings of the columns

std::vector<std::uint64_t> hashes_of_names(const Trace& trace) {
  std::vector<std::uint64_t> hashes(trace.name_count());
  for (NameId id = 0; id < hashes.size(); ++id) hashes[id] = XXH64(trace.name(id).data(), trace.name(id).size(), 0);
  return hashes;
}

Metadata describe(const Trace& trace) {
  const Provenance& origin = trace.provenance();
  Completeness lost;
  for (const Process& process : trace.processes()) {
    lost.dropped += process.completeness.dropped;
    lost.late += process.completeness.late;
    lost.invalid += process.completeness.invalid;
  }
  std::string command;
  for (const std::string& argument : origin.command) command.append(command.empty() ? "" : " ").append(argument);
  Metadata described = {{"lanescope.tables", kTablesVersion},
                        {"lanescope.format", origin.format},
                        {"lanescope.producer", origin.producer},
                        {"lanescope.host", origin.host_name},
                        {"lanescope.command", command},
                        {"lanescope.utc_epoch_ns", std::to_string(origin.utc_epoch)},
                        {"lanescope.monotonic_epoch_ns", std::to_string(origin.monotonic_epoch)},
                        {"lanescope.finished", origin.finished ? "true" : "false"},
                        {"lanescope.dropped", std::to_string(lost.dropped)},
                        {"lanescope.late", std::to_string(lost.late)},
                        {"lanescope.invalid", std::to_string(lost.invalid)},
                        {"lanescope.unwritten", std::to_string(origin.unwritten_events)},
                        {"lanescope.condition", origin.condition}};
  if (origin.part) {
    described.emplace_back("lanescope.part_begin_ns", std::to_string(origin.part->time.begin));
    described.emplace_back("lanescope.part_end_ns", std::to_string(origin.part->time.end));
  }
  return described;
}

// For ranges sorted by start, outer before inner: the row of the enclosing range of the same thread and domain.
class ParentRows {
 public:
  std::optional<std::int64_t> parent_of(const EventRow& row) {
    if (row.track.key.kind != TrackKind::kNvtxRanges) return std::nullopt;
    const std::size_t depth = row.depth;
    std::vector<Open>& open = open_[&row.track];
    open.resize(std::max(open.size(), depth + 1));
    open[depth] = {row.number, row.event.end()};
    if (depth == 0 || open[depth - 1].row < 0 || open[depth - 1].end < row.event.end()) return std::nullopt;
    return open[depth - 1].row;
  }

 private:
  struct Open {
    std::int64_t row = -1;
    Nanoseconds end = 0;
  };
  std::map<const Track*, std::vector<Open>> open_;
};

class TraceTables {
 public:
  TraceTables(const Trace& trace, const TableOptions& options, NamePatterns wanted, TableTarget& target)
      : trace_(trace),
        options_(options),
        wanted_(std::move(wanted)),
        target_(target),
        metadata_(describe(trace)),
        hashes_(hashes_of_names(trace)),
        depths_(trace.tracks()) {}

  Result<void> write() {
    for (const EventTable& table : event_tables())
      if (auto written = write_events(table); !written) return written;
    if (auto written = write_records<CounterRow>(counter_table()); !written) return written;
    Result<void> records;
    for_each_record_table([&]<typename Row>(const RecordTable<Row>& table) {
      if (records) records = write_records<Row>(table);
    });
    if (!records) return records;
    if (!is_any_wanted_) return Error{"--tables names none of the tables that there are: " + known_ + ".", ErrorKind::kUsage};
    return {};
  }

 private:
  // True if the table is to be written; has_row() returns true if it has rows. Reports other tables as left out.
  template <typename HasRow>
  bool takes(std::string_view name, HasRow has_row) {
    const bool is_wanted = wanted_.match(name);
    is_any_wanted_ |= is_wanted;
    known_.append(known_.empty() ? "" : ", ").append(name);
    if (is_wanted && (options_.empty_tables == EmptyTables::kCreate || has_row())) return true;
    target_.leave_out(name);
    return false;
  }

  // fill(rows) appends the rows.
  template <typename Row, typename Fill>
  Result<void> write_table(std::string_view name, std::span<const ColumnSource<Row>> sources, std::size_t rows_a_group, Fill fill) {
    TableDescription table{name, {}, rows_a_group, {}, metadata_, std::nullopt};
    for (const ColumnSource<Row>& column : sources) {
      if (column.name == "start") table.sorted_by = table.columns.size();
      table.columns.push_back({std::string(column.name), column.type, column.nullable});
    }
    for (const ProvenanceColumn& column : provenance_columns()) table.columns.push_back({std::string(column.name), column.type, Nullable::kNo});
    table.text_of = [this, sources](std::size_t column, std::int64_t cell) {
      if (column >= sources.size()) return provenance_text(provenance_columns()[column - sources.size()], trace_, cell);
      const auto text = sources[column].text;
      return text ? text(trace_, cell) : std::string(trace_.name(static_cast<NameId>(cell)));
    };
    table.metadata.emplace_back("lanescope.table", name);
    return target_.write(std::move(table), [&](TableRows& rows) -> Result<void> {
      fill(rows);
      return {};
    });
  }

  template <typename Row>
  void append(TableRows& rows, std::span<const ColumnSource<Row>> sources, const Row& row, const RowOrigin& origin) {
    cells_.clear();
    for (const ColumnSource<Row>& column : sources) cells_.push_back(column.value(row));
    for (const ProvenanceColumn& column : provenance_columns()) cells_.push_back(column.value(trace_, origin));
    rows.append(cells_);
  }

  Result<void> write_events(const EventTable& table) {
    std::vector<LaneId> lanes;
    for (const Track& track : trace_.tracks())
      if (table.has_track(track.key.kind)) lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
    if (!takes(table.name, [&] { return has_row(table, lanes); })) return {};
    return write_table<EventRow>(table.name, table.columns, table.rows_a_group, [&](TableRows& rows) { write_rows(table, lanes, rows); });
  }

  [[nodiscard]] bool has_row(const EventTable& table, std::span<const LaneId> lanes) const {
    for (LaneMerge events(trace_, lanes, options_.selection); !events.done();) {
      const EventRef ref = events.next();
      if (table.has(trace_, trace_.track_of(ref.lane), trace_.event(ref))) return true;
    }
    return false;
  }

  void write_rows(const EventTable& table, std::span<const LaneId> lanes, TableRows& rows) {
    ParentRows parents;
    for (LaneMerge events(trace_, lanes, options_.selection); !events.done();) {
      const EventRef ref = events.next();
      EventRow row{trace_, trace_.track_of(ref.lane), ref, trace_.event(ref), hashes_, depths_[ref.lane], static_cast<std::int64_t>(rows.rows()), {}, {}, {}};
      if (!table.has(trace_, row.track, row.event)) continue;
      if (table.launches == Launches::kResolved) find_launch(row);
      row.parent = parents.parent_of(row);
      append(rows, table.columns, row, {part_of(trace_, row.track), row.track.key.process, {row.event.start, row.event.end()}});
    }
  }

  void find_launch(EventRow& row) {
    if (!launches_) launches_.emplace(trace_);
    row.launch = launches_->find(row.track.key.process, row.event.correlation, row.event.start);
    if (row.launch.valid()) row.launch_call = trace_.event(row.launch);
  }

  template <typename Row, typename Table>
  Result<void> write_records(const Table& table) {
    bool has_row = false;
    const auto look = [&] {
      for_each_row(table, trace_, options_.selection, [&](const Row&) {
        has_row = true;
        return false;
      });
      return has_row;
    };
    if (!takes(table.name, look)) return {};
    return write_table<Row>(table.name, table.columns, std::size_t{1} << 18, [&](TableRows& rows) {
      for_each_row(table, trace_, options_.selection, [&](const Row& row) {
        append(rows, table.columns, row, {row.part(), row.process(), row.time()});
        return true;
      });
    });
  }

  const Trace& trace_;
  const TableOptions& options_;
  NamePatterns wanted_;
  TableTarget& target_;
  Metadata metadata_;
  std::vector<std::uint64_t> hashes_;
  LanePositions depths_;
  std::optional<LaunchIndex> launches_;
  std::vector<Cell> cells_;
  std::string known_;  // names of tables so far
  bool is_any_wanted_ = false;
};

}  // namespace

Result<void> write_tables(const Trace& trace, const TableOptions& options, TableTarget& target) {
  auto wanted = NamePatterns::of(options.tables);
  if (!wanted) return wanted.error();
  return TraceTables(trace, options, std::move(*wanted), target).write();
}

}  // namespace lanescope::exporters
