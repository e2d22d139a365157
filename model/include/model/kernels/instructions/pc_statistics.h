// Sums of samples of kernels' warps: by kernel, by source line, by instruction.
//
// One sample says that a multiprocessor examined one of its warps, at which instruction the warp was, and why it did not continue. Samples are proportional to
// the time that warps spent there, not to the time of the kernel: kernels that run side by side share the samples.
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
  std::string_view reason;  // "long_scoreboard"; "selected": it continued
  std::uint64_t samples = 0;
  std::uint64_t not_issued = 0;  // of these, in cycles in which the scheduler issued no instruction of any warp
};

// A group of samples, and their reasons.
struct StallSum {
  GpuId gpu = kNone;
  ProcessId process = kNone;
  NameId kernel = 0;     // readable, as in the events of kernels
  std::string line;      // "file.cu:12", followed by the lines into which it was inlined; empty by kernel, and if unknown
  std::uint32_t pc = 0;  // by instruction: bytes from the begin of the function
  std::uint64_t samples = 0;
  std::uint64_t not_issued = 0;
  std::vector<StallCount> stalls;  // most samples first

  // The reason with most samples that can be improved: neither "selected" nor "not_selected". Null: none.
  [[nodiscard]] const StallCount* decisive() const noexcept;
};

enum class SumBy { kKernel, kLine, kInstruction };

// Most samples first. With `time`, samples that lie in it as far as that is known (sample_times.h). A window's samples count as a whole if some may lie in the
// time and no run of the kernel is known then. Without `time`, all samples. At instructions and lines, samples of "drain" belong to the store that warps wait
// for. O(samples + bytes of code if lines are requested), plus the kernels in windows if there is a time.
[[nodiscard]] std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, std::optional<TimeRange> time = std::nullopt);
// The same with a time for each process; without a value, all its samples count.
using TimeOfProcess = std::function<std::optional<TimeRange>(ProcessId)>;
[[nodiscard]] std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, const TimeOfProcess& time);

// The sampled part of the time, if that was not all of it.
struct SampledPart {
  std::uint64_t windows = 0;
  Nanoseconds sampled = 0;  // by windows
  Nanoseconds of = 0;       // from the first window on
  [[nodiscard]] double percent() const { return of == 0 ? 0 : 100 * static_cast<double>(sampled) / static_cast<double>(of); }
};
// For windows that overlap the time. Nothing if sampling was continuous, or if nothing was sampled. O(windows · log windows).
[[nodiscard]] std::optional<SampledPart> sampled_part(const Trace& trace, std::optional<TimeRange> time = std::nullopt);

// What warps wait for, and what helps: "data from global or local memory or textures". Empty for an unknown reason.
struct StallMeaning {
  std::string_view waits_for;
  std::string_view remedy;
};
[[nodiscard]] StallMeaning stall_meaning(std::string_view reason) noexcept;

}  // namespace lanescope::kernels
