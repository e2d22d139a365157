#include "sqlite_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>

#include "model/trace/text/utf8.h"

namespace lanescope::importers {
namespace {

constexpr int kInstructionsPerReport = 100'000;  // of SQLite's virtual machine: about 1 ms

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::string in_small_letters(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// "file:/tmp/a%20b.sqlite?immutable=1": with it, SQLite locks nothing and opens no other file.
std::string uri_of(const std::filesystem::path& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = "file:";
  const std::filesystem::path absolute = std::filesystem::absolute(path);
  for (const char c : absolute.native()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins_host = c == '/' && uri.back() == '/';
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '/' || c == '.' || c == '_';
    if (is_plain && !begins_host)
      uri += c;
    else
      uri.append(1, '%').append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
  }
  return uri + "?immutable=1";
}

// The file with changes that the database does not contain yet; empty if there is none.
std::filesystem::path journal_of(const std::filesystem::path& path) {
  for (const char* ending : {"-wal", "-journal"}) {
    std::filesystem::path journal = path;
    journal += ending;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(journal, ignored) || std::filesystem::file_size(journal, ignored) == 0) continue;
    char first = 0;
    std::ifstream(journal, std::ios::binary).read(&first, 1);
    if (first != 0) return journal;  // a journal that is kept for the next change begins with zeros
  }
  return {};
}

// Only permits reading tables that are named directly.
int allow(void*, int action, const char* subject, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return SQLITE_OK;  // used only by our own statements: no view or computed column is read
    case SQLITE_PRAGMA:
      return std::string_view(subject) == "table_info" ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int count_instructions(void* work) {
  auto& counted = *static_cast<SqliteWork*>(work);
  counted.instructions += kInstructionsPerReport;
  return counted.instructions > counted.limits.instructions() ? 1 : 0;  // 1: stop
}

std::uint64_t page_looks(sqlite3* database) {
  int hits = 0, misses = 0, highest = 0;
  sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 0);
  sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 0);
  return static_cast<std::uint64_t>(static_cast<unsigned>(hits)) + static_cast<unsigned>(misses);
}

// A table that is missing for lack of memory must not count as unreadable: the rest would appear complete.
void expect_memory(int status) {
  if (status == SQLITE_NOMEM) throw std::bad_alloc();
}

constexpr const char* kTooMuch = "it refers to its pages in circles, or to most of them many times, as no sound file does";

}  // namespace

void TableRows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

void TableRows::fail(std::string failure) {
  failure_ = std::move(failure);
  statement_.reset();
}

bool TableRows::is_within_limits() {
  constexpr std::uint64_t kRowsPerLook = 64;
  const ImportLimits& limits = work_->limits;
  if (++work_->rows > limits.rows() || work_->text_bytes > limits.text_bytes()) return false;
  return work_->rows % kRowsPerLook != 0 || page_looks(database_) <= work_->most_page_looks;
}

bool TableRows::next() {
  if (!statement_) return false;
  const int status = sqlite3_step(statement_.get());
  expect_memory(status);
  if (status == SQLITE_ROW) {
    if (is_within_limits()) return true;
    fail(kTooMuch);
  } else if (status == SQLITE_INTERRUPT) {
    fail(kTooMuch);
  } else if (status != SQLITE_DONE) {
    fail(sqlite3_errmsg(database_));
  }
  statement_.reset();
  return false;
}

bool TableRows::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t TableRows::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double TableRows::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::int64_t TableRows::row_id() const { return sqlite3_column_int64(statement_.get(), row_id_column_); }

std::string_view TableRows::text(int column) const {
  const auto* characters = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!characters) {
    if (!is_null(column)) throw std::bad_alloc();
    return {};
  }
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  work_->text_bytes += size;
  return {characters, size};
}

Result<Database> Database::open(const std::filesystem::path& path) {
  if (const auto journal = journal_of(path); !journal.empty())
    return Error{path.string() + " is being written, or its writer was interrupted: changes stand in " + journal.string() +
                 ". Once nothing writes it any more, complete it with: sqlite3 " + path.string() + " 'PRAGMA journal_mode=DELETE'"};
  Database result;
  sqlite3* database = nullptr;
  // One connection is used by one thread, so no mutexes are needed.
  const int status = sqlite3_open_v2(uri_of(path).c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  result.database_.reset(database);
  if (status != SQLITE_OK)
    return Error{path.string() + " can't be read as a SQLite database: " + (database ? sqlite3_errmsg(database) : "out of memory") + "."};
  std::error_code failed;
  const std::uint64_t size = std::filesystem::file_size(path, failed);
  result.work_ = std::make_unique<SqliteWork>(failed ? 0 : size);
  result.restrict();
  if (const auto read = result.read_schema(path); !read) return read.error();
  return result;
}

void Database::restrict() {
  sqlite3* const database = database_.get();
  constexpr std::array<std::pair<int, int>, 10> kLimits = {{{SQLITE_LIMIT_LENGTH, kLongestSqliteValue},
                                                            {SQLITE_LIMIT_SQL_LENGTH, kLongestSqliteSchema},
                                                            {SQLITE_LIMIT_COLUMN, kMostSqliteColumns},
                                                            {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                                            {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                                                            {SQLITE_LIMIT_VDBE_OP, 100'000},
                                                            {SQLITE_LIMIT_FUNCTION_ARG, 10},
                                                            {SQLITE_LIMIT_ATTACHED, 0},
                                                            {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                            {SQLITE_LIMIT_WORKER_THREADS, 0}}};
  for (const auto& [limit, value] : kLimits) sqlite3_limit(database, limit, value);
  constexpr int kOn = 1, kOff = 0;
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, kOn, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, kOff, nullptr);
  for (const int setting : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION})
    sqlite3_db_config(database, setting, kOff, nullptr);
  // If a mapped file shrinks, the process ends.
  sqlite3_int64 no_mapping = 0;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_MMAP_SIZE, &no_mapping);
  sqlite3_exec(database, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
  sqlite3_progress_handler(database, kInstructionsPerReport, count_instructions, work_.get());
  sqlite3_set_authorizer(database, allow, nullptr);
}

Result<void> Database::read_schema(const std::filesystem::path& path) {
  const auto unreadable = [&](const std::string& reason) { return Error{path.string() + " can't be read as a SQLite database: " + reason + "."}; };
  work_->most_page_looks = std::numeric_limits<std::uint64_t>::max();
  TableRows pages = prepare("PRAGMA table_info(sqlite_master)");  // reads the schema, so that a damaged file is detected here
  if (!pages.failure().empty()) return unreadable(pages.failure());
  std::error_code failed;
  constexpr std::uint64_t kSmallestPage = 512;
  work_->most_page_looks = ImportLimits::page_looks(std::filesystem::file_size(path, failed) / kSmallestPage);
  TableRows entries = prepare("SELECT name, type, rootpage FROM sqlite_master WHERE type IN ('table', 'view')");
  while (entries.next()) is_table_.emplace(in_small_letters(entries.text(0)), entries.text(1) == "table" && entries.integer(2) > 0);
  if (!entries.failure().empty()) return unreadable(entries.failure());
  return {};
}

TableRows Database::prepare(const std::string& sql) const {
  TableRows rows;
  rows.database_ = database_.get();
  rows.work_ = work_.get();
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr);
  rows.statement_.reset(statement);
  expect_memory(status);
  if (status != SQLITE_OK) rows.fail(status == SQLITE_INTERRUPT ? kTooMuch : sqlite3_errmsg(database_.get()));
  return rows;
}

bool Database::has_table(std::string_view table) const {
  const auto found = is_table_.find(in_small_letters(table));
  return found != is_table_.end() && found->second;
}

const std::vector<Database::Column>& Database::columns_of(std::string_view table) const {
  const auto [found, inserted] = columns_.try_emplace(in_small_letters(table));
  if (!inserted || !has_table(table)) return found->second;
  enum Field { kNumber, kName, kType, kNotNull, kDefault };
  TableRows rows = prepare("PRAGMA table_info(" + quoted(table) + ")");  // without computed columns
  while (rows.next()) found->second.push_back({in_small_letters(rows.text(kName)), rows.text(kDefault).size()});
  return found->second;
}

bool Database::has_column(std::string_view table, std::string_view column) const {
  const auto& columns = columns_of(table);
  const std::string name = in_small_letters(column);
  return std::any_of(columns.begin(), columns.end(), [&](const Column& known) { return known.name == name; });
}

std::uint64_t Database::row_bound(std::string_view table) const {
  if (!has_table(table)) return 0;
  TableRows rows = prepare("SELECT max(rowid) FROM " + quoted(table));
  return rows.next() ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows.integer(0))) : 0;
}

TableRows Database::rows(std::string_view table, std::span<const std::string_view> columns) const {
  if (!has_table(table)) {
    if (is_table_.contains(in_small_letters(table))) computed_.emplace(table);
    return {};
  }
  // If a row has no value for a column, the default is read each time.
  for (const Column& column : columns_of(table)) {
    if (column.default_length <= kLongestDefault) continue;
    TableRows failed;
    failed.fail("its column " + std::string(first_bytes(column.name, kLongestDefault)) + " has a default of " + std::to_string(column.default_length) +
                " characters, as no export has");
    return failed;
  }
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) sql += (has_column(table, column) ? quoted(column) : "NULL") + ", ";
  TableRows rows = prepare(sql + "rowid FROM " + quoted(table));
  rows.row_id_column_ = static_cast<int>(columns.size());
  return rows;
}

}  // namespace lanescope::importers
