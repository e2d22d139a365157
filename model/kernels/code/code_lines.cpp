#include "code_lines.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <utility>

#include "model/kernels/code/kernel_code.h"
#include "model/kernels/instructions/access_stride.h"

namespace lanescope::kernels {
namespace {

constexpr std::size_t kMostLineBytes = 64u << 20;  // limit for the texts of all lines; beyond it, inlining is not described

std::string place_text(const SourcePlace& place) { return std::string(place.name) + ":" + std::to_string(place.line); }

}  // namespace

const CubinFunction* find_function(const Cubin& cubin, const GpuFunction& function, const Trace& trace) {
  return function.index != 0 ? cubin.function(function.index) : cubin.function(trace.name(function.mangled));
}

std::string opcode_text(std::span<const std::byte> instruction) {
  if (const std::string_view name = opcode_name(instruction); !name.empty()) return std::string(name);
  char text[16];
  std::snprintf(text, sizeof(text), "0x%03x", (std::to_integer<unsigned>(instruction[0]) | std::to_integer<unsigned>(instruction[1]) << 8) & 0xfff);
  return text;
}

std::uint32_t store_before(std::span<const std::byte> code, std::uint32_t pc) {
  if (pc > code.size() || code.size() - pc < kInstructionBytes) return pc;
  const auto is_one_of = [&code](std::uint32_t place, std::initializer_list<std::string_view> opcodes) {
    return std::find(opcodes.begin(), opcodes.end(), opcode_name(code.subspan(place, kInstructionBytes))) != opcodes.end();
  };
  if (!is_one_of(pc, {"EXIT", "BRA", "NOP"})) return pc;
  for (std::uint32_t before = pc; before >= kInstructionBytes;) {
    before -= kInstructionBytes;
    if (is_one_of(before, {"ST", "STG", "STL", "RED"})) return before;
  }
  return pc;
}

CodeLines::CodeLines(const Trace& trace) : trace_(trace), records_(trace.kernel_records()), code_of_function_(records_.functions.size()) {
  const KernelRecords& records = records_;
  std::map<std::pair<ProcessId, std::uint64_t>, std::uint32_t> positions;
  for (std::uint32_t i = 0; i < records.code.size(); ++i) positions.try_emplace({records.code[i]->process, records.code[i]->crc}, i);
  for (std::size_t i = 0; i < records.functions.size(); ++i) {
    const auto found = positions.find({records.functions[i].process, records.functions[i].code_object});
    code_of_function_[i] = found == positions.end() ? kNone : found->second;
  }
}

std::string CodeLines::text(GpuFunctionId id, std::uint32_t pc) {
  read(id);
  std::string text;
  if (function_ == nullptr) return text;
  for (const SourcePlace& place : cubin_->source(*function_, pc)) {
    if (!text.empty() && line_bytes_ > kMostLineBytes) break;
    text += (text.empty() ? "" : " < ") + place_text(place);
  }
  line_bytes_ += text.size();
  return text;
}

SourcePlace CodeLines::place(GpuFunctionId id, std::uint32_t pc) {
  read(id);
  if (function_ == nullptr) return {};
  const std::vector<SourcePlace> places = cubin_->source(*function_, pc);
  return places.empty() ? SourcePlace() : places.front();
}

std::span<const std::byte> CodeLines::instruction(GpuFunctionId id, std::uint32_t pc) {
  read(id);
  if (function_ == nullptr) return {};
  const std::span<const std::byte> code = cubin_->code(*function_);
  return pc <= code.size() && code.size() - pc >= kInstructionBytes ? code.subspan(pc, kInstructionBytes) : std::span<const std::byte>();
}

std::string CodeLines::opcode(GpuFunctionId function, std::uint32_t pc) {
  const std::span<const std::byte> found = instruction(function, pc);
  return found.empty() ? std::string() : opcode_text(found);
}

std::uint32_t CodeLines::store_before(GpuFunctionId function, std::uint32_t pc) {
  read(function);
  return function_ == nullptr ? pc : kernels::store_before(cubin_->code(*function_), pc);
}

std::uint32_t CodeLines::access_bytes(GpuFunctionId function, std::uint32_t pc) { return kernels::access_bytes(instruction(function, pc)); }

void CodeLines::read(GpuFunctionId function) {
  if (function == read_function_) return;
  read_function_ = function;
  function_ = nullptr;
  if (const std::uint32_t code = code_of_function_[function]; code != read_) {
    read_ = code;
    cubin_.reset();
    if (code != kNone && records_.code[code]->whole())
      if (Result<Cubin> cubin = Cubin::read(records_.code[code]->image)) cubin_ = std::move(*cubin);
  }
  if (cubin_) function_ = find_function(*cubin_, records_.functions[function], trace_);
}

}  // namespace lanescope::kernels
