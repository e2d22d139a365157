#include "options/capture_options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "checks.h"
#include "collector/session/library_traces.h"
#include "options/kernel_options.h"
#include "options/observation_options.h"
#include "text.h"

namespace lanescope::cli {

namespace {

// Returns an empty text if the word is one of the choices, or a name of nsys's for one.
std::string check_trace(const std::vector<std::string>& choices, std::string& word) {
  word = in_small_letters(word);
  if (word == "opengl-annotations") word = "opengl";  // opengl includes annotations
  if (session::needs_launch(word) && std::find(choices.begin(), choices.end(), word) == choices.end())
    return word + ": it has to be switched on when the program starts; use lanescope profile";
  return word == "cuda-sw" ? std::string() : one_of(choices)(word);
}

std::vector<std::string> all_traces() {
  std::vector<std::string> traces{"cuda", "nvtx", "osrt", "python-gil", "syscall", "none"};
  for (std::string& library : session::library_traces()) traces.push_back(std::move(library));
  return traces;
}

// Domains separated by commas; "default" is the domain without a name. A backslash makes a comma part of a name.
std::vector<std::string> domain_list(const std::string& text) {
  std::vector<std::string> domains(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      domains.back() += text[++i];
    } else if (text[i] == ',') {
      domains.emplace_back();
    } else {
      domains.back() += text[i];
    }
  }
  for (std::string& domain : domains)
    if (domain == "default") domain.clear();
  return domains;
}

// Accepts "graph", "node", followed by words of nsys's for what is done here anyway. Returns an empty text if the level is valid.
std::string graph_level(std::string& text) {
  if (text == kHelpValue) print_values({"node", "graph"});
  std::string level = text;
  for (const char* word : {":host-only", ":nvtx-live"})
    if (const std::size_t place = level.find(word); place != std::string::npos) level.erase(place, std::string_view(word).size());
  if (level != "graph" && level != "node") return "\"" + text + "\" is neither node nor graph";
  text = level;
  return {};
}

// nsys comes with lists of functions, which command lines name by nsys's installation folder.
std::string leave_out_own_file_of_nsys(std::string& file, UnrecordedOptions& options) {
  std::error_code ignored;
  if (file.find("/PythonFunctionsTrace/") == std::string::npos || std::filesystem::exists(file, ignored)) return {};
  options.items.push_back({"--python-functions-trace=" + file, "It is a file of nsys's that is not here. Name functions in one of yours."});
  file = "none";
  return {};
}

constexpr std::uint64_t kLongestFlushInterval = 86'400'000;  // ms; a day
constexpr std::uint64_t kLeastRecordMemory = 1;              // MiB
constexpr std::uint64_t kMostRecordMemory = 65'536;

constexpr const char* kWhatToRecord = "What to record";

void describe_traces(CLI::App& app, CaptureOptions& options, Targets targets) {
  const bool is_running = targets == Targets::kRunning;
  const std::vector<std::string> choices =
      is_running ? std::vector<std::string>{"cuda", "nvtx", "osrt", "python-gil", "syscall", "nccl", "none"} : all_traces();
  app.add_option("-t,--trace", options.trace,
                 is_running ? "cuda, nvtx, osrt, python-gil, syscall, nccl (alone of nvtx);\nnone: threads alone, from outside: nothing enters the\nprocess"
                            : "cuda, nvtx, osrt, python-gil, syscall, none; calls of nccl,\nmpi, ucx, openmp, openacc, opengl (frames and debug groups),\n"
                              "cudnn, cublas, cusolver, cusparse (with -verbose: all calls\nof the last three)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::Validator([choices](std::string& word) { return check_trace(choices, word); }, "", "trace"))
      ->default_str("cuda,nvtx")
      ->group(kWhatToRecord);
  app.add_option("--preset", options.preset, "light (least overhead), default, or deep")
      ->type_name("NAME")
      ->check(one_of({"light", "default", "deep"}))
      ->default_str("default")
      ->group(kWhatToRecord);
}

void describe_cuda(CLI::App& app, CaptureOptions& options) {
  app.add_option("--cuda-graph-trace", options.graph_trace, "node: an event for each node of a CUDA graph;\ngraph: one for each launch of a graph")
      ->type_name("LEVEL")
      ->transform(CLI::Validator(graph_level, "", "level"))
      ->default_str("node; graph with --preset=light")
      ->group(kWhatToRecord);
  app.add_option("--cuda-flush-interval", options.flush_interval, "Time between collections of finished GPU records; 0: when a\nbuffer is full")
      ->type_name("MS")
      ->check(whole_number(0, kLongestFlushInterval))
      ->default_str("500")
      ->group(kWhatToRecord);
}

void describe_more_of_cuda(CLI::App& app, CaptureOptions& options) {
  app.add_flag("--cuda-trace-all-apis", options.trace_all_calls, "Also calls that say nothing about time, such as\ncudaGetDevice [false]")
      ->group(kWhatToRecord);
  app.add_flag_function(
         "--cuda-memory-usage", [&options](std::int64_t count) { options.memory_usage = count > 0; },
         "Also allocations and memory pools [false; true with\n--preset=deep]")
      ->group(kWhatToRecord);
  app.add_flag("--cuda-um-cpu-page-faults", options.cpu_page_faults,
               "Also faults of the CPU on pages of unified memory, and\nwhat moves between the memories [false]")
      ->group(kWhatToRecord);
  app.add_flag("--cuda-um-gpu-page-faults", options.gpu_page_faults, "The same for faults of GPUs [false]")->group(kWhatToRecord);
  app.add_flag("--cuda-event-trace", options.cuda_events,
               "Also when streams come past CUDA events, and which\nstreams wait for them; costs GPU time for each [false]")
      ->transform(CLI::Validator(
          [](std::string& word) {
            if (word == "auto") word = "false";  // as in nsys
            return std::string();
          },
          "", "auto"))
      ->group(kWhatToRecord);
}

void describe_backtraces(CLI::App& app, CaptureOptions& options) {
  app.add_option("--cudabacktrace", options.backtraces,
                 "Which code makes CUDA calls of a sort that take long: all,\nkernel, memory, sync, other; with :NS for how long")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(help_lists({"none", "all", "kernel", "memory", "sync", "other", "kernel:NS (and so on: calls that take so many nanoseconds or more)"}))
      ->default_str("none")
      ->group(kWhatToRecord);
  app.add_option("--python-backtrace", options.python_backtrace,
                 "cuda: Python functions stand in --cudabacktrace's chains (all\nof them where that is not given), of calls "
                 "that take about a\nmillisecond or longer")
      ->type_name("WHERE")
      ->check(one_of({"cuda", "none", "false"}))
      ->default_str("none")
      ->group(kWhatToRecord);
}

void describe_domains(CLI::App& app, CaptureOptions& options) {
  app.add_option("--nvtx-domain-include", options.domain_include, "Only these NVTX domains; default is the one without a name")
      ->type_name("LIST")
      ->group(kWhatToRecord);
  app.add_option("--nvtx-domain-exclude", options.domain_exclude, "All NVTX domains but these")->type_name("LIST")->group(kWhatToRecord);
}

void describe_calls(CLI::App& app, CaptureOptions& options) {
  app.add_option("--osrt-threshold", options.osrt_threshold, "Shorter calls into the C library are left out")
      ->type_name("NS")
      ->check(whole_number(0, 1'000'000'000))
      ->default_str("1000")
      ->group(kWhatToRecord);
  app.add_option("--osrt-backtrace-threshold", options.osrt_backtrace_threshold, "Which code makes calls into the C library that take so\nlong, or none")
      ->type_name("NS")
      ->default_str("80000")
      ->group(kWhatToRecord);
  app.add_flag("--osrt-file-access", options.osrt_file_access,
               "Also which files calls open, read, write, map and sync, by\ntheir paths; implies -t osrt [false]")
      ->group(kWhatToRecord);
}

// Must be switched on when the program starts.
void describe_libraries(CLI::App& app, CaptureOptions& options) {
  app.add_option("--mpi-impl", options.mpi_implementation, "Accepted as by nsys (openmpi, mpich), and not needed: it is\nfound automatically")
      ->type_name("NAME")
      ->check(one_of({"openmpi", "mpich"}))
      ->group(kWhatToRecord);
  app.add_option("--pytorch", options.pytorch,
                 "NVTX ranges around the operations of PyTorch:\nautograd-nvtx, autograd-shapes-nvtx (with the shapes of\ntensors), none")
      ->type_name("WHAT")
      ->check(one_of({"autograd-nvtx", "autograd-shapes-nvtx", "none"}))
      ->default_str("none")
      ->group(kWhatToRecord);
  app.add_option("--python-functions-trace,--python-nvtx-annotations", options.python_functions,
                 "NVTX ranges around the functions of Python that this file\nnames: [{\"module\": \"numpy\", \"functions\": [\"dot\"]}]")
      ->type_name("FILE")
      ->transform(CLI::Validator([&options](std::string& file) { return leave_out_own_file_of_nsys(file, options.unrecorded); }, "", "file"))
      ->default_str("none")
      ->group(kWhatToRecord);
}

}  // namespace

// Help lists the options in this order.
void describe_capture(CLI::App& app, CaptureOptions& options, Targets targets) {
  describe_traces(app, options, targets);
  describe_cuda(app, options);
  app.add_option("--record-memory", options.record_memory,
                 "Memory for NVTX and OS records of one process that wait to\nbe written: how large a burst may be without a loss")
      ->type_name("MIB")
      ->check(whole_number(kLeastRecordMemory, kMostRecordMemory))
      ->default_str("256")
      ->group(kWhatToRecord);
  describe_more_of_cuda(app, options);
  describe_kernels(app, options, targets);
  describe_gpu_metrics(app, options);
  describe_machine_metrics(app, options);
  describe_backtraces(app, options);
  describe_domains(app, options);
  describe_threads(app, options);
  describe_calls(app, options);
  if (targets == Targets::kLaunched) describe_libraries(app, options);
}

std::chrono::nanoseconds seconds(double value) { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(value)); }

namespace {

// "kernel:20000": a kind of call, and its least duration.
Result<session::CudaBacktraces> backtraces(const std::vector<std::string>& words) {
  session::CudaBacktraces result;
  std::optional<std::chrono::nanoseconds> threshold;
  for (const std::string& word : words) {
    const std::size_t colon = word.find(':');
    const std::string given = word.substr(0, colon);
    const std::string sort = given == "true" ? "all" : given == "false" ? "none" : given;  // as in older versions of nsys
    const bool all = sort == "all";
    if (!all && sort != "none" && sort != "kernel" && sort != "memory" && sort != "sync" && sort != "other")
      return Error{"--cudabacktrace takes all, none, kernel, memory, sync and other, not \"" + sort + "\".", ErrorKind::kUsage};
    result.kernels |= all || sort == "kernel";
    result.memory |= all || sort == "memory";
    result.synchronizations |= all || sort == "sync";
    result.others |= all || sort == "other";
    if (colon == std::string::npos) continue;
    const std::string digits = word.substr(colon + 1);
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
      return Error{"--cudabacktrace=" + word + ": \"" + digits + "\" is no number of nanoseconds.", ErrorKind::kUsage};
    const std::chrono::nanoseconds time(std::stoll(digits));
    threshold = threshold ? std::min(*threshold, time) : time;  // of several, unrecorded_options.h says which ones are left out
  }
  if (threshold) result.threshold = *threshold;
  return result;
}

Result<void> set_os_runtime_backtraces(const std::string& threshold, session::CaptureSettings& settings) {
  if (threshold == "none") return {};
  std::uint32_t nanoseconds = 0;
  const auto [end, error] = std::from_chars(threshold.data(), threshold.data() + threshold.size(), nanoseconds);
  if (error != std::errc{} || end != threshold.data() + threshold.size() || nanoseconds > 1'000'000'000)
    return Error{"--osrt-backtrace-threshold takes nanoseconds, 1000000000 at most, or none, not \"" + threshold + "\".", ErrorKind::kUsage};
  settings.os_runtime_backtraces = std::chrono::nanoseconds(std::max(nanoseconds, 1u));
  return {};
}

}  // namespace

Result<session::CaptureSettings> capture_settings(const CaptureOptions& options) {
  const auto traces = [&](const char* what) { return std::find(options.trace.begin(), options.trace.end(), what) != options.trace.end(); };
  session::CaptureSettings settings;
  settings.cpu = cpu_settings(options);
  settings.cpu.system_calls = options.system_calls || traces("syscall");
  settings.trace_cuda = traces("cuda") || traces("cuda-sw");
  settings.trace_nvtx = traces("nvtx");
  settings.trace_os_runtime = traces("osrt") || options.osrt_file_access;
  settings.trace_python_lock = traces("python-gil");
  settings.trace_file_access = options.osrt_file_access;
  settings.preset = options.preset == "light" ? session::Preset::kLight : options.preset == "deep" ? session::Preset::kDeep : session::Preset::kDefault;
  const bool by_graph = options.graph_trace.empty() ? settings.preset == session::Preset::kLight : options.graph_trace == "graph";
  settings.graph_level = by_graph ? session::GraphLevel::kGraph : session::GraphLevel::kNode;
  settings.flush_interval = std::chrono::milliseconds(options.flush_interval);
  settings.pool_bytes = std::uint64_t{options.record_memory} << 20;
  settings.trace_all_calls = options.trace_all_calls;
  settings.memory_usage = options.memory_usage.value_or(settings.preset == session::Preset::kDeep);
  settings.cpu_page_faults = options.cpu_page_faults;
  settings.gpu_page_faults = options.gpu_page_faults;
  settings.cuda_events = options.cuda_events;
  const bool python_backtraces = options.python_backtrace == "cuda";
  if (python_backtraces && !settings.cpu.any())
    return Error{"--python-backtrace=cuda reads Python's calls as threads are observed: leave out -s none or --cpuctxsw=none.", ErrorKind::kUsage};
  const bool all_calls = python_backtraces && options.backtraces.empty();
  const Result<session::CudaBacktraces> calls = backtraces(all_calls ? std::vector<std::string>{"all"} : options.backtraces);
  if (!calls) return calls.error();
  settings.backtraces = *calls;
  Result<session::GpuMetricsSettings> gpu_metrics = gpu_metrics_settings(options);
  if (!gpu_metrics) return gpu_metrics.error();
  settings.gpu_metrics = std::move(*gpu_metrics);
  settings.machine_metrics = machine_metrics_settings(options);
  const Result<session::KernelSettings> kernels = kernel_settings(options.kernels);
  if (!kernels) return kernels.error();
  settings.kernels = *kernels;
  if (options.kernels != "none" && settings.gpu_metrics.asked_for() && settings.gpu_metrics.set != "nvml")
    return Error{"--kernels=" + options.kernels +
                     " and --gpu-metrics-devices both need the GPU's counters, which one can have at a time: leave one out, or take "
                     "--gpu-metrics-set=nvml, which needs none.",
                 ErrorKind::kUsage};
  if (settings.kernels.collection != session::KernelCollection::kNone && !settings.trace_cuda)
    return Error{"--kernels=" + options.kernels + " is for the kernels that -t cuda records: trace cuda as well.", ErrorKind::kUsage};
  settings.os_runtime_threshold = std::chrono::nanoseconds(options.osrt_threshold);
  if (const Result<void> set = set_os_runtime_backtraces(options.osrt_backtrace_threshold, settings); !set) return set.error();
  if (!options.domain_include.empty() && !options.domain_exclude.empty())
    return Error{"--nvtx-domain-include and --nvtx-domain-exclude exclude each other: choose one.", ErrorKind::kUsage};
  if (!options.domain_include.empty()) settings.domain_rule = session::DomainRule::kOnlyListed;
  if (!options.domain_exclude.empty()) settings.domain_rule = session::DomainRule::kAllButListed;
  if (settings.domain_rule != session::DomainRule::kAll)
    settings.domains = domain_list(options.domain_include.empty() ? options.domain_exclude : options.domain_include);
  session::add_library_traces(options.trace, settings);
  return settings;
}

}  // namespace lanescope::cli
