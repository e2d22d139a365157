// A trace: what happened, as far as it is known. An immutable value.
//
// All readers (timeline, events view, statistics, rules, exporters) take a `const Trace&`. A recording that grows publishes one new Trace after another
// (TraceBuilder::snapshot), which share nearly all their memory. So there is no lock, and no thread rule.
//
// Structure: a trace has tracks; a track is the work of one source (one thread's CUDA calls, one stream's kernels, one thread's ranges in one NVTX
// domain) and has one lane or more: by nesting depth for calls and ranges, and as many as overlap needs for GPU work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/diagnostic_kind.h"
#include "model/trace/call_stacks.h"
#include "model/trace/combining/clock_line.h"
#include "model/trace/counter.h"
#include "model/trace/details.h"
#include "model/trace/lane.h"
#include "model/trace/storage/append_only_table.h"
#include "model/trace/storage/name_table.h"
#include "model/trace/types.h"

namespace lanescope {

struct KernelRecords;
struct ResourceIndex;

enum class TrackKind : std::uint8_t {
  kKernels,            // gpu, process, context, stream; KernelDetail
  kMemory,             // gpu, process, context, stream; copies and sets; MemoryDetail
  kGraphLaunches,      // gpu, process, context, stream; whole CUDA graphs; GraphLaunchDetail
  kSynchronizations,   // gpu, process, context, stream; SynchronizationDetail
  kCudaApi,            // process, thread; lanes by nesting; ApiDetail
  kNvtxRanges,         // process, thread, domain; push/pop; lane = depth; NvtxDetail
  kNvtxProcessRanges,  // process, thread, domain; start/end, which may overlap; NvtxDetail
  kNvtxMarks,          // process, thread, domain; instants; NvtxDetail
  kOsRuntime,          // process, thread
  kOverhead,           // process, thread if known: time taken by the profiler
  kCompilation,        // process, thread if known: just-in-time compilation, lazy loading
  kPageFaults,         // process for faults of its CPU code, and gpu for faults of a GPU: pages of unified memory that were elsewhere; PageFaultDetail
  kThreadStates,       // process, thread: running, runnable, blocked; ThreadStateDetail
  kProcessors,         // processor: which thread it runs, named as program and thread; ThreadStateDetail
  kCpuSamples,         // process, thread: instants at which the thread was seen to run; SampleDetail
  kBacktraces,         // process, thread: CUDA and OS calls whose call chain was taken; SampleDetail
  kMemoryUsage,        // process, gpu: instants at which memory was allocated or released; MemoryUsageDetail
  kCudaEvents,         // gpu, process, context, stream: instants at which the stream reached a CUDA event; CudaEventDetail
};
inline constexpr TrackKind kLastTrackKind = TrackKind::kCudaEvents;
[[nodiscard]] bool is_gpu_work(TrackKind kind) noexcept;  // kernels, memory operations, graph launches: everything that keeps a GPU busy

struct TrackKey {
  TrackKind kind = TrackKind::kKernels;
  ProcessId process = kNone;
  ThreadId thread = kNone;          // CPU tracks
  GpuId gpu = kNone;                // GPU tracks
  std::uint32_t context = 0;        // CUDA context id in its process
  std::uint32_t stream = 0;         // CUDA stream id in its context
  std::uint32_t domain = 0;         // NVTX domain id in its process
  std::uint32_t processor = kNone;  // kProcessors
  auto operator<=>(const TrackKey&) const = default;
};

struct Track {
  TrackKey key;
  std::vector<LaneId> lanes;  // index = nesting depth, or the number of the overlapping lane
};

enum class ProcessEndKind : std::uint8_t {  // numbers of proto::ProcessEndKind
  kUnknown = 0,
  kExited = 1,
  kSignaled = 2,
  kDetached = 3,
  kLost = 4,
  kReplaced = 5,
};

// How complete a process's part of the trace is.
struct Completeness {
  std::uint64_t produced = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t invalid = 0;
  std::uint32_t unreturned_buffers = 0;
};

// The place of a process in a job of several, as its launcher said in its environment.
struct JobPlace {
  std::optional<std::uint32_t> rank;        // among all processes of the job
  std::optional<std::uint32_t> local_rank;  // among those of one machine
  std::uint32_t world_size = 0;             // 0 if not said
  std::string launcher;                     // the launcher that gave the rank
  std::string scheduler;                    // the scheduler that gave the id of the job
  std::string job;
  std::string step;
  bool operator==(const JobPlace&) const = default;
};

struct Process {
  std::uint32_t instance = 0;  // the recording's number for it, or the importer's
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::string name;  // last part of the executable's path
  std::string executable;
  std::vector<std::string> arguments;
  Nanoseconds start = 0;
  std::optional<Nanoseconds> end;
  ProcessEndKind end_kind = ProcessEndKind::kUnknown;
  int exit_code = 0;
  int signal = 0;
  std::uint32_t crash_thread = 0;   // the thread that got the signal; 0 if not known
  std::uint64_t crash_address = 0;  // for faults of memory: the address that could not be used
  bool forked = false;
  JobPlace place;
  Completeness completeness;
};

struct Thread {
  ProcessId process = kNone;
  std::uint32_t tid = 0;  // the kernel's thread id
  std::string name;
  std::optional<std::int32_t> priority;  // as the source of the trace states it
};

// A physical GPU. Processes may number it differently: see CudaDevice.
struct Gpu {
  std::string name;
  std::string uuid;  // 16 raw bytes, or empty
  std::string bus_id;
  std::uint32_t ordinal = 0;  // the number that the first process that used it gives it
  std::uint32_t multiprocessor_count = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bandwidth = 0;  // bytes/s
  std::uint32_t core_clock_khz = 0;
  std::uint32_t max_warps_per_multiprocessor = 0;
  std::uint32_t max_blocks_per_multiprocessor = 0;
  std::uint32_t max_registers_per_multiprocessor = 0;
  std::uint64_t max_shared_memory_per_multiprocessor = 0;
};

struct CudaDevice {
  ProcessId process = kNone;
  std::uint32_t ordinal = 0;
  GpuId gpu = kNone;
};
struct CudaContext {
  ProcessId process = kNone;
  std::uint32_t id = 0;
  std::uint32_t device_ordinal = 0;
  std::uint32_t null_stream = 0;
};
struct CudaStream {
  ProcessId process = kNone;
  std::uint32_t context = 0;
  std::uint32_t id = 0;
  std::int32_t priority = 0;
  std::uint32_t kind = 0;  // proto::StreamKind
  std::string name;
};
// Numbers of proto::CudaResource. Names of streams are among these names, too.
enum class CudaResource : std::uint32_t { kUnknown = 0, kDevice = 1, kContext = 2, kEvent = 3 };
// The name that a process gives one of them.
struct CudaName {
  ProcessId process = kNone;
  CudaResource resource = CudaResource::kUnknown;
  std::uint32_t id = 0;  // CudaDevice::ordinal, CudaContext::id or CudaEventDetail::event
  std::string name;
};
struct NvtxDomainName {
  ProcessId process = kNone;
  std::uint32_t id = 0;
  std::string name;
};
struct NvtxCategoryName {
  ProcessId process = kNone;
  std::uint32_t domain = 0;
  std::uint32_t id = 0;
  std::string name;
};

struct DiagnosticMessage {
  Nanoseconds time = 0;
  ProcessId process = kNone;  // kNone: the session
  int severity = 0;           // proto::Severity: 0 info, 1 warning, 2 error
  int component = 0;          // proto::Component
  int state = 0;              // proto::ComponentState
  std::string text;
  DiagnosticContent content;  // what the text says, for programs
};

struct OutputText {
  Nanoseconds time = 0;
  bool standard_error = false;
  std::string bytes;
};

// Why a recording ended when it did; kUnknown if that is not known, or if it was cut off.
enum class RecordingEnd { kUnknown, kTargetExited, kStopped, kDuration, kDiskFull, kFileSize, kRange };

struct Label {
  std::string key;
  std::string value;
};

// The machine's clocks at one moment, ns, and what keeps the time of day right.
struct ClockReading {
  Nanoseconds time = 0;            // of the trace's clock
  std::int64_t utc = 0;            // since 1970
  std::int64_t monotonic_raw = 0;  // CLOCK_MONOTONIC_RAW
  std::int64_t boottime = 0;       // CLOCK_BOOTTIME
  std::uint64_t uncertainty = 0;   // between the readings before and after it
  bool synchronized = false;       // by NTP, PTP or the like
  std::int64_t offset = 0;         // that is still to be corrected
  double frequency = 0;            // ppm by which the clock is made to run faster
  std::uint64_t estimated_error = 0;
  std::uint64_t maximum_error = 0;
};

// A part of a recording that was saved, or the only part that was kept (--ring). Events that reach into it are whole. A saved part also has the calls
// in front of it that enqueued its GPU work.
struct SavedPart {
  TimeRange time;                // that was asked for; for a part that was kept, the time from which on it is complete
  Nanoseconds first_launch = 0;  // start of the first of these calls; if there are none, the start of the time
};

// Where the trace comes from.
struct Provenance {
  std::string format;    // "Lanescope", "Nsight Systems SQLite", "Chrome JSON"
  std::string producer;  // "lanescope 0.1.0", "NVIDIA Nsight Systems 2025.3.1"
  std::string host_name;
  std::string operating_system;
  std::string processor;              // model of the machine's processors; empty if not known
  std::uint32_t processor_count = 0;  // logical ones; 0 if not known
  std::string driver_version;         // of NVIDIA's kernel driver; empty if there was none
  std::string options;                // of `lanescope profile`: the options that its file states, which do not include -t; empty if not known
  std::string working_directory;
  std::vector<std::string> command;
  std::uint32_t attached_pid = 0;  // the process that was attached to; 0 if it was launched
  std::int64_t utc_epoch = 0;      // ns since 1970 of the trace's time 0; 0 if not known
  Nanoseconds monotonic_epoch = 0;
  bool finished = false;      // the recording ended in an orderly way
  bool read_in_part = false;  // the file holds more than is read of a file of its size; how its recording ended is not known
  RecordingEnd end = RecordingEnd::kUnknown;
  std::uint64_t unwritten_events = 0;  // recorded, but the file had no room for them
  std::string machine_id;              // equal for recordings of one machine; empty if not known, like boot_id
  std::string boot_id;                 // of its kernel
  std::vector<Label> labels;           // the user's labels of the recording
  std::vector<ClockReading> clocks;    // by time
  std::optional<SavedPart> part;       // none: the trace is a whole recording
  bool outline_only = false;           // from the file's outline: events stand for sums over time, and their details are not known yet
  std::string condition;               // one sentence on what is missing or damaged; empty if nothing is
};

// "16, AMD EPYC 9454 48-Core Processor": the machine's processors; empty if neither their number nor their model is known.
[[nodiscard]] std::string processors_text(const Provenance& from);

// The format of traces that are made from tables of Nsight Compute.
inline constexpr std::string_view kNsightComputeFormat = "Nsight Compute CSV";
// False if the file that the trace was made from does not say when its events ran: then their durations are known, and their times are made up.
[[nodiscard]] inline bool has_known_times(const Provenance& from) noexcept { return from.format != kNsightComputeFormat; }

// The part of a combined trace that comes from one of its sources (combine.h).
struct TracePart {
  std::string label;
  std::string run;  // when runs are compared, which one it is: "A"; empty for parts of one run
  Provenance provenance;
  TimeRange extent;                        // in the combined trace
  ClockLine clock;                         // from the source's times to times of the combined trace
  bool has_collectives_in_common = false;  // with other parts; its clock was set by them: they ran together, whatever their times of day say
  TrackId first_track = 0;
  TrackId end_track = 0;  // one after its last
  CounterId first_counter = 0;
  CounterId end_counter = 0;  // one after its last
  std::string file;           // its path; empty if not known
};

class Trace {
 public:
  [[nodiscard]] const Provenance& provenance() const noexcept { return provenance_; }
  // From the first event's start to the last event's end. If there are no events, the extent of the counters; {0, 0} if there are none either.
  [[nodiscard]] TimeRange extent() const noexcept { return extent_; }
  // The time that the trace is about, to which sums refer. For a saved part it is the time that was asked for, even if nothing happened in some of it;
  // otherwise the extent.
  [[nodiscard]] TimeRange scope() const noexcept { return provenance_.part ? provenance_.part->time : extent_; }
  [[nodiscard]] std::uint64_t event_count() const noexcept { return event_count_; }

  [[nodiscard]] const std::vector<Process>& processes() const noexcept { return processes_; }
  [[nodiscard]] const std::vector<Thread>& threads() const noexcept { return threads_; }
  [[nodiscard]] const std::vector<Gpu>& gpus() const noexcept { return gpus_; }
  [[nodiscard]] const std::vector<CudaDevice>& devices() const noexcept { return devices_; }
  [[nodiscard]] const std::vector<CudaContext>& contexts() const noexcept { return contexts_; }
  [[nodiscard]] const std::vector<CudaStream>& streams() const noexcept { return streams_; }
  [[nodiscard]] const std::vector<CudaName>& cuda_names() const noexcept { return cuda_names_; }
  [[nodiscard]] const std::vector<NvtxDomainName>& domains() const noexcept { return domains_; }
  [[nodiscard]] const std::vector<NvtxCategoryName>& categories() const noexcept { return categories_; }
  [[nodiscard]] const std::vector<DiagnosticMessage>& diagnostics() const noexcept { return diagnostics_; }
  [[nodiscard]] const std::vector<OutputText>& output() const noexcept { return output_; }

  // If several traces were combined, what came from which; otherwise empty.
  [[nodiscard]] const std::vector<TracePart>& parts() const noexcept { return parts_; }
  [[nodiscard]] const std::vector<Track>& tracks() const noexcept { return tracks_; }
  [[nodiscard]] const std::vector<Lane>& lanes() const noexcept { return lanes_; }
  [[nodiscard]] const Lane& lane(LaneId id) const noexcept { return lanes_[id]; }
  [[nodiscard]] const Track& track_of(LaneId id) const noexcept { return tracks_[track_of_lane_[id]]; }
  // The tracks of a process and kind, in their order. O(log tracks).
  [[nodiscard]] std::span<const TrackId> tracks_of(ProcessId process, TrackKind kind) const noexcept;

  [[nodiscard]] const std::vector<Counter>& counters() const noexcept { return counters_; }
  [[nodiscard]] const CounterSeries& counter_series(CounterId id) const noexcept { return counter_series_[id]; }

  [[nodiscard]] std::size_t name_count() const noexcept { return names_.size(); }
  [[nodiscard]] std::string_view name(NameId id) const noexcept { return names_[id]; }
  // O(names).
  [[nodiscard]] std::optional<NameId> find_name(std::string_view text) const noexcept;

  [[nodiscard]] const KernelDetail& kernel_detail(DetailId id) const noexcept { return kernel_details_[id]; }
  [[nodiscard]] const MemoryDetail& memory_detail(DetailId id) const noexcept { return memory_details_[id]; }
  [[nodiscard]] const ApiDetail& api_detail(DetailId id) const noexcept { return api_details_[id]; }
  [[nodiscard]] const SynchronizationDetail& synchronization_detail(DetailId id) const noexcept { return synchronization_details_[id]; }
  [[nodiscard]] const CudaEventDetail& cuda_event_detail(DetailId id) const noexcept { return cuda_event_details_[id]; }
  [[nodiscard]] const MemoryUsageDetail& memory_usage_detail(DetailId id) const noexcept { return memory_usage_details_[id]; }
  [[nodiscard]] const GraphLaunchDetail& graph_launch_detail(DetailId id) const noexcept { return graph_launch_details_[id]; }
  [[nodiscard]] const NvtxDetail& nvtx_detail(DetailId id) const noexcept { return nvtx_details_[id]; }
  [[nodiscard]] const PageFaultDetail& page_fault_detail(DetailId id) const noexcept { return page_fault_details_[id]; }
  [[nodiscard]] const ThreadStateDetail& thread_state_detail(DetailId id) const noexcept { return thread_state_details_[id]; }
  [[nodiscard]] const SampleDetail& sample_detail(DetailId id) const noexcept { return sample_details_[id]; }
  [[nodiscard]] const CallStacks& call_stacks() const noexcept { return call_stacks_; }
  // What is known of kernels beyond their times (kernel_records.h).
  [[nodiscard]] const KernelRecords& kernel_records() const noexcept;

  [[nodiscard]] Event event(EventRef ref) const noexcept { return lanes_[ref.lane].event(ref.index); }
  // Each O(log entries).
  [[nodiscard]] std::string_view domain_name(ProcessId process, std::uint32_t domain) const noexcept;  // "" for the default domain
  [[nodiscard]] std::string_view category_name(ProcessId process, std::uint32_t domain, std::uint32_t category) const noexcept;
  [[nodiscard]] std::string_view cuda_name(ProcessId process, CudaResource resource, std::uint32_t id) const noexcept;  // "" if it has none
  [[nodiscard]] const CudaStream* find_stream(ProcessId process, std::uint32_t context, std::uint32_t stream) const noexcept;
  // The ordinal under which the process knows the GPU; nothing if it is not known to use it.
  [[nodiscard]] std::optional<std::uint32_t> device_ordinal(ProcessId process, GpuId gpu) const noexcept;
  [[nodiscard]] std::vector<CudaDevice> devices_of(GpuId gpu) const;  // as processes know it

  // The API call that enqueued this GPU event, if any. Of the calls that have its correlation id it is the nearest in time, because ids may be used
  // again; at most 256 of a lane are looked at. Of nested calls it is the outermost. O(lanes of the process's calls · log n).
  [[nodiscard]] std::optional<EventRef> launch_of(EventRef gpu_event) const;
  // The GPU events that this API call enqueued, by start. A CUDA graph has several; at most the first 65,536 of each lane. O(lanes of calls and GPU
  // work · log n).
  [[nodiscard]] std::vector<EventRef> work_of(EventRef api_call) const;
  // As above, but only events of these kinds; other lanes are not looked at.
  [[nodiscard]] std::vector<EventRef> work_of(EventRef api_call, std::span<const TrackKind> kinds) const;
  // The recording of a CUDA event for which this synchronization waited, if any. O(recordings of the process).
  [[nodiscard]] std::optional<EventRef> awaited_event(EventRef synchronization) const;
  // NVTX push/pop ranges of the thread that cover t, outermost first, all domains. O(lanes of the thread · log n).
  [[nodiscard]] std::vector<EventRef> nvtx_stack(ThreadId thread, Nanoseconds t) const;

  // Bytes of lanes, counters and their indexes, names, details, call stacks, records of kernels, output and messages. Descriptions of processes,
  // threads and resources, which are small, are not counted. O(lanes + counters + records).
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  friend class TraceBuilder;
  friend class TraceCombiner;  // appends to each of the members below
  void index_resources();      // must be called after tables that ResourceIndex knows have grown
  // A call that has a correlation id, and is not nested in another call with the same id.
  struct OuterCall {
    Nanoseconds start;
    Nanoseconds end;
    EventRef call;
  };
  [[nodiscard]] std::vector<OuterCall> calls_with(ProcessId process, std::uint32_t correlation) const;

  Provenance provenance_;
  TimeRange extent_;
  std::uint64_t event_count_ = 0;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  std::vector<Gpu> gpus_;
  std::vector<CudaDevice> devices_;
  std::vector<CudaContext> contexts_;
  std::vector<CudaStream> streams_;
  std::vector<CudaName> cuda_names_;
  std::vector<NvtxDomainName> domains_;
  std::vector<NvtxCategoryName> categories_;
  std::vector<DiagnosticMessage> diagnostics_;
  std::vector<OutputText> output_;
  std::vector<TracePart> parts_;
  std::vector<Track> tracks_;
  std::vector<Lane> lanes_;
  std::vector<TrackId> track_of_lane_;
  std::vector<Counter> counters_;
  std::vector<CounterSeries> counter_series_;
  std::shared_ptr<const ResourceIndex> resource_index_;
  NameTable names_;
  AppendOnlyTable<KernelDetail> kernel_details_;
  AppendOnlyTable<MemoryDetail> memory_details_;
  AppendOnlyTable<ApiDetail> api_details_;
  AppendOnlyTable<SynchronizationDetail> synchronization_details_;
  AppendOnlyTable<CudaEventDetail> cuda_event_details_;
  AppendOnlyTable<MemoryUsageDetail> memory_usage_details_;
  AppendOnlyTable<GraphLaunchDetail> graph_launch_details_;
  AppendOnlyTable<NvtxDetail> nvtx_details_;
  AppendOnlyTable<PageFaultDetail> page_fault_details_;
  AppendOnlyTable<ThreadStateDetail> thread_state_details_;
  AppendOnlyTable<SampleDetail> sample_details_;
  CallStacks call_stacks_;
  std::shared_ptr<const KernelRecords> kernel_records_;  // null: nothing
};

// The CUDA ordinal under which a process knows a GPU; the machine's ordinal if the process is not known to use it. O(log devices).
[[nodiscard]] std::uint32_t device_ordinal(const Trace& trace, ProcessId process, GpuId gpu) noexcept;
// The distance of a call from work with its correlation id. Work starts after its call, but clocks differ by some microseconds. So a call that starts
// after the work counts as much farther, but still nearer than a call of an hour before.
[[nodiscard]] constexpr Nanoseconds launch_distance(Nanoseconds call_start, Nanoseconds work_start) noexcept {
  constexpr Nanoseconds kPenalty = 1'000, kFarthest = std::numeric_limits<Nanoseconds>::max();
  if (call_start <= work_start) return work_start - call_start;
  return call_start - work_start < kFarthest / kPenalty ? (call_start - work_start) * kPenalty : kFarthest;
}
// The names that processes give this GPU (nvtxNameCudaDevice), as " (left, second)"; empty if none has a name for it. O(processes that use it).
[[nodiscard]] std::string given_names(const Trace& trace, GpuId gpu);
[[nodiscard]] std::string context_label(const Trace& trace, ProcessId process, std::uint32_t context);  // "1", "1 main"

// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": as in Nsight Systems' reports, a version of exactly four digits is dropped and any other is kept.
[[nodiscard]] std::string_view api_display_name(std::string_view name) noexcept;
// The name of a copy or set in reports: "[CUDA memcpy Host-to-Device]", "[CUDA memset]".
[[nodiscard]] std::string_view memory_operation_name(const MemoryDetail& detail) noexcept;
// The name of a page fault: "CPU page fault", "GPU page fault".
enum class PageFaultOf : std::uint8_t { kCpu, kGpu };
[[nodiscard]] std::string_view page_fault_name(PageFaultOf side) noexcept;
// The name of a synchronization, by SynchronizationDetail.type: "Stream synchronization".
[[nodiscard]] std::string_view synchronization_name(std::uint32_t type) noexcept;
// The name of a sample: "CPU sample", "Backtrace of a CUDA call".
[[nodiscard]] std::string_view sample_name(SampleOrigin origin) noexcept;
// The name of an event of memory usage: "Allocation", "Release", ...
[[nodiscard]] std::string_view memory_usage_name(MemoryUsageOperation operation) noexcept;
// "Running", "Runnable", "Blocked".
[[nodiscard]] std::string_view thread_state_name(ThreadState state) noexcept;
[[nodiscard]] std::string_view memory_kind_name(MemoryKind kind) noexcept;  // "Pageable", "Pinned", "Device", ...

}  // namespace lanescope
