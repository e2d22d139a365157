// Read-only SQLite: what an importer needs of it, and no more. Internal to model/import.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lanescope::importers {

// The rows of one table, one at a time. Columns are numbered as they were asked for; one that the table lacks reads as NULL.
class TableRows {
 public:
  // The next row; false behind the last one, and after an error (see failure()).
  bool next();
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;  // 0 for NULL
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // valid until the next row
  // The first column that was not asked for: SQLite's row id.
  [[nodiscard]] std::int64_t row_id() const;
  // What went wrong while reading; empty when nothing did.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;  // none when the table is not there: no rows
  sqlite3* database_ = nullptr;
  int row_id_column_ = 0;
  std::string failure_;
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& path);

  [[nodiscard]] bool has_table(std::string_view table) const;
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;
  // An upper bound of the number of rows, quickly: the largest row id.
  [[nodiscard]] std::uint64_t row_bound(std::string_view table) const;
  // All rows in the order of their row ids. A table that is not there has none.
  [[nodiscard]] TableRows rows(std::string_view table, std::span<const std::string_view> columns) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  [[nodiscard]] TableRows prepare(const std::string& sql) const;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace lanescope::importers
