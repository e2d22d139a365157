#include "foreign_options.h"

#include <algorithm>
#include <array>

namespace lanescope::cli {
namespace {

struct Advice {
  std::string_view name;
  std::string_view text;
  std::string_view granted = {};  // the value with which it asks for what is the case here anyway
};

constexpr std::string_view kNoSampling = "Counters of the processor are not recorded. Threads are sampled by time: -s process-tree";
constexpr std::string_view kWholeStacks = "Call chains are taken whole. Say of which calls with --osrt-backtrace-threshold.";
constexpr std::string_view kNoPython =
    "Calls of Python functions are not recorded one by one. Sample them with --python-sampling, or mark the code with NVTX: "
    "torch.cuda.nvtx.range(\"step\")";
constexpr std::string_view kNoNetwork = "Networks and storage are not recorded. See the waits for them with -t osrt.";
constexpr std::string_view kNoSystem =
    "Events of the operating system are not recorded. See the waits of the program's threads with -t osrt.";

constexpr std::string_view kNoWindows = "It is for Windows. What threads do here is recorded without it.";
constexpr std::string_view kNoGraphics = "Graphics is not recorded.";

// A name that ends with an asterisk stands for all that begin so.
constexpr std::array kOptions{
    // nsys has them.
    Advice{"--sampling-period", "Samples are taken by time. Say how often with --sampling-frequency."},
    Advice{"--samples-per-backtrace", "Every sample has its callers. Take fewer with --sampling-frequency."},
    Advice{"--cpu-core-metrics", kNoSampling},
    Advice{"--cpu-core-events", kNoSampling},
    Advice{"--cpu-socket-events", kNoSampling},
    Advice{"--event-sample", kNoSampling},
    Advice{"--event-sampling-interval", kNoSampling},
    Advice{"--sampling-trigger", "Samples are taken by time. Say how often with --sampling-frequency."},
    Advice{"--cpu-cluster-events", kNoSampling},
    Advice{"--show-source-info", "Source lines are always looked up, and stored in the file.", "true"},
    Advice{"--resolve-symbols", "Names of code are always looked up, and stored in the file.", "true"},
    Advice{"--osrt-backtrace-depth", kWholeStacks},
    Advice{"--osrt-backtrace-stack-size", kWholeStacks},
    Advice{"--python-sampling-frequency", "Python is sampled with all other code: say how often with --sampling-frequency."},
    Advice{"--python-functions-trace", kNoPython},
    Advice{"--python-nvtx-annotations", kNoPython},
    Advice{"--dask", kNoPython},
    Advice{"--gpuctxsw", "Switches of contexts on the GPU are not recorded. See how busy it is with --gpu-metrics-devices=all"},
    Advice{"--cuda-trace-scope", "Only the program and what it starts is recorded. Record one that runs already with: lanescope attach PID",
           "process-tree"},
    Advice{"--defer-report", "It is not needed: a .trace is complete when its capture ends.", "true"},
    Advice{"--flush-on-cudaprofilerstop", "It is not needed: the end of a capture hands over every record in any case.", "true"},
    Advice{"--nccl-trace", "NCCL's calls are recorded as NVTX ranges: -t cuda,nvtx"},
    Advice{"--osrt-file-access", "Names of files are not recorded. Their reads and writes are: -t osrt", "false"},
    Advice{"--syscall", kNoSystem},
    Advice{"--ftrace", kNoSystem},
    Advice{"--os-events", kNoSystem},
    Advice{"--ftrace-keep-user-config", kNoSystem},
    Advice{"--xhv-trace", kNoSystem},
    Advice{"--xhv-trace-events", kNoSystem},
    Advice{"--process-scope", "The program and all that it starts is recorded; of threads also all others: -s system-wide", "process-tree"},
    Advice{"--nic-metrics", kNoNetwork},
    Advice{"--gds-metrics", kNoNetwork},
    Advice{"--storage-metrics", kNoNetwork},
    Advice{"--ib-*", kNoNetwork},
    Advice{"--soc-metrics*", "Metrics are sampled of GPUs alone: --gpu-metrics-devices=all"},
    Advice{"--gpu-video-device*", "Video engines are not recorded. See the GPU's other units with --gpu-metrics-devices=all"},
    Advice{"--accelerator-trace", "Accelerators besides the GPU are not recorded."},
    Advice{"--enable", "There are no plugins. See what can be recorded with: lanescope profile --help"},
    Advice{"--trace-fork-before-exec", "It is not needed: forked processes are recorded, before and without exec.", "true"},
    Advice{"--discard-environment", "It is not needed: the environment is never stored.", "true"},
    Advice{"--after-collection-start", "Run your command beside the recording, or from the program itself."},
    Advice{"--after-report-ready", "Run your command behind it: lanescope profile -o x ./app; my-command x.trace"},
    Advice{"--force-export", "It is not needed: reports read the .trace itself.", "true"},
    Advice{"--sqlite", "The .trace itself is read: name it alone"},
    Advice{"--report-dir",
           "Reports are part of lanescope: see them with lanescope stats --help-reports, or query SQLite: lanescope export"},
    Advice{"--rule-dir", "Rules are part of lanescope: see them with lanescope analyze --help-rules, or query SQLite: lanescope export"},
    Advice{"--separate-strings", "Names stand in the events themselves.", "false"},
    Advice{"--include-json", "Data of NVTX events is always written, as JSON.", "true"},
    Advice{"--include-blobs", "Data of NVTX events is written as JSON, not as bytes."},
    Advice{"--dynamic-tables", "Data of NVTX events is written as JSON: see NVTX_EVENTS.jsonText."},
    Advice{"--append", "A file holds one trace. Several are read together: lanescope stats A.trace B.trace"},
    Advice{"--ts-normalize", "Times count from the begin of the recording; its time of day is in: lanescope info"},
    Advice{"--ts-shift", "Times count from the begin of the recording. Shift them in the viewer: lanescope-ui A.trace B.trace"},
    Advice{"--auto-report-name", "Reports are named report1, report2, ...; choose with -o"},
    Advice{"--gpu-metrics", "Did you mean --gpu-metrics-devices?"},
    Advice{"--pid", "The process stands alone: lanescope attach PID"},
    Advice{"--lazy", "Tables are written where there is something to write.", "true"},
    Advice{"--hotkey-capture",
           "Begin and end captures from a second terminal: lanescope launch ./app, then lanescope start and lanescope stop"},
    Advice{"--opengl-*", kNoGraphics},
    Advice{"--vulkan-*", kNoGraphics},
    Advice{"--vsync", kNoGraphics},
    Advice{"--duration-frames", kNoGraphics},
    Advice{"--start-frame-index", kNoGraphics},
    Advice{"--dx*", kNoGraphics},
    Advice{"--wddm*", kNoWindows},
    Advice{"--etw*", kNoWindows},
    Advice{"--retain-etw-files", kNoWindows},
    Advice{"--isr", kNoWindows},
    Advice{"--injection-use-detours", kNoWindows},
    Advice{"--qnx-*", "It is for QNX. What threads do here is recorded without it."},
    Advice{"--clock-frequency-changes", "See how clocks of GPUs change with --gpu-metrics-devices=all"},
    // Nobody has them, but they are passed on.
    Advice{"--nvtx", "Did you mean --trace=cuda,nvtx?"},
    Advice{"--cuda", "Did you mean --trace=cuda?"},
    Advice{"--osrt", "Did you mean --trace=cuda,nvtx,osrt?"},
    Advice{"--mpi", "Did you mean --trace=cuda,nvtx,mpi?"},
    Advice{"--cudnn", "Did you mean --trace=cuda,nvtx,cudnn?"},
    Advice{"--cublas", "Did you mean --trace=cuda,nvtx,cublas?"},
    Advice{"--output-dir", "Did you mean --output? It takes a path: -o FOLDER/NAME"},
    Advice{"--output-file", "Did you mean --output?"},
    Advice{"--force", "Did you mean --force-overwrite?"},
    Advice{"--overwrite", "Did you mean --force-overwrite?"},
    Advice{"--timeout", "Did you mean --duration?"},
    Advice{"--capture", "Did you mean --capture-range?"},
    Advice{"--format", "Did you mean --export? Tables come from: lanescope stats -f csv FILE"},
    Advice{"-p", "Attach to a process with: lanescope attach PID"},
};

constexpr std::string_view kNotRecorded = "it is not recorded; leave it out, or put NVTX ranges around what it does, and trace nvtx";

constexpr std::array kTraces{
    Advice{"cudla-verbose", kNotRecorded},
    Advice{"openxr", kNotRecorded},
    Advice{"vulkan-annotations", kNotRecorded},
    Advice{"opengl-annotations", kNotRecorded},
    Advice{"s3", kNotRecorded},
    Advice{"s3-verbose", kNotRecorded},
    Advice{"tegra-accelerators", kNotRecorded},
    Advice{"syscall", "see the waits of the program's threads with osrt"},
    Advice{"cuda-hw", "write cuda"},
    Advice{"opengl", kNotRecorded},
    Advice{"openacc", kNotRecorded},
    Advice{"openmp", kNotRecorded},
    Advice{"ucx", kNotRecorded},
    Advice{"oshmem", kNotRecorded},
    Advice{"vulkan", kNotRecorded},
    Advice{"cudla", kNotRecorded},
    Advice{"gds", kNotRecorded},
    Advice{"nvvideo", kNotRecorded},
};

constexpr std::string_view kNotWritten = "it is not written; take sqlite, or csv";

constexpr std::array kTypes{
    Advice{"hdf", kNotWritten},
    Advice{"arrow", kNotWritten},
    Advice{"arrowdir", kNotWritten},
    Advice{"parquetdir", kNotWritten},
    Advice{"jsonlines", "take json, which is one array; jq -c '.[]' makes lines of it"},
    Advice{"info", "see it with lanescope info"},
};

template <std::size_t Count>
std::optional<std::string> find(const std::array<Advice, Count>& table, std::string_view name) {
  for (const Advice& advice : table)
    if (advice.name == name) return std::string(advice.text);
  return std::nullopt;
}

constexpr std::array kCommands{
    Advice{"nvprof", "Record with: lanescope profile ./app, and see its times with: lanescope stats report1.trace"},
    Advice{"plugins", "There are no plugins. See what can be recorded with: lanescope profile --help"},
    Advice{"finalize", "It is not needed: a .trace is complete when its recording ends, and opens before."},
    Advice{"service", "It is not needed: recordings need nothing that runs beside them."},
    Advice{"ui", "The viewer is a program of its own: lanescope-ui FILE.trace"},
    Advice{"view", "The viewer is a program of its own: lanescope-ui FILE.trace"},
    Advice{"record", "Did you mean lanescope profile?"},
    Advice{"run", "Did you mean lanescope profile?"},
};

const Advice* find_option(std::string_view name) {
  const auto is_it = [name](const Advice& advice) {
    return advice.name.ends_with('*') ? name.starts_with(advice.name.substr(0, advice.name.size() - 1)) : advice.name == name;
  };
  const auto* const found = std::find_if(kOptions.begin(), kOptions.end(), is_it);
  return found == kOptions.end() ? nullptr : found;
}

}  // namespace

std::optional<std::string> foreign_option_advice(std::string_view name) {
  const Advice* advice = find_option(name);
  return advice == nullptr ? std::nullopt : std::optional<std::string>(advice->text);
}

bool foreign_option_is_granted(std::string_view name, std::string_view value) {
  const Advice* advice = find_option(name);
  if (advice == nullptr) return false;
  if (advice->granted.empty()) return value == "false" || value == "none";
  return value == advice->granted || (value.empty() && advice->granted == "true");
}

std::optional<std::string> foreign_command_advice(std::string_view name) { return find(kCommands, name); }
std::optional<std::string> foreign_trace_advice(std::string_view word) { return find(kTraces, word); }
std::optional<std::string> foreign_type_advice(std::string_view word) { return find(kTypes, word); }

}  // namespace lanescope::cli
