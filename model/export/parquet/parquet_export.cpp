#include "model/export/parquet_export.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <map>

#include "../event_order.h"
#include "../lane_merge.h"
#include "event_tables.h"
#include "model/events/launch_index.h"
#include "table_folder.h"

namespace lanescope {
namespace {

using namespace exporters;

constexpr std::string_view kCounters = "counters";
constexpr const char* kTablesVersion = "2";  // of the columns' names and meanings

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
  return {{"lanescope.tables", kTablesVersion},
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
}

// For ranges that come by start, outer before inner: the row of the one around each, on the same thread and domain.
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

class ParquetExport {
 public:
  ParquetExport(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const ParquetOptions& options)
      : trace_(trace), folder_(folder, overwrite), options_(options), metadata_(describe(trace)), hashes_(hashes_of_names(trace)), depths_(trace.tracks()) {}

  Result<void> write() {
    if (auto made = folder_.make(); !made) return made;
    for (const EventTable& table : event_tables())
      if (auto written = write_table(table); !written) return folder_.give_up(written.error());
    if (auto written = write_counters(); !written) return folder_.give_up(written.error());
    for (const std::string& name : absent_) folder_.remove(name);
    return {};
  }

 private:
  // `columns` and the texts of theirs are the table's own. fill(file) appends the rows, with the cells of provenance behind.
  template <typename Fill>
  Result<void> write_file(std::string_view name, std::vector<ColumnSchema> columns, std::size_t rows_a_group, TableFile::TextOf text_of_own, Fill fill) {
    const std::size_t own = columns.size();
    for (const ProvenanceColumn& column : provenance_columns()) columns.push_back({std::string(column.name), column.type, Nullable::kNo});
    TableFile::TextOf text_of = [this, own, text_of_own = std::move(text_of_own)](std::size_t column, std::int64_t cell) {
      return column < own ? text_of_own(column, cell) : provenance_columns()[column - own].text(trace_.provenance());
    };
    const auto start = std::find_if(columns.begin(), columns.end(), [](const ColumnSchema& column) { return column.name == "start"; });
    const auto sorted_by = static_cast<std::size_t>(start - columns.begin());
    Metadata metadata = metadata_;
    metadata.emplace_back("lanescope.table", name);
    return folder_.write({name, std::move(columns), rows_a_group, std::move(text_of), std::move(metadata), sorted_by}, [&](TableFile& file) -> Result<void> {
      fill(file);
      return {};
    });
  }

  Result<void> write_table(const EventTable& table) {
    std::vector<LaneId> lanes;
    for (const Track& track : trace_.tracks())
      if (table.has_track(track.key.kind)) lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
    if (options_.empty_tables == EmptyTables::kOmit && !has_row(table, lanes)) {
      absent_.emplace_back(table.name);
      return {};
    }
    std::vector<ColumnSchema> columns;
    for (const EventColumnSource& column : table.columns) columns.push_back({std::string(column.name), column.type, column.nullable});
    const auto text_of = [&](std::size_t column, std::int64_t cell) {
      const auto text = table.columns[column].text;
      return text ? text(trace_, cell) : std::string(trace_.name(static_cast<NameId>(cell)));
    };
    return write_file(table.name, std::move(columns), table.rows_a_group, text_of, [&](TableFile& file) { write_rows(table, lanes, file); });
  }

  [[nodiscard]] bool has_row(const EventTable& table, std::span<const LaneId> lanes) const {
    for (LaneMerge events(trace_, lanes, options_.selection); !events.done();) {
      const EventRef ref = events.next();
      if (table.has(trace_, trace_.track_of(ref.lane), trace_.event(ref))) return true;
    }
    return false;
  }

  void write_rows(const EventTable& table, std::span<const LaneId> lanes, TableFile& file) {
    ParentRows parents;
    std::vector<Cell> cells;
    for (LaneMerge events(trace_, lanes, options_.selection); !events.done();) {
      const EventRef ref = events.next();
      EventRow row{trace_, trace_.track_of(ref.lane), ref, trace_.event(ref), hashes_, depths_[ref.lane], static_cast<std::int64_t>(file.rows()), {}, {}, {}};
      if (!table.has(trace_, row.track, row.event)) continue;
      if (table.launches == Launches::kResolved) find_launch(row);
      row.parent = parents.parent_of(row);
      cells.clear();
      for (const EventColumnSource& column : table.columns) cells.push_back(column.value(row));
      append_provenance(row.track.key.process, cells);
      file.append(cells);
    }
  }

  void append_provenance(ProcessId process, std::vector<Cell>& cells) const {
    for (const ProvenanceColumn& column : provenance_columns()) cells.push_back(provenance_cell(column, trace_, process));
  }

  void find_launch(EventRow& row) {
    if (!launches_) launches_.emplace(trace_);
    row.launch = launches_->find(row.track.key.process, row.event.correlation, row.event.start);
    if (row.launch.valid()) row.launch_call = trace_.event(row.launch);
  }

  Result<void> write_counters() {
    struct Place {
      Nanoseconds start;
      CounterId counter;
      std::size_t sample;
      auto operator<=>(const Place&) const = default;
    };
    std::vector<Place> places;
    for (CounterId id = 0; id < trace_.counters().size(); ++id) {
      if (trace_.counters()[id].origin == CounterOrigin::kComputed) continue;
      const CounterSeries& series = trace_.counter_series(id);
      const auto [first, last] = options_.selection.window ? series.overlapping(*options_.selection.window) : std::pair<std::size_t, std::size_t>{0, series.size()};
      for (std::size_t i = first; i < last; ++i)
        if (const CounterSample sample = series.sample(i); sample.has_value()) places.push_back({sample.time, id, i});
    }
    if (places.empty() && options_.empty_tables == EmptyTables::kOmit) {
      absent_.emplace_back(kCounters);
      return {};
    }
    std::sort(places.begin(), places.end());
    std::vector<ColumnSchema> columns = {{"start", ColumnType::kInt64, Nullable::kNo},   {"duration", ColumnType::kInt64, Nullable::kNo},
                                         {"process", ColumnType::kInt64, Nullable::kNo}, {"gpu_uuid", ColumnType::kText, Nullable::kNo},
                                         {"name", ColumnType::kText, Nullable::kNo},     {"unit", ColumnType::kText, Nullable::kNo},
                                         {"value", ColumnType::kDouble, Nullable::kNo}};
    // The cells of texts are numbers of counters.
    const auto text_of = [&](std::size_t column, std::int64_t cell) {
      const Counter& counter = trace_.counters()[static_cast<CounterId>(cell)];
      if (column == 3) return counter.gpu == kNone ? std::string() : uuid_digits(trace_.gpus()[counter.gpu]);
      return column == 4 ? counter.name : counter.unit;
    };
    return write_file(kCounters, std::move(columns), std::size_t{1} << 18, text_of, [&](TableFile& file) {
      std::vector<Cell> cells;
      for (const Place& place : places) {
        const Counter& counter = trace_.counters()[place.counter];
        const CounterSample sample = trace_.counter_series(place.counter).sample(place.sample);
        const Cell process = counter.process == kNone ? 0 : trace_.processes()[counter.process].instance;
        const Cell id = place.counter;
        cells = {sample.time, sample.duration, process, id, id, id, std::bit_cast<std::int64_t>(static_cast<double>(sample.value) * counter.resolution)};
        append_provenance(counter.process, cells);
        file.append(cells);
      }
    });
  }

  const Trace& trace_;
  TableFolder folder_;
  const ParquetOptions& options_;
  Metadata metadata_;
  std::vector<std::uint64_t> hashes_;
  LanePositions depths_;
  std::optional<LaunchIndex> launches_;
  std::vector<std::string> absent_;  // tables without a row
};

}  // namespace

Result<void> export_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const ParquetOptions& options) {
  return ParquetExport(trace, folder, overwrite, options).write();
}

}  // namespace lanescope
