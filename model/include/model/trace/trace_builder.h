// Builds traces: from frames as they come (FrameIngest), or from other formats (model/import).
//
// Events may be added in any order, for O(log n) each whatever the order. Events that come in order are put into their lanes at once. For late ones the
// track rebuilds everything after them; if that is much, late events are collected first. If a nesting depth is given, it is the lane. Otherwise the
// first free lane takes the event, outer before inner, so that calls nest and overlapping GPU work gets lanes of its own.
//
// Threads: one thread at a time. The traces that snapshot() returns may be read anywhere.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope {

// Takes the events of a trace that is being built, instead of its lanes.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Events of one track, in any order; with a depth for each, or none, as in add() of the builder. `track` is its position in the trace.
  virtual void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) = 0;
};

// A lane that was made elsewhere: the lane of this number on its track.
struct GivenLane {
  TrackKey track;
  std::uint32_t number = 0;
  Lane lane;
};

// An event that has not ended by now: it lasts until it was seen last, for as long as nothing more is known.
struct OpenEvent {
  TrackKey track;
  std::optional<std::uint32_t> depth;  // as add() has them
  Event event;
};

class TraceBuilder {
 public:
  // Where events are placed on lanes: in the call that adds them, or concurrently on a thread of the builder, for callers that add very many.
  enum class LaneWork { kWhereAdded, kOnAnotherThread };
  explicit TraceBuilder(LaneWork lane_work = LaneWork::kWhereAdded, EventMemory memory = EventMemory::kAll);
  // Events go to the sink, which must outlive the builder: the tracks of snapshots have no lanes, and counters no values.
  explicit TraceBuilder(EventSink& sink);
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  Provenance& provenance();

  // Each returns the id of the new or existing entry; references stay valid until the next call of the same kind.
  ProcessId process_of_instance(std::uint32_t instance);  // created on first mention
  Process& process(ProcessId id);
  // As much of a text as a trace may have (limits.h); the trace says how many texts were cut. For texts about processes; all other texts are cut when
  // they are given.
  [[nodiscard]] std::string kept(std::string_view text);
  ThreadId thread(ProcessId process, std::uint32_t tid);  // created on first mention
  void name_thread(ThreadId id, std::string_view name);
  void set_thread_priority(ThreadId id, std::int32_t priority);
  GpuId gpu(const Gpu& description);                              // found by uuid, otherwise by (name, ordinal)
  GpuId gpu_of_device(ProcessId process, std::uint32_t ordinal);  // created without a name on first mention
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
  std::vector<NameId> intern(std::span<const std::string* const> texts);  // for many texts this is faster than single calls
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

  // Call chains. A location whose function is not known yet (function.function is 0) is named by its file and address until set_functions().
  CodeLocationId code_location(const CodeLocation& location, const CodeFunction& function);
  CallNodeId call_node(const CallNode& node);                                        // requires: parent and location exist
  CallNodeId another_call_node(const CallNode& node);                                // the same, even if there is an equal one: for tables that have each once
  void set_functions(CodeLocationId location, std::vector<CodeFunction> functions);  // innermost first; requires: not empty

  // Counters. Returns the counter of this process, GPU, name and source name; creates it on first mention.
  CounterId counter(const Counter& description);
  CounterId another_counter(const Counter& description);  // a new one, even if there is one of the same process, GPU and names
  // Adds values of counters that are always read together: columns[i] has a value of counters[i] for each time, or kNoValue; the last values hold until
  // `end`. Samples must come in the order of their times. If some start later than those before ended, nothing is known in between. Returns false, and
  // adds nothing, if the order is violated, or if times are not near (see types.h).
  bool add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times, std::span<const std::vector<std::int64_t>> columns,
                   Nanoseconds end);
  // Replaces all values of a counter that is computed instead of read, such as a running sum over events.
  void set_series(CounterId counter, CounterSeries series);
  // Gives a counter that is read all of its values. None can be added to it.
  void give_series(CounterId counter, CounterSeries series);

  // What is known of kernels beyond their times. Parts of code must come in the order of their offsets; returns false for a part that does not fit
  // those before.
  bool add_code(ProcessId process, std::uint64_t crc, std::uint64_t size, std::uint64_t offset, std::string_view part);
  GpuFunctionId gpu_function(const GpuFunction& function);  // new on first mention
  std::uint32_t stall_reason(std::string_view name);        // new on first mention
  void add(PcSampleWindow window);                          // requires: its functions and reasons exist
  std::uint32_t kernel_metric(std::string_view name);       // new on first mention; kNone if there are more than hardware has
  void add(MeasuredLaunch launch);                          // requires: its metrics exist
  void add(InstructionCounts counts);                       // requires: its metrics and functions exist; a value for each of both
  void add(LeftOutKernel kernel);
  void add(SourceText source);  // nothing is taken if its path is there already

  // Adds events of one track, in any order. `depths`, if given, has one nesting depth an event (NVTX push/pop). Events with negative duration, or with
  // times that are not near (see types.h), are refused and counted as invalid.
  void add(const TrackKey& key, std::vector<Event> events, std::span<const std::uint32_t> depths = {});

  // Adds events to a lane of a track, as a compacted file has them. Requires: they are in order, and none overlap. If other events of that lane are in
  // their way, or times are not near, they are added as by add(), with this depth.
  void add_to_lane(const TrackKey& key, std::uint32_t lane, std::vector<Event> events);

  // Replaces events that are open. Snapshots have them at the ends of their lanes, where the same events are to come once they have ended; one that its lane
  // has already, ended, or has no room for, is left out. Requires: no sink, and no lanes of others.
  void set_open(std::vector<OpenEvent> events);
  // Where the last snapshot has them.
  [[nodiscard]] const std::vector<EventRef>& open_events() const noexcept;

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

  // Bytes that the trace takes so far, approximately. O(1).
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  // Events that were added so far, except invalid ones, and except those of processors, which repeat what threads did. O(1).
  [[nodiscard]] std::uint64_t event_count() const noexcept;

  // The trace so far. O(lanes + segments), plus the rebuilding of tails, and of everything after late events, that came since the last call.
  std::shared_ptr<const Trace> snapshot();
  // The same with lanes that do not belong to the builder, and that it does not keep. Requires: they are in the order of tracks, and of numbers on each
  // track, and the same each time; no events are added, now or later. Totals of memory, which need a pass over events of memory usage, may be left for
  // later: then there are no such counters.
  enum class MemoryTotals { kNow, kLater };
  std::shared_ptr<const Trace> snapshot_with(std::vector<GivenLane> lanes, MemoryTotals totals = MemoryTotals::kNow);

 private:
  struct State;
  std::shared_ptr<const Trace> snapshot(MemoryTotals totals);
  void publish_open();

  std::unique_ptr<State> state_;
};

}  // namespace lanescope
