#include "output/trace_summary.h"

#include <algorithm>

#include "model/events/event_values.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::cli {
namespace {

std::string_view kind_of(const Trace& trace, const TrackKey& key, DetailId detail) {
  switch (key.kind) {
    case TrackKind::kKernels:
      return "kernels";
    case TrackKind::kMemory:
      return trace.memory_detail(detail).operation == MemoryOperation::kCopy ? "copies" : "sets";
    case TrackKind::kGraphLaunches:
      return "graph_launches";
    case TrackKind::kSynchronizations:
      return "synchronizations";
    case TrackKind::kCudaApi:
      return "cuda_api_calls";
    case TrackKind::kNvtxRanges:
      return "nvtx_ranges";
    case TrackKind::kNvtxProcessRanges:
      return "nvtx_process_ranges";
    case TrackKind::kNvtxMarks:
      return "nvtx_marks";
    case TrackKind::kOsRuntime:
      return "os_runtime_calls";
    case TrackKind::kOverhead:
      return "overheads";
    case TrackKind::kCompilation:
      return "compilations";
    case TrackKind::kPageFaults:
      return "page_faults";
    case TrackKind::kThreadStates:
      return "thread_states";
    case TrackKind::kProcessors:
      return "processor_states";
    case TrackKind::kCpuSamples:
      return "cpu_samples";
    case TrackKind::kBacktraces:
      return "backtraces";
    case TrackKind::kMemoryUsage:
      return "memory_usage";
    case TrackKind::kCudaEvents:
      return "cuda_events";
  }
  return "unknown";
}

}  // namespace

EventCounts count_events(const Trace& trace) {
  EventCounts counts;
  for (const EventKind& kind : kEventKinds) counts.by_kind[kind.key] = 0;
  for (const Track& track : trace.tracks()) {
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      if (track.key.kind == TrackKind::kMemory) {
        for (EventIndex i = 0; i < lane.size(); ++i) ++counts.by_kind[kind_of(trace, track.key, lane.detail(i))];
      } else {
        counts.by_kind[kind_of(trace, track.key, 0)] += lane.size();
      }
      counts.by_process[track.key.process] += lane.size();
      if (track.key.thread != kNone) counts.by_thread[track.key.thread] += lane.size();
      if (is_on_stream(track.key.kind)) counts.by_stream[{track.key.process, track.key.context, track.key.stream}] += lane.size();
    }
  }
  return counts;
}

FileFacts facts_of(const std::string& file, const Trace& trace) {
  FileFacts facts;
  if (const auto form = form_of(file)) facts.form = *form;
  std::error_code ignored;  // the file was read a moment ago
  facts.bytes = std::filesystem::file_size(file, ignored);
  facts.memory = trace.memory_bytes();
  const bool all_in_memory = std::all_of(trace.lanes().begin(), trace.lanes().end(), [](const Lane& lane) { return lane.holds_segments(); });
  if (!all_in_memory) facts.event_budget = SegmentCache::of_process().use().budget;
  return facts;
}

std::string_view form_name(FileForm form) { return form == FileForm::kCompacted ? "compact" : "log"; }

StreamDevices::StreamDevices(const Trace& trace) {
  for (const CudaContext& context : trace.contexts()) ordinals_.try_emplace({context.process, context.id}, context.device_ordinal);
}

std::uint32_t StreamDevices::of(const CudaStream& stream) const {
  const auto found = ordinals_.find({stream.process, stream.context});
  return found == ordinals_.end() ? 0 : found->second;
}

std::string_view severity_name(const DiagnosticMessage& message) {
  constexpr std::array<std::string_view, 3> kNames{"info", "warning", "error"};
  const auto index = static_cast<std::size_t>(message.severity);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace lanescope::cli
