#include "file/asked_options.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

namespace lanescope::session {
namespace {

// Appends options to a text.
class Options {
 public:
  void flag(bool is_asked, std::string_view name) {
    if (is_asked) append(name, "");
  }
  // `value`: empty if it is the default.
  void value(std::string_view name, const std::string& value) {
    if (!value.empty()) append(name, "=" + quoted(value));
  }
  // A comma in an item has a backslash in front.
  void list(std::string_view name, const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) {
      if (!text.empty()) text += ',';
      for (const char letter : item) text.append(letter == ',' || letter == '\\' ? "\\" : "").push_back(letter);
    }
    if (!items.empty()) append(name, "=" + text);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string quoted(const std::string& value) {
    const bool is_plain = std::all_of(value.begin(), value.end(), [](unsigned char letter) {
      return std::isalnum(letter) != 0 || std::string_view("_-./,:=@%+*").find(static_cast<char>(letter)) != std::string_view::npos;
    });
    if (is_plain) return value;
    std::string text = "'";
    for (const char letter : value) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return text + "'";
  }
  void append(std::string_view name, const std::string& rest) {
    if (!text_.empty()) text_ += ' ';
    text_.append("--").append(name).append(rest);
  }

  std::string text_;
};

std::string in_seconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.10g", static_cast<double>(time.count()) / 1e9);
  return text;
}

// A number that is another than the default; else nothing.
std::string unless(std::uint64_t usual, std::uint64_t value) { return value == usual ? std::string() : std::to_string(value); }

std::vector<std::string> traces(const CaptureSettings& settings) {
  std::vector<std::string> traced;
  const auto add = [&traced](bool is_traced, const char* what) {
    if (is_traced) traced.emplace_back(what);
  };
  const auto is_marked = [&](MarkedLibrary library) { return std::find(settings.marked.begin(), settings.marked.end(), library) != settings.marked.end(); };
  add(settings.trace_cuda, "cuda");
  add(settings.trace_nvtx, "nvtx");
  add(settings.trace_os_runtime, "osrt");
  add(settings.trace_python_lock, "python-gil");
  add(settings.cpu.system_calls, "syscall");
  add(is_marked(MarkedLibrary::kMpi), "mpi");
  add(is_marked(MarkedLibrary::kUcx), "ucx");
  add(is_marked(MarkedLibrary::kOpenMp), "openmp");
  add(is_marked(MarkedLibrary::kOpenAcc), "openacc");
  add(is_marked(MarkedLibrary::kOpenGl), "opengl");
  add(traced.empty(), "none");
  return traced;
}

void add_domains(const CaptureSettings& settings, Options& options) {
  std::vector<std::string> domains = settings.domain_rule == DomainRule::kAll ? std::vector<std::string>() : settings.domains;
  for (std::string& domain : domains)
    if (domain.empty()) domain = "default";
  options.list(settings.domain_rule == DomainRule::kOnlyListed ? "nvtx-domain-include" : "nvtx-domain-exclude", domains);
}

std::vector<std::string> sorts_of_calls(const CudaBacktraces& backtraces) {
  std::vector<std::string> sorts;
  if (backtraces.kernels && backtraces.memory && backtraces.synchronizations && backtraces.others) {
    sorts.emplace_back("all");
  } else {
    if (backtraces.kernels) sorts.emplace_back("kernel");
    if (backtraces.memory) sorts.emplace_back("memory");
    if (backtraces.synchronizations) sorts.emplace_back("sync");
    if (backtraces.others) sorts.emplace_back("other");
  }
  if (!sorts.empty() && backtraces.threshold != CudaBacktraces().threshold) sorts.back() += ":" + std::to_string(backtraces.threshold.count());
  return sorts;
}

void add_cuda(const CaptureSettings& settings, Options& options) {
  const CaptureSettings usual;
  const KernelSettings& kernels = settings.kernels;
  options.value("cuda-flush-interval",
                unless(static_cast<std::uint64_t>(usual.flush_interval.count()), static_cast<std::uint64_t>(settings.flush_interval.count())));
  options.value("record-memory", unless(usual.pool_bytes >> 20, settings.pool_bytes >> 20));
  options.flag(settings.trace_all_calls, "cuda-trace-all-apis");
  if (kernels.collection == KernelCollection::kPcSamples && kernels.window.count() != 0)
    options.value("kernels", "pc:" + (kernels.sampling_period == 0 ? "" : "period=" + std::to_string(kernels.sampling_period) + ",") +
                                 "window=" + std::to_string(kernels.window.count()) + "ms,every=" + std::to_string(kernels.every.count()) + "ms");
  options.list("cudabacktrace", sorts_of_calls(settings.backtraces));
}

void add_os_runtime(const CaptureSettings& settings, Options& options) {
  constexpr std::uint64_t kUsualChains = 80'000;  // ns
  if (!settings.trace_os_runtime) return;
  options.value("osrt-threshold", unless(static_cast<std::uint64_t>(CaptureSettings().os_runtime_threshold.count()),
                                         static_cast<std::uint64_t>(settings.os_runtime_threshold.count())));
  options.value("osrt-backtrace-threshold",
                settings.os_runtime_backtraces ? unless(kUsualChains, static_cast<std::uint64_t>(settings.os_runtime_backtraces->count())) : "none");
  options.flag(settings.trace_file_access, "osrt-file-access");
}

void add_observation(const CaptureSettings& settings, Options& options) {
  const GpuMetricsSettings usual;
  const GpuMetricsSettings& gpus = settings.gpu_metrics;
  options.value("gpu-metrics-devices", gpus.devices);
  if (gpus.asked_for() && gpus.set != usual.set) options.value("gpu-metrics-set", gpus.set);
  if (gpus.asked_for()) options.value("gpu-metrics-frequency", unless(usual.frequency, gpus.frequency));
  options.value("nic-metrics", settings.machine_metrics.networks ? "lf" : "");
  options.flag(settings.machine_metrics.storage, "storage-metrics");
  options.flag(settings.cpu.python_names, "python-sampling");
  options.list("ftrace", settings.cpu.tracepoints);
  options.list("cpu-core-events", settings.cpu.counted_events);
  options.value("debug-symbols", settings.cpu.debug_folders);
}

std::string range_end(const CaptureRange& range) {
  switch (range.after) {
    case AfterCapture::kGoOn:
      return "none";
    case AfterCapture::kStop:
      return "stop";
    case AfterCapture::kShutdown:
      return "";
    case AfterCapture::kRepeat:
      break;
  }
  return (range.after_repeats == AfterCapture::kStop ? std::string("repeat") : std::string("repeat-shutdown")) +
         (range.repeats ? ":" + std::to_string(*range.repeats) : "");
}

void add_range(const CaptureRange& range, Options& options) {
  options.flag(range.trigger == CaptureTrigger::kRequest, "start-later");
  if (range.trigger != CaptureTrigger::kProfilerApi && range.trigger != CaptureTrigger::kNvtxRange) return;
  options.value("capture-range", range.trigger == CaptureTrigger::kNvtxRange ? "nvtx" : "cudaProfilerApi");
  if (range.trigger == CaptureTrigger::kNvtxRange)
    options.value("nvtx-capture", range.name + (!range.domain ? "@*" : range.domain->empty() ? "" : "@" + *range.domain));
  options.value("capture-range-end", range_end(range));
}

// What requests of both kinds have.
template <typename Request>
void add_common(const Request& request, const CaptureSettings& settings, Options& options) {
  options.list("trace", traces(settings));
  add_domains(settings, options);
  add_cuda(settings, options);
  add_os_runtime(settings, options);
  add_observation(settings, options);
  add_range(settings.range, options);
  if (request.delay.count() != 0) options.value("delay", in_seconds(request.delay));
  if (request.duration) options.value("duration", in_seconds(*request.duration));
  if (request.maximum_file_size) options.value("max-file-size", std::to_string(*request.maximum_file_size));
  if (request.keep_last) options.value("ring", in_seconds(*request.keep_last));
}

void add_program(const LaunchRequest& request, Options& options) {
  if (request.duration && request.end_signal != SIGTERM) options.value("kill", request.end_signal ? std::to_string(*request.end_signal) : "none");
  options.value("stop-on-exit", request.on_target_exit == OnTargetExit::kGoOn ? "false" : "");
  options.value("wait", request.wait_for == WaitFor::kPrimary ? "primary" : "");
  options.value("pytorch", request.pytorch == PytorchRanges::kOperations            ? "autograd-nvtx"
                           : request.pytorch == PytorchRanges::kOperationsAndShapes ? "autograd-shapes-nvtx"
                                                                                    : "");
  options.value("python-functions-trace", request.python_functions.string());
  options.value("kernels", request.kernel_counters);
  options.value("show-output", request.target_output == TargetOutput::kStore ? "false" : "");
  options.value("store-output", request.target_output == TargetOutput::kLeave ? "false" : "");
  options.value("inherit-environment", request.inherit_environment == InheritEnvironment::kNo ? "false" : "");
  options.value("run-as", request.run_as ? request.run_as->name : "");
}

}  // namespace

std::string asked_options(const LaunchRequest& request, const CaptureSettings& settings) {
  Options options;
  add_common(request, settings, options);
  if (!request.command.empty()) add_program(request, options);  // it has none if it is made of an AttachRequest
  return options.text();
}

std::string asked_options(const AttachRequest& request) {
  Options options;
  add_common(request, request.settings, options);
  return options.text();
}

}  // namespace lanescope::session
