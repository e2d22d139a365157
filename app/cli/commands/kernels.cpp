// lanescope kernels: what bounds kernels whose counters were read, and what to do.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include "checks.h"
#include "collector/channel/kernel_counters.h"
#include "collector/session/kernel_counters.h"
#include "commands.h"
#include "model/file/frame.h"
#include "model/import/ncu_csv.h"
#include "model/import/open_trace.h"
#include "model/kernels/code/source_files.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/counters/sections.h"
#include "model/kernels/instructions/instruction_counts.h"
#include "model/kernels/program.h"
#include "model/stats/report.h"
#include "model/trace/completeness.h"
#include "model/trace/kernel_records.h"
#include "model/trace/text/utf8.h"
#include "options/kernel_choice.h"
#include "options/kernels_command_options.h"
#include "output/kernel_tables.h"
#include "output/log_file.h"
#include "output/output_file.h"
#include "output/table_output.h"
#include "session/ending.h"
#include "session/first_process.h"
#include "session/imported_sources.h"
#include "session/kernel_run.h"
#include "text.h"

namespace lanescope::cli {
namespace {

constexpr int kWarning = 1;  // proto::Severity

constexpr const char* kKernelsFooter =
    "Examples:\n"
    "  lanescope kernels -- ./app --size 4                        measure each launch, and say what bounds it\n"
    "  lanescope kernels --set triage -- ./app                    the same in the fewest passes\n"
    "  lanescope kernels --launches sample -- python train.py     two launches of each kernel and shape, of a program of very many\n"
    "  lanescope kernels -k regex:gemm -s 10 -c 1 -- ./app        one launch\n"
    "  lanescope kernels --nvtx-include \"step 3\" -- python train.py   launches in a range of NVTX\n"
    "  lanescope kernels --replay-mode range --nvtx-include \"step 3\" -- python train.py   all of that range together\n"
    "  lanescope kernels --set source -k saxpy -- ./app           how often each line of one kernel ran, and what it asked of memory\n"
    "  lanescope kernels --rerun run.trace                        run its program again, and measure what cost most\n"
    "  lanescope kernels run.trace                                what lanescope profile --kernels=counters recorded\n"
    "  lanescope kernels run.trace counts.trace                   with the lines that --set source --save counts.trace counted\n"
    "  lanescope kernels --section SpeedOfLight kernels.csv       values of one section of what ncu printed\n"
    "  lanescope kernels -f csv -o - kernels.csv                  the causes as a table, the largest gain first\n"
    "\n"
    "Collectives, cooperative launches and graphs are left out and named, except with --replay-mode range. The exit code is the program's\n"
    "if one ran.";

int list_sets() {
  for (const kernels::SectionSet& set : kernels::section_sets()) {
    std::cout << set.name << ": " << set.description << ".\n";
    for (const std::string_view section : set.sections) std::cout << "    " << section << '\n';
  }
  return kSuccess;
}

int list_sections() {
  for (const kernels::SectionMetrics& section : kernels::measurable_sections())
    std::cout << section.name << ": " << section.title << " (" << section.metrics.size() << " metrics)\n";
  std::cout << kLaunchStats << ": Launch (of each kernel, without counters)\n";
  return kSuccess;
}

int query_metrics(const KernelOptions& options) {
  std::vector<std::string> question{"--query-metrics"};
  if (!options.chip.empty()) question.push_back("--chip=" + options.chip);
  const Result<std::string> answer = session::ask_kernel_metrics(question);
  if (!answer) return fail(answer.error());
  std::cout << *answer << '\n';
  return kSuccess;
}

bool is_our_format(const std::filesystem::path& path) {
  char head[sizeof(kFileMagic)] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(head, sizeof(head)) && std::memcmp(head, kFileMagic, sizeof(head)) == 0;
}

// The recorded command, in a form to be typed again.
std::string program_text(const Trace& trace) {
  const std::vector<std::string>& command = trace.provenance().command;
  return command.empty() ? "PROGRAM" : command_text(command);
}

// True if sections are asked for that counts of instructions have without counters.
bool shows_opcodes(const KernelOptions& options) {
  return std::any_of(options.sections.begin(), options.sections.end(),
                     [](const std::string& section) { return section == "InstructionStats" || section == "all"; });
}

// What a recording without counters can still show.
std::string other_page(const Trace& trace, const std::filesystem::path& path) {
  const KernelRecords& records = trace.kernel_records();
  if (records.counted.empty() && records.windows.empty()) return {};
  return std::string(records.counted.empty() ? "Its PC samples" : "Its counts of instructions") + ": lanescope kernels --page source " + path.string() + ". ";
}

// What was read, and the trace that it belongs to; null for a table of Nsight Compute's.
struct ReadMetrics {
  kernels::RecordedMetrics recorded;
  std::shared_ptr<const Trace> trace;
  std::string missing;  // from what_is_missing()
};

// Says what could not be read or was not measured, because of which counters may be missing. One sentence each, followed by a space.
std::string what_is_missing(const Trace& trace) {
  std::string text;
  const auto add = [&text](std::string_view sentence) {
    if (!sentence.empty()) text += std::string(sentence) + (sentence.ends_with('.') ? " " : ". ");
  };
  add(losses_text(trace));
  for (const DiagnosticMessage& message : trace.diagnostics())
    if (message.severity >= kWarning && message.content.kind == DiagnosticKind::kKernelCounters) add(message.text);
  return text;
}

Result<ReadMetrics> read_metrics(const std::filesystem::path& path, const KernelOptions& options) {
  // Something that is not a regular file is never opened here: it may be a pipe that nobody writes to, and would block.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    if (const auto refused = open_trace(path); !refused) return refused.error();
  std::optional<Error> no_table;
  if (!is_our_format(path)) {
    Result<NcuTable> table = read_ncu_csv(path);
    if (table) return ReadMetrics{{std::move(table->metrics), {}, std::move(table->left_out)}, nullptr, {}};
    no_table = table.error();
  }
  std::vector<std::filesystem::path> all{path};
  all.insert(all.end(), options.further.begin(), options.further.end());
  const auto trace = all.size() == 1 ? open_trace(path) : open_traces(all);
  if (!trace) return no_table && path.extension() != ".ncu-rep" ? *no_table : trace.error();
  kernels::RecordedMetrics recorded = kernels::recorded_metrics(**trace);
  const std::string missing = what_is_missing(**trace);
  const bool is_empty = recorded.metrics.kernels().empty() && recorded.left_out.empty();
  if (is_empty && shows_opcodes(options) && !(*trace)->kernel_records().counted.empty()) return ReadMetrics{std::move(recorded), *trace, missing};
  if (is_empty)
    return Error{path.string() + ": there are no counters of kernels in it. " + missing + other_page(**trace, path) +
                 (kernels::program_of(**trace) ? "Run its program again for them: lanescope kernels --rerun " + path.string()
                                               : "Record them: lanescope kernels -- PROGRAM") +
                 ", or lanescope profile --kernels=counters " + program_text(**trace)};
  return ReadMetrics{std::move(recorded), *trace, missing};
}

// "kernel saxpy", "3 kernels, saxpy first": those of which no row has a line; empty if there are none.
std::string without_lines(const stats::Table& table, const stats::Column& lines) {
  const auto names = std::find_if(table.columns().begin(), table.columns().end(), [](const stats::Column& column) { return column.title == "Name"; });
  if (names == table.columns().end()) return {};
  std::vector<std::pair<std::string, bool>> kernels;  // in order, and if a line is known of each
  std::map<std::string, std::size_t, std::less<>> numbers;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const auto [number, is_new] = numbers.try_emplace(std::string(table.text(names->text(row))), kernels.size());
    if (is_new) kernels.emplace_back(number->first, false);
    kernels[number->second].second |= !table.text(lines.text(row)).empty();
  }
  std::erase_if(kernels, [](const auto& kernel) { return kernel.second; });
  if (kernels.empty()) return {};
  const std::string first = printable(kernels.front().first, LineBreaks::kEscaped);
  return kernels.size() == 1 ? "kernel " + first : std::to_string(kernels.size()) + " kernels, " + first + " first";
}

// Adds a column with the source text of each row's line.
void add_source(const Trace& trace, const std::vector<std::filesystem::path>& folders, stats::Table& table) {
  constexpr std::size_t kLongestLine = 160;  // bytes
  std::vector<stats::Column> columns = table.columns();
  const auto places = std::find_if(columns.begin(), columns.end(), [](const stats::Column& column) { return column.title == "Line"; });
  if (places == columns.end()) return;
  kernels::SourceFiles files(trace, folders);
  if (const std::string without = without_lines(table, *places); !without.empty())
    std::cerr << "lanescope: No line is known of " << without << ": compile with nvcc -lineinfo.\n";
  stats::Texts texts;
  for (std::size_t row = 0; row < table.row_count(); ++row)
    texts.push_back(table.add_text(std::string(files.line(table.text(places->text(row))).substr(0, kLongestLine))));
  columns.insert(places + 1, stats::Column{"Source", stats::Unit::kNone, std::move(texts)});
  table.set_columns(std::move(columns), table.row_count());
  for (const std::string& changed : files.changed())
    std::cerr << "lanescope: " << printable(changed, LineBreaks::kEscaped)
              << " has changed since it was compiled: its lines may be others than those that ran.\n";
  if (const std::vector<std::string> missing = files.missing(); !missing.empty())
    std::cerr << "lanescope: " << missing.front() << (missing.size() > 1 ? " and " + std::to_string(missing.size() - 1) + " more files are" : " is")
              << " not there. Where it is: --source-folders DIR\n";
}

// What was counted, or else sampled, at lines of source. Only recordings have these.
Result<stats::Table> source_table(const std::filesystem::path& path, const std::vector<std::filesystem::path>& folders) {
  const auto trace = open_trace(path);
  if (!trace) return trace.error();
  const bool is_counted = !(*trace)->kernel_records().counted.empty();
  Result<stats::Table> table = stats::make_report(*stats::find_report(is_counted ? "line_count_sum" : "kernel_line_sum"), **trace);
  if (table && table->empty())
    return Error{path.string() + ": there are no counts of instructions in it, and no PC samples. Count them: lanescope kernels --set source -- " +
                 program_text(**trace)};
  if (table) add_source(**trace, folders, *table);
  return table;
}

int print_source(const std::filesystem::path& path, const std::vector<std::filesystem::path>& folders, TableOutput& output) {
  const Result<stats::Table> table = source_table(path, folders);
  if (!table) return fail(table.error());
  const Result<void> written = output.write(0, {"Kernels by source line", "source", ""}, *table);
  return written ? kSuccess : fail(written.error());
}

// A program that is run, and which of its kernels are measured.
struct Measurement {
  kernels::Program program;
  std::vector<channel::ChosenKind> kinds;  // of a recording whose program runs again; empty: as the options say
};

// True if the user, who is at a terminal, agrees.
bool is_agreed(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

// The program of a recording that is to run again, because it was asked for, or because the recording has no counters and the user agrees. None if the file
// is shown as it is.
Result<std::optional<Measurement>> program_again(const KernelOptions& options) {
  constexpr std::uint32_t kUsualCount = 10;
  const bool shows_questions = options.log.empty() && isatty(STDERR_FILENO) != 0;
  const bool asks = !options.runs_again && options.page == "details" && isatty(STDIN_FILENO) != 0 && shows_questions;
  std::error_code ignored;
  if (!options.runs_again && (!asks || !std::filesystem::is_regular_file(options.file, ignored) || !is_our_format(options.file)))
    return std::optional<Measurement>();
  const auto trace = open_trace(options.file);
  if (!trace) return trace.error();
  if (asks) {
    const kernels::RecordedMetrics recorded = kernels::recorded_metrics(**trace);
    if (!recorded.metrics.kernels().empty() || !recorded.left_out.empty()) return std::optional<Measurement>();
  }
  const std::optional<kernels::Program> program = kernels::program_of(**trace);
  Costliest costliest = costliest_kernels(**trace, options.choice.name, options.choice.count == 0 ? kUsualCount : options.choice.count);
  if (asks && (!program || costliest.kinds.empty())) return std::optional<Measurement>();
  if (!program) return Error{options.file.string() + " does not say how its program was started. Name it: lanescope kernels -- PROGRAM"};
  if (costliest.kinds.empty())
    return Error{options.file.string() + ": no launch of a kernel is in it that could be measured: there is none" +
                 (options.choice.name.empty() ? "" : " of that name") + ", or all are in CUDA graphs."};
  char share[64];
  std::snprintf(share, sizeof(share), "%.0f %%", costliest.share * 100);
  if (const std::string& recorded_in = (*trace)->provenance().working_directory; program->folder.empty() && !recorded_in.empty())
    std::cerr << "lanescope: The folder in which it was recorded, " << printable(recorded_in, LineBreaks::kEscaped)
              << ", is not here: it starts in this one.\n";
  std::cerr << "lanescope: The program runs again" << (program->folder.empty() ? "" : ", in " + program->folder.string()) << ": "
            << printable(command_text(program->command), LineBreaks::kEscaped)
            << "\nlanescope: Kernels and shapes that are measured: " << costliest.kinds.size() << ", " << share << " of the time of all kernels.\n";
  if (asks && !is_agreed("There are no counters in " + options.file.string() + ". Run it?")) return std::optional<Measurement>();
  return std::optional(Measurement{*program, std::move(costliest.kinds)});
}

// Where the recording goes: to the path where it is kept, or into a folder of its own, which is removed at the end of its scope.
class RecordedFile {
 public:
  static Result<RecordedFile> at(const std::string& kept) {
    if (!kept.empty()) return RecordedFile({}, kept);
    std::error_code nowhere;
    std::string folder = (std::filesystem::temp_directory_path(nowhere) / "lanescope-kernels-XXXXXX").string();
    if (nowhere || mkdtemp(folder.data()) == nullptr)
      return Error{"The recording has no place: no folder could be made at " + folder + ". Name a file: --save=FILE"};
    return RecordedFile(folder, std::filesystem::path(folder) / "kernels.trace");
  }
  ~RecordedFile() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  RecordedFile(RecordedFile&& other) noexcept : folder_(std::exchange(other.folder_, {})), path_(std::move(other.path_)) {}
  RecordedFile& operator=(RecordedFile&&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  RecordedFile(std::filesystem::path folder, std::filesystem::path path) : folder_(std::move(folder)), path_(std::move(path)) {}

  std::filesystem::path folder_;  // empty: no folder was made
  std::filesystem::path path_;
};

int print(const ReadMetrics& read, const KernelOptions& options, TableOutput& output, const std::string& source) {
  const kernels::RecordedMetrics& kernels = read.recorded;
  const bool sums_up = options.summary != "none";
  if (!sums_up && options.page == "details" && options.sections.empty() && output.is_for_people(0)) {
    print_verdicts(kernels, read.trace.get());
    return kSuccess;
  }
  const bool raw = options.page == "raw";
  const bool only_counts = read.trace != nullptr && kernels.metrics.kernels().empty() && shows_opcodes(options);
  const stats::Table table = sums_up                    ? summary_table(kernels)
                             : raw                      ? raw_table(kernels)
                             : options.sections.empty() ? verdict_table(kernels, read.trace.get())
                             : only_counts              ? opcode_table(*read.trace)
                                                        : section_table(kernels, options.sections);
  if (!raw && !only_counts)
    for (const std::string& section : options.sections)
      if (section_table(kernels, {section}).empty()) return fail(usage_error("No section " + section + " has values in " + source + ". All: --section all"));
  const TableHeading heading = sums_up                    ? TableHeading{"Values by kernel", "summary", ""}
                               : raw                      ? TableHeading{"Values", "values", ""}
                               : options.sections.empty() ? TableHeading{"Kernels and what they could win", "kernels", ""}
                                                          : TableHeading{"Sections", "sections", ""};
  const Result<void> written = output.write(0, heading, table);
  return written ? kSuccess : fail(written.error());
}

// Checks that this machine can count before the program runs, whatever takes time there. Fails if the program did not run.
Result<MeasuredProgram> measure(const kernels::Program& program, const session::KernelCounterSettings& settings, const std::filesystem::path& file) {
  if (settings.counting == session::KernelCounting::kInstructions) {
    const Result<void> can = session::check_counters_can_be_read();
    if (!can) return can.error();
    return record_instruction_counts(program, settings, file);
  }
  const auto counters = session::KernelCounters::start(settings);
  if (!counters) return counters.error();
  if (const Result<void> can = (*counters)->await_machine(); !can) return can.error();
  return record_kernels(program, **counters, settings, file);
}

bool is_choice(const KernelChoice& choice) { return !choice.name.empty() || choice.skip != 0 || choice.count != 0 || !choice.devices.empty(); }

enum class Shown { kFileOfUser, kMeasuredNow };

// Prints what is asked for of the file. Returns the exit code.
int show_file(const KernelOptions& options, Shown shown, TableOutput& output) {
  if (options.page == "source") return print_source(options.file, {options.source_folders.begin(), options.source_folders.end()}, output);
  Result<ReadMetrics> kernels = read_metrics(options.file, options);
  if (!kernels) return fail(kernels.error());
  // Kernels that were measured now were chosen before, and what is missing of them was said during the measurement.
  if (shown == Shown::kFileOfUser) {
    if (is_choice(options.choice)) {
      kernels->recorded = chosen_kernels(std::move(kernels->recorded), kernels->trace.get(), options.choice);
      if (kernels->recorded.metrics.kernels().empty() && kernels->recorded.left_out.empty())
        return fail(
            {"No kernel in " + options.file.string() + " is among those that were chosen. All that are in it: lanescope kernels " + options.file.string()});
    }
    if (!kernels->missing.empty())
      std::cerr << "lanescope: " << printable(std::string_view(kernels->missing).substr(0, kernels->missing.size() - 1), LineBreaks::kEscaped) << '\n';
  }
  return print(*kernels, options, output, options.file.string());
}

// Has launches of these kinds measured, instead of those that the options choose.
void choose_kinds(const std::vector<channel::ChosenKind>& kinds, const KernelOptions& options, session::KernelCounterSettings& settings) {
  if (kinds.empty()) return;
  if (settings.counting == session::KernelCounting::kInstructions) settings.count = static_cast<std::uint32_t>(kinds.size());
  if (settings.counting == session::KernelCounting::kHardware && !counts_ranges(options)) {
    settings.kinds = kinds;
    settings.launches = session::LaunchesMeasured::kSample;
    settings.kernel.clear();
    settings.count = 0;
  }
}

// Returns the exit code: the program's, unless that is 0 and the kernels can't be shown.
int measure_and_show(const CLI::App& app, const Measurement& measurement, KernelOptions& options, TableOutput& output) {
  auto settings = counter_settings(options, app.get_option("--set")->count() > 0 ? SetOption::kGiven : SetOption::kLeftOut);
  if (!settings) return fail(settings.error());
  choose_kinds(measurement.kinds, options, *settings);
  const Result<RecordedFile> recorded = RecordedFile::at(options.save);
  if (!recorded) return fail(recorded.error());
  if (const auto prepared = output.prepare(std::array{recorded->path()}); !prepared) return fail(prepared.error());
  if (settings->counting == session::KernelCounting::kInstructions && app.get_option("--page")->count() == 0) options.page = "source";

  const Result<MeasuredProgram> ended = measure(measurement.program, *settings, recorded->path());
  if (!ended) return fail(ended.error());
  const int code = ended->code;
  if (code != kSuccess) keep_code(code);
  const auto after = [code](int shown) { return code != kSuccess ? code : shown; };
  if (ended->failure) return after(fail(*ended->failure));
  if (options.imports_sources)
    if (const Result<void> imported = import_sources(recorded->path(), session::SourceRights::kOurs, ended->file); !imported)
      std::cerr << "lanescope: " << imported.error().text << '\n';
  options.file = recorded->path();
  return after(show_file(options, Shown::kMeasuredNow, output));
}

void replace_ncu_spellings(Arguments& arguments) {
  std::replace(arguments.begin(), arguments.end(), std::string("--csv"), std::string("--format=csv"));
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)  // ncu's -f allows overwriting files, and takes no value
    if (arguments[i] == "-f" && arguments[i + 1].starts_with('-')) arguments[i] = "--force-overwrite";
}

// Shows the kernels of the program, if one is measured, or else of the file. Returns the exit code.
int show_kernels(const CLI::App& app, KernelOptions& options, TableOutput& output, const Arguments& program) {
  if (!program.empty()) return measure_and_show(app, {{program, {}}, {}}, options, output);
  const Result<std::optional<Measurement>> again = program_again(options);
  if (!again) return fail(again.error());
  if (*again) return measure_and_show(app, **again, options, output);
  std::vector<std::filesystem::path> inputs{options.file};
  inputs.insert(inputs.end(), options.further.begin(), options.further.end());
  if (const auto prepared = output.prepare(inputs); !prepared) return fail(prepared.error());
  return show_file(options, Shown::kFileOfUser, output);
}

}  // namespace

int run_kernels(Arguments arguments) {
  leave_first_process();
  CLI::App app(
      "Says what bounds kernels, and how much time each could save at most in all its launches, the largest first. It uses counters of the\n"
      "hardware that a recording holds, that Nsight Compute printed (ncu --csv --page raw), or that are read while PROGRAM runs.",
      "lanescope kernels");
  KernelOptions options;
  TableOutput output;
  describe(app, options);
  output.add_options(app);
  app.footer(kKernelsFooter);
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> program(mark == arguments.end() ? mark : mark + 1, arguments.end());
  const bool runs = mark != arguments.end();
  arguments.erase(mark, arguments.end());
  replace_ncu_spellings(arguments);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (options.lists_sets) return list_sets();
  if (options.lists_sections) return list_sections();
  if (options.queries_metrics) return query_metrics(options);
  const KernelSource source = runs || options.runs_again ? KernelSource::kProgram : KernelSource::kFile;
  if (const Result<void> taken = take_ncu_options(app, options, source); !taken) return fail(taken.error());
  if (const Result<void> sound = check(options); !sound) return fail(sound.error());
  if (const std::string typed = runs ? "" : program_without_mark(options); !typed.empty())
    return fail(usage_error("A program stands behind --, with the options before it: lanescope kernels ... -- " + typed));
  if (const Result<void> said = say_unrecorded(options.of_ncu); !said) return fail(said.error());
  if (!options.further.empty() && (options.runs_again || options.page == "source" || !is_our_format(options.file)))
    return fail(usage_error("Several recordings are for --page details and raw, of .trace files: name one file."));
  if (runs ? program.empty() || !options.file.empty() || options.runs_again : options.file.empty())
    return fail(usage_error("What? lanescope kernels FILE, or lanescope kernels [OPTIONS] -- PROGRAM [ARGUMENTS...]"));
  if (const Result<void> sound = runs ? check_place(options.save) : check_for_file(app, options); !sound) return fail(sound.error());
  if (runs && options.save.empty() && app.get_option("--output")->count() > 0)
    std::cerr << "lanescope: -o is for tables of what is measured. The recording is not kept; keep it with: --save FILE.trace\n";
  std::vector<std::filesystem::path> files = options.further;
  if (!options.file.empty()) files.push_back(options.file);
  keep_as_private_as(files);
  LogFile log;
  if (!options.log.empty()) {
    const Overwrite overwrite = app.get_option("--force-overwrite")->count() > 0 ? Overwrite::kAllow : Overwrite::kRefuse;
    if (!options.save.empty()) files.emplace_back(options.save);
    if (const Result<void> opened = log.open(options.log, overwrite, files); !opened) return fail(opened.error());
    output.print_to(log.stream());
  }
  const int code = show_kernels(app, options, output, runs ? program : Arguments());
  const Result<void> logged = log.close();
  return logged || code != kSuccess ? code : fail(logged.error());
}

}  // namespace lanescope::cli
