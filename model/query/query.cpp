#include "model/query/query.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "../export/tables/record_tables.h"
#include "answer_table.h"
#include "model/events/name_family.h"
#include "trace_tables.h"

namespace lanescope::query {
namespace {

constexpr int kLongestValue = 4 << 20;     // bytes of a text or a row, the most that one function may process
constexpr int kLongestQuery = 1 << 20;     // bytes
constexpr int kLongestPattern = 1'000;     // of LIKE and GLOB, whose time is the product of its length and the text's
constexpr int kStepsBetweenLooks = 2'000;  // of SQLite's machine, between checks of limits and of the stop token
constexpr std::size_t kRowsBetweenLooks = 1'024;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

// Conditions that end a query early.
class Watch {
 public:
  enum class End { kNone, kStopped, kTime, kMemory };
  Watch(const QueryLimits& limits, std::stop_token stop)
      : limits_(limits), stop_(std::move(stop)), until_(std::chrono::steady_clock::now() + limits.time), at_first_(sqlite3_memory_used()) {}

  void set_answer_bytes(std::uint64_t bytes) { answer_bytes_ = bytes; }
  [[nodiscard]] End end() const noexcept { return end_; }
  bool is_over() {
    if (stop_.stop_requested())
      end_ = End::kStopped;
    else if (std::chrono::steady_clock::now() >= until_)
      end_ = End::kTime;
    else if (answer_bytes_ + static_cast<std::uint64_t>(std::max<sqlite3_int64>(0, sqlite3_memory_used() - at_first_)) > limits_.bytes)
      end_ = End::kMemory;
    return end_ != End::kNone;
  }

 private:
  QueryLimits limits_;
  std::stop_token stop_;
  std::chrono::steady_clock::time_point until_;
  sqlite3_int64 at_first_;  // bytes that SQLite used before
  std::uint64_t answer_bytes_ = 0;
  End end_ = End::kNone;
};

struct Permission {
  const std::vector<std::unique_ptr<TableModule>>& modules;
  AnswerTable::Periods periods = AnswerTable::Periods::kTimes;  // of the columns that were read
};

// Permits a statement to read these tables and to call functions, nothing else.
int permit(void* of, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_READ: {
      if (first == nullptr) return SQLITE_DENY;
      if (second == nullptr || *second == '\0') return SQLITE_OK;  // it reads rows without a column; also for names in a WITH clause
      const std::string_view table(first);
      auto& permission = *static_cast<Permission*>(of);
      const auto& known = permission.modules;
      if (sqlite3_stricmp(first, exporters::pc_window_table().name.data()) == 0 && sqlite3_stricmp(second, "period") == 0)
        permission.periods = AnswerTable::Periods::kCycles;
      const bool is_ours = std::any_of(known.begin(), known.end(), [&](const auto& module) { return sqlite3_stricmp(module->name.data(), first) == 0; });
      return is_ours || table == "json_each" || table == "json_tree" ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

void family(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
  if (text == nullptr) return sqlite3_result_null(context);
  const std::string result = name_family({text, static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]))});
  sqlite3_result_text64(context, result.data(), result.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string quoted_list(const std::vector<std::string_view>& words) {
  std::string list;
  for (const std::string_view word : words) list.append(list.empty() ? "" : ", ").append(word);
  return list;
}

// Adds the available names to SQLite's message.
std::string advice_about(std::string_view message) {
  const std::string listed = "lanescope query --help-tables lists the tables and their columns.";
  if (message.starts_with("no such table")) {
    std::vector<std::string_view> names;
    for (const QueryTable& table : query_tables()) names.push_back(table.name);
    return " Tables: " + quoted_list(names) + ". " + listed;
  }
  if (message.starts_with("no such column")) return " Texts stand in single quotes; lanescope query --help-tables lists the columns of each table.";
  if (message.find("syntax error") != std::string_view::npos || message.starts_with("unrecognized token"))
    return " A query begins with SELECT or WITH. " + listed;
  if (message.find("not authorized") != std::string_view::npos || message.find("prohibited") != std::string_view::npos)
    return " A query reads the tables of the trace and nothing else. " + listed;
  return {};
}

Error failure(sqlite3* database, const Watch& watch, const QueryLimits& limits) {
  switch (watch.end()) {
    case Watch::End::kStopped:
      return {"The query was stopped."};
    case Watch::End::kTime:
      return {"The query took longer than " + std::to_string(limits.time.count() / 1000) + " s and was ended. Ask for less, or allow more time."};
    case Watch::End::kMemory:
      return {"The query took more than " + std::to_string(limits.bytes >> 20) + " MiB of memory and was ended. Ask for fewer rows, or for their sums."};
    case Watch::End::kNone:
      break;
  }
  const std::string message = sqlite3_errmsg(database);
  return {"The query can't be answered: " + message + "." + advice_about(message), ErrorKind::kUsage};
}

Result<Database> open_database(const std::vector<std::unique_ptr<TableModule>>& modules) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) return Error{"SQLite can't be started: " + std::string(sqlite3_errstr(code)) + "."};
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);  // a misspelt column in double quotes must not become a text
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(opened, SQLITE_LIMIT_SQL_LENGTH, kLongestQuery);
  sqlite3_limit(opened, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kLongestPattern);
  sqlite3_limit(opened, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_exec(opened, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);  // sorting uses no disk, and its memory is counted
  sqlite3_create_function_v2(opened, "family", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr, family, nullptr, nullptr, nullptr);
  if (const int added = add_tables(opened, modules); added != SQLITE_OK) return Error{"SQLite can't be started: " + std::string(sqlite3_errstr(added)) + "."};
  return database;
}

bool is_blank(const char* text) { return std::string_view(text).find_first_not_of(" \t\r\n;") == std::string_view::npos; }

// Sets the parameters' values. An open side of the window ends with the trace. Returns whether :begin or :end is used.
Result<TimeUse> bind(sqlite3_stmt* statement, const Trace& trace, const std::optional<TimeRange>& window) {
  const TimeRange all{trace.extent().begin, trace.extent().end + 1};
  TimeRange range = window.value_or(all);
  if (range.begin == std::numeric_limits<Nanoseconds>::min()) range.begin = std::min(all.begin, range.end);
  if (range.end == std::numeric_limits<Nanoseconds>::max()) range.end = std::max(all.end, range.begin);
  const int count = sqlite3_bind_parameter_count(statement);
  for (int i = 1; i <= count; ++i) {
    const char* name = sqlite3_bind_parameter_name(statement, i);
    const std::string_view text = name != nullptr ? name : "?";
    if (text != ":begin" && text != ":end")
      return Error{"The query asks for the parameter " + std::string(text) + ". There are :begin and :end.", ErrorKind::kUsage};
    sqlite3_bind_int64(statement, i, text == ":begin" ? range.begin : range.end);
  }
  return count > 0 ? TimeUse::kOfWindow : TimeUse::kWhole;
}

}  // namespace

Result<QueryAnswer> run_query(const Trace& trace, std::string_view sql, const QueryOptions& options) {
  if (sql.size() >= static_cast<std::size_t>(kLongestQuery)) return Error{"The query is longer than 1 MiB.", ErrorKind::kUsage};
  if (sql.find('\0') != std::string_view::npos)  // SQLite would end the query there and silently ignore the rest
    return Error{"The query holds a NUL character: a query is text.", ErrorKind::kUsage};
  Watch watch(options.limits, options.stop);
  RowSource source(trace, options.stop);
  const std::vector<std::unique_ptr<TableModule>> modules = table_modules(source);
  Result<Database> database = open_database(modules);
  if (!database) return database.error();
  sqlite3_progress_handler(
      database->get(), kStepsBetweenLooks, [](void* of) { return static_cast<Watch*>(of)->is_over() ? 1 : 0; }, &watch);
  Permission permission{modules};
  sqlite3_set_authorizer(database->get(), permit, &permission);

  const std::string text(sql);
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(database->get(), text.c_str(), static_cast<int>(text.size()) + 1, &prepared, &rest);
  const Statement statement(prepared);
  if (code != SQLITE_OK) return failure(database->get(), watch, options.limits);
  if (prepared == nullptr) return Error{"The query is empty. It begins with SELECT or WITH.", ErrorKind::kUsage};
  if (!is_blank(rest)) return Error{"One query at a time: there is more behind the first one's end.", ErrorKind::kUsage};
  if (sqlite3_stmt_readonly(prepared) == 0 || sqlite3_column_count(prepared) == 0)
    return Error{"A query reads: it begins with SELECT or WITH.", ErrorKind::kUsage};
  const Result<TimeUse> time = bind(prepared, trace, options.window);
  if (!time) return time.error();

  AnswerTable answer(prepared, permission.periods);
  QueryAnswer result;
  result.time = *time;
  for (;;) {
    const int state = sqlite3_step(prepared);
    if (state == SQLITE_DONE) break;
    if (state != SQLITE_ROW) {
      watch.is_over();  // a table that was asked to stop ends the statement itself
      return failure(database->get(), watch, options.limits);
    }
    if (answer.rows() == options.limits.rows) {
      result.rows = Rows::kFirst;
      break;
    }
    answer.add_row(prepared);
    watch.set_answer_bytes(answer.bytes());
    if (answer.rows() % kRowsBetweenLooks == 0 && watch.is_over()) return failure(database->get(), watch, options.limits);
  }
  result.table = answer.take();
  return result;
}

std::vector<QueryTable> query_tables() {
  std::vector<QueryTable> tables;
  for (const EventTable& table : exporters::event_tables()) tables.push_back({table.name, columns_of(table.columns)});
  tables.push_back({exporters::counter_table().name, columns_of(exporters::counter_table().columns)});
  exporters::for_each_record_table([&](const auto& table) { tables.push_back({table.name, columns_of(table.columns)}); });
  return tables;
}

}  // namespace lanescope::query
