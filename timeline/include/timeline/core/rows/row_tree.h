// The rows of the timeline: a tree that tells which lanes of a trace are shown where.
//
// Rows depend only on the trace and are a plain value. The key of a row is made of what it stands for (process instance, thread, GPU, ...), not of positions,
// so that rows that are expanded, pinned or selected by key stay so in the next snapshot of a live recording.
//
// A row has levels, from top to bottom: nesting depths of calls and ranges, or as many lanes as overlaps require. A level may combine several lanes ("Kernels"
// of a GPU combines all its streams); its busy time is then the union of theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/text/message.h"
#include "model/trace/trace.h"
#include "timeline/core/lanes/segment_sums.h"

namespace lanescope::timeline {

using RowIndex = std::uint32_t;  // index into RowTree::rows()

enum class RowKind : std::uint8_t {
  kGpu,              // "GPU 0  NVIDIA H200"
  kGpuHardware,      // "CUDA HW": everything that keeps the GPU busy
  kKernels,          // "87.3 % Kernels"
  kKernelFamily,     // "52.3 % gemm_*": kernels whose names differ only in their numbers
  kKernelName,       // "41.0 % gemm"
  kMemory,           // "12.7 % Memory"
  kMemoryOperation,  // "9.1 % HtoD"
  kGraphs,           // whole CUDA graphs
  kStream,           // "61.0 % Stream 7"
  kQuietStreams,     // "2 streams with little activity": streams with hardly any of their GPU's work
  kSynchronization,  // waits of a stream
  kGpuRanges,        // "NVTX" below a GPU, and the ranges of each thread in it, projected on the GPU (see gpu_projection.h)
  kProcesses,        // "Processes"
  kProcess,          // "[4711] python"
  kThread,           // "[4711] main": its states, if they were recorded; then with the share of the time that it ran, unless it is still being recorded and the
                     // time since its last known state may be most of it
  kQuietThreads,     // "57 threads with little activity": threads of a process that called nothing and hardly ran
  kCudaApi,          // "CUDA API"
  kNvtx,             // an NVTX domain
  kOsRuntime,
  kOverhead,
  kCompilation,
  kPageFaults,
  kMemoryUsage,
  kTrace,  // "A  before.trace": one of several traces on one time axis
  kBacktraces,
  kProcessorGroup,  // "CPU cores (8)"
  kProcessor,       // "12.4 % CPU 3": what a processor runs
  kCounters,        // "GPU metrics", "Machine", and groups of counters
  kCounter,         // "SMs active": a quantity over time
  kStackChart,      // what a thread was seen to run, calls below their callers (see stack_chart.h)
  kAnswer,          // ranges that answer a query (see answer_row.h): above all others, without lanes
};

// Classes of memory operations.
enum class MemoryClass : std::uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice, kPeerToPeer, kHostToHost, kSet, kOther };
[[nodiscard]] MemoryClass memory_class(const MemoryDetail& detail) noexcept;
[[nodiscard]] std::string_view memory_class_name(MemoryClass operation) noexcept;  // "HtoD", "DtoH", ...
// The class of operations whose events have this name (memory_operation_name()); nothing if the name is another.
[[nodiscard]] std::optional<MemoryClass> memory_class_of(std::string_view name_of_event) noexcept;

inline constexpr std::uint32_t kInnermostCall = kNone;  // used instead of a depth

// Selects events of a lane: all of them, those of one name, or memory operations of one class; NVTX ranges projected on a GPU; or calls of samples at one depth
// (0: the outermost).
struct LaneSource {
  LaneId lane = kNone;
  std::optional<NameId> name = std::nullopt;
  std::optional<MemoryClass> memory = std::nullopt;
  std::optional<GpuId> on_gpu = std::nullopt;
  std::optional<std::uint32_t> call_depth = std::nullopt;
  [[nodiscard]] bool whole() const noexcept { return !name && !memory && !is_derived(); }
  // True if the shown events are not those of the lane, but are computed from them.
  [[nodiscard]] bool is_derived() const noexcept { return on_gpu || call_depth; }
  [[nodiscard]] bool matches(const Trace& trace, const Event& event) const noexcept;
  bool operator==(const LaneSource&) const = default;
};

// Lanes that are shown on top of each other.
using Level = std::vector<LaneSource>;

struct Row {
  std::string key;
  Message label;  // without the share
  RowKind kind = RowKind::kGpu;
  std::uint32_t depth = 0;  // in the tree
  std::optional<RowIndex> parent;
  std::vector<RowIndex> children;
  std::optional<double> share;                      // 0 to 1: "87.3 % Kernels", computed as by Nsight Systems (see RowTree)
  std::vector<Level> levels;                        // shown if the row is expanded or cannot be collapsed; empty for rows that only group
  Level all;                                        // shown while collapsed: everything below, combined
  std::optional<CounterId> counter = std::nullopt;  // kCounter: the counter that it shows instead of levels
  std::uint32_t answer_levels = 0;                  // kAnswer: the number of levels of the AnswerRow
  bool expanded_initially = true;
  [[nodiscard]] bool expandable() const noexcept { return !children.empty() || levels.size() > 1; }
};

// True if too little is known of a running recording: the time between the known end and `now` is more than a tenth of the known time. If `now` is not given,
// nothing is being recorded.
[[nodiscard]] bool is_behind(TimeRange known, std::optional<Nanoseconds> now) noexcept;

// Shares: kernels and memory by the sum of their durations; streams by the sum of the durations of their operations, relative to all streams of the GPU; names
// and memory classes relative to all kernels and memory operations. Shares of siblings of one kind add up to 1.
class RowTree {
 public:
  RowTree() = default;
  // O(tracks + kernel and memory events).
  explicit RowTree(const Trace& trace);
  // The same, using sums of segments that earlier snapshots had, too. `now`: the present time if the trace is still being recorded.
  RowTree(const Trace& trace, SegmentSums& sums, std::optional<Nanoseconds> now = std::nullopt);

  // Parents come before their children, siblings in the order in which they are shown.
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
  [[nodiscard]] const Row& row(RowIndex index) const noexcept { return rows_[index]; }
  [[nodiscard]] std::optional<RowIndex> find(std::string_view key) const;  // O(1)
  // The most specific row for this event (its stream's kernels, its thread's calls) and the level within. O(1).
  struct Place {
    RowIndex row = 0;
    std::uint32_t level = 0;
  };
  [[nodiscard]] std::optional<Place> place_of(LaneId lane) const;
  [[nodiscard]] bool compares_runs() const noexcept { return compares_runs_; }  // true if its topmost rows are two runs side by side

  // Replaces the row of the answer: the last of rows(), shown above all others. 0 levels: none. O(1).
  static constexpr std::string_view kAnswerKey = "answer";
  void set_answer(const std::string& title, std::uint32_t levels);

 private:
  friend class RowTreeBuilder;
  std::vector<Row> rows_;
  std::unordered_map<std::string, RowIndex> by_key_;
  std::vector<std::optional<Place>> place_of_lane_;
  bool compares_runs_ = false;
};

// The state of a waiting thread at a time at which its strip shows nothing. Nothing for other levels.
[[nodiscard]] std::optional<EventRef> quiet_state(const Trace& trace, const Level& level, Nanoseconds time);

// The content of the overview of a trace: all work of GPUs, and all calls of threads; if neither was recorded, the activity of processors and threads.
[[nodiscard]] std::vector<Level> overview(const RowTree& tree);

// "87.3 % Kernels": the label of a row with its share, if it has one.
[[nodiscard]] Message row_title(const Row& row);
// What the share is relative to: "59.1 % of the work of the rows beside it, in the whole recording". Requires: the row has a share.
[[nodiscard]] Message share_words(const Row& row);

// True if other rows belong to it: a trace, a GPU, a process.
[[nodiscard]] bool is_heading(const Row& row) noexcept;
// The number of sharers whose mean is the busy share of a row: the processors that a collapsed row stands for. 1 if the row combines all lanes.
[[nodiscard]] std::size_t sharers_of(const Row& row) noexcept;

}  // namespace lanescope::timeline
