#include "record/capture_choices.h"

#include "collector/session/library_traces.h"

namespace lanescope::ui {

using session::GraphLevel;
using session::Preset;

namespace {

session::CudaBacktraces backtraces(ChainsOf calls, std::chrono::nanoseconds from) {
  session::CudaBacktraces chosen;
  chosen.threshold = from;
  chosen.synchronizations = calls == ChainsOf::kWaits || calls == ChainsOf::kAll;
  chosen.kernels = chosen.memory = calls == ChainsOf::kWork || calls == ChainsOf::kAll;
  chosen.others = calls == ChainsOf::kAll;
  return chosen;
}

// The choices that remain if nothing may enter the process.
CaptureChoices from_outside(CaptureChoices choices) {
  choices.from_outside = false;
  choices.trace_cuda = choices.trace_nvtx = choices.trace_os_runtime = choices.trace_mpi = choices.python_lock = false;
  choices.libraries.clear();
  choices.trigger = session::CaptureTrigger::kNone;
  return choices;
}

}  // namespace

std::vector<std::string> words(const QStringList& texts) {
  std::vector<std::string> result;
  for (const QString& text : texts) result.push_back(text.toStdString());
  return result;
}

void choose_library(CaptureChoices& choices, const QString& trace, LibraryCalls calls) {
  choices.libraries.removeAll(trace);
  if (calls == LibraryCalls::kRecorded) choices.libraries.push_back(trace);
}

session::CaptureSettings capture_settings(const CaptureChoices& choices) {
  if (choices.from_outside) return capture_settings(from_outside(choices));
  session::CaptureSettings settings;
  settings.trace_cuda = choices.trace_cuda;
  settings.trace_nvtx = choices.trace_nvtx;
  settings.trace_os_runtime = choices.trace_os_runtime;
  settings.trace_file_access = choices.trace_os_runtime && choices.file_access;
  settings.preset = choices.preset;
  settings.graph_level = choices.graph_level.value_or(choices.preset == Preset::kLight ? GraphLevel::kGraph : GraphLevel::kNode);
  settings.flush_interval = std::chrono::milliseconds(choices.flush_interval);
  settings.trace_all_calls = choices.all_calls;
  settings.os_runtime_threshold = std::chrono::nanoseconds(choices.os_runtime_threshold);
  if (choices.os_runtime_chains_from > 0) settings.os_runtime_backtraces = std::chrono::nanoseconds(choices.os_runtime_chains_from);
  settings.domain_rule = choices.domains.isEmpty() ? session::DomainRule::kAll : choices.domain_rule;
  if (settings.domain_rule != session::DomainRule::kAll)
    for (const QString& domain : choices.domains) settings.domains.push_back(domain == u"default" ? std::string() : domain.toStdString());
  std::vector<std::string> libraries = words(choices.libraries);
  if (choices.trace_mpi) libraries.emplace_back("mpi");
  session::add_library_traces(libraries, settings);
  settings.trace_python_lock = choices.python_lock;
  settings.memory_usage = choices.memory_usage || choices.preset == Preset::kDeep;
  settings.cpu_page_faults = settings.gpu_page_faults = choices.page_faults;
  settings.cuda_events = choices.cuda_events;
  settings.backtraces = backtraces(choices.call_chains_of, std::chrono::nanoseconds(choices.call_chains_from));
  const cpu::Scope scope = choices.whole_machine ? cpu::Scope::kSystemWide : cpu::Scope::kProcessTree;
  if (choices.thread_states) settings.cpu.thread_states = scope;
  if (choices.samples) settings.cpu.samples = scope;
  settings.cpu.system_calls = choices.system_calls;
  settings.cpu.tracepoints = words(choices.kernel_events);
  settings.cpu.counted_events = words(choices.counted_events);
  settings.cpu.debug_folders = choices.debug_folders.toStdString();
  settings.cpu.call_chains = choices.call_chains;
  settings.cpu.python_names = choices.python_functions && settings.cpu.any();
  settings.cpu.frequency = static_cast<std::uint32_t>(choices.sampling_frequency);
  settings.machine_metrics = {.networks = choices.network_metrics, .storage = choices.storage_metrics};
  if (choices.gpu_metrics) settings.gpu_metrics.devices = choices.gpu_metrics_devices.toStdString();
  settings.gpu_metrics.set = choices.gpu_metrics_set.toStdString();
  settings.gpu_metrics.frequency = static_cast<std::uint64_t>(choices.gpu_metrics_frequency);
  settings.range.trigger = choices.trigger;
  if (choices.trigger == session::CaptureTrigger::kNone) return settings;
  settings.range.name = choices.range.toStdString();
  if (choices.range_domain != u"*") settings.range.domain = choices.range_domain.toStdString();
  settings.range.after = choices.after_range;
  if (choices.repeats > 0) settings.range.repeats = static_cast<std::uint32_t>(choices.repeats);
  return settings;
}

std::chrono::nanoseconds seconds(double value) { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(value)); }

}  // namespace lanescope::ui
