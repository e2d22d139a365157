// lanescope export: a trace in the formats that other tools read.
#include <array>
#include <fstream>
#include <iostream>
#include <optional>

#include "checks.h"
#include "commands.h"
#include "model/export/export_limits.h"
#include "model/export/left_out.h"
#include "model/export/nsys_parquet_export.h"
#include "model/export/nsys_sqlite_export.h"
#include "model/export/table_export.h"
#include "model/export/text_export.h"
#include "model/export/trace_file_export.h"
#include "model/file/frame.h"
#include "model/import/open_trace.h"
#include "model/stats/report.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/compact/segment_check.h"
#include "model/trace/segments/demanded_counters.h"
#include "model/trace/segments/demanded_segments.h"
#include "options/filter_options.h"
#include "options/foreign_options.h"
#include "output/losses.h"
#include "output/output_file.h"
#include "text.h"

namespace lanescope::cli {
namespace {

constexpr const char* kCompactForm = "compact";
constexpr const char* kLogForm = "log";

struct ExportOptions {
  std::string input;
  std::string output;
  std::string type = "sqlite";
  std::string times;
  std::vector<std::string> tables;
  std::string form;
  bool force = false;
  bool lazy = true;
  bool quiet = false;
  ExportSelection selection;
  [[nodiscard]] FileForm file_form() const { return form == kLogForm ? FileForm::kLog : FileForm::kCompacted; }
  [[nodiscard]] Overwrite overwrite() const { return force ? Overwrite::kAllow : Overwrite::kRefuse; }
};

using TracePointer = std::shared_ptr<const Trace>;

NsysSqliteOptions nsys_tables(const ExportOptions& options) {
  NsysSqliteOptions request;
  request.selection = options.selection;
  request.tables = options.tables;
  request.empty_tables = options.lazy ? EmptyTables::kOmit : EmptyTables::kCreate;
  return request;
}

Result<void> to_sqlite(const TracePointer& trace, const ExportOptions& options) {
  return write_file(options.output, options.overwrite(), ".sqlite",
                    [&](const std::filesystem::path& path, Overwrite overwrite) { return export_nsys_sqlite(*trace, path, overwrite, nsys_tables(options)); });
}

Result<void> to_parquet_of_nsys(const TracePointer& trace, const ExportOptions& options) {
  return export_nsys_parquet(*trace, options.output, options.overwrite(), nsys_tables(options));
}

Result<void> to_trace(const TracePointer& trace, const ExportOptions& options) {
  return write_file(options.output, options.overwrite(), ".trace", [&](const std::filesystem::path& path, Overwrite overwrite) {
    return export_trace_file(*trace, path, overwrite, options.selection, options.file_form());
  });
}

TableOptions our_tables(const ExportOptions& options) { return {options.selection, options.tables, options.lazy ? EmptyTables::kOmit : EmptyTables::kCreate}; }

Result<void> to_parquet(const TracePointer& trace, const ExportOptions& options) {
  return export_parquet(*trace, options.output, options.overwrite(), our_tables(options));
}

Result<void> to_arrow(const TracePointer& trace, const ExportOptions& options) {
  TableOptions request = our_tables(options);
  // A reader of one table on a pipe gets its columns even if it has no rows.
  if (!options.tables.empty()) request.empty_tables = EmptyTables::kCreate;
  Result<void> streamed;
  bool is_taken = true;
  const auto written = write_text(options.output, options.overwrite(), [&](const TextConsumer& write) {
    streamed = export_arrow(
        *trace, [&](std::string_view bytes) { return is_taken = write(bytes); }, request);
    if (streamed) streamed = check_all_was_read(*trace);
    return static_cast<bool>(streamed);
  });
  return is_taken && !streamed ? streamed : written;
}

template <typename Export>
Result<void> to_text(const TracePointer& trace, const ExportOptions& options, Export export_text) {
  Result<void> done;
  TextLimit limit(*trace, options.selection);
  const Result<void> written = write_text(options.output, options.overwrite(), [&](const TextConsumer& write) {
    const TextConsumer within = [&](std::string_view text) { return limit.take(text.size()) && write(text); };
    const bool is_written = export_text(within);
    done = is_written ? check_all_was_read(*trace) : limit.check();
    return is_written && done.has_value();
  });
  return done ? written : done;
}

struct Format {
  std::string_view type;
  std::string_view extension;
  Result<void> (*write)(const TracePointer& trace, const ExportOptions& options);
  std::optional<ForeignFormat> foreign = std::nullopt;  // its format lacks a place for some of the events
};
constexpr std::array kFormats = {
    Format{"sqlite", ".sqlite", to_sqlite, ForeignFormat::kNsysTables},
    Format{"chrome", ".chrome.json",
           [](const TracePointer& trace, const ExportOptions& options) {
             return to_text(trace, options, [&](const TextConsumer& write) { return export_chrome_json(*trace, write, options.selection); });
           }},
    Format{"json", ".json",
           [](const TracePointer& trace, const ExportOptions& options) {
             return to_text(trace, options, [&](const TextConsumer& write) { return export_json(*trace, write, options.selection); });
           },
           ForeignFormat::kEventList},
    Format{"csv", ".csv",
           [](const TracePointer& trace, const ExportOptions& options) {
             return to_text(trace, options, [&](const TextConsumer& write) { return export_csv(trace, write, options.selection); });
           },
           ForeignFormat::kEventList},
    Format{"text", ".txt",
           [](const TracePointer& trace, const ExportOptions& options) {
             return to_text(trace, options, [&](const TextConsumer& write) { return export_text(trace, write, options.selection); });
           },
           ForeignFormat::kEventList},
    Format{"parquet", ".parquet", to_parquet},
    Format{"parquetdir", ".parquetdir", to_parquet_of_nsys, ForeignFormat::kNsysTables},
    Format{"arrow", ".arrows", to_arrow},
    Format{"trace", ".trace", to_trace},
};

const Format* find_format(std::string_view type) {
  for (const Format& format : kFormats)
    if (format.type == type) return &format;
  return nullptr;
}

// Says what the format has no place for, if everything that it can hold was asked for.
void say_left_out(const Trace& trace, const ExportOptions& options) {
  const Format& format = *find_format(options.type);
  if (options.quiet || !format.foreign || !options.tables.empty()) return;
  if (const std::string list = left_out_of(trace, options.selection, *format.foreign); !list.empty())
    std::cerr << options.input << ": " << format.type << " has no place for " << list << ". All is in: lanescope export -t trace\n";
}

// Says so if the chosen time lies outside of the recording.
void say_outside(const Trace& trace, const ExportOptions& options) {
  const TimeRange recorded = trace.extent();
  const std::optional<TimeRange>& window = options.selection.window;
  if (options.quiet || !window || (window->begin <= recorded.end && window->end > recorded.begin)) return;
  std::cerr << options.input << ": the recording goes from " << duration_text(recorded.begin) << " to " << duration_text(recorded.end)
            << ", so nothing of the chosen time is in it.\n";
}

bool is_lanescope_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe would have to be written to by somebody
  char head[sizeof kFileMagic] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::equal(std::begin(head), std::end(head), reinterpret_cast<const char*>(kFileMagic));
}

// True if frames can be taken unchanged. A compacted file must be opened, and written again, to become a log.
bool is_rewritten(const ExportOptions& options) {
  if (options.type != "trace" || options.selection.window || !is_lanescope_file(options.input)) return false;
  if (options.file_form() == FileForm::kCompacted) return true;
  const auto form = form_of(options.input);
  return !form || *form == FileForm::kLog;  // recovering reports what is wrong with it
}

// Writes a .trace file as .trace without damaged frames: compacted, or with its frames unchanged.
Result<FileCondition> rewrite(const ExportOptions& options, const std::filesystem::path& path, Overwrite overwrite) {
  if (options.file_form() == FileForm::kLog) return recover_trace_file(options.input, path, overwrite);
  const auto compacted = compact_trace_file(options.input, path, overwrite);
  if (!compacted) return compacted.error();
  return compacted->source;
}

int recover(const ExportOptions& options) {
  FileCondition condition;
  const auto written = write_file(options.output, options.overwrite(), ".trace", [&](const std::filesystem::path& path, Overwrite overwrite) -> Result<void> {
    auto recovered = rewrite(options, path, overwrite);
    if (!recovered) return recovered.error();
    condition = *recovered;
    return {};
  });
  if (!written) return fail(written.error());
  if (options.output != kStandardOutput && !options.quiet) std::cerr << "Generated:\n\t" << options.output << '\n';
  if (const std::string sentence = condition.sentence(); !sentence.empty()) std::cerr << options.input << ": " << sentence << '\n';
  return kSuccess;
}

Result<void> check(ExportOptions& options) {
  if (!options.tables.empty() && options.type != "sqlite" && options.type != "arrow" && !options.type.starts_with("parquet"))
    return Error{"--tables names tables: it goes with -t sqlite, parquet, parquetdir and arrow only.", ErrorKind::kUsage};
  if (!options.form.empty() && options.type != "trace")
    return Error{"--form says how a .trace file holds its events: it goes with -t trace only.", ErrorKind::kUsage};
  if (!options.times.empty()) {
    const auto window = stats::parse_time_range(options.times);
    if (!window) return window.error();
    options.selection.window = *window;
  }
  if (options.type.starts_with("parquet") && options.output == kStandardOutput)
    return Error{"Parquet tables go into a folder: name it with -o.", ErrorKind::kUsage};
  if (options.output.empty()) options.output = export_place(options.input, options.type);
  keep_as_private_as(std::array<std::filesystem::path, 1>{options.input});
  return check_output(options.input, options.output, options.overwrite());
}

}  // namespace

std::string export_place(std::string_view file, std::string_view type) { return without_trace_extension(file) + std::string(find_format(type)->extension); }

std::vector<std::string> export_types() {
  std::vector<std::string> types;
  for (const Format& format : kFormats) types.emplace_back(format.type);
  return types;
}

int run_export(Arguments arguments) {
  CLI::App app("Writes a trace of any format that can be read in a format that other tools read.", "lanescope export");
  ExportOptions options;
  app.add_option("FILE", options.input, "The trace to export")->required()->transform(trace_file());
  app.add_option("-t,--type", options.type,
                 "sqlite (schema of Nsight Systems), chrome (Perfetto, chrome://tracing, HolisticTraceAnalysis), json, csv, "
                 "text (one line an event), parquet (a folder of tables), parquetdir (one with the tables of sqlite), arrow (a stream for each table of "
                 "parquet), trace (also recovers a damaged .trace file) [sqlite]")
      ->type_name("TYPE")
      ->check(one_of(export_types(), foreign_type_advice));
  app.add_option("-o,--output", options.output, "File to write, or - for standard output [FILE with the type's extension]")->type_name("FILE");
  app.add_flag("-f,--force-overwrite", options.force, "Overwrite the file if it exists");
  add_time_option(app, options.times, kOnlyEventsOfThisTime);
  app.add_option("--tables", options.tables, "Only tables of sqlite, parquet, parquetdir or arrow that match one of these regular expressions, comma-separated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("REGEX");
  app.add_option("--form", options.form,
                 "With -t trace: compact (events by lanes, of which each part can be read alone) or log (as they are recorded, which "
                 "versions before format 1.2 read, too) [compact]")
      ->type_name("FORM")
      ->check(one_of({kCompactForm, kLogForm}));
  app.add_flag("-l,--lazy", options.lazy, "Make only tables of SQLite, Parquet or Arrow that have rows [true]");
  app.add_flag("-q,--quiet", options.quiet, "Say nothing where it succeeds");
  app.footer(
      "Examples:\n"
      "  lanescope export run.trace                        run.sqlite, for scripts written for Nsight Systems\n"
      "  lanescope export -t chrome run.trace              run.chrome.json, for https://ui.perfetto.dev\n"
      "  lanescope export -t parquet run.trace             folder run.parquet, for DuckDB, Polars, pandas, Spark\n"
      "  lanescope export -t arrow --tables kernels -o - run.trace | python3 kernels.py   which reads them with pyarrow.ipc.open_stream\n"
      "  lanescope export -t csv -o - --filter-time 1s/2s run.trace | head\n"
      "  lanescope export -t trace -o whole.trace cut.trace   what can be read of a damaged file\n"
      "  lanescope export -t trace --form log -o old.trace run.trace   for an older Lanescope\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (const auto checked = check(options); !checked) return fail(checked.error());
  if (is_rewritten(options)) return recover(options);

  // A damaged file that is read as a whole is reported as usual; otherwise damage is found while the file is read.
  const bool is_salvage = options.type == "trace" && !damaged_segments(options.input).empty();
  auto trace = open_trace(options.input, {}, is_salvage ? EventPlace::kInMemoryWhereTheyFit : EventPlace::kInFile);
  // Which values of counters can't be read is known, and said in the new file, if all are read first.
  if (trace && is_salvage && demands_counters(**trace)) trace = open_trace(options.input);
  if (!trace) return fail(trace.error());
  std::error_code unknown;
  if (const auto bytes = std::filesystem::file_size(options.input, unknown); !unknown && (*trace)->parts().size() < 2) options.selection.source_bytes = bytes;
  if (const auto written = find_format(options.type)->write(*trace, options); !written) return fail(written.error());
  if (options.output != kStandardOutput && !options.quiet) std::cerr << "Generated:\n\t" << options.output << '\n';
  say_outside(**trace, options);
  say_left_out(**trace, options);
  say_losses(**trace, options.input);
  return kSuccess;
}

}  // namespace lanescope::cli
