#include "options/kernels_command_options.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <utility>

#include "checks.h"
#include "collector/channel/kernel_counters.h"
#include "model/kernels/counters/sections.h"
#include "model/kernels/instructions/instruction_counts.h"
#include "options/ncu_options.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// Of what ncu accepts there, one range is accepted, by its text. The slash after a pushed range is removed.
Result<void> check_range(const KernelOptions& options) {
  if (options.set == kernels::kSourceSet && options.from_start == "no")
    return usage_error("--profile-from-start no is for counters: --set source counts one launch of each kernel and shape.");
  if (options.range.empty()) return {};
  if (options.set == kernels::kSourceSet)
    return usage_error(
        "--nvtx-include is for counters: --set source counts one launch of each kernel and shape, which --kernel-name and --launch-skip choose.");
  const std::string text = options.range.substr(options.range.find('@') + 1);
  if (text.empty() || text == "/") return usage_error("--nvtx-include " + options.range + " names no range: it takes its text, or DOMAIN@TEXT.");
  constexpr std::size_t kMost = 1000;
  if (options.range.size() > kMost) return usage_error("--nvtx-include takes up to 1000 bytes.");
  return {};
}

constexpr const char* kWhat = "What to measure, of a program";
constexpr const char* kLists = "What there is";

void describe_launches(CLI::App& app, KernelOptions& options) {
  app.add_option("--set", options.set,
                 "Set of sections: triage, basic, detailed, full, roofline;\nor source, exact counts at each instruction, for which the\nprogram runs again "
                 "for each kernel")
      ->group(kWhat)
      ->capture_default_str();
  app.add_option(
         "--section", options.sections,
         "Print the values of these sections, as Nsight Compute names them\n(SpeedOfLight, WarpStateStats, ...), or of all; of a program, measure these "
         "alone")
      ->group(kWhat)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--metrics", options.metrics, "Measure these as well, or alone where neither --set nor --section is given")
      ->group(kWhat)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("-k,--kernel-name", options.choice.name,
                 "Kernels of this name (without namespaces and parameters), or\nregex:PATTERN; of a file, show these alone")
      ->group(kWhat)
      ->type_name("NAME");
  app.add_option("-s,--launch-skip", options.choice.skip, "Launches before the first that is measured, of those chosen")->group(kWhat)->type_name("N");
  app.add_option("-c,--launch-count", options.choice.count, "Launches to measure; 0: all. Those that spread takes in turn\ncount as one")
      ->group(kWhat)
      ->type_name("N");
  app.add_option("--launches", options.launches,
                 "all, or sample: of each kernel and shape the first launch and the\ntenth, as lanescope profile --kernels=counters")
      ->group(kWhat)
      ->capture_default_str();
  app.add_option("--nvtx-include", options.range, "Launches while an NVTX range of this text is open in their\nprocess, on whichever thread")
      ->group(kWhat)
      ->type_name("[DOMAIN@]TEXT");
  app.add_option("--profile-from-start", options.from_start, "no: launches between cudaProfilerStart and cudaProfilerStop")
      ->group(kWhat)
      ->capture_default_str();
  app.add_option("--replay-mode", options.replay,
                 "Where counters take several passes: kernel runs each launch\nagain and restores memory, spread takes equal launches in turn,\n"
                 "application runs the program again for each; range as well, and\ncounts all kernels in a range together (--nvtx-include, else "
                 "from\ncudaProfilerStart to cudaProfilerStop)")
      ->group(kWhat)
      ->capture_default_str();
}

// Options of ncu: those that are done anyway, those that are another spelling, and those that are answered with what to use.
void describe_spellings_of_ncu(CLI::App& app, KernelOptions& options) {
  for (const char* const always : {"--target-processes", "--graph-profiling"}) app.add_option(always)->group("");
  app.add_flag("--nvtx")->group("");
  app.add_option("-i,--import", options.file)->group("");
  describe_ncu_options(app, options.of_ncu);
  app.add_option("--kernel-id", options.kernel_id)->group("");
  app.add_flag("--app-range", options.counts_app_ranges)->group("");
  app.add_flag("--call-stack", options.asks_call_stacks)->group("");
}

void describe_measurement(CLI::App& app, KernelOptions& options) {
  app.add_flag("--rerun", options.runs_again,
               "Run the program of the recording FILE again, as it was started,\nand measure the kernels and shapes that cost most there (-c, 10):\nthe first "
               "launch of each, and an early one of about the median")
      ->group(kWhat);
  app.add_option("--timeout", options.timeout,
                 "Seconds that one launch may take to be measured, with all its\npasses: then the program is ended, and what was measured\nbefore is kept. 0: "
                 "it is not ended")
      ->group(kWhat)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--clock-control", options.clock_control, "Only none: the clocks stay as they are")->group(kWhat)->capture_default_str();
  app.add_option("--cache-control", options.cache_control, "Only none: the caches stay as they are")->group(kWhat)->capture_default_str();
  app.add_option("--save", options.save, "Keep the recording as this .trace file, which must not exist")->group(kWhat)->type_name("FILE");
}

void describe_output(CLI::App& app, KernelOptions& options) {
  app.add_option("--page", options.page,
                 "details (what bounds kernels, or sections), raw (all values) or\nsource (counts, or else PC samples, by source line), which is\nusual of "
                 "--set source")
      ->capture_default_str();
  app.add_option("--print-summary", options.summary,
                 "per-kernel: of each value, the least, the largest and the mean\nof all launches of a kernel that were measured")
      ->type_name("HOW")
      ->capture_default_str();
  app.add_option("--devices", options.devices, "Of a file, kernels on these GPUs alone: 0,1")->type_name("LIST");
  app.add_option("--log-file", options.log, "What we print, tables and messages, goes to this file instead")->type_name("FILE");
  app.add_option("--source-folders", options.source_folders, "Where sources are that are not where the program was built, of\n--page source")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("DIR");
  app.add_flag("--import-source", options.imports_sources,
               "Put the sources of what was counted (--set source) into the\nrecording, for whoever reads it elsewhere");
}

void describe_lists(CLI::App& app, KernelOptions& options) {
  app.add_flag("--list-sets", options.lists_sets, "Say which sets there are")->group(kLists);
  app.add_flag("--list-sections", options.lists_sections, "Say which sections can be measured")->group(kLists);
  app.add_flag("--query-metrics", options.queries_metrics, "Say which metrics the GPUs here have")->group(kLists);
  app.add_option("--chip", options.chip, "Or this chip (GH100, GA100, AD102, ...)")->group(kLists);
}

}  // namespace

void describe(CLI::App& app, KernelOptions& options) {
  app.add_option("FILE", options.file, "A .trace file with counters, or CSV of Nsight Compute's page raw");
  app.add_option("FURTHER", options.further,
                 "Further recordings of the program, whose counts of instructions\n(--set source) or PC samples name lines of source");
  describe_launches(app, options);
  describe_spellings_of_ncu(app, options);
  describe_measurement(app, options);
  describe_output(app, options);
  describe_lists(app, options);
}

Result<void> check_place(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  return Error{path.string() + " exists already. Name another file, or remove it first."};
}

Result<void> take_ncu_options(const CLI::App& app, KernelOptions& options, KernelSource source) {
  if (options.asks_call_stacks)
    return usage_error(
        "--call-stack: the calls that lead to each launch are recorded by lanescope profile --cudabacktrace=kernel PROGRAM, whose kernels lanescope kernels "
        "--rerun FILE measures.");
  if (options.counts_app_ranges) options.replay = "app-range";
  if (options.from_start == "on") options.from_start = "yes";
  if (options.from_start == "off") options.from_start = "no";
  if (!options.kernel_id.empty()) {
    for (const char* name : {"--kernel-name", "--launch-skip", "--launch-count"})
      if (app.get_option(name)->count() > 0)
        return usage_error("--kernel-id and " + std::string(name) + " both say which launches are meant: take one of them.");
    if (const Result<void> taken = set_kernel_id(options.kernel_id, options.choice); !taken) return taken;
  }
  if (options.devices.empty()) return {};
  if (source == KernelSource::kProgram)
    return usage_error("--devices is for a file that is shown: a program is measured on the GPUs that it uses. Let it see some alone: CUDA_VISIBLE_DEVICES=" +
                       options.devices + " lanescope kernels ...");
  return set_devices(options.devices, options.choice);
}

std::string program_without_mark(const KernelOptions& options) {
  std::error_code ignored;
  const std::filesystem::path extension = options.file.extension();
  if (options.file.empty() || extension == ".trace" || extension == ".csv" || extension == ".ncu-rep" || options.runs_again) return {};
  // A word alone that is no file may be the misspelt name of one to show.
  const bool is_there = std::filesystem::exists(options.file, ignored);
  const bool is_program =
      is_there ? std::filesystem::is_regular_file(options.file, ignored) && access(options.file.c_str(), X_OK) == 0 : !options.further.empty();
  if (!is_program) return {};
  std::vector<std::string> words{options.file.string()};
  for (const std::filesystem::path& word : options.further) words.push_back(word.string());
  return command_text(words);
}

Result<void> check_for_file(const CLI::App& app, const KernelOptions& options) {
  if (options.runs_again) {
    for (const char* name : {"--launch-skip", "--launches"})
      if (app.get_option(name)->count() > 0)
        return usage_error(std::string(name) +
                           " does not go with --rerun, which takes the first launch of each kernel and shape, and an early one of about the median duration.");
    if (options.choice.count > channel::kMostChosenKinds)
      return usage_error("--rerun measures " + std::to_string(channel::kMostChosenKinds) + " kernels and shapes at most: take a smaller --launch-count.");
    return check_place(options.save);
  }
  if (options.page != "details" && !options.sections.empty())
    return usage_error("--section is for --page details: page " + options.page + " shows all that there is.");
  for (const char* name :
       {"--set", "--metrics", "--launches", "--nvtx-include", "--profile-from-start", "--replay-mode", "--timeout", "--save", "--import-source"})
    if (app.get_option(name)->count() > 0)
      return usage_error(std::string(name) + " is for a program that is measured: lanescope kernels " + name +
                         " ... -- PROGRAM, or --rerun FILE. A file is shown as it is.");
  if (options.page == "source" && (!options.choice.name.empty() || options.choice.skip != 0 || options.choice.count != 0 || !options.choice.devices.empty()))
    return usage_error("--page source is of all kernels in a file: --kernel-name and what else chooses kernels are for --page details and raw.");
  return {};
}

bool counts_ranges(const KernelOptions& options) { return options.replay == "range" || options.replay == "app-range"; }

Result<void> check(const KernelOptions& options) {
  const auto is_among = [](const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!is_among(options.replay, {"kernel", "spread", "application", "range", "app-range"}))
    return usage_error("--replay-mode is kernel, spread, application or range, not " + options.replay + ".");
  constexpr double kLongest = 86'400;  // s
  if (!(options.timeout >= 0 && options.timeout <= kLongest)) return usage_error("--timeout takes seconds, from 0 (no end) to 86400.");
  if (!is_among(options.from_start, {"yes", "no"})) return usage_error("--profile-from-start is yes or no, not " + options.from_start + ".");
  if (options.from_start == "no" && !options.range.empty())
    return usage_error("--profile-from-start no and --nvtx-include each say which launches are measured: take one of them.");
  if (counts_ranges(options) && !options.choice.name.empty())
    return usage_error("--replay-mode " + options.replay + " counts all kernels of a range together: take it without --kernel-name.");
  if (counts_ranges(options) && options.launches == "sample")
    return usage_error("--replay-mode " + options.replay + " counts all kernels of a range together: which ranges, --launch-skip and --launch-count say.");
  if (!is_among(options.launches, {"all", "sample"})) return usage_error("--launches is all or sample, not " + options.launches + ".");
  if (options.launches == "sample" && (options.choice.skip != 0 || options.choice.count != 0))
    return usage_error("--launches sample chooses launches by itself: take it without --launch-skip and --launch-count.");
  if (options.launches == "sample" && options.set == kernels::kSourceSet)
    return usage_error("--launches sample is for counters: --set source counts one launch of each kernel and shape.");
  if (auto range = check_range(options); !range) return range;
  if (options.clock_control != "none")
    return usage_error("--clock-control " + options.clock_control +
                       " can't be done: CUPTI does not lock clocks. Lock them with: nvidia-smi --lock-gpu-clocks=MHZ");
  if (options.cache_control != "none") return usage_error("--cache-control " + options.cache_control + " can't be done: CUPTI does not flush caches.");
  if (auto pattern = check_kernel_name(options.choice.name); !pattern) return pattern;
  if (!options.chip.empty()) return usage_error("--chip is for --query-metrics: a program is measured on the GPUs that are there.");
  if (!is_among(options.summary, {"none", "per-kernel"}))
    return usage_error("--print-summary is none or per-kernel, not " + options.summary +
                       ". By GPU, of a file: --devices N; by NVTX range: --nvtx-include RANGE, of a program that is measured");
  if (options.summary != "none" && (options.page == "source" || !options.sections.empty() || options.set == kernels::kSourceSet))
    return usage_error("--print-summary is of all values that were measured: take it without --section, --page source and --set source.");
  if (!is_among(options.page, {"details", "raw", "source"})) return usage_error("--page is details, raw or source, not " + options.page + ".");
  if (!options.source_folders.empty() && options.page != "source" && options.set != kernels::kSourceSet)
    return usage_error("--source-folders is for --page source, which shows the text of lines.");
  for (const std::string& folder : options.source_folders)
    if (std::error_code ignored; !std::filesystem::is_directory(folder, ignored)) return usage_error("--source-folders: there is no folder " + folder + ".");
  if (options.set == kernels::kSourceSet && !(options.sections.empty() && options.metrics.empty() && options.replay == "kernel"))
    return usage_error("--set source counts instructions, for which there are no sections, metrics or replay modes: measure these in another run.");
  if (options.imports_sources && options.set != kernels::kSourceSet)
    return usage_error("--import-source is for counts at lines of source: take it with --set source, or lanescope profile --kernels=pc --import-source.");
  if (options.set != kernels::kSourceSet && kernels::metrics_of_set(options.set).empty())
    return usage_error("There is no set " + options.set + ". All: lanescope kernels --list-sets");
  return {};
}

Result<session::KernelCounterSettings> counter_settings(const KernelOptions& options, SetOption set) {
  session::KernelCounterSettings settings;
  settings.kernel = options.choice.name;
  settings.range = options.range.ends_with('/') ? options.range.substr(0, options.range.size() - 1) : options.range;
  if (settings.range.empty() && (options.from_start == "no" || counts_ranges(options))) settings.range = channel::kProfilerRange;
  settings.skip = options.choice.skip;
  settings.count = options.choice.count;
  settings.patience = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.timeout));
  if (options.launches == "sample") settings.launches = session::LaunchesMeasured::kSample;
  if (options.set == kernels::kSourceSet) {
    settings.counting = session::KernelCounting::kInstructions;
    settings.metrics = kernels::instruction_metrics();
    return settings;
  }
  const std::vector<kernels::SectionMetrics> known = kernels::measurable_sections();
  const bool everything = std::find(options.sections.begin(), options.sections.end(), "all") != options.sections.end();
  for (const std::string& name : options.sections) {
    const auto section = std::find_if(known.begin(), known.end(), [&](const kernels::SectionMetrics& each) { return each.name == name; });
    if (section == known.end() && name != "all" && name != kLaunchStats)
      return usage_error("There is no section " + name + " that can be measured. All: lanescope kernels --list-sections");
    if (section != known.end() && !everything) settings.metrics.insert(settings.metrics.end(), section->metrics.begin(), section->metrics.end());
  }
  const bool takes_set = everything || set == SetOption::kGiven || (options.sections.empty() && options.metrics.empty());
  if (takes_set)
    for (const std::string& metric : kernels::metrics_of_set(everything ? "full" : options.set)) settings.metrics.push_back(metric);
  std::vector<std::string> once;
  for (std::string& metric : settings.metrics)
    if (std::find(once.begin(), once.end(), metric) == once.end()) once.push_back(std::move(metric));
  settings.metrics = std::move(once);
  settings.required_metrics = options.metrics;
  settings.replay = options.replay == "spread"        ? session::KernelReplay::kSpread
                    : options.replay == "application" ? session::KernelReplay::kApplication
                    : counts_ranges(options)          ? session::KernelReplay::kRange
                                                      : session::KernelReplay::kKernel;
  return settings;
}

}  // namespace lanescope::cli
