// Read-only SQLite: the functions that importers need. Internal to model/import.
//
// Files are not trusted. Only tables are read, no views, virtual tables or computed columns, so that a file can't execute code of its choice. The file is read
// by system calls and never mapped, and no journal beside it is opened. Reading is counted against ImportLimits; beyond these limits, rows end with a failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../import_limits.h"
#include "model/file/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lanescope::importers {

// Counts what was read of a database, and contains the limits.
struct SqliteWork {
  explicit SqliteWork(std::uint64_t file_bytes) : limits(file_bytes) {}
  ImportLimits limits;
  std::uint64_t most_page_looks = 0;
  std::uint64_t rows = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t instructions = 0;
};

// The rows of one table, one at a time. Columns are numbered in the order of the request; a column that the table lacks reads as NULL.
class TableRows {
 public:
  // Moves to the next row. Returns false after the last one, and after an error (see failure()). Throws std::bad_alloc, like text() and functions that return
  // TableRows.
  bool next();
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;  // 0 for NULL
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // valid until the next row
  // SQLite's row id, which follows the requested columns.
  [[nodiscard]] std::int64_t row_id() const;
  // The error while reading; empty if there was none.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void fail(std::string failure);
  [[nodiscard]] bool is_within_limits();

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;  // null if the table does not exist: no rows
  sqlite3* database_ = nullptr;
  SqliteWork* work_ = nullptr;
  int row_id_column_ = 0;
  std::string failure_;
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& path);

  // Names are compared as SQLite does: without regard to the case of letters.
  [[nodiscard]] bool has_table(std::string_view table) const;
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;
  // A fast upper bound of the number of rows: the largest row id.
  [[nodiscard]] std::uint64_t row_bound(std::string_view table) const;
  // All rows in the order of their row ids. A table that does not exist has none.
  [[nodiscard]] TableRows rows(std::string_view table, std::span<const std::string_view> columns) const;
  [[nodiscard]] const ImportLimits& limits() const noexcept { return work_->limits; }
  // Views and virtual tables that were requested but not read.
  [[nodiscard]] const std::set<std::string, std::less<>>& computed_tables() const noexcept { return computed_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Column {
    std::string name;
    std::size_t default_length = 0;  // characters
  };
  void restrict();  // restricts it to reading tables, within limits
  Result<void> read_schema(const std::filesystem::path& path);
  [[nodiscard]] TableRows prepare(const std::string& sql) const;
  [[nodiscard]] const std::vector<Column>& columns_of(std::string_view table) const;

  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<SqliteWork> work_;
  std::map<std::string, bool, std::less<>> is_table_;  // by lower-case name; false: computed
  mutable std::map<std::string, std::vector<Column>, std::less<>> columns_;
  mutable std::set<std::string, std::less<>> computed_;
};

}  // namespace lanescope::importers
