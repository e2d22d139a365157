// Builds the rows of a trace: first the GPUs with their work, then the processes with their threads.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace/by_process.h"
#include "timeline/core/lanes/segment_sums.h"
#include "timeline/core/lanes/stack_chart.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

// 0 if `whole` is 0.
[[nodiscard]] inline double share_of(Nanoseconds part, Nanoseconds whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

class RowTreeBuilder {
 public:
  RowTreeBuilder(const Trace& trace, SegmentSums& sums, RowTree& tree, std::optional<Nanoseconds> now);
  void build();

 private:
  using Tracks = std::vector<const Track*>;

  // The tracks of one source of a combined trace; else all tracks.
  struct SourcePart {
    TrackId first_track = 0;
    TrackId end_track = kNone;
    CounterId first_counter = 0;
    CounterId end_counter = kNone;
    std::string run;  // of two that are compared
    std::string key;  // prefix for keys that other parts have, too
    std::optional<RowIndex> heading;
    TimeRange time = {};  // of its recording, or of the part that was saved
  };

  // The sums of a GPU's tracks, to which shares are relative.
  struct GpuTotals {
    Nanoseconds kernels = 0;
    Nanoseconds memory = 0;
    Nanoseconds graphs = 0;
    [[nodiscard]] Nanoseconds all() const { return kernels + memory + graphs; }
  };

  void add_part(const SourcePart& part);
  [[nodiscard]] bool in_part(const Track& track) const;
  void add_gpu(GpuId gpu);
  void close_several_gpus();
  void add_hardware(RowIndex top, const std::string& key, const Tracks& tracks);
  void add_kernels(RowIndex hardware, const std::string& key, const Tracks& tracks, const GpuTotals& totals);
  void add_memory(RowIndex hardware, const std::string& key, const Tracks& tracks, const GpuTotals& totals);
  void add_streams(RowIndex hardware, const std::string& key, const Tracks& tracks);
  void add_stream(RowIndex hardware, const std::string& key, const Message& label, const Tracks& tracks, double share);
  void add_gpu_ranges(RowIndex top, const std::string& key, GpuId gpu, const Tracks& tracks);
  // Ranges of threads of the process that call CUDA and so may have launched work. Each process is searched once.
  [[nodiscard]] const std::vector<TrackId>& launching_ranges(ProcessId process);
  void add_processes();
  void add_process(RowIndex root, ProcessId process);
  void add_processors();
  void add_machine();
  void open_first_threads(RowIndex process);
  // Returns the processes that are expanded initially.
  [[nodiscard]] std::set<ProcessId> put_first_what_matters(std::vector<ProcessId>& shown);
  void add_thread(RowIndex parent, const std::string& process_key, ThreadId thread, const Tracks& tracks);
  // True if nothing is known of a thread except that it hardly ever ran.
  [[nodiscard]] bool is_quiet(const Tracks& tracks);
  struct RunningTime {
    Nanoseconds running = 0;
    Nanoseconds known = 0;  // from the first known state to the last
    Nanoseconds end = 0;    // of the last state
  };
  // True if too little is known of the time since the last state of a thread of this process.
  [[nodiscard]] bool is_thread_behind(const RunningTime& time, ProcessId process) const;
  [[nodiscard]] RunningTime running_time(const Tracks& tracks);
  void add_thread_states(RowIndex row, const Tracks& tracks);
  void add_stack_chart(RowIndex thread, const std::string& key, const Tracks& tracks);
  void add_cpu_rows(RowIndex parent, const std::string& key, const Tracks& tracks);
  void add_nvtx(RowIndex parent, const std::string& key, const Tracks& tracks);
  void add_calls(RowIndex parent, const std::string& key, const Tracks& tracks, TrackKind kind);

  // Adds a row at its place in the tree. References to rows are invalid after the next call.
  RowIndex add_row(std::string key, Message label, RowKind kind, std::optional<RowIndex> parent);
  // Appends the lanes of the tracks as levels of the row, combines them in `all`, and makes the row the place of these lanes.
  void set_levels(RowIndex row, const Tracks& tracks);
  [[nodiscard]] bool shows_gpus_alone(const Row& row) const;
  void combine_children();

  // In counter_rows.cpp. The counters of a GPU, whichever process they belong to; with kNone, only those of a process.
  [[nodiscard]] std::vector<CounterId> counters_of(GpuId gpu, ProcessId process) const;
  void add_counters(RowIndex parent, const std::string& key, const std::vector<CounterId>& counters);
  void add_counter(RowIndex parent, const std::string& key, CounterId id);

  [[nodiscard]] Tracks select(const Tracks& from, TrackKind kind) const;
  [[nodiscard]] Nanoseconds busy_sum(const Tracks& tracks) const;
  [[nodiscard]] Level combined(const Tracks& tracks) const;
  [[nodiscard]] std::string process_key(ProcessId process) const;
  [[nodiscard]] Message stream_name(const Track& track) const;
  [[nodiscard]] Message waits_name(const Track& track) const;  // of a row that has only waits
  // What is required to distinguish streams of a GPU that have the same number.
  struct StreamOwners {
    bool several_processes = false;
    std::set<ProcessId> of_several_contexts;
  };
  [[nodiscard]] static StreamOwners stream_owners(const Tracks& tracks);
  [[nodiscard]] std::string stream_owner(const Track& track, const StreamOwners& owners) const;

  const Trace& trace_;
  SegmentSums& sums_;
  RowTree& tree_;
  const std::optional<Nanoseconds> now_;  // while the trace is being recorded
  const bool has_memory_for_events_;      // of the trace; stored, because computing it visits all lanes
  const ByProcess<Track> tracks_;
  const ByProcess<Counter> counters_;
  std::vector<std::vector<TrackId>> tracks_of_gpu_;
  std::vector<std::vector<CounterId>> counters_of_gpu_;
  std::map<ProcessId, std::vector<TrackId>> launching_ranges_;
  std::size_t gpu_range_rows_ = 0;
  std::set<std::pair<GpuId, std::string_view>> counters_of_several_;  // by name: counters that several processes have
  std::optional<ChainDepths> chain_depths_;                           // created for the first thread with samples
  SourcePart part_;
  std::map<std::string, std::vector<RowIndex>> gpus_of_run_;
  bool has_marked_threads_ = false;  // the part has threads that call CUDA or set ranges
};

}  // namespace lanescope::timeline
