// Converts records of the kernel to facts about processes and threads, and packs them. On the recorder's thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "code/unwinder.h"
#include "code_namer.h"
#include "collector/python/sampler.h"
#include "event_counters.h"
#include "events/event_set.h"
#include "events/record.h"
#include "lost_records.h"
#include "outbox.h"
#include "process_record.h"
#include "running_times.h"
#include "thread_states.h"

namespace lanescope::cpu {

class Observation {
 public:
  Observation(EventSet events, const CpuSettings& settings, Outbox& outbox);

  // The first process: one that waits for exec, and is recorded from then on if the events begin with exec ...
  void begin_with_waiting(pid_t process);
  // ... or one that runs, with others that run.
  void begin_with_running(pid_t process, const std::vector<pid_t>& others);
  void begin_with_others(pid_t other);  // runs beside the first one
  // Sets events that are counted in addition.
  void count_events(std::unique_ptr<EventCounters> counters) { counters_ = std::move(counters); }
  [[nodiscard]] bool counts_events() const noexcept { return counters_ != nullptr; }

  [[nodiscard]] const std::vector<int>& descriptors() const noexcept { return events_.descriptors(); }  // readable when buffers fill up
  void begin_part();
  // Reads what the kernel has written, up to a moment ago: some newer records may not have arrived.
  void read();
  // Packs what was read.
  void flush();
  // Stops, reads everything, and packs it.
  void finish_part();
  // The reader of Python's stacks; null if it was not asked for.
  [[nodiscard]] const std::shared_ptr<python::Sampler>& python() const noexcept { return python_; }
  // Looks up names of the code that this part has seen. Ends early if `stop` becomes true.
  void name_code(const std::atomic<bool>& stop);

 private:
  using RecordPointer = std::shared_ptr<ProcessRecord>;

  // Processes.
  RecordPointer make(SeenProcess description);
  RecordPointer find(std::uint32_t pid) const;
  // Adds a process that existed before, or whose start was not seen. Null if it no longer exists.
  RecordPointer adopt(std::uint32_t pid, std::int64_t time);
  void announce(ProcessRecord& process);
  void name_thread(ProcessRecord& process, ThreadNumber thread, std::string_view name);
  void end_process(const RecordPointer& process, std::int64_t time);
  void retire(const RecordPointer& process);
  void hand_over(const RecordPointer& process);  // to the namer of the code that it ran
  void pack(ProcessRecord& process);
  void count(ProcessRecord& process);

  // Records.
  void read_until(std::uint64_t end);
  void take(const perf_event_header& header);
  void take_fork(const Record& record);
  void take_exit(const Record& record);
  void take_name(const Record& record);
  void take_exec(const Record& record, std::string_view name);
  void take_mapping(const Record& record);
  void take_switch(const Record& record);
  void take_wakeup(const Record& record);
  void take_sample(const Record& record);
  void take_loss(const Record& record);
  void take_system_call_begin(const Record& record);
  void take_system_call_end(const Record& record);
  void take_tracepoint(const Record& record);
  void end_system_call(ThreadNumber thread, std::int64_t time, std::optional<std::int64_t> result);
  // The process of a record's thread. Null if it is not known and has ended, which is counted unless its end is known.
  RecordPointer owner_of(const Record& record);
  // The process that passed a tracepoint. Null as above, for idle processors, and for ourselves.
  RecordPointer passed_by(const Record& record);
  [[nodiscard]] std::int64_t value_of(const Record& record, std::string_view field) const;
  void describe_domains(ProcessRecord& process);
  [[nodiscard]] bool follows_states() const noexcept { return recording_ && settings_.thread_states != Scope::kNone; }

  // Code.
  std::uint32_t location(ProcessRecord& process, std::uint64_t address);
  std::uint32_t generated_location(ProcessRecord& process, const Place& place);
  std::uint32_t kernel_location(ProcessRecord& process, std::uint64_t address);
  void read_call_chain(ProcessRecord& process, Fields& fields);
  void read_stack(ProcessRecord& process, Fields& fields);
  void read_branches(ProcessRecord& process, Fields& fields);
  void add_kernel_call(ProcessRecord& process, std::uint64_t address);
  void add_native_call(ProcessRecord& process, std::uint64_t address);
  // Locations of the chain, including Python's calls if they are known.
  std::vector<std::uint32_t> merge_python(ProcessRecord& process, const RecordIdentity& who);

  void note_python();
  void note(proto::Severity severity, proto::ComponentState state, std::string text);
  void note(proto::Diagnostic diagnostic);

  EventSet events_;
  CpuSettings settings_;
  Outbox& outbox_;
  RecordOrder order_;
  std::vector<std::uint64_t> last_times_;  // newest time of each buffer
  ThreadStates states_;
  ModuleTable modules_;
  Unwinder unwinder_;

  CodeNamer namer_;
  std::unique_ptr<EventCounters> counters_;  // null: none were asked for

  struct SystemCall {
    std::int64_t begin;  // CLOCK_MONOTONIC ns
    std::int64_t number;
    RecordPointer process;
  };
  std::unordered_map<ThreadNumber, SystemCall> system_calls_;  // calls that have not returned

  ProcessKey last_key_ = 0;
  std::unordered_map<std::uint32_t, RecordPointer> processes_;  // living processes, by pid
  std::unordered_map<ThreadNumber, RecordPointer> owners_;      // processes of living threads
  RecordPointer first_;
  bool awaits_exec_ = false;
  bool recording_ = false;
  std::int64_t read_until_ = 0;
  std::int64_t counted_at_ = 0;
  std::shared_ptr<PerfMapBudget> perf_maps_ = std::make_shared<PerfMapBudget>();
  std::uint64_t throttled_ = 0;
  LostRecords lost_;
  std::shared_ptr<python::Sampler> python_;
  RunningTimes running_times_;         // used if Python is read
  std::uint64_t python_samples_ = 0;   // samples with a Python stack that was read while the thread ran ...
  std::uint64_t leaning_samples_ = 0;  // ... or while it did not run, because there was no other

  // Chain of the current sample, innermost first.
  std::vector<python::NativeCall> chain_;
  std::size_t calls_in_code_ = 0;  // number of innermost calls of the chain that certainly lie in code
};

}  // namespace lanescope::cpu
