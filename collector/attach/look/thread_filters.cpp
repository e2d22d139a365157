#include "look/thread_filters.h"

#include <linux/seccomp.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collector/attach/process_text.h"
#include "inject/remote_memory.h"
#include "inject/stopped_thread.h"
#include "look/call_filter.h"
#include "look/needed_calls.h"

namespace lanescope::attach {
namespace {

constexpr std::chrono::milliseconds kStopLimit{500};
constexpr long kUnknownCount = -1;  // before Linux 5.9

struct ThreadFacts {
  long mode = 0;  // SECCOMP_MODE_*
  long filters = kUnknownCount;
};

ThreadFacts read_facts(const std::filesystem::path& folder) {
  ThreadFacts facts;
  const std::string status = process_text(folder / "status");
  facts.mode = std::strtol(status_value(status, "Seccomp:").c_str(), nullptr, 10);
  if (const std::string filters = status_value(status, "Seccomp_filters:"); !filters.empty()) facts.filters = std::strtol(filters.c_str(), nullptr, 10);
  return facts;
}

bool are_same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// True if it has the filters that we have: the same number of them, in the same container. A filter of its own would add to the number.
bool has_our_filters(pid_t process, const ThreadFacts& facts) {
  const ThreadFacts own = read_facts("/proc/self");
  const std::string folder = "/proc/" + std::to_string(process) + "/ns/";
  return own.filters > 0 && own.filters == facts.filters && are_same_file("/proc/self/ns/pid", folder + "pid") &&
         are_same_file("/proc/self/ns/mnt", folder + "mnt");
}

// Nothing if the filters may not be read.
std::optional<std::vector<FilterProgram>> read_filters(pid_t thread) {
  std::vector<FilterProgram> filters;
  for (unsigned long number = 0;; ++number) {
    const long length = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, number, nullptr);
    if (length < 0 && errno == ENOENT) return filters;
    FilterProgram filter(static_cast<std::size_t>(std::max(length, 0L)));
    if (length <= 0 || ptrace(PTRACE_SECCOMP_GET_FILTER, thread, number, filter.data()) != length) return std::nullopt;
    filters.push_back(std::move(filter));
  }
}

// Finds a call for which filters may end the process. A filter that several threads have is examined once.
class DeadlyCalls {
 public:
  explicit DeadlyCalls(std::span<const NeededCall> needed) : needed_(needed) {}

  // The name of such a call; null if there is none.
  const char* among(const std::vector<FilterProgram>& filters) {
    for (const FilterProgram& filter : filters) {
      const std::string bytes(reinterpret_cast<const char*>(filter.data()), filter.size() * sizeof(sock_filter));
      if (harmless_.contains(bytes)) continue;
      for (const NeededCall& call : needed_)
        if (worst_verdict(filter, call.number, work_) == Verdict::kKills) return call.name;
      harmless_.insert(bytes);
    }
    return nullptr;
  }

 private:
  std::span<const NeededCall> needed_;
  FilterWork work_;
  std::set<std::string> harmless_;  // filters
};

std::string record_from_outside(const Candidate& candidate) {
  return " Record its threads from outside, for which nothing enters it: lanescope attach -t none " + std::to_string(candidate.pid);
}

}  // namespace

std::optional<std::string> deadly_filter(const Candidate& candidate, Entrance entrance) {
  std::vector<NeededCall> needed(kNeededCalls.begin(), kNeededCalls.end());
  if (entrance == Entrance::kCopy) needed.insert(needed.end(), kNeededForCopy.begin(), kNeededForCopy.end());
  if (candidate.uses_cuda) needed.insert(needed.end(), kNeededForCuda.begin(), kNeededForCuda.end());
  DeadlyCalls deadly(needed);
  const RemoteMemory memory(candidate.pid);
  std::error_code failed;
  std::filesystem::directory_iterator task("/proc/" + std::to_string(candidate.pid) + "/task", failed);
  for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
    const ThreadFacts facts = read_facts(task->path());
    if (facts.mode == 0 || has_our_filters(candidate.pid, facts)) continue;
    if (facts.mode == SECCOMP_MODE_STRICT) return "one of its threads runs in strict seccomp mode." + record_from_outside(candidate);
    const auto thread = static_cast<pid_t>(std::atoi(task->path().filename().c_str()));
    const auto stopped = StoppedThread::stop(candidate.pid, thread, memory, kStopLimit);
    if (!stopped && !std::filesystem::exists(task->path(), failed)) continue;
    const auto filters = stopped ? read_filters(thread) : std::nullopt;
    if (!filters)
      return "it runs under a seccomp filter, for which the kernel may end it once the agent is in, and which can't be read without "
             "CAP_SYS_ADMIN. Run lanescope with sudo." +
             record_from_outside(candidate);
    if (const char* call = deadly.among(*filters))
      return "its seccomp filter may have the kernel end it for a system call of the agent's (" + std::string(call) + ")." + record_from_outside(candidate);
  }
  return std::nullopt;
}

}  // namespace lanescope::attach
