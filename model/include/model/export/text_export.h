// Writes traces as text: Chrome's trace event format, and tables of events.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope {

// Takes the text piece by piece; returns whether to go on.
using TextConsumer = std::function<bool(std::string_view)>;

// Each returns whether all was written. O(events).

// As PyTorch's profiler writes it (an object with traceEvents, in µs since the trace's time 0), for Perfetto, chrome://tracing and
// HolisticTraceAnalysis: kernels, copies and sets with their arguments on rows of their GPU, CUDA calls, arrows from calls to GPU work,
// NVTX ranges as user annotations, calls into the C library, states of threads, page faults of unified memory, counters, CPU samples with
// their call chains (stackFrames, samples), names. Backtraces of calls, allocations of memory and recordings of CUDA events are left out:
// nothing that reads the format knows them; rows of processors, because states of threads say the same.
[[nodiscard]] bool export_chrome_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection = {});

// One JSON array with one object an event and line, by start. Rows of processors are left out, because states of threads, which have their processor, say the
// same. Of a part that was saved, `in_part` says of each whether it counts as of the part.
[[nodiscard]] bool export_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection = {});

// One line an event of export_json(), by start, with all columns of the events table: comma-separated values, or separated by tabs. Behind them stands the
// processor of states and samples of threads, where there are any, and of a part that was saved the last column, "In part", is "no" for what lies in front
// of it.
[[nodiscard]] bool export_csv(std::shared_ptr<const Trace> trace, const TextConsumer& write, const ExportSelection& selection = {});
[[nodiscard]] bool export_text(std::shared_ptr<const Trace> trace, const TextConsumer& write, const ExportSelection& selection = {});

}  // namespace lanescope
