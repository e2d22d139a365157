#include "options/unrecorded_options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "checks.h"
#include "text.h"

namespace lanescope::cli {
namespace {

enum class Kind {
  kFlag,   // true or false, also as an argument of its own; without a value: true
  kValue,  // any text
};

// An option of `nsys profile`, `launch` or `start` that we do not have.
struct Option {
  const char* name;
  const char* advice;
  Kind kind = Kind::kValue;
  std::string_view granted = {};  // the value with which it asks for what is done here anyway
};

constexpr const char* kCountEvents = "Events of processors are counted of the recorded programs: --cpu-core-events=instructions,cycles";
constexpr const char* kByTime = "Samples are taken by time. Say how often with --sampling-frequency.";
constexpr const char* kWholeStacks = "Call chains are taken whole. Say of which calls with --osrt-backtrace-threshold.";
constexpr const char* kNoPython = "Its functions are not known here. Name them in a file: --python-functions-trace";
constexpr const char* kNoNetwork = "It is not recorded. See the traffic of devices with --nic-metrics=lf and --storage-metrics, and waits with -t osrt.";
constexpr const char* kNoWindows = "It is for Windows. What threads do here is recorded without it.";
constexpr const char* kNoQnx = "It is for QNX. What threads do here is recorded without it.";
constexpr const char* kNoHypervisor = "Hypervisors are not recorded. What threads do is recorded without it.";
constexpr const char* kNoGraphics = "Of graphics, frames and debug groups of OpenGL alone are recorded: -t opengl";
constexpr const char* kNoFrames = "Frames of graphics are not counted. Choose a part by time, range or profiler API: -d, -c nvtx, -c cudaProfilerApi";
constexpr const char* kNoChip = "Metrics are sampled of GPUs alone: --gpu-metrics-devices=all";
constexpr const char* kOnRequest = "Begin and end captures from a second terminal: lanescope launch ./app, then lanescope start and lanescope stop";

constexpr std::array kUnrecorded{
    Option{"--accelerator-trace", "Accelerators besides the GPU are not recorded."},
    Option{"--after-collection-start", "Run your command beside the recording, or from the program itself."},
    Option{"--after-report-ready", "Run your command behind it: lanescope profile -o x ./app; my-command x.trace"},
    Option{"--auto-report-name", "Reports are named report1, report2, ...; choose with -o", Kind::kFlag},
    Option{"--clock-frequency-changes", "See how clocks of GPUs change with --gpu-metrics-devices=all", Kind::kFlag},
    Option{"--cpu-cluster-events", kCountEvents},
    Option{"--cpu-core-metrics", kCountEvents},
    Option{"--cpu-socket-events", kCountEvents},
    Option{"--cpu-socket-metrics", kCountEvents},
    Option{"--cuda-trace-scope", "Only the program and what it starts is recorded. Record one that runs already with: lanescope attach PID", Kind::kValue,
           "process-tree"},
    Option{"--dask", kNoPython},
    Option{"--defer-report", "It is not needed: a .trace is complete when its capture ends.", Kind::kFlag, "true"},
    Option{"--discard-environment", "It is not needed: the environment is never stored.", Kind::kFlag, "true"},
    Option{"--duration-frames", kNoFrames},
    Option{"--dx-force-declare-adapter-removal-support", kNoGraphics, Kind::kFlag},
    Option{"--dx12-gpu-workload", kNoGraphics},
    Option{"--dx12-wait-calls", kNoGraphics, Kind::kFlag},
    Option{"--etw-provider", kNoWindows},
    Option{"--event-sample", kCountEvents},
    Option{"--event-sampling-frequency", kCountEvents},
    Option{"--event-sampling-interval", kCountEvents},
    Option{"--event-sampling-multiplex-interval", kCountEvents},
    Option{"--flush-on-cudaprofilerstop", "It is not needed: the end of a capture hands over every record in any case.", Kind::kFlag, "true"},
    Option{"--ftrace-keep-user-config", "It is not needed: the settings of ftrace stay as they are.", Kind::kFlag, "true"},
    Option{"--gds-libs-path", kNoNetwork},
    Option{"--gds-metrics", kNoNetwork},
    Option{"--gpu-video-device", "Video engines are not recorded. See the GPU's other units with --gpu-metrics-devices=all"},
    Option{"--gpuctxsw", "Switches of contexts on the GPU are not recorded. See how busy it is with --gpu-metrics-devices=all", Kind::kFlag},
    Option{"--hotkey-capture", kOnRequest},
    Option{"--ib-net-info-devices", kNoNetwork},
    Option{"--ib-net-info-files", kNoNetwork},
    Option{"--ib-net-info-output", kNoNetwork},
    Option{"--ib-switch-congestion-device", kNoNetwork},
    Option{"--ib-switch-congestion-devices", kNoNetwork},
    Option{"--ib-switch-congestion-nic-device", kNoNetwork},
    Option{"--ib-switch-congestion-percent", kNoNetwork},
    Option{"--ib-switch-congestion-threshold-high", kNoNetwork},
    Option{"--ib-switch-metrics-device", kNoNetwork},
    Option{"--ib-switch-metrics-devices", kNoNetwork},
    Option{"--ib-switch-metrics-nic-device", kNoNetwork},
    Option{"--injection-use-detours", kNoWindows, Kind::kFlag},
    Option{"--isr", kNoWindows, Kind::kFlag},
    Option{"--nccl-trace", "NCCL's calls are recorded as NVTX ranges: -t cuda,nvtx"},
    Option{"--opengl-gpu-workload", kNoGraphics, Kind::kFlag},
    Option{"--os-events", "Take --cpu-core-events=page-faults,context-switches"},
    Option{"--osrt-backtrace-depth", kWholeStacks},
    Option{"--osrt-backtrace-stack-size", kWholeStacks},
    Option{"--process-scope", "The program and all that it starts is recorded; of threads also all others: -s system-wide", Kind::kValue, "process-tree"},
    Option{"--python-sampling-frequency", "Python is sampled with all other code: say how often with --sampling-frequency."},
    Option{"--qnx-kernel-events", kNoQnx},
    Option{"--qnx-kernel-events-mode", kNoQnx},
    Option{"--resolve-symbols", "Names of code are always looked up, and stored in the file.", Kind::kFlag, "true"},
    Option{"--retain-etw-files", kNoWindows, Kind::kFlag},
    Option{"--samples-per-backtrace", "Every sample has its callers. Take fewer with --sampling-frequency."},
    Option{"--sampling-period", kByTime},
    Option{"--sampling-trigger", kByTime},
    Option{"--show-source-info", "Source lines are always looked up, and stored in the file.", Kind::kFlag, "true"},
    Option{"--soc-metrics", kNoChip, Kind::kFlag},
    Option{"--soc-metrics-frequency", kNoChip},
    Option{"--soc-metrics-set", kNoChip},
    Option{"--start-frame-index", kNoFrames},
    Option{"--storage-devices", "All disks of the machine are sampled: --storage-metrics", Kind::kValue, "all"},
    Option{"--trace-fork-before-exec", "It is not needed: forked processes are recorded, before and without exec.", Kind::kFlag, "true"},
    Option{"--vsync", kNoGraphics, Kind::kFlag},
    Option{"--vulkan-gpu-workload", kNoGraphics},
    Option{"--wddm-additional-events", kNoWindows, Kind::kFlag},
    Option{"--wddm-backtraces", kNoWindows, Kind::kFlag},
    Option{"--wddm-memory-trace", kNoWindows, Kind::kFlag},
    Option{"--xhv-trace", kNoHypervisor},
    Option{"--xhv-trace-events", kNoHypervisor},
    Option{"--xhv-vm-symbols", kNoHypervisor},
};

// A value that nsys has for an option of ours. A text that ends with an asterisk stands for all that start with it. A text that starts with a colon or a
// comma is a part that follows a value of ours, and is removed.
struct Value {
  const char* option;
  std::string_view text;
  const char* advice;
  const char* instead = "none";  // the value that is used
};

constexpr const char* kMarkIt = "It is not recorded. Put NVTX ranges around what it does, and trace nvtx.";
constexpr const char* kNotWritten = "It is not written. Make another copy of the .trace with: lanescope export -t sqlite, csv or json";
constexpr const char* kNoFunctions = "Take autograd-nvtx, which marks operations, or name functions in a file: --python-functions-trace";
constexpr const char* kOwnMetrics = "Sets of metrics are ours: the default one is sampled. See: --gpu-metrics-set=help";
constexpr const char* kDeviceGraphs = "Graphs that kernels launch are not recorded. See them as part of the kernel.";
constexpr const char* kPrecapture = "Ranges around the capture of a graph do not go to its nodes. Mark the graph's launches.";

constexpr std::array kValues{
    Value{"--trace", "cuda-hw", "Kernels are timed by CUPTI, as for cuda-sw.", "cuda"},
    Value{"--trace", "cudla", kMarkIt},
    Value{"--trace", "cudla-verbose", kMarkIt},
    Value{"--trace", "dx11", kNoGraphics},
    Value{"--trace", "dx11-annotations", kNoGraphics},
    Value{"--trace", "dx12", kNoGraphics},
    Value{"--trace", "dx12-annotations", kNoGraphics},
    Value{"--trace", "gds", kNoNetwork},
    Value{"--trace", "nvvideo", kMarkIt},
    Value{"--trace", "openxr", kNoGraphics},
    Value{"--trace", "openxr-annotations", kNoGraphics},
    Value{"--trace", "oshmem", kMarkIt},
    Value{"--trace", "s3", kNoNetwork},
    Value{"--trace", "s3-verbose", kNoNetwork},
    Value{"--trace", "tegra-accelerators", "Accelerators besides the GPU are not recorded."},
    Value{"--trace", "vulkan", kNoGraphics},
    Value{"--trace", "vulkan-annotations", kNoGraphics},
    Value{"--trace", "wddm", kNoWindows},
    Value{"--sample", "xhv", kNoHypervisor, "process-tree"},
    Value{"--sample", "xhv-system-wide", kNoHypervisor, "system-wide"},
    Value{"--capture-range", "hotkey", kOnRequest},
    Value{"--cuda-graph-trace", ":host-and-device", kDeviceGraphs},
    Value{"--cuda-graph-trace", ":nvtx-precapture", kPrecapture},
    Value{"--export", "arrowdir", "Take --export=parquetdir, a folder with a file for each table, or arrow, a stream for each"},
    Value{"--export", "hdf", kNotWritten},
    Value{"--export", "info", "See it with: lanescope info"},
    Value{"--export", "jsonlines", kNotWritten},
    Value{"--gpu-metrics-set", "file:*", kOwnMetrics, "default"},
    Value{"--gpu-metrics-set", "tu1*", kOwnMetrics, "default"},  // the chips for which nsys has sets
    Value{"--gpu-metrics-set", "ga1*", kOwnMetrics, "default"},
    Value{"--gpu-metrics-set", "ad1*", kOwnMetrics, "default"},
    Value{"--gpu-metrics-set", "gh1*", kOwnMetrics, "default"},
    Value{"--gpu-metrics-set", "gb1*", kOwnMetrics, "default"},
    Value{"--gpu-metrics-set", "gb2*", kOwnMetrics, "default"},
};

// Removes nsys's part from the text; returns false if there is none.
bool take_out(const Value& value, std::string& text) {
  const std::string typed = in_small_letters(text);
  const bool is_part = value.text.starts_with(':') || value.text.starts_with(',');
  const std::size_t place = is_part ? typed.find(value.text) : std::string::npos;
  if (place != std::string::npos) {
    text.erase(place, value.text.size());
    return true;
  }
  const bool is_begin = value.text.ends_with('*') && typed.starts_with(value.text.substr(0, value.text.size() - 1));
  if (!is_begin && typed != value.text) return false;
  text = value.instead;
  return true;
}

// nsys takes a list, one half of which Lanescope has: "functions-trace,autograd-shapes-nvtx".
void take_out_functions(std::string& text, UnrecordedOptions& options) {
  std::string kept;
  bool has_taken = false;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    if (in_small_letters(word).starts_with("functions-trace")) {
      options.items.push_back({"--pytorch=" + word, kNoFunctions});
      has_taken = true;
    } else {
      kept += (kept.empty() ? "" : ",") + word;
    }
  }
  if (has_taken) text = kept.empty() ? "none" : kept;
}

// Handles nsys's values before the option's own checks, which then do not see them.
void add_values(CLI::App& app, std::string_view name, UnrecordedOptions& options) {
  CLI::Option* const option = app.get_option_no_throw(std::string(name));
  if (option == nullptr) return;
  option->transform(CLI::Validator(
      [name, &options](std::string& text) {
        if (name == "--pytorch") take_out_functions(text, options);
        for (const Value& value : kValues)
          if (const std::string typed = text; value.option == name && take_out(value, text))
            options.items.push_back({std::string(name) + '=' + typed, value.advice});
        return std::string();
      },
      "", "unrecorded"));
}

void add_option(CLI::App& app, const Option& option, UnrecordedOptions& options) {
  const auto given = [&option, &options](const std::string& value) {
    if (value == kHelpValue) print_values({std::string(option.name) + " is left out. " + option.advice});
    const bool is_granted = option.granted.empty() ? value == "false" || value == "none" : value == option.granted;
    if (!is_granted) options.items.push_back({std::string(option.name) + '=' + value, option.advice});
  };
  CLI::Option* const added = option.kind == Kind::kFlag ? app.add_flag_function(
                                                              option.name, [given](std::int64_t count) { given(count > 0 ? "true" : "false"); }, "")
                                                        : app.add_option_function<std::string>(option.name, given, "");
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->group("");
}

// Options that say how something is recorded, and the part of -t that records it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPartOf{{
    {"--cuda-um-cpu-page-faults", "cuda"},
    {"--cuda-um-gpu-page-faults", "cuda"},
    {"--cuda-memory-usage", "cuda"},
    {"--cuda-event-trace", "cuda"},
    {"--cudabacktrace", "cuda"},
    {"--nvtx-domain-include", "nvtx"},
    {"--nvtx-domain-exclude", "nvtx"},
    {"--osrt-threshold", "osrt"},
    {"--osrt-backtrace-threshold", "osrt"},
}};

// Finds typed options that belong to something that -t leaves out.
void find_parts(const CLI::App& app, UnrecordedOptions& options) {
  const CLI::Option* const trace = app.get_option_no_throw("--trace");
  if (trace == nullptr || trace->count() == 0) return;
  const std::vector<std::string>& traced = trace->results();
  const auto is_traced = [&traced](std::string_view what) {
    return std::any_of(traced.begin(), traced.end(), [what](const std::string& each) {
      const std::string typed = in_small_letters(each);
      return typed == what || typed.starts_with(std::string(what) + '-');
    });
  };
  for (const auto& [name, what] : kPartOf) {
    const CLI::Option* const option = app.get_option_no_throw(std::string(name));
    if (option == nullptr || option->count() == 0 || is_traced(what)) continue;
    const std::string value = option->results().back();
    if (value == "false" || value == "none") continue;
    options.items.push_back({std::string(name) + '=' + value, "It is part of -t " + std::string(what) + ", which is not asked for."});
  }
}

// nsys has a threshold for each sort of calls; here all have the least one.
void find_thresholds(const CLI::App& app, UnrecordedOptions& options) {
  const CLI::Option* const backtraces = app.get_option_no_throw("--cudabacktrace");
  if (backtraces == nullptr) return;
  std::vector<std::string> words;
  for (const std::string& each : backtraces->results())
    if (each.find(':') != std::string::npos) words.push_back(each);
  const auto nanoseconds = [](const std::string& word) { return std::strtoull(word.c_str() + word.find(':') + 1, nullptr, 10); };
  const auto least = std::min_element(words.begin(), words.end(), [&](const auto& a, const auto& b) { return nanoseconds(a) < nanoseconds(b); });
  for (const std::string& word : words)
    if (nanoseconds(word) != nanoseconds(*least))
      options.items.push_back(
          {"--cudabacktrace=" + word, "All sorts of calls have one threshold, here the least that was given: " + std::to_string(nanoseconds(*least)) + " ns."});
}

}  // namespace

void describe_unrecorded(CLI::App& app, UnrecordedOptions& options) {
  for (const Option& option : kUnrecorded) add_option(app, option, options);
  app.parse_complete_callback([&app, &options] {
    find_parts(app, options);
    find_thresholds(app, options);
  });
  std::string_view named;  // values of one option are adjacent
  for (const Value& value : kValues)
    if (std::exchange(named, value.option) != value.option) add_values(app, value.option, options);
  add_values(app, "--pytorch", options);
  app.add_flag("--strict", options.is_refused, "Refuse what nsys has and can't be recorded, instead of\nleaving it out with a warning [false]")
      ->group("What to record");
}

Result<void> say_unrecorded(const UnrecordedOptions& options) {
  std::string refused;
  for (const UnrecordedOptions::Item& item : options.items) {
    if (options.is_refused)
      refused += (refused.empty() ? "" : ", ") + item.argument;
    else
      std::cerr << "lanescope: Warning: " << item.argument << " is left out. " << item.advice << '\n';
  }
  if (refused.empty()) return {};
  return Error{"Because of --strict, nothing is recorded without " + refused + ". " + options.items.front().advice, ErrorKind::kUsage};
}

}  // namespace lanescope::cli
