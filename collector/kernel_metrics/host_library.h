// CUPTI's host side: it knows chips and metrics, and needs no GPU. The process keeps it once it is loaded.
#pragma once

#include <string>
#include <vector>

#include "gpu_metrics/values/chip_metrics.h"
#include "model/file/result.h"

namespace lanescope::kernel_metrics {

// From where the recorder's agent takes it; fails with one sentence.
Result<const gpu_metrics::CuptiFunctions*> load_host_library();

// The same, and the chips of this machine's GPUs, each once ("GH100"): starts the driver, which takes some tenths of a second, and has to
// come first. Fails with one sentence.
struct MachineLibrary {
  const gpu_metrics::CuptiFunctions* cupti = nullptr;
  std::vector<std::string> chips;
};
Result<MachineLibrary> load_for_machine();

// Whether this machine has what counts, as far as that is known before its driver has started: a device that this user may open, the driver's library, and a
// CUPTI that is new enough.
[[nodiscard]] bool looks_able_to_count();

// All names of metrics that a chip has, without what comes behind the first point. Fails where CUPTI does not know the chip.
Result<std::vector<std::string>> metric_names(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip);

}  // namespace lanescope::kernel_metrics
