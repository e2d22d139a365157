// One of the kernel's performance events (perf_event_open).
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>

#include "collector/channel/file_descriptor.h"
#include "collector/cpu/cpu_settings.h"

namespace lanescope::cpu {

using channel::FileDescriptor;

enum class EventKind : std::uint8_t {
  kTracking,  // processes and threads begin and end, files are mapped; open for the whole recording
  kSwitches,  // threads get and lose processors
  kSamples,
  kWakeups,           // threads may run again: the tracepoint sched:sched_waking
  kSystemCallBegins,  // the tracepoint raw_syscalls:sys_enter
  kSystemCallEnds,    // the tracepoint raw_syscalls:sys_exit
  kTracepoints,       // another tracepoint
};

enum class SampleClock { kCycles, kTimer };              // the clock of the processor, or of the kernel if the processor has none
enum class KernelCode { kIncluded, kLeftOut };           // in samples
enum class Inheritance { kWithChildren, kThreadAlone };  // whether threads and processes that the thread starts are followed
enum class Begin { kOnExec, kWhenTold };

// Properties that all events of a recording share.
struct EventPlan {
  CallChains call_chains = CallChains::kFramePointers;
  std::uint32_t frequency = 1000;
  SampleClock clock = SampleClock::kCycles;
  KernelCode kernel_code = KernelCode::kIncluded;
  Inheritance inheritance = Inheritance::kWithChildren;
  Begin begin = Begin::kOnExec;
  std::uint32_t wakeup_bytes = 1;       // bytes of records in the buffer that wake us
  std::uint64_t wakeup_tracepoint = 0;  // its number; 0: not available
};

// Bytes of the stack that a sample contains if it is to be unwound, and its registers in the order of the record.
inline constexpr std::uint32_t kStackBytes = 16 * 1024;
#if defined(__x86_64__)
inline constexpr bool kCanUnwind = true;
inline constexpr std::uint64_t kUserRegisters = 0xff01ff;  // asm/perf_regs.h: ax, bx, cx, dx, si, di, bp, sp, ip, r8 to r15
#else
inline constexpr bool kCanUnwind = false;
inline constexpr std::uint64_t kUserRegisters = 0;
#endif

// Fields that every record has after its content (samples: before it), so that they can be read without knowing its event.
struct RecordIdentity {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;  // CLOCK_MONOTONIC ns
  std::uint32_t processor = 0;
  std::uint32_t reserved = 0;
  std::uint64_t event = 0;  // id of the event that wrote it
};
static_assert(sizeof(RecordIdentity) == 32);

// `tracepoint`: the number of the tracepoint, for kinds whose number is not in the plan.
[[nodiscard]] perf_event_attr attributes(EventKind kind, const EventPlan& plan, std::uint64_t tracepoint = 0);

// Returns an invalid descriptor if the kernel refuses; errno has the reason.
FileDescriptor open_event(const perf_event_attr& attributes, pid_t thread, int processor);
// The records of an event for which its buffer had no room. 0 if the kernel does not count them (before Linux 6.0).
[[nodiscard]] std::uint64_t lost_by(int event) noexcept;

// The number of the tracepoint sched:sched_waking, and the offset of the woken thread in its data. 0 if tracefs can't be read. Unlike sched_wakeup, which
// may be passed on the processor of the woken thread, it is always passed by the thread that wakes.
struct WakeupTracepoint {
  std::uint64_t number = 0;
  std::uint32_t thread_offset = 0;
};
[[nodiscard]] WakeupTracepoint find_wakeup_tracepoint();

}  // namespace lanescope::cpu
