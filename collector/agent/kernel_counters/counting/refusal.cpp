#include "agent/kernel_counters/counting/refusal.h"

#include "agent/cupti/words.h"
#include "agent/kernel_counters/counting/functions.h"

namespace lanescope::agent::kernel_counters {

using cupti::tell;

void tell_refusal(const Refusal& refusal, const Functions& functions) noexcept {
  const char* name = "unknown error";
  functions.get_result_string(refusal.result, &name);
  switch (refusal.result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return tell(DiagnosticKind::kKernelCounters, ComponentState::kNoPermission, Severity::kWarning,
                  "Counters of kernels are not read: they are for administrators here (%s). Run as root, or allow everyone with: echo options "
                  "nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf, and a restart.",
                  name);
    case CUPTI_ERROR_HARDWARE_BUSY:
      return tell(DiagnosticKind::kKernelCounters, ComponentState::kOwnedByOther, Severity::kWarning,
                  "Counters of kernels are not read: another tool uses them (%s). End ncu, nsys and other recordings on this GPU; where DCGM "
                  "watches it, pause that with: dcgmi profile --pause",
                  name);
    default:
      return tell(DiagnosticKind::kKernelCounters, ComponentState::kFailed, Severity::kWarning,
                  "Counters of kernels are not read from here on: %s answered %d (%s).", refusal.step, static_cast<int>(refusal.result), name);
  }
}

}  // namespace lanescope::agent::kernel_counters
