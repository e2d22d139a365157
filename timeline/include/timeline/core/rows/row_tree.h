// The rows of the timeline: a tree that says which lanes of a trace are shown where.
//
// Rows are found from the trace alone and are a plain value. A row's key is made of what it stands for (process instance, thread, GPU,
// ...), not of positions, so that what is expanded, pinned or selected by key survives the next snapshot of a live recording.
//
// A row shows levels, from top to bottom: nesting depths of calls and ranges, or lanes that overlap needs. A level may combine several
// lanes ("Kernels" of a GPU combines all its streams); what it shows as busy is then the union of theirs.
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

using RowIndex = std::uint32_t;  // position in RowTree::rows()

enum class RowKind : std::uint8_t {
  kGpu,              // "GPU 0  NVIDIA H200"
  kGpuHardware,      // "CUDA HW": everything that keeps the GPU busy
  kKernels,          // "87.3 % Kernels"
  kKernelFamily,     // "52.3 % gemm_*": kernels whose names differ in their counters only
  kKernelName,       // "41.0 % gemm"
  kMemory,           // "12.7 % Memory"
  kMemoryOperation,  // "9.1 % HtoD"
  kGraphs,           // whole CUDA graphs
  kStream,           // "61.0 % Stream 7"
  kSynchronization,  // waits of a stream
  kGpuRanges,        // "NVTX" below a GPU, and each thread's ranges in it: as they are on the GPU (see gpu_projection.h)
  kProcesses,        // "Processes"
  kProcess,          // "[4711] python"
  kThread,           // "[4711] main": its states, where they were recorded; then with the share of the time that it ran, unless
                     // it is recorded still, and what it does since its last known state may be most of it
  kQuietThreads,     // "57 threads with little activity": of a process, that called nothing and hardly ran
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
  kProcessor,       // "12.4 % CPU 3": what one runs
  kCounters,        // "GPU metrics", "Machine", and groups of counters
  kCounter,         // "SMs active": a quantity over time
  kStackChart,      // what a thread was seen to run, calls below their callers (see stack_chart.h)
  kAnswer,          // ranges that answer a question (see answer_row.h): on top of all, and of no lane
};

// What memory operations are told apart by.
enum class MemoryClass : std::uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice, kPeerToPeer, kHostToHost, kSet, kOther };
[[nodiscard]] MemoryClass memory_class(const MemoryDetail& detail) noexcept;
[[nodiscard]] std::string_view memory_class_name(MemoryClass operation) noexcept;  // "HtoD", "DtoH", ...

inline constexpr std::uint32_t kInnermostCall = kNone;  // in place of a depth

// Events of a lane: all of them, those of one name, or those memory operations of one class; NVTX ranges as they are on a GPU; or calls of one
// depth (0: the outermost) that samples were seen in.
struct LaneSource {
  LaneId lane = kNone;
  std::optional<NameId> name = std::nullopt;
  std::optional<MemoryClass> memory = std::nullopt;
  std::optional<GpuId> on_gpu = std::nullopt;
  std::optional<std::uint32_t> call_depth = std::nullopt;
  [[nodiscard]] bool whole() const noexcept { return !name && !memory && !is_derived(); }
  // Whether what is shown is not the events of the lane, but what was worked out of them.
  [[nodiscard]] bool is_derived() const noexcept { return on_gpu || call_depth; }
  [[nodiscard]] bool matches(const Trace& trace, const Event& event) const noexcept;
  bool operator==(const LaneSource&) const = default;
};

// Lanes that are shown over each other.
using Level = std::vector<LaneSource>;

struct Row {
  std::string key;
  Message label;  // without the share
  RowKind kind = RowKind::kGpu;
  std::uint32_t depth = 0;  // in the tree
  std::optional<RowIndex> parent;
  std::vector<RowIndex> children;
  std::optional<double> share;                      // 0 to 1: "87.3 % Kernels", as Nsight Systems computes it (see RowTree)
  std::vector<Level> levels;                        // shown while expanded, or when there is nothing to collapse; none for rows that only group
  Level all;                                        // shown while collapsed: all of what is below, combined
  std::optional<CounterId> counter = std::nullopt;  // kCounter: what it shows in place of levels
  std::uint32_t answer_levels = 0;                  // kAnswer: the levels of the AnswerRow that it shows
  bool expanded_initially = true;
  [[nodiscard]] bool expandable() const noexcept { return !children.empty() || levels.size() > 1; }
};

// Whether too little is known of a recording that goes on: between what is known and now lies more than the tenth part of it. None: nothing goes on.
[[nodiscard]] bool is_behind(TimeRange known, std::optional<Nanoseconds> now) noexcept;

// Shares: kernels and memory by the sum of their durations; streams by the sum of the durations of what each does, against all streams of
// the GPU; names and memory classes against all kernels and memory operations. Shares of siblings of one kind add up to 1.
class RowTree {
 public:
  RowTree() = default;
  // O(tracks + kernel and memory events).
  explicit RowTree(const Trace& trace);
  // The same, with what is known of segments that earlier snapshots had too. `now`: while it is recorded, what the clock says.
  RowTree(const Trace& trace, SegmentSums& sums, std::optional<Nanoseconds> now = std::nullopt);

  // Parents come before their children, siblings in the order in which they are shown.
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
  [[nodiscard]] const Row& row(RowIndex index) const noexcept { return rows_[index]; }
  [[nodiscard]] std::optional<RowIndex> find(std::string_view key) const;  // O(1)
  // The row that stands for this event most closely (its stream's kernels, its thread's calls) and the level within. O(1).
  struct Place {
    RowIndex row = 0;
    std::uint32_t level = 0;
  };
  [[nodiscard]] std::optional<Place> place_of(LaneId lane) const;
  [[nodiscard]] bool compares_runs() const noexcept { return compares_runs_; }  // whether its topmost rows are two runs side by side

  // The row of an answer, in place of the one before: the last of rows(), shown in front of all others. 0 levels: none. O(1).
  static constexpr std::string_view kAnswerKey = "answer";
  void set_answer(const std::string& title, std::uint32_t levels);

 private:
  friend class RowTreeBuilder;
  std::vector<Row> rows_;
  std::unordered_map<std::string, RowIndex> by_key_;
  std::vector<std::optional<Place>> place_of_lane_;
  bool compares_runs_ = false;
};

// What a thread's strip shows nothing of, because the thread waited: its state at that time. None for levels of anything else.
[[nodiscard]] std::optional<EventRef> quiet_state(const Trace& trace, const Level& level, Nanoseconds time);

// What an overview of a trace shows: everything that GPUs do, and everything that threads call; where neither was recorded, what processors
// and threads did.
[[nodiscard]] std::vector<Level> overview(const RowTree& tree);

// "87.3 % Kernels": a row's label with its share, where it has one.
[[nodiscard]] Message row_title(const Row& row);
// What the share is of: "59.1 % of the work of the rows beside it, in the whole recording". Requires: the row has one.
[[nodiscard]] Message share_words(const Row& row);

// Whether it is what others belong to: a trace, a GPU, a process.
[[nodiscard]] bool is_heading(const Row& row) noexcept;
// Of how many the mean says how busy a row is: of the processors that a closed row stands for. One where it is all lanes together.
[[nodiscard]] std::size_t sharers_of(const Row& row) noexcept;

}  // namespace lanescope::timeline
