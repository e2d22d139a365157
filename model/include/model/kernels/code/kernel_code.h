// The code of a kernel that was sampled or counted, by instruction: its operation, its source line, the samples of warps there, and counts.
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

// The operation of an instruction for compute capability 7.0 or later, under the name of NVIDIA's tools without operands: "LDG". Empty if it is not in our
// list.
[[nodiscard]] std::string_view opcode_name(std::span<const std::byte> instruction) noexcept;

// How an instruction addresses local memory: at a fixed distance from the stack's begin, as spilled registers are, or by what was computed at run time, as
// elements of an array are.
enum class LocalAddress : std::uint8_t { kNone, kFixed, kComputed };                        // kNone: it does not access local memory
[[nodiscard]] LocalAddress local_address(std::span<const std::byte> instruction) noexcept;  // of compute capability 7.0 or later

inline constexpr std::uint32_t kNoFile = 0xffff'ffff;

struct CodeInstruction {
  std::uint32_t pc = 0;            // bytes from the function's begin
  std::string text;                // "LDG"; with operands if a disassembler provided them; "0x9ae" if the name is unknown
  std::uint32_t access_bytes = 0;  // bytes that it loads or stores for each thread; 0: none, or unknown
  LocalAddress local_address = LocalAddress::kNone;
  std::uint32_t file = kNoFile;  // index into KernelCode::files, for the innermost line
  std::uint32_t line = 0;
  std::string inlined_into;  // "main.cu:45 < main.cu:80": the places where it was inlined; empty: none
  std::uint64_t samples = 0;
  std::vector<StallCount> stalls;  // most samples first; those of "drain" are at the nearest store before the exit
  Counts counts;
};

// A source line that instructions belong to, or that a call with such instructions was inlined into.
struct CodeLine {
  std::uint32_t file = kNoFile;
  std::uint32_t line = 0;
  std::uint64_t samples = 0;  // at instructions whose innermost line this is
  std::vector<StallCount> stalls;
  Counts counts;  // likewise
};

struct KernelCode {
  std::string function;                       // mangled
  std::uint32_t symbol = 0;                   // index in the symbol table of its code object
  std::uint64_t crc = 0;                      // of that code object
  std::vector<std::string> files;             // as the compiler was told
  std::vector<std::string> file_names;        // of each file, as texts of places name it (SourcePlace::name)
  std::vector<std::uint64_t> file_bytes;      // of each file when it was compiled; 0: unknown
  std::vector<CodeInstruction> instructions;  // by pc
  std::vector<CodeLine> lines;                // by file and line
  std::uint64_t samples = 0;
  Counts counts;
};

// The code of the kernel with this name in a process, for all its launches. If several functions of that name were sampled, the one with most samples is
// taken; if none was sampled, the one with most executed instructions. Fails with one sentence if the trace lacks its code. O(samples + counted rows + bytes
// of its code object).
[[nodiscard]] Result<KernelCode> kernel_code(const Trace& trace, ProcessId process, NameId kernel);

// The process whose samples or counts describe a kernel: its own; else another, which may be another run of the program; its own if there is none.
// O(functions).
[[nodiscard]] ProcessId process_with_code(const Trace& trace, ProcessId process, NameId kernel) noexcept;

// Texts of instructions, by pc.
using Disassembly = std::map<std::uint32_t, std::string>;
// The instructions of a function (mangled name) from the output of `nvdisasm -c -fun SYMBOL`. O(bytes).
[[nodiscard]] Disassembly parse_disassembly(std::string_view printed, std::string_view function);
// Sets the texts of instructions that `texts` contains.
void apply_disassembly(const Disassembly& texts, KernelCode& code);

// The image of the code object with this `crc`; null if the trace does not have all of it.
[[nodiscard]] const std::string* code_image(const Trace& trace, ProcessId process, std::uint64_t crc);

}  // namespace lanescope::kernels
