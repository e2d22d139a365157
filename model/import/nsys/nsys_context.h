// What the importers of single tables of an Nsight Systems export share: strings, processes, threads, progress. Internal to model/import.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

  // Reads the tables of strings and of GPUs. Call it first.
  Result<void> read_dictionaries();
  [[nodiscard]] std::string_view text(std::int64_t string_id) const;  // empty for an id that is not there
  NameId name(std::int64_t string_id);

  // Of a globalPid or globalTid; processes and threads come to be when an event names them.
  ProcessId process(std::int64_t global_id);
  ThreadId thread(std::int64_t global_tid);
  // The thread, where an event has named it.
  [[nodiscard]] std::optional<ThreadId> known_thread(std::int64_t global_tid) const;
  [[nodiscard]] const std::map<std::int64_t, ProcessId>& processes() const noexcept { return processes_; }  // by globalPid
  // Names for what the builder knows: each is kept where it is given, and a file may give one text to very many.
  void name_thread(ThreadId id, std::string_view name);
  void name_domain(std::int64_t global_id, std::uint32_t id, std::string_view name);
  void name_category(std::int64_t global_id, std::uint32_t domain, std::uint32_t id, std::string_view name);
  // The GPU that a process knows under this CUDA ordinal, described as far as the file does.
  GpuId device(std::int64_t global_pid, std::uint32_t ordinal);

  // Where the tables of events stand against their rows: counts one row. False when the user cancelled, and where it is too much.
  bool count_row() {
    keep(cost::kEvent);
    return !is_too_much() && (++rows_ % kRowsPerReport != 0 || report());
  }
  // Counts what is kept, in bytes.
  void keep(std::uint64_t bytes) noexcept { kept_ += bytes; }
  [[nodiscard]] bool is_too_much() const noexcept { return kept_ > database.limits().memory(); }
  void expect_rows(std::uint64_t rows) noexcept { expected_rows_ = rows; }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

  // By globalTid: what the scheduler did, kept until programs have their names, after which those on processors are called.
  std::map<std::int64_t, std::vector<ThreadStateSpan>> thread_states;

 private:
  static constexpr std::uint64_t kRowsPerReport = 1u << 16;
  bool report();
  void keep_text(std::string_view text) noexcept { keep(cost::kTextCopies * std::min(text.size(), limits::kTextBytes)); }
  void read_gpus();

  const LoadProgress& progress_;
  std::vector<std::string> strings_;                           // by id, where ids follow each other closely
  std::unordered_map<std::int64_t, std::string> far_strings_;  // the others
  std::unordered_map<std::int64_t, NameId> names_;
  std::map<std::int64_t, ProcessId> processes_;
  std::unordered_map<std::int64_t, ThreadId> threads_;
  std::map<std::int64_t, Gpu> gpus_;                                               // TARGET_INFO_GPU, by id
  std::unordered_map<std::uint32_t, std::int64_t> gpu_of_ordinal_;                 // the first id
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> gpu_of_device_;  // id, by pid and CUDA ordinal
  std::set<std::pair<ProcessId, std::uint32_t>> devices_;                          // known to the builder
  std::int64_t last_global_pid_ = 0;
  ProcessId last_process_ = kNone;
  std::int64_t last_global_tid_ = 0;
  ThreadId last_thread_ = kNone;
  std::uint64_t kept_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t expected_rows_ = 0;
  bool cancelled_ = false;
};

// Times of a damaged file may be anything: the difference wraps around.
[[nodiscard]] constexpr Nanoseconds difference(Nanoseconds later, Nanoseconds earlier) {
  return static_cast<Nanoseconds>(static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier));
}
// From one column to the other, in ns; 0 where the second is NULL.
[[nodiscard]] Nanoseconds duration_between(const TableRows& rows, int start, int end);

// Of a table that could not be read to its end.
[[nodiscard]] Error unreadable(std::string_view table, const TableRows& rows);

// Events gathered by track, handed to the builder at once: it sorts a track one time.
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

// One table each: its rows become events of the builder. Fails when the table can't be read to its end.
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
Result<void> import_gpu_metrics(NsysContext& context);  // behind import_resources: GPUs have their names then
Result<void> import_scheduling(NsysContext& context);   // as far as NsysContext::thread_states
Result<void> import_samples(NsysContext& context);
// Call chains of the calls that import_api_calls and import_os_runtime read.
Result<void> import_cuda_backtraces(NsysContext& context);
Result<void> import_os_runtime_backtraces(NsysContext& context);

// What events refer to, once they are there: names of processes and threads, GPUs, contexts, streams, where and when it was recorded.
void import_resources(NsysContext& context);

}  // namespace lanescope::importers
