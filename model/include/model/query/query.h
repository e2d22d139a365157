// Answers SQL queries on a trace: SELECT statements of SQLite on the tables of docs/tables.md, with the columns of the Parquet files.
//
// A query only reads: it cannot change a trace or a file, open another database, or load code. Tables return rows in the order of start. Conditions on `start`
// and on `correlation` use a lookup, not a scan. Two things are added to SQLite: the function family(NAME), which replaces counters in a name ("step 12" ->
// "step *"), and the parameters :begin and :end, the time range of the question.
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

// Limits at which a query ends, with fewer rows than there are or with an error.
struct QueryLimits {
  std::size_t rows = 1'000'000;
  std::uint64_t bytes = std::uint64_t{768} << 20;  // of memory that SQLite and the answer take; with the trace of a file of 10 MB, less than 1 GiB
  std::chrono::milliseconds time = std::chrono::minutes(10);
};

struct QueryOptions {
  // :begin and :end; if absent, from before the first event to after the last. A side at the limit of Nanoseconds is open, and ends there, too.
  std::optional<TimeRange> window;
  QueryLimits limits;
  std::stop_token stop = {};
};

enum class Rows : std::uint8_t { kAll, kFirst };          // kFirst: there are more rows than the limit
enum class TimeUse : std::uint8_t { kWhole, kOfWindow };  // kOfWindow: the query uses :begin or :end

struct QueryAnswer {
  // Columns of tables keep their unit: times are ns, ids are identifiers. These are ns, too: sums and bounds (sum, min, max, avg, total) of times, and columns
  // whose name ends with _ns or is start, end or duration.
  stats::Table table;
  Rows rows = Rows::kAll;
  TimeUse time = TimeUse::kWhole;
};

// Fails with one sentence; the kind is ErrorKind::kUsage if the query is wrong. Ends soon after `stop` is requested, with an error that is of no use to the
// user. The trace must not be an outline. Any thread.
[[nodiscard]] Result<QueryAnswer> run_query(const Trace& trace, std::string_view sql, const QueryOptions& options = {});

// The tables, and their columns in order.
struct QueryTable {
  std::string_view name;
  std::vector<std::string_view> columns;
};
[[nodiscard]] std::vector<QueryTable> query_tables();

// A frequent question.
struct ReadyQuery {
  std::string_view title;
  std::string_view sql;
};
[[nodiscard]] const std::vector<ReadyQuery>& ready_queries();

}  // namespace lanescope::query
