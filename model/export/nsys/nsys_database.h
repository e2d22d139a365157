// A SQLite file that is being written; a table is created with its first row. Internal to model/export.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "../tables/name_patterns.h"
#include "model/file/result.h"
#include "nsys_schema.h"

namespace lanescope::exporters {

struct Null {};
inline constexpr Null kNull;

class NsysDatabase {  // single-threaded
 public:
  // Writes into an empty file; a link is refused. `shown` is the name in error texts. Only tables that match `tables` are written.
  static Result<std::unique_ptr<NsysDatabase>> create(const std::filesystem::path& path, const std::filesystem::path& shown, NamePatterns tables);
  ~NsysDatabase();
  NsysDatabase(const NsysDatabase&) = delete;
  NsysDatabase& operator=(const NsysDatabase&) = delete;

  // True if the table, one of Nsight's, is to be written.
  [[nodiscard]] bool wants(NsysTable table) const;

  // Appends a row: one value for each column, in the order of columns. Values are integers, floating-point numbers, text, kNull, or optionals of these.
  // Failures are stored and reported by finish().
  template <typename... Values>
  void insert(NsysTable table, const Values&... values) {
    insert_at(table, std::nullopt, values...);
  }
  // The same with a row id; without one, the next id is used.
  template <typename... Values>
  void insert_at(NsysTable table, std::optional<std::int64_t> row_id, const Values&... values) {
    sqlite3_stmt* statement = insertion(table, sizeof...(values));
    if (!statement) return;
    int column = 0;
    bind(statement, ++column, row_id);
    (bind(statement, ++column, values), ...);
    run(statement);
  }

  // Says that the event of the row that was inserted last, into this table, had not ended with the recording, which saw it until then.
  void add_unfinished(NsysTable table, std::int64_t seen_until);

  // Creates a view in place of the table. Requires: no row of the table was inserted.
  void create_view(NsysTable table, const std::string& select);
  void write_enums();
  void create_empty_tables();
  Result<void> finish();

 private:
  explicit NsysDatabase(NamePatterns tables) : tables_(std::move(tables)) {}

  sqlite3_stmt* insertion(NsysTable table, std::size_t columns);
  void create_table(const TableSchema& schema);
  void execute(const std::string& sql);
  void run(sqlite3_stmt* statement);
  void note_failure();

  static void bind(sqlite3_stmt* statement, int column, Null) { sqlite3_bind_null(statement, column); }
  static void bind(sqlite3_stmt* statement, int column, double value) { sqlite3_bind_double(statement, column, value); }
  static void bind(sqlite3_stmt* statement, int column, std::string_view value) {
    sqlite3_bind_text(statement, column, value.data() ? value.data() : "", static_cast<int>(value.size()), SQLITE_STATIC);
  }
  template <std::integral Number>
  static void bind(sqlite3_stmt* statement, int column, Number value) {
    sqlite3_bind_int64(statement, column, static_cast<sqlite3_int64>(value));
  }
  template <typename Value>
  static void bind(sqlite3_stmt* statement, int column, const std::optional<Value>& value) {
    if (value)
      bind(statement, column, *value);
    else
      sqlite3_bind_null(statement, column);
  }

  sqlite3* handle_ = nullptr;
  NamePatterns tables_;
  std::array<sqlite3_stmt*, kAllTableCount> insertions_{};
  std::array<bool, kAllTableCount> is_view_{};
  std::string failure_;
};

}  // namespace lanescope::exporters
