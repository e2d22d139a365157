// Builds traces: from frames as they come (FrameIngest), or from other formats (model/import).
//
// Events may be added in any order, for O(log n) each whatever the order. Those that come in order are put into their lanes at once; late
// ones make their track rebuild what lies behind them, and wait for each other where that is much. Where a nesting depth is given, it is the lane; elsewhere
// the first lane that is free takes the event, outer before inner, so that calls nest and overlapping GPU work gets lanes of its own.
//
// Threads: one thread at a time. The traces that snapshot() returns may be read anywhere.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope {

// Takes the events of a trace that is being built, in place of its lanes.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Events of one track, in any order; a depth for each, or none, as add() of the builder has them. `track` is its position in the trace.
  virtual void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) = 0;
};

// A lane that somebody else made: the one of this number on its track.
struct GivenLane {
  TrackKey track;
  std::uint32_t number = 0;
  Lane lane;
};

class TraceBuilder {
 public:
  // Where events are placed on lanes: where they are added, or meanwhile on a thread of the builder's own, for who adds very many.
  enum class LaneWork { kWhereAdded, kOnAnotherThread };
  explicit TraceBuilder(LaneWork lane_work = LaneWork::kWhereAdded, EventMemory memory = EventMemory::kAll);
  // Events go to the sink, which outlives the builder: the tracks of snapshots have no lanes, and counters no values.
  explicit TraceBuilder(EventSink& sink);
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  Provenance& provenance();

  // Each returns the id of the new or existing entry; references stay valid until the next call of the same kind.
  ProcessId process_of_instance(std::uint32_t instance);  // created on first mention
  Process& process(ProcessId id);
  // As much of a text as a trace may have (limits.h), of which it says how many were cut: for what is told of a process, all else does so
  // where it is given.
  [[nodiscard]] std::string kept(std::string_view text);
  ThreadId thread(ProcessId process, std::uint32_t tid);  // created on first mention
  void name_thread(ThreadId id, std::string_view name);
  void set_thread_priority(ThreadId id, std::int32_t priority);
  GpuId gpu(const Gpu& description);                              // found by uuid, else by (name, ordinal)
  GpuId gpu_of_device(ProcessId process, std::uint32_t ordinal);  // created nameless on first mention
  void set_device(ProcessId process, std::uint32_t ordinal, const Gpu& description);
  void set_context(const CudaContext& context);
  void set_stream(const CudaStream& stream);
  void set_cuda_name(const CudaName& name);
  [[nodiscard]] std::string_view cuda_name(ProcessId process, CudaResource resource, std::uint32_t id) const;  // empty: none so far
  void set_domain(ProcessId process, std::uint32_t id, std::string_view name);
  void set_category(ProcessId process, std::uint32_t domain, std::uint32_t id, std::string_view name);
  void add_diagnostic(DiagnosticMessage message);
  void add_output(OutputText output);

  NameId intern(std::string_view text);
  std::vector<NameId> intern(std::span<const std::string* const> texts);  // the same; faster for many than one after the other
  [[nodiscard]] std::string_view text(NameId id) const;                   // of an interned string; stays valid
  DetailId intern(const KernelDetail&);
  DetailId intern(const MemoryDetail&);
  DetailId intern(const ApiDetail&);
  DetailId intern(const SynchronizationDetail&);
  DetailId intern(const CudaEventDetail&);
  DetailId intern(const MemoryUsageDetail&);
  DetailId intern(const GraphLaunchDetail&);
  DetailId intern(const NvtxDetail&);
  DetailId intern(const PageFaultDetail&);
  DetailId intern(const ThreadStateDetail&);
  DetailId intern(const SampleDetail&);

  // Call chains. A location whose function is not known yet (function.function is 0) reads as its file and address until set_functions().
  CodeLocationId code_location(const CodeLocation& location, const CodeFunction& function);
  CallNodeId call_node(const CallNode& node);                                        // requires: parent and location exist
  void set_functions(CodeLocationId location, std::vector<CodeFunction> functions);  // innermost first; requires: not empty

  // Counters. The one of this process, GPU, name and source name; new on first mention.
  CounterId counter(const Counter& description);
  CounterId another_counter(const Counter& description);  // a new one, though there may be one of the same process, GPU and names
  // Adds what was read of counters that are always read together: columns[i] has a value of counters[i] for each time, or kNoValue; the
  // last values hold until `end`. Samples come in the order of their times; where some begin later than those before ended, nothing is
  // known in between. False, and nothing is added, where that is not so, or times are not near (see types.h).
  bool add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times, std::span<const std::vector<std::int64_t>> columns,
                   Nanoseconds end);
  // Replaces all of a counter that is computed rather than read, such as a running sum over events.
  void set_series(CounterId counter, CounterSeries series);

  // What is known of kernels beyond their times. Parts of code come in the order of their offsets; false for one that does not fit to those
  // before.
  bool add_code(ProcessId process, std::uint64_t crc, std::uint64_t size, std::uint64_t offset, std::string_view part);
  GpuFunctionId gpu_function(const GpuFunction& function);  // new on first mention
  std::uint32_t stall_reason(std::string_view name);        // likewise
  void add(PcSampleWindow window);                          // requires: its functions and reasons exist
  std::uint32_t kernel_metric(std::string_view name);       // new on first mention; kNone where there are more than hardware has
  void add(MeasuredLaunch launch);                          // requires: its metrics exist
  void add(InstructionCounts counts);                       // requires: its metrics and functions exist; a value for each of both
  void add(LeftOutKernel kernel);
  void add(SourceText source);  // of paths that are there already nothing is taken

  // Adds events of one track, in any order. `depths`, where given, has one nesting depth an event (NVTX push/pop). Events of negative
  // duration, and of times that are not near (see types.h), are refused and counted as invalid.
  void add(const TrackKey& key, std::vector<Event> events, std::span<const std::uint32_t> depths = {});

  // Adds events to a lane of a track, as a compacted file has them. Requires: they are in order, and none overlap. Where others of that lane
  // are in their way, or times are not near, they are added as by add(), with this depth.
  void add_to_lane(const TrackKey& key, std::uint32_t lane, std::vector<Event> events);

  // The rows of details so far; row 0 of each is the default. Valid until more is interned.
  struct DetailTables {
    const AppendOnlyTable<KernelDetail>& kernels;
    const AppendOnlyTable<MemoryDetail>& memory;
    const AppendOnlyTable<ApiDetail>& api;
    const AppendOnlyTable<SynchronizationDetail>& synchronizations;
    const AppendOnlyTable<CudaEventDetail>& cuda_events;
    const AppendOnlyTable<MemoryUsageDetail>& memory_usage;
    const AppendOnlyTable<GraphLaunchDetail>& graph_launches;
    const AppendOnlyTable<NvtxDetail>& nvtx;
    const AppendOnlyTable<PageFaultDetail>& page_faults;
    const AppendOnlyTable<ThreadStateDetail>& thread_states;
    const AppendOnlyTable<SampleDetail>& samples;
  };
  [[nodiscard]] DetailTables details() const noexcept;

  // Bytes that the trace takes so far, about. O(1).
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  // Events that it was given so far, but for invalid ones, and for those of processors, which repeat what threads did. O(1).
  [[nodiscard]] std::uint64_t event_count() const noexcept;

  // What there is now. O(lanes + segments), and the rebuilding of tails, and of what lies behind late events, that came since the last call.
  std::shared_ptr<const Trace> snapshot();
  // The same with lanes that are not the builder's, and that it does not keep. Requires: they are in the order of tracks, and of numbers on
  // each, and the same each time; no events are added, now or later. Totals of memory, for which events of memory usage are gone through, may be
  // left for later: then there are no such counters.
  enum class MemoryTotals { kNow, kLater };
  std::shared_ptr<const Trace> snapshot_with(std::vector<GivenLane> lanes, MemoryTotals totals = MemoryTotals::kNow);

 private:
  struct State;
  std::shared_ptr<const Trace> snapshot(MemoryTotals totals);

  std::unique_ptr<State> state_;
};

}  // namespace lanescope
