// The names of kernels in reports. Internal to reports.
#pragma once

#include "../ranges/call_ranges.h"

namespace lanescope::stats {

// The id of the kernel's name in the style that the options ask for; the demangled name if the trace does not have that style.
[[nodiscard]] inline NameId kernel_name(const Trace& trace, NameId demangled, DetailId id, KernelNames style) {
  if (style == KernelNames::kDemangled) return demangled;
  const KernelDetail& detail = trace.kernel_detail(id);
  const NameId name = style == KernelNames::kBase ? detail.short_name : detail.mangled_name;
  return name != 0 ? name : demangled;
}
[[nodiscard]] inline NameId kernel_name(const Trace& trace, const EventView& kernel, KernelNames style) {
  return kernel_name(trace, kernel.name(), kernel.detail(), style);
}

// The innermost NVTX range around the launch of each kernel.
class InnermostRanges {
 public:
  // If the options ask for no ranges, no kernel has one.
  InnermostRanges(const Selection& selection, const ReportOptions& options);

  // The name of the range; 0 if there is none. O(1).
  [[nodiscard]] NameId of_call(EventRef call) const { return ranges_.innermost(call); }
  [[nodiscard]] NameId of_kernel(ProcessId process, std::uint32_t correlation, Nanoseconds start) const {
    return index_ ? of_call(index_->find(process, correlation, start)) : NameId{0};
  }
  [[nodiscard]] NameId of_kernel(const Track& track, const EventView& kernel) const {
    return index_ ? of_kernel(track.key.process, kernel.correlation(), kernel.start()) : NameId{0};
  }

 private:
  const LaunchIndex* index_ = nullptr;
  CallRanges ranges_;
};

// "range/kernel", or the kernel alone if there is no range.
[[nodiscard]] std::string prefixed(const Trace& trace, NameId range, NameId kernel);

}  // namespace lanescope::stats
