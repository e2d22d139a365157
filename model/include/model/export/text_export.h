// Writes traces as text: Chrome's trace event format, and tables of events.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope {

// Receives the text piece by piece; returns true to continue.
using TextConsumer = std::function<bool(std::string_view)>;

// Each function returns true if everything was written. O(events).

// Writes the format of PyTorch's profiler (an object with traceEvents, in µs since the trace's time 0), for Perfetto, chrome://tracing and
// HolisticTraceAnalysis. It contains kernels, copies and sets with their arguments on rows of their GPU, CUDA calls, arrows from calls to GPU work, NVTX
// ranges as user annotations, calls into the C library, states of threads, page faults of unified memory, counters, CPU samples with their call chains
// (stackFrames, samples), and names. Backtraces of calls, allocations of memory and recordings of CUDA events are left out, because no reader of the format
// knows them. Rows of processors are left out, because states of threads contain the same.
[[nodiscard]] bool export_chrome_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection = {});

// Writes one JSON array, one object and line for each event, sorted by start. Rows of processors are left out, because the states of threads contain their
// processor. If the trace is a saved part, `in_part` is true for events that count as part of it.
[[nodiscard]] bool export_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection = {});

// Writes one line for each event of export_json(), sorted by start, with all columns of the events table: comma-separated values, or tab-separated text. A
// column with the processor follows if the trace has states or samples of threads. If the trace is a saved part, the last column, "In part", is "no" for
// events in front of the part.
[[nodiscard]] bool export_csv(std::shared_ptr<const Trace> trace, const TextConsumer& write, const ExportSelection& selection = {});
[[nodiscard]] bool export_text(std::shared_ptr<const Trace> trace, const TextConsumer& write, const ExportSelection& selection = {});

}  // namespace lanescope
