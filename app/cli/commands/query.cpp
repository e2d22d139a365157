// lanescope query: SQL over a trace.
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "checks.h"
#include "commands.h"
#include "model/import/open_trace.h"
#include "model/query/query.h"
#include "model/stats/report.h"
#include "model/trace/segments/demanded_counters.h"
#include "options/filter_options.h"
#include "output/losses.h"
#include "output/output_file.h"
#include "output/table_output.h"

namespace lanescope::cli {
namespace {

constexpr const char* kQueryFooter =
    "Examples:\n"
    "  lanescope query run.trace 'SELECT short_name, count(*), sum(duration) FROM kernels GROUP BY 1 ORDER BY 3 DESC LIMIT 10'\n"
    "  lanescope query run.trace \"SELECT * FROM copies WHERE source_memory = 'pageable'\" -f csv -o -\n"
    "  lanescope query run.trace 'SELECT family(name), avg(duration) FROM nvtx_ranges GROUP BY 1'\n"
    "  lanescope query run.trace 'SELECT count(*) FROM kernels WHERE start >= :begin AND start < :end' --filter-time 1s/2s\n"
    "  lanescope query run.trace - < question.sql\n"
    "\n"
    "--timeunit is of columns of times, sums and means of these (sum(duration)), and names that end in _ns. What else a query computes stays as it is.\n";

void print_tables() {
  for (const query::QueryTable& table : query::query_tables()) {
    std::cout << table.name << '\n';
    for (const std::string_view column : table.columns) std::cout << "  " << column << '\n';
  }
  throw CLI::Success();
}

}  // namespace

int run_query(Arguments arguments) {
  CLI::App app(
      "Answers a question in SQL: a SELECT statement of SQLite over the tables that --help-tables lists, such as kernels, copies, api_calls and nvtx_ranges.\n"
      "Times are ns since the recording began. Nothing is changed. family(NAME) takes the counters out of a name.",
      "lanescope query");
  std::filesystem::path file;
  std::string sql, time;
  query::QueryOptions options;
  std::uint64_t seconds = static_cast<std::uint64_t>(options.limits.time.count()) / 1000;
  TableOutput output;
  app.add_option("FILE", file, "A .trace file, or a trace of another tool")->required()->transform(trace_file());
  app.add_option("QUERY", sql, "The SELECT statement; - reads it from standard input")->required();
  add_time_option(app, time, "What :begin and :end stand for: 1.5s/2s, /300ms (ns without a unit); without it, the whole recording");
  app.add_option("--rows", options.limits.rows, "At most so many rows [1000000]")->type_name("N")->check(whole_number(1, 1'000'000'000));
  app.add_option("--seconds", seconds, "End a query that takes longer [600]")->type_name("N")->check(whole_number(1, 1'000'000));
  output.add_options(app);
  app.add_flag_callback("--help-tables", print_tables, "List the tables and their columns");
  app.footer(kQueryFooter);
  if (const auto code = parse(app, std::move(arguments))) return *code;

  if (sql == "-") sql.assign(std::istreambuf_iterator<char>(std::cin), {});
  options.limits.time = std::chrono::seconds(seconds);
  if (!time.empty()) {
    const auto range = stats::parse_time_range(time);
    if (!range) return fail(range.error());
    options.window = *range;
  }
  if (const auto prepared = output.prepare(std::array{file}); !prepared) return fail(prepared.error());
  if (const auto fits = output.expect(TableOutput::Tables::kOne); !fits) return fail(fits.error());
  keep_as_private_as(std::array<std::filesystem::path, 1>{file});
  auto trace = open_trace(file, {}, EventPlace::kInFile);
  if (!trace) return fail(trace.error());
  output.set_source(*trace);
  auto answer = query::run_query(**trace, sql, options);
  if (has_unreadable_counters(**trace)) {
    trace = open_again_in_memory(**trace, std::array<std::filesystem::path, 1>{file});
    if (!trace) return fail(trace.error());
    output.replace_sources(*trace);
    answer = query::run_query(**trace, sql, options);
  }
  if (!answer) return fail(answer.error());
  if (const auto written = output.write(0, {"Answer", "query", ""}, answer->table); !written) return fail(written.error());
  if (answer->rows == query::Rows::kFirst)
    std::cerr << "lanescope: These are the first " << options.limits.rows << " rows; there are more. --rows takes a larger number.\n";
  say_losses(**trace, file.string());
  return kSuccess;
}

}  // namespace lanescope::cli
