#include "perf_event.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "tracepoint.h"

namespace lanescope::cpu {
namespace {

constexpr std::uint64_t kCountLost = 1u << 4;  // PERF_FORMAT_LOST, which headers before Linux 6.0 lack
constexpr std::uint64_t kIdentity = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

void describe_samples(const EventPlan& plan, perf_event_attr& event) {
  const bool by_cycles = plan.clock == SampleClock::kCycles;
  event.type = by_cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
  event.config = by_cycles ? std::uint64_t{PERF_COUNT_HW_CPU_CYCLES} : std::uint64_t{PERF_COUNT_SW_CPU_CLOCK};
  event.freq = 1;
  event.sample_freq = plan.frequency;
  event.sample_type |= PERF_SAMPLE_IP;
  event.exclude_kernel = plan.kernel_code == KernelCode::kLeftOut ? 1 : 0;
  if (plan.call_chains != CallChains::kNone) event.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (plan.call_chains == CallChains::kDwarf) {
    event.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    event.exclude_callchain_user = 1;
    event.sample_regs_user = kUserRegisters;
    event.sample_stack_user = kStackBytes;
  } else if (plan.call_chains == CallChains::kBranchRecords) {
    event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    event.exclude_callchain_user = 1;
    event.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
  }
}

}  // namespace

perf_event_attr attributes(EventKind kind, const EventPlan& plan, std::uint64_t tracepoint) {
  perf_event_attr event{};
  event.size = sizeof(event);
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_DUMMY;
  event.sample_type = kIdentity;
  event.sample_id_all = 1;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  event.disabled = 1;
  event.inherit = plan.inheritance == Inheritance::kWithChildren ? 1 : 0;
  event.enable_on_exec = plan.begin == Begin::kOnExec || kind == EventKind::kTracking ? 1 : 0;
  event.watermark = 1;
  event.wakeup_watermark = plan.wakeup_bytes;
  switch (kind) {
    case EventKind::kTracking:
      event.mmap = 1;
      event.mmap2 = 1;
      event.comm = 1;
      event.comm_exec = 1;
      event.task = 1;
      break;
    case EventKind::kSwitches:
      event.context_switch = 1;
      break;
    case EventKind::kSamples:
      describe_samples(plan, event);
      break;
    case EventKind::kWakeups:
    case EventKind::kSystemCallBegins:
    case EventKind::kSystemCallEnds:
    case EventKind::kTracepoints:
      event.type = PERF_TYPE_TRACEPOINT;
      event.config = kind == EventKind::kWakeups ? plan.wakeup_tracepoint : tracepoint;
      event.sample_period = 1;
      event.sample_type |= PERF_SAMPLE_RAW;
      event.exclude_kernel = 0;
      break;
  }
  return event;
}

FileDescriptor open_event(const perf_event_attr& attributes, pid_t thread, int processor) {
  perf_event_attr event = attributes;
  const auto open = [&] { return static_cast<int>(syscall(SYS_perf_event_open, &event, thread, processor, -1, PERF_FLAG_FD_CLOEXEC)); };
  if (event.read_format != 0) return FileDescriptor(open());
  event.read_format = kCountLost;
  int descriptor = open();
  if (descriptor < 0 && errno == EINVAL) {
    event.read_format = 0;
    descriptor = open();
  }
  return FileDescriptor(descriptor);
}

std::uint64_t lost_by(int event) noexcept {
  std::array<std::uint64_t, 2> values{};  // the event's count, and what was lost
  return read(event, values.data(), sizeof(values)) == sizeof(values) ? values[1] : 0;
}

WakeupTracepoint find_wakeup_tracepoint() {
  const Result<Tracepoint> found = find_tracepoint("sched", "sched_waking");
  const TracepointField* thread = found ? found->field("pid") : nullptr;
  return thread == nullptr ? WakeupTracepoint{} : WakeupTracepoint{found->number, thread->offset};
}

}  // namespace lanescope::cpu
