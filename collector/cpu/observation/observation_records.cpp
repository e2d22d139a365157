// The meaning of each record of the kernel.
#include <unistd.h>

#include <algorithm>

#include "events/system_call_names.h"
#include "observation.h"

namespace lanescope::cpu {
namespace {

std::int64_t time_of(const Record& record) { return static_cast<std::int64_t>(record.who.time); }

}  // namespace

void Observation::take(const perf_event_header& header) {
  const Record record = read_record(header, events_);
  switch (record.type) {
    case PERF_RECORD_FORK:
      return take_fork(record);
    case PERF_RECORD_EXIT:
      return take_exit(record);
    case PERF_RECORD_COMM:
      return take_name(record);
    case PERF_RECORD_MMAP2:
      return take_mapping(record);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
      return take_switch(record);
    case PERF_RECORD_SAMPLE:
      switch (record.event) {
        case EventKind::kWakeups:
          return take_wakeup(record);
        case EventKind::kSystemCallBegins:
          return take_system_call_begin(record);
        case EventKind::kSystemCallEnds:
          return take_system_call_end(record);
        case EventKind::kTracepoints:
          return take_tracepoint(record);
        default:
          return take_sample(record);
      }
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      return take_loss(record);
    case PERF_RECORD_THROTTLE:
      ++throttled_;
      return;
    default:
      return;
  }
}

void Observation::take_fork(const Record& record) {
  Fields fields(record.rest);
  const auto pid = fields.take<std::uint32_t>();
  const auto parent_pid = fields.take<std::uint32_t>();
  const auto tid = fields.take<std::uint32_t>();
  const auto parent_tid = fields.take<std::uint32_t>();
  if (owners_.contains(tid) && find(pid) == owners_[tid]) return;  // already seen in /proc
  RecordPointer process = find(pid);
  const RecordPointer parent = find(parent_pid);
  if (pid != parent_pid && pid == tid) {
    SeenProcess child = parent ? parent->description : SeenProcess{};
    child.pid = static_cast<pid_t>(pid);
    child.parent = static_cast<pid_t>(parent_pid);
    child.start = time_of(record);
    child.forked = true;
    child.executed = false;
    if (!parent && settings_.system_wide()) child.membership = Membership::kOutside;
    process = make(std::move(child));
    if (parent) process->space = parent->space;
    processes_[pid] = process;
    lost_.process_began(pid);
    if (python_ && process->description.membership == Membership::kRecorded) python_->watch(process->description.pid);
  }
  if (!process) process = adopt(pid, time_of(record));
  if (!process) return;
  process->threads.insert(tid);
  owners_[tid] = process;
  if (parent)
    if (const auto name = parent->names.find(parent_tid); name != parent->names.end()) name_thread(*process, tid, std::string(name->second));
  if (follows_states()) states_.start(tid, time_of(record));
  if (events_.must_be_told()) events_.follow(static_cast<pid_t>(tid));
}

void Observation::take_exit(const Record& record) {
  Fields fields(record.rest);
  const auto pid = fields.take<std::uint32_t>();
  fields.skip(sizeof(std::uint32_t));
  const auto tid = fields.take<std::uint32_t>();
  states_.end(tid, time_of(record));
  end_system_call(tid, time_of(record), std::nullopt);
  running_times_.forget(tid);
  const auto owner = owners_.find(tid);
  if (owner == owners_.end()) return;
  const RecordPointer process = owner->second;
  owners_.erase(owner);
  if (process->is_announced) process->names.erase(tid);
  process->threads.erase(tid);
  if (process->threads.empty() && process == find(pid)) end_process(process, time_of(record));
}

void Observation::take_name(const Record& record) {
  Fields fields(record.rest);
  const auto pid = fields.take<std::uint32_t>();
  const auto tid = fields.take<std::uint32_t>();
  if ((record.misc & PERF_RECORD_MISC_COMM_EXEC) != 0) return take_exec(record, fields.text());
  if (const RecordPointer process = find(pid)) name_thread(*process, tid, fields.text());
}

void Observation::take_exec(const Record& record, std::string_view name) {
  RecordPointer process = find(record.who.pid);
  if (!process) process = adopt(record.who.pid, time_of(record));
  if (!process) return;
  end_system_call(record.who.tid, time_of(record), 0);  // belongs to the program that made the call
  const bool expected = process == first_ && awaits_exec_;
  if (expected) awaits_exec_ = false;
  if (process->is_announced && !expected) {
    SeenProcess next = process->description;
    next.start = time_of(record);
    retire(process);
    hand_over(process);
    process = make(std::move(next));
    processes_[record.who.pid] = process;
  }
  process->description.forked = false;
  process->description.program_start = time_of(record);
  process->description.executed = !expected;
  process->description.executable.clear();
  process->description.arguments.clear();
  process->is_described = false;
  process->runs_new_program = true;
  process->space = std::make_shared<AddressSpace>();
  process->locations.clear();
  process->trampolines.clear();
  if (python_ && process->description.membership == Membership::kRecorded) python_->watch(process->description.pid);
  process->threads = {record.who.pid};
  owners_[record.who.pid] = process;
  name_thread(*process, record.who.pid, name);
  if (follows_states()) states_.run(record.who.tid, time_of(record), record.who.processor);
}

void Observation::take_mapping(const Record& record) {
  Fields fields(record.rest);
  const auto pid = fields.take<std::uint32_t>();
  fields.skip(sizeof(std::uint32_t));
  const auto start = fields.take<std::uint64_t>();
  const auto length = fields.take<std::uint64_t>();
  const auto offset = fields.take<std::uint64_t>();
  fields.skip(2 * sizeof(std::uint32_t));  // device
  const auto inode = fields.take<std::uint64_t>();
  fields.skip(sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));  // generation of the inode; protection and flags
  std::string_view path = fields.text();
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  const RecordPointer process = find(pid);
  if (!process || (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL) return;
  if (process->runs_new_program && path.starts_with('/')) {
    process->runs_new_program = false;
    process->description.executable = path;
  }
  // The kernel does not report what is unmapped, and a process can't have this many mappings at once.
  constexpr std::size_t kMostMappings = 131'072;
  if (process->own_space().size() > kMostMappings) {
    process->own_space() = AddressSpace();
    process->own_space().read(static_cast<pid_t>(pid), modules_);
  }
  process->own_space().map(start, length, offset, modules_.find(path, inode, static_cast<pid_t>(pid)));
  process->locations.clear();
}

void Observation::take_switch(const Record& record) {
  const ThreadNumber thread = record.who.tid;
  if (thread == 0 || !recording_) return;  // thread 0 is an idle processor
  if (python_) {
    const bool is_out = (record.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
    is_out ? running_times_.switch_out(thread, time_of(record)) : running_times_.switch_in(thread, time_of(record));
  }
  if (!follows_states()) return;
  if (!owners_.contains(thread) && !adopt(record.who.pid, time_of(record))) return;
  if (!owners_.contains(thread)) return;  // a thread that has ended and is being removed
  if ((record.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0) return states_.switch_in(thread, time_of(record), record.who.processor);
  const bool preempted = (record.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  states_.switch_out(thread, time_of(record), record.who.processor, preempted ? Leaving::kPreempted : Leaving::kWaiting);
}

void Observation::take_wakeup(const Record& record) {
  // The data of every tracepoint begins with its number (16 bits) and flags: whether it was passed in an interrupt, for which the thread that runs is not
  // the one that wakes.
  constexpr std::uint8_t kInHardInterrupt = 0x08, kInSoftInterrupt = 0x10, kInUnmaskableInterrupt = 0x40;
  Fields fields(record.rest);
  const std::span<const std::byte> raw = fields.take(fields.take<std::uint32_t>());
  Fields start(raw), data(raw);
  start.skip(sizeof(std::uint16_t));
  const bool by_thread = (start.take<std::uint8_t>() & (kInHardInterrupt | kInSoftInterrupt | kInUnmaskableInterrupt)) == 0;
  data.skip(events_.wakeup().thread_offset);
  if (recording_) states_.wake(data.take<std::uint32_t>(), time_of(record), by_thread ? record.who.tid : 0);
}

void Observation::take_loss(const Record& record) {
  Fields fields(record.rest);
  if (record.type == PERF_RECORD_LOST) fields.skip(sizeof(std::uint64_t));  // id of the event that reported the loss, not of the lost events
  std::uint64_t count = fields.take<std::uint64_t>();
  if (record.type == PERF_RECORD_LOST)
    count = lost_.add_told(count);
  else
    lost_.add(count);
  const RecordPointer process = find(record.who.pid);
  (process ? process : first_)->lost += count;
  if (record.type == PERF_RECORD_LOST) states_.forget(read_until_, time_of(record));
  lost_.add_calls(system_calls_.size());
  for (const auto& [thread, call] : system_calls_) ++call.process->lost;
  system_calls_.clear();
}

// ---- Tracepoints -----------------------------------------------------------------------------------------------------------------

namespace {

std::span<const std::byte> data_of(const Record& record) {
  Fields fields(record.rest);
  return fields.take(fields.take<std::uint32_t>());
}

}  // namespace

std::int64_t Observation::value_of(const Record& record, std::string_view name) const {
  const TracepointField* field = events_.points()[record.point].tracepoint.field(name);
  return field == nullptr ? 0 : integer_of(*field, data_of(record));
}

Observation::RecordPointer Observation::owner_of(const Record& record) {
  RecordPointer process = find(record.who.pid);
  if (!process) process = adopt(record.who.pid, time_of(record));
  if (!process && lost_.add_of_unknown(record.who.pid)) ++first_->lost;
  return process;
}

Observation::RecordPointer Observation::passed_by(const Record& record) {
  const bool is_ours = record.who.pid == static_cast<std::uint32_t>(getpid());  // recording our own activity would never end
  if (!recording_ || record.point >= events_.points().size() || record.who.tid == 0 || is_ours) return nullptr;
  return owner_of(record);
}

void Observation::take_system_call_begin(const Record& record) {
  const RecordPointer process = passed_by(record);
  if (process) system_calls_[record.who.tid] = {time_of(record), value_of(record, "id"), process};
}

// The start may not have been seen: the call was in progress when the recording began, or a new thread returns from its creation.
void Observation::take_system_call_end(const Record& record) {
  const auto call = system_calls_.find(record.who.tid);
  if (call == system_calls_.end() || !passed_by(record)) return;
  if (call->second.number != value_of(record, "id")) return void(system_calls_.erase(call));
  end_system_call(record.who.tid, time_of(record), value_of(record, "ret"));
}

void Observation::end_system_call(ThreadNumber thread, std::int64_t time, std::optional<std::int64_t> result) {
  const auto call = system_calls_.find(thread);
  if (call == system_calls_.end()) return;
  call->second.process->encoder.add_system_call(thread, call->second.begin, time, system_call_name(call->second.number), result);
  system_calls_.erase(call);
}

void Observation::take_tracepoint(const Record& record) {
  const RecordPointer process = passed_by(record);
  if (!process) return;
  const Tracepoint& tracepoint = events_.points()[record.point].tracepoint;
  process->encoder.add_tracepoint(record.who.tid, time_of(record), tracepoint.name, values_as_json(tracepoint, data_of(record)));
}

}  // namespace lanescope::cpu
