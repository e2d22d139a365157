// lanescope-report-bench: how fast reports answer on a large trace, and how fast other tools' files load. Prints one JSON object.
//
// Use: lanescope-report-bench [--events N] [--source FILE.trace ...] [--save FILE.trace | --input FILE.trace] [--report NAME ...]
//      [--imported-events N] [--sqlite FILE] [--chrome FILE] [--repeat N]
//
// The input is made of recorded traces (tests/data, or --source), repeated in time up to N events, and is kept in the file named by --save; --input takes a
// file as it is. Times are wall-clock milliseconds of this process, the median of --repeat runs; the file is in the page cache. cpu_ms is the time of all
// threads, which is hardly changed by other work on the machine.
//
// In the same run, the same question (time by kernel name) about the same events is asked of other tools, so that ratios hold on any machine: SQL over the
// SQLite export, and, if these environment variables name them, Perfetto's trace_processor_shell (LANESCOPE_PEER_TRACE_PROCESSOR) on the Chrome JSON and `nsys
// stats` (LANESCOPE_PEER_NSYS) on the SQLite export.
#include <sqlite3.h>
#include <sys/resource.h>
#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "model/export/nsys_sqlite_export.h"
#include "model/export/text_export.h"
#include "model/import/chrome_json.h"
#include "model/import/nsys_sqlite.h"
#include "model/stats/report.h"
#include "model/trace/load.h"
#include "repeat_trace.h"

namespace {

using namespace lanescope;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
namespace fs = std::filesystem;

struct Options {
  std::uint64_t events = 10'000'000;
  std::uint64_t imported_events = 1'000'000;
  int repeat = 3;
  std::vector<std::string> sources;
  std::string save, input;
  std::vector<std::string> reports;  // none: all
  std::string sqlite, chrome;        // files of other tools, instead of exports
};

double milliseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median_of(int repeat, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) times.push_back(milliseconds(work));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

[[noreturn]] void fail(const Error& error) {
  std::cerr << error.text << '\n';
  std::exit(1);
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(*result);
}

// A file of the benchmark, which is removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) : path_(fs::temp_directory_path() / ("lanescope-report-bench-" + name)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

std::vector<fs::path> sources(const Options& options) {
  std::vector<fs::path> files(options.sources.begin(), options.sources.end());
  if (files.empty())
    for (const auto& entry : fs::directory_iterator(LANESCOPE_TEST_DATA))
      if (entry.path().extension() == ".trace") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> all_reports() {
  std::vector<std::string> requests;
  for (const stats::Report& report : stats::reports()) {
    requests.emplace_back(report.name);
    if (report.modifiers.find(":nvtx-name") != std::string_view::npos) requests.push_back(requests.back() + ":nvtx-name");
  }
  return requests;
}

double processor_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) { return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3; };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

// Each report is made from the trace alone: data that reports share is made again for each.
void measure_reports(const Trace& trace, const Options& options, json& result) {
  for (const std::string& request : options.reports.empty() ? all_reports() : options.reports) {
    const auto parsed = value_of(stats::parse_report(request));
    const double before = processor_ms();
    result["report_ms"][request] = median_of(options.repeat, [&] { value_of(stats::make_report(*parsed.report, trace, parsed.options)); });
    result["cpu_ms"][request] = (processor_ms() - before) / options.repeat;
  }
}

double rate(double amount, double ms) { return amount / ms * 1e3; }

// The time of a whole command, whose output is discarded.
double command_ms(const std::string& command, int repeat) {
  return median_of(repeat, [&] {
    if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) fail({"The command failed: " + command});
  });
}

std::map<std::string, std::int64_t> kernel_times_by_sql(const fs::path& file) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) fail({"SQLite can't open " + file.string()});
  sqlite3_stmt* query = nullptr;
  sqlite3_prepare_v2(database,
                     "SELECT s.value, SUM(k.end - k.start) AS total FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
                     "JOIN StringIds AS s ON s.id = k.demangledName GROUP BY s.value ORDER BY total DESC",
                     -1, &query, nullptr);
  std::map<std::string, std::int64_t> totals;
  while (sqlite3_step(query) == SQLITE_ROW) totals[reinterpret_cast<const char*>(sqlite3_column_text(query, 0))] = sqlite3_column_int64(query, 1);
  sqlite3_finalize(query);
  sqlite3_close(database);
  return totals;
}

std::map<std::string, std::int64_t> kernel_times(const Trace& trace) {
  const stats::Table table = value_of(stats::make_report(*stats::find_report("cuda_gpu_kern_sum"), trace));
  std::map<std::string, std::int64_t> totals;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const auto name = std::get<stats::Texts>(table.columns().back().values)[row];
    totals[std::string(table.text(name))] = std::get<stats::Integers>(table.columns()[1].values)[row];
  }
  return totals;
}

void export_sqlite(const Trace& trace, const fs::path& path) {
  if (const auto written = export_nsys_sqlite(trace, path, Overwrite::kAllow, {}); !written) fail(written.error());
}

void export_chrome(const Trace& trace, const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  const auto write = [&](std::string_view text) { return static_cast<bool>(out.write(text.data(), static_cast<std::streamsize>(text.size()))); };
  if (!export_chrome_json(trace, write)) fail({path.string() + " can't be written."});
}

// The files of other tools: how fast they load, and how long those tools take for the same question.
json measure_others(const Options& options) {
  const TemporaryFile source("source.trace"), exported_sqlite("export.sqlite"), exported_chrome("export.json");
  fs::path sqlite = options.sqlite, chrome = options.chrome;
  if (sqlite.empty() || chrome.empty()) {
    value_of(bench::repeat_trace(sources(options), options.imported_events, source.path()));
    const auto trace = value_of(load_trace(source.path()));
    if (sqlite.empty()) export_sqlite(*trace, sqlite = exported_sqlite.path());
    if (chrome.empty()) export_chrome(*trace, chrome = exported_chrome.path());
  }
  const auto trace = value_of(import_nsys_sqlite(sqlite));
  const auto events = static_cast<double>(trace->event_count());
  json result;
  result["events"] = trace->event_count();

  const double sqlite_ms = median_of(options.repeat, [&] { value_of(import_nsys_sqlite(sqlite)); });
  result["sqlite"] = {{"open_ms", sqlite_ms}, {"rows_per_s", rate(events, sqlite_ms)}};
  const double json_ms = median_of(options.repeat, [&] { value_of(import_chrome_json(chrome)); });
  const auto json_bytes = static_cast<double>(fs::file_size(chrome));
  result["json"] = {{"open_ms", json_ms}, {"mb_per_s", rate(json_bytes / 1e6, json_ms)}, {"mb", json_bytes / 1e6}};

  if (kernel_times(*trace) != kernel_times_by_sql(sqlite)) fail({"SQL and the report disagree on the time by kernel name."});
  const double report_ms = median_of(options.repeat, [&] { kernel_times(*trace); });
  const double sql_ms = median_of(options.repeat, [&] { kernel_times_by_sql(sqlite); });
  result["sum_by_name"] = {{"report_ms", report_ms}, {"sql_ms", sql_ms}, {"sql_over_report", sql_ms / report_ms}};

  const double own_ms = json_ms + report_ms;
  if (const char* processor = std::getenv("LANESCOPE_PEER_TRACE_PROCESSOR")) {
    const TemporaryFile query("query.sql");
    std::ofstream(query.path()) << "SELECT name, SUM(dur) AS total FROM slice WHERE category = 'kernel' GROUP BY name ORDER BY total DESC;\n";
    const double peer_ms = command_ms("'" + std::string(processor) + "' -q '" + query.path().string() + "' '" + chrome.string() + "'", 1);
    result["trace_processor"] = {{"open_and_sum_ms", peer_ms}, {"over_ours", peer_ms / own_ms}};
  }
  if (const char* nsys = std::getenv("LANESCOPE_PEER_NSYS")) {
    const double peer_ms = command_ms("'" + std::string(nsys) + "' stats -q -r cuda_gpu_kern_sum -f csv -o - '" + sqlite.string() + "'", 1);
    result["nsys"] = {{"open_and_sum_ms", peer_ms}, {"over_ours", peer_ms / (sqlite_ms + report_ms)}};
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures reports on a large trace, and the loading of other tools' files.", "lanescope-report-bench");
  Options options;
  app.add_option("--events", options.events, "Events of the trace that reports are made of");
  app.add_option("--source", options.sources, "A recorded trace to repeat; may be given again");
  app.add_option("--save", options.save, "Where to keep the repeated trace");
  app.add_option("--report", options.reports, "A report to measure, in place of all; may be given again");
  app.add_option("--input", options.input, "A file to make reports of as it is");
  app.add_option("--sqlite", options.sqlite, "An export of Nsight Systems to measure as it is");
  app.add_option("--chrome", options.chrome, "A Chrome JSON file to measure as it is");
  app.add_option("--imported-events", options.imported_events, "Events of the files of other tools; 0: leave them out");
  app.add_option("--repeat", options.repeat, "Runs of each measurement")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  json result;
  {
    const TemporaryFile repeated("repeated.trace");
    fs::path input = options.input;
    if (input.empty()) {
      input = options.save.empty() ? repeated.path() : fs::path(options.save);
      value_of(bench::repeat_trace(sources(options), options.events, input));
    }
    std::shared_ptr<const Trace> trace;
    const double open_ms = median_of(options.repeat, [&] {
      trace.reset();
      trace = value_of(load_trace(input));
    });
    result["events"] = trace->event_count();
    result["open_ms"] = open_ms;
    measure_reports(*trace, options, result);
  }
  if (options.imported_events > 0) result["others"] = measure_others(options);
  std::cout << result.dump(2) << std::endl;
}
