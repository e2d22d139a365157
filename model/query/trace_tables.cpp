#include "trace_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "../export/tables/record_tables.h"
#include "model/trace/combining/parts.h"

namespace lanescope::query {
namespace {

using exporters::ColumnType;
using exporters::CounterRow;

// `period` is a time in one table, and cycles in another.
std::string_view unit_word(std::string_view table, std::string_view column) {
  constexpr std::array<std::string_view, 7> kTimes = {"start", "duration", "launch_start", "launch_duration", "period", "spent", "every"};
  constexpr std::array<std::string_view, 15> kNumbers = {"count",
                                                         "registers_per_thread",
                                                         "depth",
                                                         "world_size",
                                                         "value",
                                                         "bytes",
                                                         "static_shared_memory",
                                                         "dynamic_shared_memory",
                                                         "local_memory_per_thread",
                                                         "passes",
                                                         "launches",
                                                         "dropped",
                                                         "other_samples",
                                                         "samples",
                                                         "not_issued"};
  const auto among = [&](const auto& names) { return std::find(names.begin(), names.end(), column) != names.end(); };
  if (table == exporters::pc_window_table().name && column == "period") return {};
  if (among(kTimes)) return kTimeWord;
  return among(kNumbers) ? std::string_view() : kIdentifierWord;
}

std::string declared(std::string_view table, std::string_view name, ColumnType type) {
  std::string text(name);
  if (type == ColumnType::kText) return text + " TEXT";
  if (type == ColumnType::kDouble) return text + " REAL";
  return text.append(" INT ").append(unit_word(table, name));
}

struct VirtualTable : sqlite3_vtab {
  const TableModule* module = nullptr;
  int start_column = -1;
  int correlation_column = -1;
  double rows = 0;  // at most
};

// How rows are looked up; bits of a plan.
enum Plan { kFrom = 1, kUntil = 2, kCorrelation = 4, kAt = 8 };  // kAt: one argument is both bounds

void give_text(sqlite3_context* context, std::string_view text, sqlite3_destructor_type lives) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(), lives, SQLITE_UTF8);
}

void give(sqlite3_context* context, ColumnType type, std::int64_t cell) {
  if (type == ColumnType::kBool)
    sqlite3_result_int(context, cell != 0 ? 1 : 0);
  else if (type == ColumnType::kDouble)
    sqlite3_result_double(context, std::bit_cast<double>(cell));
  else
    sqlite3_result_int64(context, cell);
}

// The value of an own column in a row.
template <typename Row>
void give_value(sqlite3_context* context, const Trace& trace, const exporters::ColumnSource<Row>& column, const Row& row) {
  const exporters::Cell cell = column.value(row);
  if (!cell) return sqlite3_result_null(context);
  if (column.type != ColumnType::kText) return give(context, column.type, *cell);
  if (column.text == nullptr) return give_text(context, trace.name(static_cast<NameId>(*cell)), SQLITE_STATIC);  // the trace outlives the value
  give_text(context, column.text(trace, *cell), SQLITE_TRANSIENT);
}

class RowsOfEvents : public RowCursor {
 public:
  RowsOfEvents(RowSource& source, const EventTable& table, const RowChoice& choice) : table_(table), rows_(source, table, choice) {}
  bool next() override { return rows_.next(); }
  [[nodiscard]] exporters::RowOrigin origin() const override {
    const EventRow& row = rows_.row();
    return {part_of(row.trace, row.track), row.track.key.process, {row.event.start, row.event.end()}};
  }
  [[nodiscard]] sqlite3_int64 number() const override { return static_cast<sqlite3_int64>(std::uint64_t{rows_.row().ref.lane} << 32 | rows_.row().ref.index); }
  void give_own(sqlite3_context* context, int index) override {
    const EventColumnSource& column = table_.columns[static_cast<std::size_t>(index)];
    give_value(context, rows_.row().trace, column, rows_.row_for(column));
  }

 private:
  const EventTable& table_;
  EventRows rows_;
};

// Visits series by series.
class RowsOfCounters : public RowCursor {
 public:
  RowsOfCounters(const Trace& trace, std::optional<TimeRange> window) : trace_(trace), window_(window) {}
  bool next() override {
    for (;;) {
      if (!began_ || ++place_ >= end_) {
        if (began_) ++counter_;
        began_ = true;
        while (counter_ < trace_.counters().size() && trace_.counters()[counter_].origin == CounterOrigin::kComputed) ++counter_;
        if (counter_ >= trace_.counters().size()) return false;
        const CounterSeries& series = trace_.counter_series(counter_);
        reader_.emplace(series);
        const auto bounds = window_ ? series.overlapping(*window_) : std::pair<std::size_t, std::size_t>{0, series.size()};
        place_ = bounds.first;
        end_ = bounds.second;
        if (place_ >= end_) continue;
      }
      if (const CounterSample sample = reader_->sample(place_); sample.has_value()) {
        row_.emplace(CounterRow{trace_, counter_, sample});
        return true;
      }
    }
  }
  [[nodiscard]] exporters::RowOrigin origin() const override { return {row_->part(), row_->process(), row_->time()}; }
  [[nodiscard]] sqlite3_int64 number() const override { return static_cast<sqlite3_int64>(std::uint64_t{counter_} << 40 | place_); }
  void give_own(sqlite3_context* context, int column) override {
    give_value(context, trace_, exporters::counter_table().columns[static_cast<std::size_t>(column)], *row_);
  }

 private:
  const Trace& trace_;
  std::optional<TimeRange> window_;
  CounterId counter_ = 0;
  std::optional<CounterReader> reader_;  // of its values
  std::optional<CounterRow> row_;
  std::size_t place_ = 0, end_ = 0;
  bool began_ = false;
};

// The records of a table, found once for all statements that look rows up.
template <typename Row>
class Records {
 public:
  Records(RowSource& source, const exporters::RecordTable<Row>& table) : source_(source), table_(table) {}

  [[nodiscard]] const Trace& trace() const { return source_.trace(); }
  [[nodiscard]] const exporters::RecordTable<Row>& table() const { return table_; }

  // Positions of those that may be chosen, by start. O(records) at the first call; then O(log records), and O(chosen) by correlation.
  [[nodiscard]] std::vector<std::uint32_t> chosen(const RowChoice& choice) {
    if (!records_) find();
    std::vector<std::uint32_t> positions;
    const auto add = [&](std::uint32_t position) {
      const Nanoseconds start = at(position).time.begin;
      if (!choice.window || (start >= choice.window->begin && start < choice.window->end)) positions.push_back(position);
    };
    if (choice.correlation) {
      const auto [first, last] = by_correlation_.equal_range(*choice.correlation);
      for (auto entry = first; entry != last; ++entry) add(entry->second);
    } else {
      for (std::uint32_t position = 0; position < records_->size(); ++position) add(position);
    }
    return positions;
  }
  [[nodiscard]] const exporters::Record& at(std::uint32_t position) const { return (*records_)[position]; }

 private:
  void find() {
    records_ = table_.records(trace(), {});
    if (table_.correlation == nullptr) return;
    for (std::uint32_t position = 0; position < records_->size(); ++position) by_correlation_.emplace(table_.correlation(trace(), at(position)), position);
  }

  RowSource& source_;
  const exporters::RecordTable<Row>& table_;
  std::optional<std::vector<exporters::Record>> records_;
  std::multimap<std::uint32_t, std::uint32_t> by_correlation_;  // positions; entries of one key stay in the order of insertion
};

template <typename Row>
class RowsOfRecords : public RowCursor {
 public:
  RowsOfRecords(Records<Row>& records, const RowChoice& choice) : records_(records), chosen_(records.chosen(choice)) {}
  bool next() override {
    for (; place_ < chosen_.size(); ++place_, index_ = 0) {
      const exporters::Record& record = records_.at(chosen_[place_]);
      if (index_ >= records_.table().rows(records_.trace(), record)) continue;
      number_ = static_cast<sqlite3_int64>(std::uint64_t{chosen_[place_]} << 32 | index_);
      row_.emplace(records_.table().row(records_.trace(), record, index_++));
      return true;
    }
    return false;
  }
  [[nodiscard]] exporters::RowOrigin origin() const override { return {row_->part(), row_->process(), row_->time()}; }
  [[nodiscard]] sqlite3_int64 number() const override { return number_; }
  void give_own(sqlite3_context* context, int column) override {
    give_value(context, records_.trace(), records_.table().columns[static_cast<std::size_t>(column)], *row_);
  }

 private:
  Records<Row>& records_;
  std::vector<std::uint32_t> chosen_;
  std::size_t place_ = 0, index_ = 0;  // of the next row: in chosen_, and in its record
  std::optional<Row> row_;
  sqlite3_int64 number_ = 0;
};

struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<RowCursor> rows;
  bool at_end = true;
};

const TableModule& module_of(sqlite3_vtab_cursor* cursor) { return *static_cast<VirtualTable*>(cursor->pVtab)->module; }

int connect(sqlite3* database, void* module, int, const char* const*, sqlite3_vtab** table, char**) {
  const auto* own = static_cast<const TableModule*>(module);
  if (const int code = sqlite3_declare_vtab(database, own->declaration.c_str()); code != SQLITE_OK) return code;
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
  auto made = std::make_unique<VirtualTable>();
  static_cast<sqlite3_vtab&>(*made) = {};
  made->module = own;
  const auto place = [&](std::string_view name) {
    const auto found = std::find(own->columns.begin(), own->columns.end(), name);
    return found == own->columns.end() ? -1 : static_cast<int>(found - own->columns.begin());
  };
  made->start_column = place("start");
  made->correlation_column = place("correlation");
  made->rows = own->most_rows(own->source->trace());
  *table = made.release();
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

// Rows are numbered as they are visited, so a table whose rows refer to each other by number is read from its beginning.
int choose_plan(sqlite3_vtab* table, sqlite3_index_info* index) {
  const auto& own = *static_cast<VirtualTable*>(table);
  int from = -1, until = -1, equal = -1, correlation = -1;
  for (int i = 0; i < index->nConstraint; ++i) {
    const auto& constraint = index->aConstraint[i];
    if (constraint.usable == 0 || own.module->seek == TableModule::Seek::kNo) continue;
    const unsigned char op = constraint.op;
    if (constraint.iColumn == own.start_column) {
      if (op == SQLITE_INDEX_CONSTRAINT_EQ) equal = i;
      if (op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT) from = i;
      if (op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT) until = i;
    }
    if (own.correlation_column >= 0 && constraint.iColumn == own.correlation_column && op == SQLITE_INDEX_CONSTRAINT_EQ) correlation = i;
  }
  int arguments = 0;
  double cost = own.rows + 1;
  const auto use = [&](int constraint, int bit, double rest) {
    if (constraint < 0) return;
    index->aConstraintUsage[constraint].argvIndex = ++arguments;  // SQLite checks the condition again, because ours is only a bound
    index->idxNum |= bit;
    cost = std::max(1.0, cost * rest);
  };
  index->idxNum = 0;
  if (equal >= 0) {
    use(equal, kAt, 1e-6);
  } else {
    use(from, kFrom, 0.3);
    use(until, kUntil, 0.3);
  }
  use(correlation, kCorrelation, 1e-5);
  index->estimatedCost = cost + 10;  // for the lanes that are searched
  index->estimatedRows = static_cast<sqlite3_int64>(cost);
  const bool by_start = index->nOrderBy == 1 && index->aOrderBy[0].iColumn == own.start_column && index->aOrderBy[0].desc == 0;
  if (by_start && own.module->order == TableModule::Order::kStart) index->orderByConsumed = 1;
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  auto made = std::make_unique<Cursor>();
  static_cast<sqlite3_vtab_cursor&>(*made) = {};
  *cursor = made.release();
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// All times of a trace are within this bound.
constexpr Nanoseconds kFarthest = Nanoseconds{1} << 61;

// A time from a value of any type, rounded down by less than two; `otherwise` if the value is no number.
Nanoseconds time_of(sqlite3_value* value, Nanoseconds otherwise) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_INTEGER) return std::clamp<Nanoseconds>(sqlite3_value_int64(value), -kFarthest, kFarthest);
  if (type != SQLITE_FLOAT) return otherwise;
  const double time = sqlite3_value_double(value);
  return static_cast<Nanoseconds>(std::clamp(time, static_cast<double>(-kFarthest), static_cast<double>(kFarthest))) - 1;
}

int to_next(sqlite3_vtab_cursor* cursor) {
  auto& own = *static_cast<Cursor*>(cursor);
  own.at_end = !own.rows->next();
  return module_of(cursor).source->stop().stop_requested() ? SQLITE_INTERRUPT : SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int plan, const char*, int, sqlite3_value** arguments) {
  auto& own = *static_cast<Cursor*>(cursor);
  const TableModule& module = module_of(cursor);
  // A look-up may return more rows than requested, never fewer: SQLite compares again.
  constexpr Nanoseconds kRoom = 3;
  TimeRange window{-kFarthest, kFarthest + kRoom};
  RowChoice choice;
  choice.time = RowChoice::Time::kStartsIn;
  int argument = 0;
  if ((plan & (kFrom | kAt)) != 0) window.begin = time_of(arguments[argument], -kFarthest);
  if ((plan & kFrom) != 0) ++argument;
  if ((plan & (kUntil | kAt)) != 0) window.end = time_of(arguments[argument++], kFarthest) + kRoom;
  if ((plan & (kFrom | kUntil | kAt)) != 0) choice.window = window;
  bool is_id = true;
  if ((plan & kCorrelation) != 0) {
    const int type = sqlite3_value_numeric_type(arguments[argument]);
    const double id = sqlite3_value_double(arguments[argument]);  // a double holds every id
    is_id = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && id >= 0 && id <= std::numeric_limits<std::uint32_t>::max() && id == std::floor(id);
    if (is_id) choice.correlation = static_cast<std::uint32_t>(id);
  }
  own.rows.reset();
  own.at_end = true;
  if (!is_id) return SQLITE_OK;
  own.rows = module.open(choice);
  return to_next(cursor);
}

int is_at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end ? 1 : 0; }

int give_column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  RowCursor& rows = *static_cast<Cursor*>(cursor)->rows;
  const TableModule& module = module_of(cursor);
  const int own = static_cast<int>(module.columns.size() - exporters::provenance_columns().size());
  if (column < own) {
    rows.give_own(context, column);
    return SQLITE_OK;
  }
  const exporters::ProvenanceColumn& shared = exporters::provenance_columns()[static_cast<std::size_t>(column - own)];
  const Trace& trace = module.source->trace();
  const std::int64_t cell = *shared.value(trace, rows.origin());
  if (shared.text != nullptr)
    give_text(context, exporters::provenance_text(shared, trace, cell), SQLITE_TRANSIENT);
  else
    give(context, shared.type, cell);
  return SQLITE_OK;
}

int give_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
  *number = static_cast<Cursor*>(cursor)->rows->number();
  return SQLITE_OK;
}

// Without xCreate, the tables exist under their names, and no others can be created.
sqlite3_module module_functions() {
  sqlite3_module module = {};
  module.xConnect = connect;
  module.xBestIndex = choose_plan;
  module.xDisconnect = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = filter;
  module.xNext = to_next;
  module.xEof = is_at_end;
  module.xColumn = give_column;
  module.xRowid = give_number;
  return module;
}

template <typename Row>
std::unique_ptr<TableModule> module_of(RowSource& source, std::string_view name, std::span<const exporters::ColumnSource<Row>> columns) {
  auto module = std::make_unique<TableModule>();
  module->source = &source;
  module->name = name;
  module->columns = columns_of(columns);
  std::string declarations;
  const auto add = [&](std::string_view column, ColumnType type) {
    declarations.append(declarations.empty() ? "" : ", ").append(declared(name, column, type));
  };
  for (const exporters::ColumnSource<Row>& column : columns) add(column.name, column.type);
  for (const exporters::ProvenanceColumn& column : exporters::provenance_columns()) add(column.name, column.type);
  module->declaration = "CREATE TABLE t(" + declarations + ")";
  return module;
}

}  // namespace

std::vector<std::unique_ptr<TableModule>> table_modules(RowSource& source) {
  std::vector<std::unique_ptr<TableModule>> modules;
  for (const EventTable& table : exporters::event_tables()) {
    TableModule& module = *modules.emplace_back(module_of<EventRow>(source, table.name, table.columns));
    if (numbers_rows(table)) module.seek = TableModule::Seek::kNo;
    module.most_rows = [&table](const Trace& trace) {
      double rows = 0;
      for (const Track& track : trace.tracks())
        if (table.has_track(track.key.kind))
          for (const LaneId lane : track.lanes) rows += trace.lane(lane).size();
      return rows;
    };
    module.open = [&source, &table](const RowChoice& choice) { return std::make_unique<RowsOfEvents>(source, table, choice); };
  }
  TableModule& counters = *modules.emplace_back(module_of<CounterRow>(source, exporters::counter_table().name, exporters::counter_table().columns));
  counters.order = TableModule::Order::kNone;
  counters.most_rows = [](const Trace& trace) {
    double rows = 0;
    for (CounterId id = 0; id < trace.counters().size(); ++id) rows += static_cast<double>(trace.counter_series(id).size());
    return rows;
  };
  counters.open = [&source](const RowChoice& choice) { return std::make_unique<RowsOfCounters>(source.trace(), choice.window); };
  exporters::for_each_record_table([&]<typename Row>(const exporters::RecordTable<Row>& table) {
    TableModule& module = *modules.emplace_back(module_of<Row>(source, table.name, table.columns));
    const auto records = std::make_shared<Records<Row>>(source, table);
    module.most_rows = [&table](const Trace& trace) {
      double rows = 0;
      for (std::size_t i = 0; i < table.recorded(trace); ++i) rows += static_cast<double>(table.rows(trace, {{}, {}, i}));
      return rows;
    };
    module.open = [records](const RowChoice& choice) { return std::make_unique<RowsOfRecords<Row>>(*records, choice); };
  });
  return modules;
}

int add_tables(sqlite3* database, const std::vector<std::unique_ptr<TableModule>>& modules) {
  static const sqlite3_module kFunctions = module_functions();
  // SQLite declares a table when it is first named. The authorizer would see that as a change of the schema, so it is done here.
  const auto declare = [database](std::string_view name) {
    sqlite3_stmt* named = nullptr;
    const int code = sqlite3_prepare_v2(database, ("SELECT 1 FROM " + std::string(name)).c_str(), -1, &named, nullptr);
    sqlite3_finalize(named);
    return code;
  };
  for (const std::string_view own : {"json_each", "json_tree"}) declare(own);  // SQLite's own, if it has them
  for (const auto& module : modules) {
    if (const int code = sqlite3_create_module_v2(database, module->name.data(), &kFunctions, module.get(), nullptr); code != SQLITE_OK) return code;
    if (const int code = declare(module->name); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace lanescope::query
