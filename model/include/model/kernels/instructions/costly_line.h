// The source line of a kernel at which a cause costs most, from counts or samples at its instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/code/kernel_code.h"
#include "model/kernels/counters/sections.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

struct CostlyLine {
  std::string place;     // "file.cu:12", followed by the lines into which it was inlined: "file.cu:12 < main.cu:40"
  std::uint32_t pc = 0;  // of its most costly instruction, bytes from the kernel's begin
  double share = 0;      // of the total cost, caused by this line: 0 to 1
  Message what;          // "of the sectors beyond those that are needed"
  Message stride;        // "8 or more elements of 4 B", between accesses of neighbouring threads to global memory; empty if unknown
  Message bank_stride;   // "a multiple of 32 elements of 4 B", to shared memory; empty if unknown
  // Of local memory: kComputed if an address anywhere in the kernel is computed, else kFixed.
  LocalAddress local_address = LocalAddress::kNone;
};
// For a cause that a verdict names. Counts give it exactly. Without counts, samples give it for causes for which warps wait at the instruction itself or for
// one known reason. If the kernel's process has none, those of another process count: it may be another run of the program. Nothing if neither counts nor
// samples give it, or if the code has no lines. O(samples + counted rows + bytes of code).
[[nodiscard]] std::optional<CostlyLine> costly_line(const Trace& trace, ProcessId process, NameId kernel, const Advice& cause);
// The same for each cause, in the same time.
[[nodiscard]] std::vector<std::optional<CostlyLine>> costly_lines(const Trace& trace, ProcessId process, NameId kernel, std::span<const Advice> causes);

// "98 % of the sectors beyond those that are needed are of main.cu:12, whose accesses have a stride of 8 or more elements of 4 B."
[[nodiscard]] Message line_text(const CostlyLine& line);

}  // namespace lanescope::kernels
