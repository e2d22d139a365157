// Reads Chrome's trace event format: what PyTorch's profiler (Kineto), HolisticTraceAnalysis, Perfetto's exporters and many others write.
//
// The input is an object with `traceEvents` or a bare array, plain or gzip, of any order and size. The text is read in pieces, so memory is that of the
// resulting trace and a few MiB. Times are parsed as decimal text, so that whole and fractional µs become ns exactly. Time 0 is the earliest event; in our own
// exports of recordings, it is that of the recording.
//
// How an event is read, by its category:
//   kernel, gpu_memcpy, gpu_memset (and their names before 2022)   work of a GPU, in the process that launched it
//   cuda_runtime, cuda_driver                                      calls of the CUDA API
//   cuda_sync                                                      synchronizations
//   overhead                                                       time taken by the profiler
//   os_runtime, compilation, thread_state, page_fault              what their names say (our own exports contain them)
//   user_annotation                                                NVTX ranges of the default domain
//   cpu_op, python_function, Trace                                 NVTX ranges of domains of their own
//   anything else                                                  NVTX ranges and marks of the default domain, with the category's name
// Counters, and samples with their stack frames, are read in any category. gpu_user_annotation repeats user_annotation on GPU rows and is left out. Flows are
// left out, because correlation ids contain the same. A diagnostic counts everything else that is left out.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "model/file/result.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// Domains of ranges that PyTorch's profiler writes without a request by the program: of operators, and of each Python function.
inline constexpr std::string_view kOperatorDomainName = "PyTorch operators";
inline constexpr std::string_view kPythonDomainName = "Python functions";

// True if a file that begins with these bytes may be such a trace: JSON, or gzip of JSON.
[[nodiscard]] bool looks_like_chrome_json(std::string_view head) noexcept;

// Fails with one sentence if the file can't be read or contains no trace events. If the file is truncated or damaged, the part before the damage is kept, and
// Provenance::condition describes the damage. `progress` receives the fraction of the file that was read, never a partial trace. A cancelled import fails.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_chrome_json(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
