// The code of a kernel that was sampled or counted, instruction by instruction: what it does, which source line it is of, how often warps
// stood there, and what was counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/kernels/instructions/instruction_counts.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// What an instruction of compute capability 7.0 or later does, as NVIDIA's tools name it, without its operands: "LDG". Empty where it is not
// in our list.
[[nodiscard]] std::string_view opcode_name(std::span<const std::byte> instruction) noexcept;

inline constexpr std::uint32_t kNoFile = 0xffff'ffff;

struct CodeInstruction {
  std::uint32_t pc = 0;            // bytes from the function's begin
  std::string text;                // "LDG"; with operands where a disassembler said them; "0x9ae" where nobody knows
  std::uint32_t access_bytes = 0;  // that it loads or stores of each thread; 0: it does not, or that is not known
  std::uint32_t file = kNoFile;    // position in KernelCode::files, of the innermost line
  std::uint32_t line = 0;
  std::string inlined_into;  // "main.cu:45 < main.cu:80": where that was inlined; empty: nowhere
  std::uint64_t samples = 0;
  std::vector<StallCount> stalls;  // most samples first; those of "drain" stand at the store that is nearest before the exit
  Counts counts;
};

// A line of a source file that instructions are of, or that one with such was inlined into.
struct CodeLine {
  std::uint32_t file = kNoFile;
  std::uint32_t line = 0;
  std::uint64_t samples = 0;  // at instructions of which it is the innermost line
  std::vector<StallCount> stalls;
  Counts counts;  // likewise
};

struct KernelCode {
  std::string function;                       // mangled
  std::uint32_t symbol = 0;                   // its position in the symbol table of its code object
  std::uint64_t crc = 0;                      // of that
  std::vector<std::string> files;             // as the compiler was told
  std::vector<std::uint64_t> file_bytes;      // of each, when it was compiled; 0: not known
  std::vector<CodeInstruction> instructions;  // by pc
  std::vector<CodeLine> lines;                // by file and line
  std::uint64_t samples = 0;
  Counts counts;
};

// Of the kernel of this name, of a process; of all its launches. Where several functions of that name were sampled, of the one with most
// samples; where none was, of the one with most instructions executed. Fails with one sentence where the trace lacks its code. O(samples +
// counted rows + bytes of its code object).
[[nodiscard]] Result<KernelCode> kernel_code(const Trace& trace, ProcessId process, NameId kernel);

// The process whose samples or counts tell of a kernel: its own, else another, which may be another run of the program; its own where none does. O(functions).
[[nodiscard]] ProcessId process_with_code(const Trace& trace, ProcessId process, NameId kernel) noexcept;

// Texts of instructions, by pc.
using Disassembly = std::map<std::uint32_t, std::string>;
// Of what `nvdisasm -c -fun SYMBOL` prints, those of a function (mangled name). O(bytes).
[[nodiscard]] Disassembly parse_disassembly(std::string_view printed, std::string_view function);
// Takes over those that there are.
void apply_disassembly(const Disassembly& texts, KernelCode& code);

// The image of the code object that this is of; null where the trace does not have it whole.
[[nodiscard]] const std::string* code_image(const Trace& trace, ProcessId process, std::uint64_t crc);

}  // namespace lanescope::kernels
