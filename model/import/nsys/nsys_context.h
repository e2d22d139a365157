// Data that the importers of single tables of an Nsight Systems export share: strings, processes, threads, progress. Internal to model/import.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/file/limits.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "sqlite_database.h"

namespace lanescope::importers {

// Nsight Systems packs a process or thread into one number: hardware 8 bits, virtual machine 8, process 24, thread 24.
[[nodiscard]] constexpr std::uint32_t pid_of(std::int64_t global_id) { return static_cast<std::uint32_t>(global_id >> 24) & 0xffffff; }
[[nodiscard]] constexpr std::uint32_t tid_of(std::int64_t global_id) { return static_cast<std::uint32_t>(global_id) & 0xffffff; }
[[nodiscard]] constexpr std::int64_t without_thread(std::int64_t global_id) { return global_id & ~std::int64_t{0xffffff}; }

class NsysContext {
 public:
  NsysContext(const Database& source, TraceBuilder& target, const LoadProgress& progress);

  const Database& database;
  TraceBuilder& builder;

  // Reads the tables of strings, of GPUs, and of events that had not ended. Call it first.
  Result<void> read_dictionaries();
  [[nodiscard]] std::string_view text(std::int64_t string_id) const;  // empty for an unknown id
  NameId name(std::int64_t string_id);
  // Until when the event of a row was seen, if our own export says that it had not ended with the recording.
  [[nodiscard]] std::optional<Nanoseconds> unfinished(std::string_view table, std::int64_t row) const;

  // For a globalPid or globalTid. Processes and threads are created when an event names them.
  ProcessId process(std::int64_t global_id);
  ThreadId thread(std::int64_t global_tid);
  // The thread, if an event has named it.
  [[nodiscard]] std::optional<ThreadId> known_thread(std::int64_t global_tid) const;
  [[nodiscard]] const std::map<std::int64_t, ProcessId>& processes() const noexcept { return processes_; }  // by globalPid
  // Names objects of the builder. Each name is counted where it is set, because a file may use one text for very many objects.
  void name_thread(ThreadId id, std::string_view name);
  void name_domain(std::int64_t global_id, std::uint32_t id, std::string_view name);
  void name_category(std::int64_t global_id, std::uint32_t domain, std::uint32_t id, std::string_view name);
  // The GPU with this CUDA ordinal in a process, with the properties that the file contains.
  GpuId device(std::int64_t global_pid, std::uint32_t ordinal);

  // Counts one row of an event table for progress and limits. Returns false if the user cancelled, or if the limit is reached.
  bool count_row() {
    keep(cost::kEvent);
    return !is_too_much() && (++rows_ % kRowsPerReport != 0 || report());
  }
  // Counts stored bytes.
  void keep(std::uint64_t bytes) noexcept { kept_ += bytes; }
  [[nodiscard]] bool is_too_much() const noexcept { return kept_ > database.limits().memory(); }
  void expect_rows(std::uint64_t rows) noexcept { expected_rows_ = rows; }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

  // The scheduler's events by globalTid. They are kept until programs have their names, because events on processors are named after them.
  std::map<std::int64_t, std::vector<ThreadStateSpan>> thread_states;

 private:
  static constexpr std::uint64_t kRowsPerReport = 1u << 16;
  bool report();
  void keep_text(std::string_view text) noexcept { keep(cost::kTextCopies * std::min(text.size(), limits::kTextBytes)); }
  void read_gpus();
  Result<void> read_unfinished();

  const LoadProgress& progress_;
  std::vector<std::string> strings_;                           // by id, for ids that are almost consecutive
  std::unordered_map<std::int64_t, std::string> far_strings_;  // all others
  std::unordered_map<std::int64_t, NameId> names_;
  std::map<std::int64_t, ProcessId> processes_;
  std::unordered_map<std::int64_t, ThreadId> threads_;
  std::map<std::int64_t, Gpu> gpus_;                                                              // TARGET_INFO_GPU, by id
  std::unordered_map<std::uint32_t, std::int64_t> gpu_of_ordinal_;                                // the first id
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> gpu_of_device_;                 // id, by pid and CUDA ordinal
  std::set<std::pair<ProcessId, std::uint32_t>> devices_;                                         // known to the builder
  std::map<std::string, std::unordered_map<std::int64_t, Nanoseconds>, std::less<>> unfinished_;  // by table and row
  std::int64_t last_global_pid_ = 0;
  ProcessId last_process_ = kNone;
  std::int64_t last_global_tid_ = 0;
  ThreadId last_thread_ = kNone;
  std::uint64_t kept_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t expected_rows_ = 0;
  bool cancelled_ = false;
};

// Times of a damaged file may have any value, so the difference wraps around.
[[nodiscard]] constexpr Nanoseconds difference(Nanoseconds later, Nanoseconds earlier) {
  return static_cast<Nanoseconds>(static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier));
}
// From one column to the other, in ns; 0 if the second is NULL.
[[nodiscard]] Nanoseconds duration_between(const TableRows& rows, int start, int end);

// The error for a table that could not be read to its end.
[[nodiscard]] Error unreadable(std::string_view table, const TableRows& rows);

// Collects events by track and passes them to the builder at once, because the builder sorts a track only once.
class EventGroups {
 public:
  explicit EventGroups(NsysContext& context) : context_(context) {}

  void add(const TrackKey& key, const Event& event) {
    if (!last_ || last_key_ != key) {
      const auto [found, inserted] = groups_.try_emplace(key);
      if (inserted) context_.keep(cost::kTrack);
      last_ = &found->second;
      last_key_ = key;
    }
    last_->push_back(event);
  }
  void flush() {
    for (auto& [key, events] : groups_) context_.builder.add(key, std::move(events));
    groups_.clear();
    last_ = nullptr;
  }

 private:
  NsysContext& context_;
  std::map<TrackKey, std::vector<Event>> groups_;
  TrackKey last_key_;
  std::vector<Event>* last_ = nullptr;
};

// Each function imports one table: its rows become events of the builder. Fails if the table can't be read to its end.
Result<void> import_kernels(NsysContext& context);
Result<void> import_copies(NsysContext& context);
Result<void> import_sets(NsysContext& context);
Result<void> import_graph_launches(NsysContext& context);
Result<void> import_synchronizations(NsysContext& context);
Result<void> import_api_calls(NsysContext& context);
Result<void> import_os_runtime(NsysContext& context);
Result<void> import_profiler_overhead(NsysContext& context);
Result<void> import_cuda_overhead(NsysContext& context);
Result<void> import_cpu_page_faults(NsysContext& context);
Result<void> import_gpu_page_faults(NsysContext& context);
Result<void> import_memory_usage(NsysContext& context);
Result<void> import_memory_pools(NsysContext& context);
Result<void> import_cuda_events(NsysContext& context);
Result<void> import_nvtx(NsysContext& context);
Result<void> import_mpi(NsysContext& context);
Result<void> import_gpu_metrics(NsysContext& context);  // after import_resources, because GPUs have their names then
Result<void> import_scheduling(NsysContext& context);   // only fills NsysContext::thread_states
Result<void> import_samples(NsysContext& context);
// Call chains of the calls that were read by import_api_calls and import_os_runtime.
Result<void> import_cuda_backtraces(NsysContext& context);
Result<void> import_os_runtime_backtraces(NsysContext& context);

// Imports what events refer to, after the events: names of processes and threads, GPUs, contexts, streams, and the place and time of the recording.
void import_resources(NsysContext& context);

}  // namespace lanescope::importers
