// Idle time of GPUs, and the cause of every nanosecond of it.
//
// A GPU is idle while nothing runs on it: no kernel, copy, set or graph of any process, between the start of its first operation and the end of its
// last. A gap is a maximal stretch of idle time. Each gap ends with an operation. The cause is what its launching thread did during the gap, and
// whether the operation had been enqueued already. If one cause followed another, the gap is split (docs/analysis.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

enum class IdleCause : std::uint8_t {
  kLaunch,         // the next operation was being enqueued: its thread was in launching calls, or it was on its way to the GPU
  kSynchronize,    // its thread was in a call that waits for the GPU, or had just emptied the GPU's queue with one
  kCopy,           // its thread was in a blocking copy, or staged pageable memory
  kCudaSetup,      // its thread was in another CUDA call: allocation, module loading, compilation
  kOsIo,           // its thread read or wrote
  kOsLock,         // its thread waited for a lock, a condition or another thread
  kOsSleep,        // its thread slept
  kOsQueue,        // its thread waited for data: poll, select, receive
  kOsOther,        // its thread was in another call of the C library
  kOsBlocked,      // its thread was blocked in the kernel, by a call that was not recorded
  kOsProcessor,    // its thread was ready to run, and got no processor
  kCpuCode,        // its thread ran code of its own
  kDependency,     // it had been enqueued, and waited on the GPU: for another stream, an event, a host function
  kCommunication,  // its thread was in a communication library, or the operation is a communication kernel that waited
  kMigration,      // the operation moves pages of unified memory, which no call asked for: the other side had touched them
  kOverhead,       // its thread ran the profiler, or the GPU was taken by a kernel whose counters were read
  kUnknown,        // its launch was not recorded
};
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::kUnknown) + 1;

[[nodiscard]] std::string_view idle_cause_key(IdleCause cause) noexcept;     // "cpu_code": for programs
[[nodiscard]] std::string_view idle_cause_name(IdleCause cause) noexcept;    // "Running CPU code": for people
[[nodiscard]] std::string_view idle_cause_clause(IdleCause cause) noexcept;  // "while the launching thread ran CPU code"

// Between launches of code that runs operators one by one, such as PyTorch's, gaps are shorter than this. If the CPU does something else, they are
// longer.
inline constexpr Nanoseconds kShortGap = 500'000;

// Launching calls take a few microseconds. A call that takes this long did something else first, and no work that had been enqueued would have hidden
// it.
inline constexpr Nanoseconds kLongLaunch = 200'000;

// The cause that holds most of the time of pieces, each of which has a `range` and a `cause`; kLaunch if there are none. A gap is named by this cause,
// and it is what a thread is said to have done in a part of time.
template <typename Pieces>
[[nodiscard]] IdleCause main_cause(const Pieces& pieces) noexcept {
  std::array<Nanoseconds, kIdleCauses> time{};
  for (const auto& piece : pieces) time[static_cast<std::size_t>(piece.cause)] += piece.range.length();
  return static_cast<IdleCause>(std::max_element(time.begin(), time.end()) - time.begin());
}

// The idle time with one cause.
struct IdleSum {
  IdleCause cause = IdleCause::kUnknown;
  std::string_view call;   // the call that most of it has in common; empty if there is none
  std::uint64_t gaps = 0;  // gaps that hold some of it
  Nanoseconds total = 0;
  Nanoseconds in_short_gaps = 0;  // the time that lies in gaps of at most kShortGap
  Nanoseconds behind_waits = 0;   // the time that is due to waits for the GPU in front of it
  bool has_known_code = false;    // true if samples name a function that took much of it
  // True if waits are what to look at first: most of the time is due to them, and not to a known function.
  [[nodiscard]] bool is_behind_waits() const noexcept { return behind_waits > total / 2 && !has_known_code; }
  // True if it is the time that code which runs operators one by one needs between its launches.
  [[nodiscard]] bool is_between_launches() const noexcept;
};
[[nodiscard]] std::string_view idle_advice(const IdleSum& sum) noexcept;  // what to do about it

// A piece of a gap with one cause.
struct IdlePart {
  TimeRange range;
  IdleCause cause = IdleCause::kUnknown;
  NameId call = 0;  // the CUDA or C library call, or the communication range; 0 if none
  EventRef nvtx;    // the innermost NVTX range of the launching thread; for time that a wait is to blame for, the range of the wait; invalid if none
};

struct IdleGap {
  GpuId gpu = kNone;
  TimeRange range;
  EventRef next;          // the operation that ends it
  EventRef launch;        // the call that enqueued that; invalid when it was not recorded
  TimeRange launch_time;  // of that call
  // From when on the operation waited for the GPU; where that is not known, when the gap begins.
  [[nodiscard]] Nanoseconds enqueued() const noexcept { return launch.valid() ? launch_time.begin : range.begin; }
};

// Sums over one GPU.
struct GpuIdle {
  GpuId gpu = kNone;
  TimeRange extent;  // from the first operation's start to the last one's end
  Nanoseconds idle = 0;
  std::uint64_t operations = 0;
  std::uint64_t gaps = 0;        // of `threshold` or longer
  std::uint64_t short_gaps = 0;  // below the threshold
  Nanoseconds short_idle = 0;    // their time
  [[nodiscard]] Nanoseconds busy() const noexcept { return extent.length() - idle; }
};

// Called for each gap of `threshold` or longer, GPU by GPU in order of time, with its parts: in order, adjoining, covering it exactly. The parts are
// valid during the call.
using IdleVisitor = std::function<void(const IdleGap& gap, std::span<const IdlePart> parts)>;

// Visits the gaps of every GPU, with the index of the trace's launches or one of its own. O(n log n) over the events of the trace, O(CUDA calls)
// memory. Ends early when asked to stop.
std::vector<GpuIdle> visit_idle(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, const IdleVisitor& visitor, std::stop_token stop = {});
std::vector<GpuIdle> visit_idle(const Trace& trace, Nanoseconds threshold, const IdleVisitor& visitor, std::stop_token stop = {});

// The same on as many threads as there are visitors. Each visitor is called for the gaps of its own stretch of time; the stretches are in the order of
// the visitors.
std::vector<GpuIdle> visit_idle_in_parts(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, std::span<const IdleVisitor> visitors,
                                         std::stop_token stop = {});

// The same for idle time within the window: gaps and their parts are cut at its ends. The whole length of a gap decides whether it is long enough.
std::vector<GpuIdle> visit_idle_within(const Trace& trace, const LaunchIndex& launches, TimeRange window, Nanoseconds threshold, const IdleVisitor& visitor,
                                       const std::stop_token& stop = {});

// A gap with its parts, to keep.
struct Bubble {
  IdleGap gap;
  std::vector<IdlePart> parts;
  [[nodiscard]] IdleCause main_cause() const noexcept;  // the cause that holds most of its time
};
struct Bubbles {
  std::vector<GpuIdle> gpus;
  std::vector<Bubble> bubbles;
};
[[nodiscard]] Bubbles find_bubbles(const Trace& trace, Nanoseconds threshold, std::stop_token stop = {});

}  // namespace lanescope::analysis
