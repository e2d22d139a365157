// Frames about kernels that are no chunks of events: where their warps were, what counters of them say, how often their instructions ran. Internal to
// model/trace/ingest.
#pragma once

#include "chunk_target.h"
#include "lanescope/kernel_metrics.pb.h"
#include "model/file/frame_codec.h"

namespace lanescope {

// Returns false if the columns do not fit together; nothing is added then. `into` is as for a chunk, extended by the message.
[[nodiscard]] bool ingest(const ChunkTarget& into, const proto::PcSamples& samples);
// Launches whose number of values differs from the number of metrics are left out; returns false if there are any.
[[nodiscard]] bool ingest(const FrameHeader& header, const proto::KernelMetrics& message, KernelNames& kernel_names, TraceBuilder& builder);
// Returns false if the columns do not fit together; the counts are not added then.
[[nodiscard]] bool ingest(const FrameHeader& header, const proto::InstructionCounts& message, KernelNames& kernel_names, TraceBuilder& builder);

}  // namespace lanescope
