// What was counted at the instructions of kernels, summed up: by kernel, by source line, by instruction. Counts are exact, of the launches
// that were counted (lanescope kernels --set source), and need no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/instructions/access_stride.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

enum class Count : std::uint8_t {
  kExecuted = 0,           // by warps
  kThreads,                // of these warps, that took part
  kThreadsOn,              // and of these, whose predicate was true
  kDivergentThreads,       // at branches that not all threads of a warp took: threads
  kGlobalSectors,          // of 32 bytes of global memory, that the L1 cache was asked for
  kGlobalSectorsIdeal,     // as few as these bytes fit in
  kSharedWavefronts,       // passes over shared memory
  kSharedWavefrontsIdeal,  // as few as there are without conflicts of banks
  kLocalSectors,           // of local memory: spilled registers, and arrays that are indexed at run time
};
inline constexpr std::size_t kCountKinds = 9;

// The metric of the SASS Metrics API: "smsp__sass_inst_executed".
[[nodiscard]] std::string_view metric_of(Count count) noexcept;
// Those that are to be counted.
[[nodiscard]] std::vector<std::string> instruction_metrics();

struct Counts {
  std::array<std::uint64_t, kCountKinds> values{};
  std::uint32_t known = 0;  // a bit each: those that were counted

  // 0 where it was not counted.
  [[nodiscard]] std::uint64_t of(Count count) const noexcept { return values[static_cast<std::size_t>(count)]; }
  [[nodiscard]] bool has(Count count) const noexcept { return (known >> static_cast<unsigned>(count) & 1) != 0; }
  [[nodiscard]] bool empty() const noexcept { return known == 0; }
  void set(Count count, std::uint64_t value) noexcept;
  Counts& operator+=(const Counts& other) noexcept;

  // Threads that took part in an instruction, of 32. Requires: of(kExecuted) > 0.
  [[nodiscard]] double threads() const noexcept { return static_cast<double>(of(Count::kThreads)) / static_cast<double>(of(Count::kExecuted)); }
  // Beyond what was needed.
  [[nodiscard]] std::uint64_t excess_sectors() const noexcept { return excess(Count::kGlobalSectors, Count::kGlobalSectorsIdeal); }
  [[nodiscard]] std::uint64_t excess_wavefronts() const noexcept { return excess(Count::kSharedWavefronts, Count::kSharedWavefrontsIdeal); }

 private:
  [[nodiscard]] std::uint64_t excess(Count all, Count ideal) const noexcept { return has(all) && has(ideal) && of(all) > of(ideal) ? of(all) - of(ideal) : 0; }
};

// What one group of instructions has in common, and what was counted at them.
struct CountSum {
  ProcessId process = kNone;
  NameId kernel = 0;     // readable, as the events of kernels have it
  std::string line;      // as StallSum has it
  std::uint32_t pc = 0;  // by instruction: bytes from the begin of the function
  Counts counts;
  std::optional<AccessStride> stride;  // of its instruction that asks for most sectors beyond what was needed; not by kernel
};

// How far apart threads access global memory by an instruction, which loads or stores so many bytes of each; none where they lie side by side, or it was not
// counted.
[[nodiscard]] std::optional<AccessStride> stride_of(const Counts& counts, std::uint32_t bytes);

// The most executed first, equal ones by kernel, line and place. Launches count whose kernels overlap the time; none: all. O(rows · log rows + kernels of the
// trace where there is a time + bytes of code where lines are asked for).
[[nodiscard]] std::vector<CountSum> sum_counts(const Trace& trace, SumBy by, std::optional<TimeRange> time = std::nullopt);

// The counts of a row of a trace's record. O(metrics).
class CountReader {
 public:
  CountReader(const KernelRecords& records, const InstructionCounts& counts);
  [[nodiscard]] Counts row(std::size_t row) const noexcept;

 private:
  const InstructionCounts& counts_;
  std::vector<std::optional<Count>> kinds_;  // of its metrics
};

}  // namespace lanescope::kernels
