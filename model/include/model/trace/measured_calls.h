// The CUDA calls in which the profiler read the counters, or counted the instructions, of the kernel that the call launched: they took their time for that.
//
// A trace tells of them by its records of kernels. Formats without such records keep an event of the profiler's overhead for each call instead, on the
// thread of the call and with its correlation id, so that idle time has the same causes after an import.
// Thread-safe as a const.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

// The name of these events.
inline constexpr std::string_view kReadingOfCounters = "Reading counters of a kernel";

class MeasuredCalls {
 public:
  // Those that the records tell of. O(launches that were measured).
  [[nodiscard]] static MeasuredCalls recorded(const Trace& trace);
  // Those, and those that events tell of. O(the same + overhead events, if any has that name).
  [[nodiscard]] static MeasuredCalls known(const Trace& trace);
  // Whether known(trace) has any. O(1).
  [[nodiscard]] static bool any(const Trace& trace) noexcept;

  // `correlation`: of a call or of its kernel, in its process. O(1).
  [[nodiscard]] bool contains(ProcessId process, std::uint32_t correlation) const {
    return process < processes_.size() && processes_[process].has_any && keys_.contains(key_of(process, correlation));
  }
  [[nodiscard]] bool has_any(ProcessId process) const { return process < processes_.size() && processes_[process].has_any; }
  // The time that the process spent in measuring; as far as only events tell of it, the time of these calls.
  [[nodiscard]] Nanoseconds spent(ProcessId process) const { return process < processes_.size() ? processes_[process].spent : 0; }
  // One key a call: its process above 32 bits of its correlation.
  [[nodiscard]] const std::unordered_set<std::uint64_t>& keys() const noexcept { return keys_; }

 private:
  struct OfProcess {
    bool has_any = false;
    Nanoseconds spent = 0;
  };
  explicit MeasuredCalls(std::size_t processes) : processes_(processes) {}
  static std::uint64_t key_of(ProcessId process, std::uint32_t correlation) noexcept { return std::uint64_t{process} << 32 | correlation; }
  void add(ProcessId process, std::uint32_t correlation, Nanoseconds spent);

  std::unordered_set<std::uint64_t> keys_;
  std::vector<OfProcess> processes_;
};

}  // namespace lanescope
