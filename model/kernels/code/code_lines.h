// The source of instructions, as text. Internal to model/kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/code/cubin.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// The function in the code; null if the code lacks it.
[[nodiscard]] const CubinFunction* find_function(const Cubin& cubin, const GpuFunction& function, const Trace& trace);

// The name of an instruction: "LDG", or its number. Requires: a complete instruction.
[[nodiscard]] std::string opcode_text(std::span<const std::byte> instruction);

// Returns the nearest store before `pc`, or `pc` if there is none. Warps that have ended wait until their stores are written (the state "drain"). Their
// samples are at the exit, or at the branch to itself after it, which did not cause the wait.
[[nodiscard]] std::uint32_t store_before(std::span<const std::byte> code, std::uint32_t pc);

// Each code file is read once if callers ask for its functions consecutively.
class CodeLines {
 public:
  // The trace must outlive *this.
  explicit CodeLines(const Trace& trace);

  // Index into KernelRecords::code; kNone if the code is missing.
  [[nodiscard]] std::uint32_t code_of(GpuFunctionId function) const { return code_of_function_[function]; }
  // "file.cu:12 < other.cu:3"; empty if unknown.
  [[nodiscard]] std::string text(GpuFunctionId function, std::uint32_t pc);
  // The innermost place; without a file if unknown. Valid until another function is requested.
  [[nodiscard]] SourcePlace place(GpuFunctionId function, std::uint32_t pc);
  // "LDG"; its number if the name is unknown: "0x9ae". Empty if the code is missing.
  [[nodiscard]] std::string opcode(GpuFunctionId function, std::uint32_t pc);
  // The same as the free function, in the function's code.
  [[nodiscard]] std::uint32_t store_before(GpuFunctionId function, std::uint32_t pc);
  // Bytes that a thread loads or stores by the instruction (access_stride.h).
  [[nodiscard]] std::uint32_t access_bytes(GpuFunctionId function, std::uint32_t pc);

 private:
  void read(GpuFunctionId function);
  [[nodiscard]] std::span<const std::byte> instruction(GpuFunctionId function, std::uint32_t pc);  // empty if it is missing

  const Trace& trace_;
  const KernelRecords& records_;
  std::vector<std::uint32_t> code_of_function_;
  std::uint32_t read_ = kNone;
  std::optional<Cubin> cubin_;
  GpuFunctionId read_function_ = kNone;
  const CubinFunction* function_ = nullptr;  // of cubin_
  std::size_t line_bytes_ = 0;
};

}  // namespace lanescope::kernels
