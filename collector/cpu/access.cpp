#include "collector/cpu/access.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "events/perf_event.h"
#include "events/record_buffer.h"

namespace lanescope::cpu {
namespace {

std::optional<int> paranoia() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  return file >> level ? std::optional<int>(level) : std::nullopt;
}

void explain(int error, Access& access) {
  const std::optional<int> level = paranoia();
  if (error == EMFILE) {
    access.reason = "this user may open too few files";
    access.remedy = "ulimit -n 65536";
  } else if (error == ENFILE) {
    access.reason = "the system has no file descriptors left";
  } else if (!level || error == ENOSYS) {
    access.reason = "this kernel has no performance events";
  } else if (*level > 2 && geteuid() != 0) {
    access.reason = "kernel.perf_event_paranoid is " + std::to_string(*level);
    access.remedy = "sudo sysctl kernel.perf_event_paranoid=2";
  } else if (error == EPERM || error == EACCES) {
    access.reason = "performance events are forbidden here, as they are in containers";
    access.remedy = "docker run --cap-add PERFMON (or --security-opt seccomp=unconfined)";
  } else {
    access.reason = "the kernel refuses performance events (" + std::string(std::strerror(error)) + ")";
  }
}

bool can_open(EventKind kind, const EventPlan& plan, pid_t thread = 0, int processor = -1) {
  return open_event(attributes(kind, plan), thread, processor).valid();
}

}  // namespace

Access probe_access() {
  Access access;
  EventPlan plan;
  plan.inheritance = Inheritance::kThreadAlone;
  plan.begin = Begin::kWhenTold;
  plan.kernel_code = KernelCode::kLeftOut;
  plan.clock = SampleClock::kTimer;
  plan.call_chains = CallChains::kNone;
  const FileDescriptor event = open_event(attributes(EventKind::kSwitches, plan), 0, -1);
  if (!event.valid() || !can_open(EventKind::kSamples, plan)) {
    explain(errno, access);
    return access;
  }
  if (!RecordBuffer::map(event.get(), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) * 8)) {
    access.reason = "no memory may be locked for records";
    access.remedy = "sudo sysctl kernel.perf_event_mlock_kb=8192";
    return access;
  }
  access.own_processes = true;
  access.system_wide = can_open(EventKind::kSwitches, plan, -1, 0);
  plan.kernel_code = KernelCode::kIncluded;
  access.kernel_code = can_open(EventKind::kSamples, plan);
  plan.kernel_code = KernelCode::kLeftOut;
  plan.clock = SampleClock::kCycles;
  access.cycles = can_open(EventKind::kSamples, plan);
  plan.call_chains = CallChains::kBranchRecords;
  access.branch_records = can_open(EventKind::kSamples, plan);
  plan.wakeup_tracepoint = find_wakeup_tracepoint().number;
  access.wakeups = plan.wakeup_tracepoint != 0 && can_open(EventKind::kWakeups, plan);
  return access;
}

}  // namespace lanescope::cpu
