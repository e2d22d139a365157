// Where instructions come from, in words. Internal to model/kernels.
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

// Of the code that is of a function; null where that lacks it.
[[nodiscard]] const CubinFunction* find_function(const Cubin& cubin, const GpuFunction& function, const Trace& trace);

// What an instruction is, in words: "LDG", or its number. Requires: whole.
[[nodiscard]] std::string opcode_text(std::span<const std::byte> instruction);

// Warps that have ended wait until their stores have left (the state "drain"): they stand at the exit or at the branch to itself behind it, which did nothing.
// The store that is nearest before that place; the place itself where there is none.
[[nodiscard]] std::uint32_t store_before(std::span<const std::byte> code, std::uint32_t pc);

// Each file of code is read once, where those that ask go through one after the other.
class CodeLines {
 public:
  // The trace outlives it.
  explicit CodeLines(const Trace& trace);

  // Position in KernelRecords::code; kNone where it is not there.
  [[nodiscard]] std::uint32_t code_of(GpuFunctionId function) const { return code_of_function_[function]; }
  // "file.cu:12 < other.cu:3"; empty where it is not known.
  [[nodiscard]] std::string text(GpuFunctionId function, std::uint32_t pc);
  // The innermost place; of no file where it is not known. Valid until another function is asked for.
  [[nodiscard]] SourcePlace place(GpuFunctionId function, std::uint32_t pc);
  // "LDG"; its number where that is not known: "0x9ae". Empty where the code is not there.
  [[nodiscard]] std::string opcode(GpuFunctionId function, std::uint32_t pc);
  // The same in the function's code.
  [[nodiscard]] std::uint32_t store_before(GpuFunctionId function, std::uint32_t pc);
  // That a thread loads or stores by the instruction (access_stride.h).
  [[nodiscard]] std::uint32_t access_bytes(GpuFunctionId function, std::uint32_t pc);

 private:
  void read(GpuFunctionId function);
  [[nodiscard]] std::span<const std::byte> instruction(GpuFunctionId function, std::uint32_t pc);  // empty where it is not there

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
