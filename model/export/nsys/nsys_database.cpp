#include "nsys_database.h"
#include "model/file/new_file.h"

namespace lanescope::exporters {
namespace {

// "a INTEGER NOT NULL, b TEXT" -> "a, b".
std::string column_names(std::string_view columns) {
  std::string names;
  while (!columns.empty()) {
    if (!names.empty()) names += ", ";
    names += columns.substr(0, columns.find(' '));
    const auto comma = columns.find(", ");
    columns.remove_prefix(comma == columns.npos ? columns.size() : comma + 2);
  }
  return names;
}

}  // namespace

Result<std::unique_ptr<NsysDatabase>> NsysDatabase::create(const std::filesystem::path& path, const std::filesystem::path& shown, NamePatterns tables) {
  std::error_code failed;
  // The folder without links, because SQLite refuses links anywhere in the path.
  const std::filesystem::path folder = std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
  const std::filesystem::path file = failed ? path : folder / path.filename();
  std::unique_ptr<NsysDatabase> database(new NsysDatabase(std::move(tables)));
  // One thread uses the database. With SQLite's locks, rows of call chains would take a third longer.
  if (sqlite3_open_v2(file.c_str(), &database->handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK)
    return not_written(shown.string(), sqlite3_errmsg(database->handle_));
  // The file is new and is discarded after a failure, so no rollback is needed.
  database->execute("PRAGMA journal_mode = OFF");
  database->execute("PRAGMA synchronous = OFF");
  database->execute("PRAGMA page_size = 16384");
  database->execute("BEGIN");
  if (!database->failure_.empty()) return not_written(shown.string(), database->failure_);
  return database;
}

NsysDatabase::~NsysDatabase() {
  for (sqlite3_stmt* statement : insertions_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

bool NsysDatabase::wants(NsysTable table) const {
  return table == NsysTable::kStrings || table == NsysTable::kExportMetadata || tables_.match(table_schema(table).name);
}

sqlite3_stmt* NsysDatabase::insertion(NsysTable table, std::size_t columns) {
  sqlite3_stmt*& statement = insertions_[static_cast<std::size_t>(table)];
  if (statement || !failure_.empty()) return failure_.empty() ? statement : nullptr;
  const TableSchema& schema = table_schema(table);
  if (static_cast<std::size_t>(schema.column_count) != columns) {
    failure_ = std::string("table ") + schema.name + " has another number of columns";
    return nullptr;
  }
  create_table(schema);
  std::string sql = std::string("INSERT INTO ") + schema.name + " (rowid, " + column_names(schema.columns) + ") VALUES (?";
  for (std::size_t i = 0; i < columns; ++i) sql += ", ?";
  sql += ")";
  if (sqlite3_prepare_v3(handle_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) note_failure();
  return statement;
}

void NsysDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) note_failure();
}

void NsysDatabase::run(sqlite3_stmt* statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) note_failure();
  sqlite3_reset(statement);
}

void NsysDatabase::note_failure() {
  if (failure_.empty()) failure_ = sqlite3_errmsg(handle_);
}

void NsysDatabase::create_table(const TableSchema& schema) { execute(std::string("CREATE TABLE ") + schema.name + " (" + schema.columns + ")"); }

void NsysDatabase::add_unfinished(NsysTable table, std::int64_t seen_until) {
  insert(NsysTable::kUnfinished, table_schema(table).name, sqlite3_last_insert_rowid(handle_), seen_until);
}

void NsysDatabase::create_view(NsysTable table, const std::string& select) {
  is_view_[static_cast<std::size_t>(table)] = true;
  execute(std::string("CREATE VIEW ") + table_schema(table).name + " AS " + select);
}

void NsysDatabase::create_empty_tables() {
  for (std::size_t i = 0; i < kNsysTableCount; ++i) {
    const auto table = static_cast<NsysTable>(i);
    if (!insertions_[i] && !is_view_[i] && wants(table)) create_table(table_schema(table));
  }
}

void NsysDatabase::write_enums() {
  for (const EnumTable& table : enum_tables()) {
    execute(std::string("CREATE TABLE ") + table.name + " (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)");
    for (const EnumEntry& entry : table.entries)
      execute(std::string("INSERT INTO ") + table.name + " VALUES (" + std::to_string(entry.id) + ", '" + entry.name + "', '" + entry.label + "')");
  }
}

Result<void> NsysDatabase::finish() {
  if (failure_.empty()) execute("COMMIT");
  for (sqlite3_stmt*& statement : insertions_) {
    sqlite3_finalize(statement);
    statement = nullptr;
  }
  if (!failure_.empty()) return Error{failure_};
  return {};
}

}  // namespace lanescope::exporters
