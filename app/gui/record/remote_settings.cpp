#include "record/remote_settings.h"

#include <cmath>

#include <QCoreApplication>

namespace lanescope::ui {
namespace {

std::string on_or_off(bool value) { return value ? "true" : "false"; }

std::string joined(const QStringList& words) { return words.join(u',').toStdString(); }

// Seconds as they are typed: exact, without an exponent.
std::string seconds_text(double value) { return QString::number(value, 'f', 9).toStdString(); }

// Appends --name=value.
class RemoteOptions {
 public:
  void add(const char* name, const std::string& value) { words_.push_back("--" + std::string(name) + "=" + value); }
  void add(const char* name, const QString& value) { add(name, value.toStdString()); }
  void add(const char* name, int value) { add(name, std::to_string(value)); }
  void add(const char* name, bool value) { add(name, on_or_off(value)); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

void add_calls(RemoteOptions& options, const CaptureChoices& choices) {
  QStringList trace;
  if (choices.trace_cuda) trace << QStringLiteral("cuda");
  if (choices.trace_nvtx) trace << QStringLiteral("nvtx");
  if (choices.trace_os_runtime) trace << QStringLiteral("osrt");
  if (choices.trace_mpi) trace << QStringLiteral("mpi");
  if (choices.python_lock) trace << QStringLiteral("python-gil");
  if (choices.system_calls) trace << QStringLiteral("syscall");
  trace << choices.libraries;
  options.add("trace", trace.isEmpty() ? std::string("none") : joined(trace));
  if (choices.trace_os_runtime) {
    options.add("osrt-file-access", choices.file_access);
    options.add("osrt-threshold", choices.os_runtime_threshold);
    options.add("osrt-backtrace-threshold", choices.os_runtime_chains_from > 0 ? std::to_string(choices.os_runtime_chains_from) : std::string("none"));
  }
  if (!choices.domains.isEmpty() && choices.domain_rule != session::DomainRule::kAll)
    options.add(choices.domain_rule == session::DomainRule::kOnlyListed ? "nvtx-domain-include" : "nvtx-domain-exclude", joined(choices.domains));
  if (!choices.trace_nvtx) return;
  if (!choices.python_ranges_of.isEmpty()) options.add("python-functions-trace", choices.python_ranges_of);
  if (choices.pytorch == session::PytorchRanges::kNone) return;
  options.add("pytorch", std::string(choices.pytorch == session::PytorchRanges::kOperations ? "autograd-nvtx" : "autograd-shapes-nvtx"));
}

void add_cuda(RemoteOptions& options, const CaptureChoices& choices) {
  options.add("preset", std::string(choices.preset == session::Preset::kLight ? "light" : choices.preset == session::Preset::kDeep ? "deep" : "default"));
  if (choices.graph_level) options.add("cuda-graph-trace", std::string(*choices.graph_level == session::GraphLevel::kNode ? "node" : "graph"));
  options.add("cuda-flush-interval", choices.flush_interval);
  options.add("cuda-trace-all-apis", choices.all_calls);
  options.add("cuda-memory-usage", choices.memory_usage || choices.preset == session::Preset::kDeep);
  options.add("cuda-um-cpu-page-faults", choices.page_faults);
  options.add("cuda-um-gpu-page-faults", choices.page_faults);
  options.add("cuda-event-trace", choices.cuda_events);
  const std::string from = ":" + std::to_string(choices.call_chains_from);
  if (choices.call_chains_of == ChainsOf::kWaits) options.add("cudabacktrace", "sync" + from);
  if (choices.call_chains_of == ChainsOf::kWork) options.add("cudabacktrace", "kernel" + from + ",memory" + from);
  if (choices.call_chains_of == ChainsOf::kAll) options.add("cudabacktrace", "all" + from);
}

void add_threads(RemoteOptions& options, const CaptureChoices& choices) {
  const std::string scope = choices.whole_machine ? "system-wide" : "process-tree";
  options.add("cpuctxsw", choices.thread_states ? scope : "none");
  options.add("sample", choices.samples ? scope : "none");
  switch (choices.call_chains) {
    case cpu::CallChains::kFramePointers:
      options.add("backtrace", std::string("fp"));
      break;
    case cpu::CallChains::kDwarf:
      options.add("backtrace", std::string("dwarf"));
      break;
    case cpu::CallChains::kBranchRecords:
      options.add("backtrace", std::string("lbr"));
      break;
    case cpu::CallChains::kNone:
      options.add("backtrace", std::string("none"));
      break;
  }
  options.add("sampling-frequency", choices.sampling_frequency);
  options.add("python-sampling", choices.python_functions && (choices.thread_states || choices.samples));
  if (!choices.debug_folders.isEmpty()) options.add("debug-symbols", choices.debug_folders);
  if (!choices.kernel_events.isEmpty()) options.add("ftrace", joined(choices.kernel_events));
  if (!choices.counted_events.isEmpty()) options.add("cpu-core-events", joined(choices.counted_events));
  options.add("nic-metrics", std::string(choices.network_metrics ? "lf" : "none"));
  options.add("storage-metrics", choices.storage_metrics);
  if (!choices.gpu_metrics) return;
  options.add("gpu-metrics-devices", choices.gpu_metrics_devices);
  options.add("gpu-metrics-set", choices.gpu_metrics_set);
  options.add("gpu-metrics-frequency", choices.gpu_metrics_frequency);
}

// Options for the order of events in time, and for the part that is recorded.
void add_part(RemoteOptions& options, const CaptureChoices& choices) {
  if (choices.delay > 0) options.add("delay", seconds_text(choices.delay));
  if (choices.duration > 0) options.add("duration", seconds_text(choices.duration));
  if (choices.keep_last > 0) options.add("ring", seconds_text(choices.keep_last));
  if (choices.file_size > 0) options.add("max-file-size", std::to_string(static_cast<std::uint64_t>(std::llround(choices.file_size * 1e6))));
  if (choices.trigger == session::CaptureTrigger::kNone) return;
  if (choices.trigger == session::CaptureTrigger::kNvtxRange) {
    options.add("capture-range", std::string("nvtx"));
    options.add("nvtx-capture", choices.range + (choices.range_domain.isEmpty() ? QString() : u'@' + choices.range_domain));
  } else {
    options.add("capture-range", std::string("cudaProfilerApi"));
  }
  switch (choices.after_range) {
    case session::AfterCapture::kGoOn:
      return options.add("capture-range-end", std::string("none"));
    case session::AfterCapture::kStop:
      return options.add("capture-range-end", std::string("stop"));
    case session::AfterCapture::kShutdown:
      return options.add("capture-range-end", std::string("stop-shutdown"));
    case session::AfterCapture::kRepeat:
      return options.add("capture-range-end", "repeat" + (choices.repeats > 0 ? ":" + std::to_string(choices.repeats) : std::string()));
  }
}

// Options for the end of the program.
void add_end(RemoteOptions& options, const CaptureChoices& choices) {
  options.add("wait", std::string(choices.wait_for_children ? "all" : "primary"));
  const bool range_ends_it = choices.trigger != session::CaptureTrigger::kNone && choices.after_range == session::AfterCapture::kShutdown;
  options.add("kill", std::string(range_ends_it || choices.program_at_end == ProgramAtEnd::kEnds ? "sigterm" : "none"));
}

// The request without files that exist only on the remote machine, so that it can be checked here.
Result<session::LaunchRequest> request_from_here(LaunchSettings settings) {
  settings.capture.python_ranges_of.clear();
  return launch_request(settings);
}

// Only the link.
Result<RemoteWork> link_to(const RemoteSettings& settings, const std::string& text) {
  Result<remote::Target> target = remote::parse_target(text);
  if (!target) return target.error();
  RemoteWork link;
  link.work.target = target->text;
  link.there.target = std::move(*target);
  if (const QString lanescope = settings.lanescope.trimmed(); !lanescope.isEmpty()) link.there.program = lanescope.toStdString();
  // There is no terminal for questions here: ssh asks through the program that SSH_ASKPASS names, or not at all.
  link.work.terminal = remote::Terminal::kNone;
  link.work.version = LANESCOPE_VERSION;
  return link;
}

}  // namespace

Result<std::vector<std::string>> profile_options(const LaunchSettings& settings) {
  const Result<session::LaunchRequest> request = request_from_here(settings);
  if (!request) return request.error();
  RemoteOptions options;
  add_calls(options, settings.capture);
  add_cuda(options, settings.capture);
  add_threads(options, settings.capture);
  add_part(options, settings.capture);
  add_end(options, settings.capture);
  options.add("show-output", false);
  options.add("inherit-environment", settings.inherit_environment);
  for (const QString& line : settings.environment)
    if (!line.trimmed().isEmpty()) options.add("env-var", line);
  return options.take();
}

std::vector<std::string> attach_options(const CaptureChoices& asked) {
  CaptureChoices choices = asked;
  choices.trace_mpi = false;
  choices.libraries.clear();  // they must be enabled when a program starts, like the next two
  choices.pytorch = session::PytorchRanges::kNone;
  choices.python_ranges_of.clear();
  if (choices.from_outside) {
    choices.trace_cuda = choices.trace_nvtx = choices.trace_os_runtime = choices.python_lock = false;
    choices.trigger = session::CaptureTrigger::kNone;
  }
  RemoteOptions options;
  add_calls(options, choices);
  add_cuda(options, choices);
  add_threads(options, choices);
  add_part(options, choices);
  return options.take();
}

pid_t process_of(const RemoteSettings& settings) {
  const QString text = settings.process.trimmed();
  qsizetype digits = 0;
  while (digits < text.size() && text[digits] >= u'0' && text[digits] <= u'9') ++digits;
  return text.left(digits).toInt();
}

remote::RecorderToCopy recorder_here() { return {QCoreApplication::applicationDirPath().toStdString(), LANESCOPE_VERSION}; }

Result<std::vector<RemoteWork>> remote_work(const RemoteSettings& settings) {
  remote::NewRecording recording;
  if (settings.what == Target::kRunning) {
    const pid_t process = process_of(settings);
    if (process <= 0) return Error{"Name the process to record by its number, or choose one of the list.", ErrorKind::kUsage};
    recording = {"attach", attach_options(settings.launch.capture), {std::to_string(process)}, {}};
  } else {
    const Result<std::vector<std::string>> options = profile_options(settings.launch);
    if (!options) return options.error();
    recording = {"profile", *options, request_from_here(settings.launch)->command, settings.launch.working_directory.toStdString()};
  }
  std::vector<std::string> targets{settings.target.trimmed().toStdString()};
  if (settings.what == Target::kLaunched) {
    const Result<std::vector<std::string>> further = remote::split_words(settings.further.toStdString());
    if (!further) return Error{"The text of the further machines " + further.error().text, ErrorKind::kUsage};
    targets.insert(targets.end(), further->begin(), further->end());
  }
  std::vector<RemoteWork> all;
  for (const std::string& target : targets) {
    Result<RemoteWork> each = link_to(settings, target);
    if (!each) return each.error();
    each->work.task = recording;
    each->work.overwrite = settings.launch.overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
    all.push_back(std::move(*each));
  }
  if (all.size() == 1) return all;
  const Result<std::vector<std::string>> outputs = remote::outputs_of_machines(settings.launch.output.trimmed().toStdString(), targets);
  if (!outputs) return outputs.error();
  for (std::size_t i = 0; i < all.size(); ++i) all[i].output = QString::fromStdString((*outputs)[i]);
  return all;
}

Result<RemoteWork> remote_question(const RemoteSettings& settings, std::vector<std::string> arguments) {
  Result<RemoteWork> question = link_to(settings, settings.target.trimmed().toStdString());
  if (!question) return question.error();
  question->work.task = remote::ForeignCommand{std::move(arguments)};
  return question;
}

}  // namespace lanescope::ui
