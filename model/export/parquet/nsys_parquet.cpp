#include "model/export/nsys_parquet_export.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "../nsys/nsys_schema.h"
#include "../nsys/nsys_writing.h"
#include "model/file/new_file.h"
#include "table_folder.h"

namespace lanescope {
namespace {

using namespace exporters;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

// A temporary file for this user only; the destructor removes it.
class PassingFile {
 public:
  explicit PassingFile(std::filesystem::path path) : path_(std::move(path)) {}
  // Fails with the system's reason.
  Result<void> make() {
    const int descriptor = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0 || close(descriptor) != 0) return Error{std::strerror(errno)};
    return {};
  }
  ~PassingFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

std::string column_text(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

// Texts by number, without duplicates.
class Texts {
 public:
  std::int64_t number_of(std::string text) {
    const auto [found, is_new] = numbers_.try_emplace(std::move(text), static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(&found->first);
    return found->second;
  }
  [[nodiscard]] const std::string& text(std::int64_t number) const { return *texts_[static_cast<std::size_t>(number)]; }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<const std::string*> texts_;
};

Cell cell_of(sqlite3_stmt* statement, int column, ColumnType type, Texts& texts) {
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
  if (type == ColumnType::kText) return texts.number_of(column_text(statement, column));
  if (type == ColumnType::kDouble) return std::bit_cast<std::int64_t>(sqlite3_column_double(statement, column));
  return sqlite3_column_int64(statement, column);
}

class Conversion {
 public:
  Conversion(Database database, TableFolder& folder) : database_(std::move(database)), folder_(folder) {}

  Result<void> run() {
    std::vector<std::string> names;
    const Statement tables = prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    while (tables && sqlite3_step(tables.get()) == SQLITE_ROW) names.push_back(column_text(tables.get(), 0));
    for (const std::string& name : names)
      if (Result<void> written = write(name); !written) return written;
    leave_out_but(names);
    return {};
  }

 private:
  // Removes tables that another export left in the folder, as far as their names are known.
  void leave_out_but(const std::vector<std::string>& names) {
    const auto leave_out = [&](std::string_view name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) folder_.leave_out(name);
    };
    for (std::size_t table = 0; table < kAllTableCount; ++table) leave_out(table_schema(static_cast<NsysTable>(table)).name);
    for (const EnumTable& table : enum_tables()) leave_out(table.name);
  }

  // Null if SQLite refuses; SQLite has the reason.
  Statement prepare(const std::string& question) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.get(), question.c_str(), -1, &statement, nullptr);
    return Statement(statement);
  }

  std::vector<ColumnSchema> columns_of(const std::string& table) {
    enum { kName = 1, kType = 2, kNotNull = 3, kKey = 5 };  // columns of the pragma's result
    std::vector<ColumnSchema> columns;
    const Statement described = prepare("PRAGMA table_info(\"" + table + "\")");
    while (described && sqlite3_step(described.get()) == SQLITE_ROW) {
      const std::string type = column_text(described.get(), kType);
      const bool has_all = sqlite3_column_int(described.get(), kNotNull) != 0 || sqlite3_column_int(described.get(), kKey) != 0;
      columns.push_back({column_text(described.get(), kName),
                         type == "TEXT"   ? ColumnType::kText
                         : type == "REAL" ? ColumnType::kDouble
                                          : ColumnType::kInt64,
                         has_all ? Nullable::kNo : Nullable::kYes});
    }
    return columns;
  }

  // SQLite accepts any number in a column of integers, and there metrics are fractions.
  void widen(const std::string& table, std::vector<ColumnSchema>& columns) {
    std::string question;
    for (const ColumnSchema& column : columns) question += (question.empty() ? "SELECT max(typeof(\"" : ", max(typeof(\"") + column.name + "\") = 'real')";
    const Statement answer = prepare(question + " FROM \"" + table + "\"");
    if (!answer || sqlite3_step(answer.get()) != SQLITE_ROW) return;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].type == ColumnType::kInt64 && sqlite3_column_int(answer.get(), static_cast<int>(i)) != 0) columns[i].type = ColumnType::kDouble;
  }

  Result<void> write(const std::string& name) {
    std::vector<ColumnSchema> columns = columns_of(name);
    widen(name, columns);
    Texts texts;
    TableDescription table{name, columns, std::size_t{1} << 18, [&](std::size_t, std::int64_t cell) { return texts.text(cell); }, {}, std::nullopt};
    return folder_.write(std::move(table), [&](TableRows& table_rows) -> Result<void> {
      const Statement rows = prepare("SELECT * FROM \"" + name + "\" ORDER BY rowid");
      std::vector<Cell> cells(columns.size());
      int state = rows ? sqlite3_step(rows.get()) : SQLITE_ERROR;
      for (; state == SQLITE_ROW; state = sqlite3_step(rows.get())) {
        for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = cell_of(rows.get(), static_cast<int>(i), columns[i].type, texts);
        table_rows.append(cells);
      }
      if (state != SQLITE_DONE) return Error{sqlite3_errmsg(database_.get())};
      return {};
    });
  }

  Database database_;
  TableFolder& folder_;
};

}  // namespace

Result<void> export_nsys_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const NsysSqliteOptions& options) {
  TableFolder target(folder, overwrite);
  if (Result<void> made = target.make(); !made) return made;
  Result<void> written = [&]() -> Result<void> {
    PassingFile tables(target.path() / (".tables-" + std::to_string(getpid()) + ".sqlite"));
    if (const Result<void> made = tables.make(); !made) return not_written(folder.string(), made.error().text);
    if (Result<void> exported = write_nsys_database(trace, tables.path(), folder, options); !exported) return exported;
    sqlite3* opened = nullptr;
    const int state = sqlite3_open_v2(tables.path().c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    Database database(opened);
    if (state != SQLITE_OK) return Error{"Can't read " + tables.path().string() + ": " + sqlite3_errmsg(opened) + "."};
    return Conversion(std::move(database), target).run();
  }();
  if (written) written = target.finish();
  return written ? written : target.give_up(written.error());
}

}  // namespace lanescope
