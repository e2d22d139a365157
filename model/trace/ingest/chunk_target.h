// The destination of the events of one chunk.
#pragma once

#include "dictionary.h"
#include "model/file/open_range.h"
#include "model/trace/trace_builder.h"
#include "packed.h"

namespace lanescope {

struct ChunkTarget {
  TraceBuilder& builder;
  ProcessId process = kNone;
  Dictionary& dictionary;     // of the chunk's source, already extended by the chunk
  KernelNames& kernel_names;  // of all sources
  Nanoseconds base_time = 0;  // since the trace's epoch: the first start_delta is added to it
};

// One overload for each kind of events. Returns false if the columns do not fit together; nothing is added then.
[[nodiscard]] bool ingest(const ChunkTarget& into, const KernelColumns& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::Copies& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::Sets& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::Synchronizations& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::GraphLaunches& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::CudaEvents& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::MemoryUsage& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const ApiCallColumns& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, TrackKind kind, const proto::Spans& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::PageFaults& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::NvtxRanges& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::NvtxMarks& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::ThreadStates& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::Samples& columns);
[[nodiscard]] bool ingest(const ChunkTarget& into, const CounterSampleColumns& columns);
// A range that is open, as the trace has it.
[[nodiscard]] OpenEvent open_event(const ChunkTarget& into, const OpenRange& range, std::int64_t epoch);

}  // namespace lanescope
