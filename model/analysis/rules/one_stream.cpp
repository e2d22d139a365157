// one_stream: streams that were created and not used, and work on one stream that could be spread over several.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "../collectors.h"
#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/events/event_values.h"
#include "model/trace/segments/demanded_segments.h"
#include "ranks/rank_work.h"
#include "threads/call_class.h"

namespace lanescope::analysis {
namespace {

struct Streams {
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;  // (context, stream), without default streams
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;   // with default streams
  std::uint64_t calls = 0;                                  // number of CUDA calls
  std::uint64_t create_calls = 0;

  // Number of streams that the program itself created. CUDA has streams of its own, so a list of streams is used only if no calls were recorded.
  [[nodiscard]] std::uint64_t created() const { return calls > 0 ? create_calls : known.size(); }
};

// If neither kinds of streams nor contexts are known, as in PyTorch's traces, each stream may be the default one, on which programs work that name no
// stream. Such streams are not reported.
class DefaultStreams {
 public:
  explicit DefaultStreams(const Trace& trace) {
    for (const CudaContext& context : trace.contexts())
      if (context.null_stream != 0) ids_.try_emplace({context.process, context.id}, context.null_stream);  // 0: the trace does not say
  }
  [[nodiscard]] bool has(const CudaStream& stream) const {
    constexpr std::uint32_t kUnknown = 0, kNullStream = 3;  // proto::StreamKind
    if (stream.kind == kNullStream) return true;
    const auto found = ids_.find({stream.process, stream.context});
    return found == ids_.end() ? stream.kind == kUnknown : found->second == stream.id;
  }

 private:
  std::map<std::pair<ProcessId, std::uint32_t>, std::uint32_t> ids_;  // by context
};

std::map<ProcessId, Streams> streams_of_processes(const Trace& trace, const DefaultStreams& default_streams) {
  std::map<ProcessId, Streams> processes;
  for (const CudaStream& stream : trace.streams())
    if (!default_streams.has(stream)) processes[stream.process].known.insert({stream.context, stream.id});
  NameMemo<bool> creates(trace, creates_stream);
  for (const Track& track : trace.tracks()) {
    const bool has_events = std::any_of(track.lanes.begin(), track.lanes.end(), [&trace](LaneId lane) { return !trace.lane(lane).empty(); });
    if (is_gpu_work(track.key.kind) && has_events) processes[track.key.process].used.insert({track.key.context, track.key.stream});
    if (track.key.kind != TrackKind::kCudaApi || track.lanes.empty()) continue;
    const Lane& outermost = trace.lane(track.lanes.front());
    processes[track.key.process].calls += outermost.size();
    for_each_named(outermost, creates, [&](EventIndex) { ++processes[track.key.process].create_calls; });
  }
  return processes;
}

enum class Phase : std::uint8_t { kUpload, kCompute, kDownload, kOther };

Phase phase_of(const Trace& trace, const GpuOperation& operation) {
  if (operation.kind != TrackKind::kMemory) return Phase::kCompute;
  const MemoryDetail& detail = trace.memory_detail(operation.detail);
  if (!is_transfer(detail) || moves_pageable_memory(detail)) return Phase::kOther;
  if (detail.copy_kind == CopyKind::kHostToDevice) return Phase::kUpload;
  return detail.copy_kind == CopyKind::kDeviceToHost ? Phase::kDownload : Phase::kOther;
}

// The work of a stream in chunks: copy from pinned memory, kernels, copy back, and again.
struct Chunks {
  TrackKey stream;
  std::uint64_t rounds = 0;
  Nanoseconds total = 0;
  std::array<Nanoseconds, 4> time{};  // by phase, in the loop
  TimeRange extent;                   // in the loop

  // With several streams the three phases of different chunks run at the same time: copies in both directions have engines of their own.
  [[nodiscard]] Nanoseconds winnable() const {
    const auto last = time.begin() + static_cast<std::ptrdiff_t>(Phase::kOther);
    return std::accumulate(time.begin(), last, Nanoseconds{0}) - *std::max_element(time.begin(), last);
  }
};

// Collects the chunks of each process that uses only one stream of its own, if nearly all its GPU work is on that stream.
class ChunkCollector : public OperationVisitor {
 public:
  ChunkCollector(const RuleContext& context, const SharedCollectors::Key&) : trace_(context.trace), work_(loop_work(context)) {
    const DefaultStreams default_streams(trace_);
    for (ProcessId process = 0; process < trace_.processes().size(); ++process) add(context, process, default_streams);
  }

  // Null if the process is not like that.
  [[nodiscard]] const Chunks* of(ProcessId process) const {
    constexpr double kNearlyAll = 0.9;
    const auto found = processes_.find(process);
    if (found == processes_.end()) return nullptr;
    const OfProcess& known = found->second;
    return static_cast<double>(known.chunks.total) >= kNearlyAll * static_cast<double>(known.all) ? &known.chunks : nullptr;
  }

  void begin(GpuId) override {}
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations)
      if (OfProcess* const process = of_lane_.empty() ? nullptr : of_lane_[operation.event.lane]) add(operation, *process);
  }
  void end() override {}

 private:
  struct OfProcess {
    Chunks chunks;
    Nanoseconds all = 0;            // work of the process
    Phase reached = Phase::kOther;  // in the current round
  };

  void add(const RuleContext& context, ProcessId process, const DefaultStreams& default_streams) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<TrackId>> own;
    Nanoseconds all = 0;
    for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches})
      for (const TrackId id : trace_.tracks_of(process, kind)) {
        const Track& track = trace_.tracks()[id];
        for (const LaneId lane : track.lanes) all += trace_.lane(lane).busy(trace_.lane(lane).extent().intersected(context.time));
        const CudaStream* stream = trace_.find_stream(process, track.key.context, track.key.stream);
        if (stream && !default_streams.has(*stream)) own[{track.key.context, track.key.stream}].push_back(id);
      }
    if (own.size() != 1) return;
    const std::vector<TrackId>& tracks = own.begin()->second;
    OfProcess& known = processes_[process];
    known.chunks.stream = trace_.tracks()[tracks.front()].key;
    known.all = all;
    const auto is_of_same_gpu = [&](TrackId track) { return trace_.tracks()[track].key.gpu == known.chunks.stream.gpu; };
    if (!std::all_of(tracks.begin(), tracks.end(),
                     is_of_same_gpu)) {  // contexts of several GPUs can't be told apart, so operations are visited in order of time instead of GPU by GPU
      GpuOperations operations(trace_, tracks, context.time, context.stop);
      while (const std::optional<GpuOperation> operation = operations.next()) add(operation->until(context.time.end), known);
      return;
    }
    of_lane_.resize(trace_.lanes().size(), nullptr);
    for (const TrackId track : tracks)
      for (const LaneId lane : trace_.tracks()[track].lanes) of_lane_[lane] = &known;
  }
  void add(const GpuOperation& operation, OfProcess& process) {
    Chunks& chunks = process.chunks;
    Phase& reached = process.reached;
    const Phase phase = phase_of(trace_, operation);
    chunks.total += operation.range.length();
    if (work_.has(operation)) {
      if (chunks.extent.empty()) chunks.extent = operation.range;
      chunks.extent.end = std::max(chunks.extent.end, operation.range.end);
      chunks.time[static_cast<std::size_t>(phase)] += operation.range.length();
    }
    if (phase == Phase::kDownload && reached == Phase::kCompute) ++chunks.rounds;
    if (phase == Phase::kUpload || (phase == Phase::kCompute && reached == Phase::kUpload) || phase == Phase::kDownload) reached = phase;
  }

  const Trace& trace_;
  const LoopWork& work_;
  std::map<ProcessId, OfProcess> processes_;
  std::vector<OfProcess*> of_lane_;  // null for lanes of other streams; empty if there is no such process
};

// A program that copies back and forth without waiting, from pinned memory, on a stream of its own is made for overlap; but on one stream nothing
// overlaps.
std::optional<Finding> find_chunks_on_one_stream(const RuleContext& context, ProcessId process, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const Chunks* const chunks = context.collectors->of<ChunkCollector>(context).of(process);
  if (chunks == nullptr || static_cast<std::int64_t>(chunks->rounds) < arguments.integer("rounds")) return std::nullopt;
  const Nanoseconds winnable = chunks->winnable();
  if (static_cast<double>(winnable) * 100 < arguments.real("share") * static_cast<double>(chunks->extent.length())) return std::nullopt;
  Finding finding;
  finding.rule = "one_stream";
  finding.key = "chunks";
  finding.title = Message("{process} copied {chunks} to the GPU and back, and all of them ran on one stream, so that none overlapped.",
                          {{"process", process_label(trace, process)}, {"chunks", counted(chunks->rounds, "chunk")}});
  finding.seen = Message(
      "On stream {stream}, {there} of copies to the GPU, {kernels} of kernels and {back} of copies back took turns, though the memory is "
      "pinned. No other stream that the program created had work.",
      {{"stream", std::to_string(chunks->stream.stream)},
       {"there", duration_text(chunks->time[0])},
       {"kernels", duration_text(chunks->time[1])},
       {"back", duration_text(chunks->time[2])}});
  finding.place = {.range = chunks->extent, .event = {}, .gpu = chunks->stream.gpu, .process = process, .thread = kNone};
  finding.cost = winnable;
  finding.advice =
      "Give each chunk in turn one of several streams, and check that those are different streams: a list that repeats one stream object "
      "(Python's [stream] * 4) is one stream.";
  return finding;
}

}  // namespace

void collect_one_stream(const RuleContext& context, const RuleArguments& arguments) {
  context.collectors->want<ChunkCollector>(context);
  collect_ranks(context, arguments);
}

Result<RuleAnswer> find_one_stream(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  const std::vector<RankWork>& ranks = work.of_ranks();
  RuleAnswer answer;
  stats::Table table({stats::integers("PID"), stats::integers("Streams Created"), stats::integers("Streams Used"),
                      stats::integers("Copies and Kernels Taking Turns", stats::Unit::kNanoseconds)});
  const DefaultStreams default_streams(trace);
  for (const auto& [process, streams] : streams_of_processes(trace, default_streams)) {
    if (std::optional<Finding> chunks = find_chunks_on_one_stream(context, process, arguments)) answer.findings.push_back(*std::move(chunks));
    const std::uint64_t created = streams.created();
    if (created == 0 || streams.used.empty()) continue;
    Finding finding;
    for (const RankWork& rank : ranks) {
      if (rank.process != process) continue;
      finding.cost += std::min(rank.memory.total(), rank.compute.total()) - rank.memory.beside();
      finding.place.range = rank.extent;
      finding.place.gpu = rank.gpu;
    }
    table.add_row(std::int64_t{trace.processes()[process].pid}, static_cast<std::int64_t>(created), static_cast<std::int64_t>(streams.used.size()),
                  finding.cost);
    // Frameworks create streams by the dozen and use them as needed. If there are only a few, each was meant to be used.
    constexpr std::uint64_t kFew = 16;
    const bool all_on_one = created >= 2 && streams.used.size() == 1;
    const bool some_unused = created >= 2 && created <= kFew && streams.used.size() < created;
    if (!all_on_one && !some_unused) continue;
    finding.rule = "one_stream";
    finding.title =
        Message(all_on_one ? "{process} created {streams}, and all its GPU work ran on one stream."
                           : "{process} created {streams}, and its GPU work ran on only {used}.",
                {{"process", process_label(trace, process)}, {"streams", counted(created, "stream")}, {"used", std::to_string(streams.used.size())}});
    finding.seen =
        Message("Operations of one stream never overlap; copies and kernels that took turns could win up to {time}.", {{"time", duration_text(finding.cost)}});
    finding.place.process = process;
    finding.advice =
        "Check that launches and copies name their stream (kernel<<<grid, block, shared, stream>>>); what names none goes to the default "
        "stream.";
    answer.findings.push_back(std::move(finding));
  }
  if (!table.empty()) answer.tables.push_back({"one_stream", "Streams created and used", std::move(table)});
  if (answer.findings.empty()) answer.message = "No process left streams unused that it created, or put on one what several could share.";
  return answer;
}

}  // namespace lanescope::analysis
