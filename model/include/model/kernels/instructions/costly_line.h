// The line of a kernel's source at which a cause costs most, by what was counted or sampled at its instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/counters/sections.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

struct CostlyLine {
  std::string place;     // "file.cu:12", with the lines into which it was inlined behind it: "file.cu:12 < main.cu:40"
  std::uint32_t pc = 0;  // of its instruction that costs most, bytes from the kernel's begin
  double share = 0;      // of what costs, that is of this line: 0 to 1
  Message what;          // "of the sectors beyond those that are needed"
  Message stride;        // "8 or more elements of 4 B", between neighbouring threads' accesses; empty where that is not known
};
// Of a cause that a verdict names. Counts say it exactly; where there are none, samples do, for causes in which warps wait at the instruction itself or for one
// known reason. Those of another process count where the kernel's own has none: it may be another run of the program. None where neither tells it, or the code
// has no lines. O(samples + counted rows + bytes of code).
[[nodiscard]] std::optional<CostlyLine> costly_line(const Trace& trace, ProcessId process, NameId kernel, const Advice& cause);
// Of each cause, in the same time.
[[nodiscard]] std::vector<std::optional<CostlyLine>> costly_lines(const Trace& trace, ProcessId process, NameId kernel, std::span<const Advice> causes);

// "98 % of the sectors beyond those that are needed are of main.cu:12, whose accesses have a stride of 8 or more elements of 4 B."
[[nodiscard]] Message line_text(const CostlyLine& line);

}  // namespace lanescope::kernels
