// Where the warps of kernels stood, summed up: by kernel, by source line, by instruction.
//
// One sample says that a multiprocessor looked at one of its warps and found it at an instruction, and why it did not go on. Samples are
// proportional to the time that warps spent there, not to the time of the kernel: kernels that ran side by side share the hardware's looks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/code/cubin.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

struct StallCount {
  std::string_view reason;  // "long_scoreboard"; "selected": it went on
  std::uint64_t samples = 0;
  std::uint64_t not_issued = 0;  // of these: in cycles in which the scheduler issued nothing of any warp
};

// What one group of samples has in common, and how they divide.
struct StallSum {
  GpuId gpu = kNone;
  ProcessId process = kNone;
  NameId kernel = 0;     // readable, as the events of kernels have it
  std::string line;      // "file.cu:12", with the lines into which it was inlined behind it; empty by kernel, and where not known
  std::uint32_t pc = 0;  // by instruction: bytes from the begin of the function
  std::uint64_t samples = 0;
  std::uint64_t not_issued = 0;
  std::vector<StallCount> stalls;  // most samples first

  // The reason that holds most samples of those for which something can be done: neither "selected" nor "not_selected". Null: none.
  [[nodiscard]] const StallCount* decisive() const noexcept;
};

enum class SumBy { kKernel, kLine, kInstruction };

// Most samples first. Of a time, those that lie in it, as near as is known (sample_times.h); in whole, where a window may have some of it and no run of the
// kernel then is known. None: all. At instructions and lines, samples of "drain" are those of the store that warps wait for. O(samples + bytes of code where
// lines are asked for), and kernels in windows where there is a time.
[[nodiscard]] std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, std::optional<TimeRange> time = std::nullopt);
// The same where each process has a time of its own; none: all of its samples.
using TimeOfProcess = std::function<std::optional<TimeRange>(ProcessId)>;
[[nodiscard]] std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, const TimeOfProcess& time);

// What of the samples is not in these sums.
struct SampleLosses {
  std::uint64_t dropped = 0;
  std::uint64_t full_buffers = 0;  // windows in which the hardware's buffer was full
};
[[nodiscard]] SampleLosses sample_losses(const Trace& trace);

// How much of the time was sampled, where that was not all of it.
struct SampledPart {
  std::uint64_t windows = 0;
  Nanoseconds sampled = 0;  // by windows
  Nanoseconds of = 0;       // from the first one on
  [[nodiscard]] double percent() const { return of == 0 ? 0 : 100 * static_cast<double>(sampled) / static_cast<double>(of); }
};
// Of windows that overlap the time; none where sampling went on all the time, or nothing was sampled. O(windows · log windows).
[[nodiscard]] std::optional<SampledPart> sampled_part(const Trace& trace, std::optional<TimeRange> time = std::nullopt);

// What warps wait for, and what helps: "data from global or local memory or textures". Empty for a reason that is not known.
struct StallMeaning {
  std::string_view waits_for;
  std::string_view remedy;
};
[[nodiscard]] StallMeaning stall_meaning(std::string_view reason) noexcept;

}  // namespace lanescope::kernels
