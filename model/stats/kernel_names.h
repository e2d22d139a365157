// What reports call kernels. Internal to reports.
#pragma once

#include "launches.h"

namespace lanescope::stats {

// The id of the kernel's name in the style that the options ask for; the demangled one where a trace does not have it.
[[nodiscard]] inline NameId kernel_name(const Trace& trace, NameId demangled, DetailId id, KernelNames style) {
  if (style == KernelNames::kDemangled) return demangled;
  const KernelDetail& detail = trace.kernel_detail(id);
  const NameId name = style == KernelNames::kBase ? detail.short_name : detail.mangled_name;
  return name != 0 ? name : demangled;
}
[[nodiscard]] inline NameId kernel_name(const Trace& trace, const EventView& kernel, KernelNames style) {
  return kernel_name(trace, kernel.name(), kernel.detail(), style);
}

// The NVTX range that is innermost around the launch of each kernel.
class InnermostRanges {
 public:
  InnermostRanges() = default;  // of no kernel
  explicit InnermostRanges(const Selection& selection);
  // The same where the launches of kernels are known.
  InnermostRanges(const Selection& selection, const std::map<ThreadId, Launches>& threads);

  // The name of the range, 0 where there is none.
  [[nodiscard]] NameId name(EventRef kernel) const;

 private:
  std::vector<std::vector<NameId>> names_;  // by lane and index; empty for lanes of other kinds
};

// "range/kernel", or the kernel alone where there is no range.
[[nodiscard]] std::string prefixed(const Trace& trace, NameId range, NameId kernel);

}  // namespace lanescope::stats
