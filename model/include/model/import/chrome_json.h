// Reads Chrome's trace event format: what PyTorch's profiler (Kineto), HolisticTraceAnalysis, Perfetto's exporters and many others write.
//
// An object with `traceEvents` or a bare array, plain or gzip, of any order and size: the text is read in pieces, so memory is that of the
// resulting trace and a few MiB. Times are taken as decimal text, so that whole and fractional µs become ns exactly; time 0 is the earliest
// event.
//
// What becomes of an event, by its category:
//   kernel, gpu_memcpy, gpu_memset (and their names before 2022)   work of a GPU, in the process that launched it
//   cuda_runtime, cuda_driver                                      calls of the CUDA API
//   cuda_sync                                                      synchronizations
//   overhead                                                       time taken by the profiler
//   os_runtime, compilation, thread_state, page_fault              what they say (our own exports have them)
//   user_annotation                                                NVTX ranges of the default domain
//   cpu_op, python_function, Trace                                 NVTX ranges of domains of their own
//   anything else                                                  NVTX ranges and marks of the default domain, with the category's name
// Counters, and samples with their stack frames, are read whatever their category. gpu_user_annotation repeats user_annotation on GPU rows
// and is left out, and so are flows: correlation ids say the same. Whatever else is left out is counted in a diagnostic.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "model/file/result.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// Domains of what PyTorch's profiler writes without the program's asking: ranges of operators, and of each Python function.
inline constexpr std::string_view kOperatorDomainName = "PyTorch operators";
inline constexpr std::string_view kPythonDomainName = "Python functions";

// Whether a file that begins with these bytes may be such a trace: JSON, or gzip of JSON.
[[nodiscard]] bool looks_like_chrome_json(std::string_view head) noexcept;

// Fails with one sentence when the file can't be read or holds no trace events. What a cut or damaged file says before the damage is
// kept, and Provenance::condition tells. `progress` is told the fraction of the file read, never a partial trace; a cancelled import fails.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_chrome_json(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
