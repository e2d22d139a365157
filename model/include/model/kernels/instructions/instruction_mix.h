// The instructions that a kernel executed, by opcode, from exact counts at its instructions (lanescope kernels --set source).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/kernels/counters/kernel_metrics.h"
#include "model/kernels/counters/sections.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

struct InstructionMix {
  ProcessId process = kNone;
  NameId kernel = 0;                 // readable, as in the events of kernels
  std::uint64_t launches = 0;        // that were counted
  std::vector<OpcodeCount> opcodes;  // of all these launches; most executed first, equal ones by name
  double executed = 0;               // by warps, total; double, because a file may claim more than 64 bits hold
};

// A mix for each kernel whose instructions were counted and whose code the trace has, by process, most executed first. All counted launches contribute; with
// `time`, those that overlap it. Opcodes have the names of NVIDIA's tools; an opcode that is not in our list is a number, "0x9ae". O(counted rows · log rows +
// bytes of code).
[[nodiscard]] std::vector<InstructionMix> instruction_mixes(const Trace& trace, std::optional<TimeRange> time = std::nullopt);

// The mix of the kernel with this name in a process. If its instructions were not counted there, that of another process, which may be another run of the
// program. Null if there is none. O(mixes).
[[nodiscard]] const InstructionMix* mix_of(const std::vector<InstructionMix>& mixes, ProcessId process, NameId kernel) noexcept;

// Mean instructions of one launch.
[[nodiscard]] std::vector<OpcodeCount> opcodes_of_a_launch(const InstructionMix& mix);

// As rows of the section InstructionStats.
[[nodiscard]] std::vector<SectionRow> opcode_rows(const std::vector<OpcodeCount>& opcodes);

}  // namespace lanescope::kernels
