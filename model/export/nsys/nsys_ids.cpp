#include "nsys_ids.h"

#include <set>

namespace lanescope::exporters {
namespace {

constexpr std::uint32_t kLargest = 0xffffff;

// Free numbers, from the largest downwards.
class FreeNumbers {
 public:
  void use(std::uint32_t number) {
    if (number <= kLargest) used_.insert(number);
  }
  std::uint32_t next() {
    while (used_.contains(candidate_)) --candidate_;
    return candidate_--;
  }

 private:
  std::set<std::uint32_t> used_;
  std::uint32_t candidate_ = kLargest;
};

}  // namespace

NsysIds::NsysIds(const Trace& trace) : trace_(trace) {
  FreeNumbers pids;
  FreeNumbers tids;
  for (const Process& process : trace.processes()) pids.use(process.pid);
  for (const Thread& thread : trace.threads()) tids.use(thread.tid);
  std::map<std::uint32_t, std::uint32_t> processes_of_pid;
  for (const Process& process : trace.processes()) {
    pids_.push_back(process.pid <= kLargest ? process.pid : pids.next());
    machines_.push_back(++processes_of_pid[pids_.back()]);
  }
  for (const Thread& thread : trace.threads()) tids_.push_back(thread.tid <= kLargest ? thread.tid : tids.next());
}

std::int64_t NsysIds::global_pid(ProcessId process) const {
  return static_cast<std::int64_t>(machines_[process]) << 48 | static_cast<std::int64_t>(pids_[process]) << 24;
}
std::int64_t NsysIds::global_tid(ThreadId thread) const { return global_pid(trace_.threads()[thread].process) | tids_[thread]; }
std::int64_t NsysIds::global_tid(const TrackKey& key) const { return key.thread == kNone ? global_pid(key.process) : global_tid(key.thread); }

std::int64_t NsysStrings::id(std::string_view text) {
  const auto found = other_ids_.find(text);
  if (found != other_ids_.end()) return found->second;
  const auto id = static_cast<std::int64_t>(used_.size() + others_.size());
  others_.emplace_back(text);
  other_ids_.emplace(text, id);
  return id;
}

}  // namespace lanescope::exporters
