// Answers SQL over a trace: SELECT statements of SQLite, over the tables of docs/tables.md with the columns that Parquet has.
//
// A query reads only: it changes no trace and no file, opens no other database and loads no code, whatever it says. Rows of tables come by
// start; conditions on `start` and on `correlation` are looked up, not searched for. Beyond SQLite's own functions there are
// family(NAME), which takes the counters out of a name ("step 12" -> "step *"), and the parameters :begin and :end, the part of time that
// the question is about.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::query {

// At which a query ends: with fewer rows than there are, or with an error.
struct QueryLimits {
  std::size_t rows = 1'000'000;
  std::uint64_t bytes = std::uint64_t{1} << 30;  // of memory that SQLite and the answer take
  std::chrono::milliseconds time = std::chrono::minutes(10);
};

struct QueryOptions {
  std::optional<TimeRange> window;  // :begin and :end; none: from before the first event to behind the last
  QueryLimits limits;
  std::stop_token stop = {};
};

enum class Rows : std::uint8_t { kAll, kFirst };          // kFirst: there are more than the limit
enum class TimeUse : std::uint8_t { kWhole, kOfWindow };  // kOfWindow: the query asks for :begin or :end

struct QueryAnswer {
  // Columns that a table has keep its unit: times, bytes, names. So do their sums and bounds (sum, min, max, avg, total), and
  // columns of which the name ends with _ns or _bytes.
  stats::Table table;
  Rows rows = Rows::kAll;
  TimeUse time = TimeUse::kWhole;
};

// Fails with one sentence; with ErrorKind::kUsage where the query is wrong. Ends soon after the token asks to stop, with an error of no use.
// The trace must not be an outline. Any thread.
[[nodiscard]] Result<QueryAnswer> run_query(const Trace& trace, std::string_view sql, const QueryOptions& options = {});

// The tables, and their columns in order.
struct QueryTable {
  std::string_view name;
  std::vector<std::string_view> columns;
};
[[nodiscard]] std::vector<QueryTable> query_tables();

// A question that many ask.
struct ReadyQuery {
  std::string_view title;
  std::string_view sql;
};
[[nodiscard]] const std::vector<ReadyQuery>& ready_queries();

}  // namespace lanescope::query
