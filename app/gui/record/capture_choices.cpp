#include "record/capture_choices.h"

namespace lanescope::ui {

using session::GraphLevel;
using session::Preset;

session::CaptureSettings capture_settings(const CaptureChoices& choices) {
  session::CaptureSettings settings;
  settings.trace_cuda = choices.trace_cuda;
  settings.trace_nvtx = choices.trace_nvtx;
  settings.trace_os_runtime = choices.trace_os_runtime;
  settings.preset = choices.preset;
  settings.graph_level = choices.graph_level.value_or(choices.preset == Preset::kLight ? GraphLevel::kGraph : GraphLevel::kNode);
  settings.trace_all_calls = choices.all_calls;
  settings.os_runtime_threshold = std::chrono::nanoseconds(choices.os_runtime_threshold);
  settings.domain_rule = choices.domains.isEmpty() ? session::DomainRule::kAll : choices.domain_rule;
  if (settings.domain_rule != session::DomainRule::kAll)
    for (const QString& domain : choices.domains) settings.domains.push_back(domain == u"default" ? std::string() : domain.toStdString());
  settings.range.trigger = choices.trigger;
  if (choices.trigger == session::CaptureTrigger::kNone) return settings;
  settings.range.name = choices.range.toStdString();
  if (choices.range_domain != u"*") settings.range.domain = choices.range_domain.toStdString();
  settings.range.after = choices.after_range;
  if (choices.repeats > 0) settings.range.repeats = static_cast<std::uint32_t>(choices.repeats);
  return settings;
}

std::chrono::nanoseconds seconds(double value) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(value));
}

}  // namespace lanescope::ui
