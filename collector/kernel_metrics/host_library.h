// CUPTI's host side: it knows chips and metrics, and needs no GPU. The process keeps it after loading.
#pragma once

#include <string>
#include <vector>

#include "gpu_metrics/values/chip_metrics.h"
#include "model/file/result.h"

namespace lanescope::kernel_metrics {

// Loads the library that the recorder's agent uses; fails with one sentence. The driver is not started: questions about metrics and values need none.
Result<const gpu_metrics::CuptiFunctions*> load_host_library();

// Loads the library that knows the metrics, which lies beside CUPTI, and which CUPTI loads at its first question otherwise: tens of milliseconds, or
// hundreds where nothing has read the file before. Does nothing if it is not there. Any thread.
void load_metric_library(const gpu_metrics::CuptiFunctions& cupti);

// Starts CUPTI's profiler, which starts the driver. Without a driver, this does nothing.
void initialize_profiler(const gpu_metrics::CuptiFunctions& cupti);

// Loads CUPTI, starts its profiler, and tells the chips of this machine's GPUs, each once ("GH100"). This starts the driver, which takes some tenths of a
// second and must be done first. Fails with one sentence.
struct MachineLibrary {
  const gpu_metrics::CuptiFunctions* cupti = nullptr;
  std::vector<std::string> chips;
};
enum class MetricQuestions { kNone, kFollow };  // with kFollow, the library of metrics is loaded meanwhile
Result<MachineLibrary> load_for_machine(MetricQuestions questions);

// True if this machine can count, as far as is known before its driver has started: it has a device that this user may open, the driver's library,
// and a CUPTI that is new enough.
[[nodiscard]] bool looks_able_to_count();

// The names of all metrics of a chip, up to the first point. Fails if CUPTI does not know the chip.
Result<std::vector<std::string>> metric_names(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip);

}  // namespace lanescope::kernel_metrics
