#include "options/ncu_options.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope::cli {
namespace {

enum class Takes { kValue, kNothing };

struct LeftOut {
  const char* name;
  const char* advice;
  Takes takes = Takes::kValue;
  std::string_view granted = {};  // the value with which it asks for what is done here anyway
};

constexpr const char* kOneForm = "Values have one form. For programs they come as: --page raw -f csv";
constexpr const char* kAllCauses = "Every cause is always looked for.";
constexpr const char* kOwnSections = "Sections are part of lanescope. See: lanescope kernels --list-sections";
constexpr const char* kChooseLaunches = "Choose launches with -k, -s and -c, or with --nvtx-include.";
constexpr const char* kSampleWarps = "Warps are sampled by: lanescope profile --kernels=pc PROGRAM";
constexpr const char* kSampleOverTime = "Counters over time are sampled by: lanescope profile --gpu-metrics-devices=all PROGRAM";
constexpr const char* kNotNeeded = "It is not needed here.";
constexpr const char* kMatchedByOrder = "Launches are found again by kernel, shape and number.";
constexpr const char* kWholeProgram = "The program is started, and runs to its end.";
constexpr const char* kKeepIt = "Keep the recording with --save FILE.trace, and open it with: lanescope-ui FILE.trace";

constexpr std::array kLeftOut{
    LeftOut{"--app-replay-buffer", kNotNeeded},
    LeftOut{"--app-replay-match", kMatchedByOrder, Takes::kValue, "all"},
    LeftOut{"--app-replay-mode", kMatchedByOrder},
    LeftOut{"--apply-rules", kAllCauses, Takes::kValue, "yes"},
    LeftOut{"--check-exit-code", "The exit code is the program's.", Takes::kValue, "yes"},
    LeftOut{"--communicator", kNotNeeded},
    LeftOut{"--config-file", kNotNeeded, Takes::kValue, "no"},
    LeftOut{"--config-file-path", kNotNeeded},
    LeftOut{"--details-all", "See the values of sections with --section all.", Takes::kNothing},
    LeftOut{"--disable-extra-suffixes", "Metrics are named whole: sm__throughput.avg.pct_of_peak_sustained_elapsed", Takes::kNothing},
    LeftOut{"--disable-profiler-start-stop", "Measure all launches with --profile-from-start yes.", Takes::kNothing},
    LeftOut{"--export", kKeepIt},
    LeftOut{"--filter-mode", kChooseLaunches, Takes::kValue, "global"},
    LeftOut{"--injection-path-32", kNotNeeded},
    LeftOut{"--injection-path-64", kNotNeeded},
    LeftOut{"--kernel-name-base", "Kernels are named without namespaces and parameters: -k NAME, or -k regex:PATTERN", Takes::kValue, "function"},
    LeftOut{"--kill", kWholeProgram, Takes::kValue, "no"},
    LeftOut{"--launch-skip-before-match", kChooseLaunches},
    LeftOut{"--lockstep-kernel-launch", kNotNeeded, Takes::kNothing},
    LeftOut{"--lockstep-nvtx-include", kNotNeeded},
    LeftOut{"--max-connections", kNotNeeded},
    LeftOut{"--mode", kWholeProgram, Takes::kValue, "launch-and-attach"},
    LeftOut{"--native-include", kChooseLaunches},
    LeftOut{"--null-stdin", "Give the program an empty input with: < /dev/null", Takes::kNothing},
    LeftOut{"--nvtx-exclude", "Choose launches by the ranges in which they are: --nvtx-include"},
    LeftOut{"--nvtx-push-pop-scope", "A range counts on whichever thread it is open.", Takes::kValue, "process"},
    LeftOut{"--open-in-ui", kKeepIt, Takes::kNothing},
    LeftOut{"--pipeline-boost-state", "Clocks stay as they are."},
    LeftOut{"--pm-sampling-buffer-size", kSampleOverTime},
    LeftOut{"--pm-sampling-interval", kSampleOverTime},
    LeftOut{"--pm-sampling-max-passes", kSampleOverTime},
    LeftOut{"--preload-library", "Preload it with: LD_PRELOAD=LIBRARY lanescope kernels ..."},
    LeftOut{"--print-details", "See the values of sections with --section all."},
    LeftOut{"--print-fp", kOneForm, Takes::kNothing},
    LeftOut{"--print-kernel-base", "Kernels are named without namespaces and parameters.", Takes::kValue, "function"},
    LeftOut{"--print-metric-attribution", kOneForm, Takes::kNothing},
    LeftOut{"--print-metric-instances", kOneForm},
    LeftOut{"--print-metric-name", kOneForm},
    LeftOut{"--print-nvtx-rename", kOneForm, Takes::kValue, "none"},
    LeftOut{"--print-rule-details", kOneForm, Takes::kNothing},
    LeftOut{"--print-units", kOneForm},
    LeftOut{"--query-metrics-collection", "See all metrics of the GPUs here with --query-metrics."},
    LeftOut{"--query-metrics-mode", "See all metrics of the GPUs here with --query-metrics.", Takes::kValue, "base"},
    LeftOut{"--range-filter", kChooseLaunches},
    LeftOut{"--range-replay-options", kNotNeeded},
    LeftOut{"--rename-kernels", kOneForm},
    LeftOut{"--resolve-source-file", "Say where sources are with --source-folders DIR."},
    LeftOut{"--rule", kAllCauses},
    LeftOut{"--sampling-buffer-size", kSampleWarps},
    LeftOut{"--sampling-interval", kSampleWarps},
    LeftOut{"--sampling-max-passes", kSampleWarps},
    LeftOut{"--section-folder", kOwnSections},
    LeftOut{"--section-folder-recursive", kOwnSections},
    LeftOut{"--section-folder-restore", kOwnSections, Takes::kNothing},
    LeftOut{"--support-32bit", "Programs of 32 bits are not measured.", Takes::kNothing},
    LeftOut{"--target-processes-filter", "All processes of the program are measured."},
    LeftOut{"--verbose", kNotNeeded, Takes::kNothing},
    LeftOut{"--warp-sampling-buffer-size", kSampleWarps},
    LeftOut{"--warp-sampling-interval", kSampleWarps},
    LeftOut{"--warp-sampling-max-passes", kSampleWarps},
};

}  // namespace

void describe_ncu_options(CLI::App& app, UnrecordedOptions& options) {
  for (const LeftOut& option : kLeftOut) {
    CLI::Option* added = nullptr;
    if (option.takes == Takes::kNothing)
      added = app.add_flag_function(
          option.name,
          [&option, &options](std::int64_t) {
            options.items.push_back({option.name, option.advice});
          },
          "");
    else
      added = app.add_option_function<std::string>(
          option.name,
          [&option, &options](const std::string& value) {
            if (value != option.granted) options.items.push_back({std::string(option.name) + '=' + value, option.advice});
          },
          "");
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->group("");
  }
}

}  // namespace lanescope::cli
