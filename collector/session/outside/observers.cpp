#include "outside/observers.h"

#include <system_error>

#include "clock.h"

namespace lanescope::session {
namespace {

proto::Diagnostic refusal(proto::Component component, proto::ComponentState state, const Error& error) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(component);
  diagnostic.set_state(state);
  diagnostic.set_text(error.text);
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  return diagnostic;
}

}  // namespace

Result<std::unique_ptr<cpu::Recorder>> follow_threads(FollowThreads follow, pid_t pid, const cpu::CpuSettings& settings, cpu::Start start, Watched watched,
                                                      std::vector<proto::Diagnostic>& refusals) {
  if (!settings.any()) return std::unique_ptr<cpu::Recorder>();
  const auto recorder_or_error = [&]() -> Result<std::unique_ptr<cpu::Recorder>> {
    try {
      return follow(pid, settings, start, watched == Watched::kYes ? kWatchedFlush : kUnwatchedFlush);
    } catch (const std::system_error&) {
      return Error{"Threads are not observed: the system has no thread left that could do it."};
    }
  };
  auto recorder = recorder_or_error();
  if (recorder || recorder.error().kind == ErrorKind::kUsage) return recorder;
  refusals.push_back(refusal(proto::COMPONENT_CPU, proto::STATE_NO_PERMISSION, recorder.error()));
  return std::unique_ptr<cpu::Recorder>();
}

std::unique_ptr<GpuMetricsProcess> gpu_metrics_for(const GpuMetricsSettings& settings, std::vector<proto::Diagnostic>& refusals) {
  if (!settings.asked_for()) return nullptr;
  Result<std::unique_ptr<GpuMetricsProcess>> process = GpuMetricsProcess::start(settings);
  if (process) return std::move(*process);
  refusals.push_back(refusal(proto::COMPONENT_GPU_METRICS, proto::STATE_NO_LIBRARY, process.error()));
  return nullptr;
}

std::unique_ptr<machine_metrics::Sampler> machine_metrics_for(const machine_metrics::Settings& settings, std::vector<proto::Diagnostic>& refusals) {
  if (!settings.asked_for()) return nullptr;
  try {
    auto sampler = std::make_unique<machine_metrics::Sampler>(settings);
    for (const std::string& sentence : sampler->lacks()) refusals.push_back(refusal(proto::COMPONENT_SESSION, proto::STATE_UNSPECIFIED, Error{sentence}));
    return sampler;
  } catch (const std::system_error&) {
    const Error no_thread{"Networks and disks are not sampled: the system has no thread left that could do it."};
    refusals.push_back(refusal(proto::COMPONENT_SESSION, proto::STATE_UNSPECIFIED, no_thread));
    return nullptr;
  }
}

}  // namespace lanescope::session
