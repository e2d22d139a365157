// Sums of counts at the instructions of kernels: by kernel, by source line, by instruction. Counts are exact for the launches that were counted (lanescope
// kernels --set source), and are independent of the clock.
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
  kThreads,                // threads of these warps that took part
  kThreadsOn,              // of these, threads whose predicate was true
  kDivergentThreads,       // threads at branches that not all threads of a warp took
  kGlobalSectors,          // of 32 bytes of global memory, requested from the L1 cache
  kGlobalSectorsIdeal,     // the minimum that these bytes fit into
  kSharedWavefronts,       // passes over shared memory
  kSharedWavefrontsIdeal,  // the minimum, without bank conflicts
  kLocalSectors,           // of local memory: spilled registers, and arrays that are indexed at run time
};
inline constexpr std::size_t kCountKinds = 9;

// The metrics of the SASS Metrics API to count: "smsp__sass_inst_executed", ...
[[nodiscard]] std::vector<std::string> instruction_metrics();

struct Counts {
  std::array<std::uint64_t, kCountKinds> values{};
  std::uint32_t known = 0;  // a bit for each count that was made

  // 0 if it was not counted.
  [[nodiscard]] std::uint64_t of(Count count) const noexcept { return values[static_cast<std::size_t>(count)]; }
  [[nodiscard]] bool has(Count count) const noexcept { return (known >> static_cast<unsigned>(count) & 1) != 0; }
  [[nodiscard]] bool empty() const noexcept { return known == 0; }
  void set(Count count, std::uint64_t value) noexcept;
  Counts& operator+=(const Counts& other) noexcept;

  // Mean number of threads that took part in an instruction, of 32. Requires: of(kExecuted) > 0.
  [[nodiscard]] double threads() const noexcept { return static_cast<double>(of(Count::kThreads)) / static_cast<double>(of(Count::kExecuted)); }
  // Beyond the minimum.
  [[nodiscard]] std::uint64_t excess_sectors() const noexcept { return excess(Count::kGlobalSectors, Count::kGlobalSectorsIdeal); }
  [[nodiscard]] std::uint64_t excess_wavefronts() const noexcept { return excess(Count::kSharedWavefronts, Count::kSharedWavefrontsIdeal); }

 private:
  [[nodiscard]] std::uint64_t excess(Count all, Count ideal) const noexcept { return has(all) && has(ideal) && of(all) > of(ideal) ? of(all) - of(ideal) : 0; }
};

// A group of instructions and its counts.
struct CountSum {
  ProcessId process = kNone;
  NameId kernel = 0;     // readable, as in the events of kernels
  std::string line;      // as in StallSum
  std::uint32_t pc = 0;  // by instruction: bytes from the begin of the function
  Counts counts;
  std::optional<AccessStride> stride;  // of the instruction with most sectors beyond the minimum; not by kernel
};

// The distance between threads' accesses to global memory by an instruction that loads or stores `bytes` for each thread. Nothing if the accesses are
// adjacent, or if they were not counted.
[[nodiscard]] std::optional<AccessStride> stride_of(const Counts& counts, std::uint32_t bytes);

// The most executed first, equal ones by kernel, line and place. With `time`, launches count whose kernels overlap it; without, all launches. O(rows · log
// rows + kernels of the trace if there is a time + bytes of code if lines are requested).
[[nodiscard]] std::vector<CountSum> sum_counts(const Trace& trace, SumBy by, std::optional<TimeRange> time = std::nullopt);

// Reads the counts of rows in a trace's record. O(metrics).
class CountReader {
 public:
  CountReader(const KernelRecords& records, const InstructionCounts& counts);
  [[nodiscard]] Counts row(std::size_t row) const noexcept;

 private:
  const InstructionCounts& counts_;
  std::vector<std::optional<Count>> kinds_;  // of its metrics
};

}  // namespace lanescope::kernels
