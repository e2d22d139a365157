// Which instructions a kernel executed, and how often: by opcode, of exact counts at its instructions (lanescope kernels --set source).
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
  NameId kernel = 0;                 // readable, as the events of kernels have it
  std::uint64_t launches = 0;        // that were counted
  std::vector<OpcodeCount> opcodes;  // of all of them; most executed first, equal ones by name
  double executed = 0;               // all of them together, by warps; a file may say more than 64 bits hold
};

// Of each kernel of which instructions were counted, and whose code the trace has, by process, what executed most first; of all launches that were counted, of
// a time those that overlap it. Opcodes are those of NVIDIA's tools; one that is not in our list is its number, "0x9ae". O(counted rows · log rows + bytes of
// code).
[[nodiscard]] std::vector<InstructionMix> instruction_mixes(const Trace& trace, std::optional<TimeRange> time = std::nullopt);

// Of the kernel of this name in a process; where instructions of its own were not counted, those of another: it may be another run of the program. Null: of
// none. O(mixes).
[[nodiscard]] const InstructionMix* mix_of(const std::vector<InstructionMix>& mixes, ProcessId process, NameId kernel) noexcept;

// What one of the launches executed, in the mean.
[[nodiscard]] std::vector<OpcodeCount> opcodes_of_a_launch(const InstructionMix& mix);

// As rows of the section InstructionStats.
[[nodiscard]] std::vector<SectionRow> opcode_rows(const std::vector<OpcodeCount>& opcodes);

}  // namespace lanescope::kernels
