#include "sqlite_database.h"

#include <sqlite3.h>

namespace lanescope::importers {
namespace {

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::string literal(std::string_view text) {
  std::string quoted_text = "'";
  for (const char c : text) {
    if (c == '\'') quoted_text += c;
    quoted_text += c;
  }
  return quoted_text + '\'';
}

}  // namespace

void TableRows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

bool TableRows::next() {
  if (!statement_) return false;
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) failure_ = sqlite3_errmsg(database_);
  statement_.reset();
  return false;
}

bool TableRows::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t TableRows::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double TableRows::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::int64_t TableRows::row_id() const { return sqlite3_column_int64(statement_.get(), row_id_column_); }

std::string_view TableRows::text(int column) const {
  const auto* characters = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!characters) return {};
  return {characters, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open(const std::filesystem::path& path) {
  Database result;
  sqlite3* database = nullptr;
  // One connection, one thread: no mutexes. The schema is read at once, so that a damaged file shows here.
  const int status = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  result.database_.reset(database);
  if (status != SQLITE_OK || sqlite3_exec(database, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) != SQLITE_OK)
    return Error{path.string() + " can't be read as a SQLite database: " + (database ? sqlite3_errmsg(database) : "out of memory") + "."};
  sqlite3_exec(database, "PRAGMA mmap_size = 1099511627776", nullptr, nullptr, nullptr);
  return result;
}

TableRows Database::prepare(const std::string& sql) const {
  TableRows rows;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    rows.failure_ = sqlite3_errmsg(database_.get());
  rows.statement_.reset(statement);
  rows.database_ = database_.get();
  return rows;
}

bool Database::has_table(std::string_view table) const {
  TableRows rows = prepare("SELECT 1 FROM pragma_table_info(" + literal(table) + ")");
  return rows.next();
}

bool Database::has_column(std::string_view table, std::string_view column) const {
  TableRows rows = prepare("SELECT name FROM pragma_table_info(" + literal(table) + ")");
  while (rows.next())
    if (rows.text(0) == column) return true;
  return false;
}

std::uint64_t Database::row_bound(std::string_view table) const {
  if (!has_table(table)) return 0;
  TableRows rows = prepare("SELECT max(rowid) FROM " + quoted(table));
  return rows.next() ? static_cast<std::uint64_t>(rows.integer(0)) : 0;
}

TableRows Database::rows(std::string_view table, std::span<const std::string_view> columns) const {
  if (!has_table(table)) return {};
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) sql += (has_column(table, column) ? quoted(column) : "NULL") + ", ";
  TableRows rows = prepare(sql + "rowid FROM " + quoted(table));
  rows.row_id_column_ = static_cast<int>(columns.size());
  return rows;
}

}  // namespace lanescope::importers
