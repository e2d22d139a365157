// Unwinding by the tables that libdw (elfutils) reads.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "own_vdso.h"
#include "unwinder.h"

namespace lanescope::cpu {
namespace {

constexpr std::size_t kMaximumCalls = 512;
constexpr std::size_t kFramePointer = 6;
constexpr std::size_t kSaved[] = {3, kFramePointer, 12, 13, 14, 15, kInstructionPointer};  // registers that callees preserve

// The copy of the stack that a sample contains.
class StackCopy {
 public:
  StackCopy(std::uint64_t start, std::span<const std::byte> bytes) : start_(start), bytes_(bytes) {}
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t address) const {
    if (address < start_ || bytes_.size() < sizeof(std::uint64_t) || address - start_ > bytes_.size() - sizeof(std::uint64_t)) return {};
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + (address - start_), sizeof(word));
    return word;
  }

 private:
  std::uint64_t start_;
  std::span<const std::byte> bytes_;
};

using Expression = std::span<const Dwarf_Op>;

// The value of an expression; nothing if it needs memory that is not in the copy, or uses operations that compilers do not write here.
std::optional<std::uint64_t> evaluate(Expression expression, const UserRegisters& registers, const StackCopy& memory, std::uint64_t frame) {
  std::vector<std::uint64_t> stack;
  const auto pop = [&] {
    const std::uint64_t top = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) stack.pop_back();
    return top;
  };
  const auto push_register = [&](std::uint64_t number, std::uint64_t offset) { stack.push_back((number < kRegisterCount ? registers[number] : 0) + offset); };
  for (const Dwarf_Op& step : expression) {
    const std::uint8_t atom = step.atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
      stack.push_back(atom - DW_OP_lit0);
    } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
      push_register(atom - DW_OP_breg0, step.number);
    } else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
      stack.push_back(step.number);
    } else if (atom == DW_OP_bregx) {
      push_register(step.number, step.number2);
    } else if (atom == DW_OP_call_frame_cfa) {
      stack.push_back(frame);
    } else if (atom == DW_OP_plus_uconst) {
      stack.push_back(pop() + step.number);
    } else if (atom == DW_OP_dup) {
      stack.push_back(stack.empty() ? 0 : stack.back());
    } else if (atom == DW_OP_deref) {
      const std::optional<std::uint64_t> word = memory.read(pop());
      if (!word) return std::nullopt;
      stack.push_back(*word);
    } else {
      const std::uint64_t right = pop();
      const std::uint64_t left = pop();
      const auto signed_left = static_cast<std::int64_t>(left);
      const auto signed_right = static_cast<std::int64_t>(right);
      switch (atom) {
        case DW_OP_plus:
          stack.push_back(left + right);
          break;
        case DW_OP_minus:
          stack.push_back(left - right);
          break;
        case DW_OP_and:
          stack.push_back(left & right);
          break;
        case DW_OP_or:
          stack.push_back(left | right);
          break;
        case DW_OP_shl:
          stack.push_back(right < 64 ? left << right : 0);
          break;
        case DW_OP_shr:
          stack.push_back(right < 64 ? left >> right : 0);
          break;
        case DW_OP_ge:
          stack.push_back(signed_left >= signed_right ? 1 : 0);
          break;
        case DW_OP_gt:
          stack.push_back(signed_left > signed_right ? 1 : 0);
          break;
        case DW_OP_le:
          stack.push_back(signed_left <= signed_right ? 1 : 0);
          break;
        case DW_OP_lt:
          stack.push_back(signed_left < signed_right ? 1 : 0);
          break;
        case DW_OP_eq:
          stack.push_back(left == right ? 1 : 0);
          break;
        case DW_OP_ne:
          stack.push_back(left != right ? 1 : 0);
          break;
        default:
          return std::nullopt;
      }
    }
  }
  if (stack.empty()) return std::nullopt;
  return stack.back();
}

// Where the caller's value of a register is found.
struct Rule {
  enum class Kind : std::uint8_t { kSame, kUndefined, kAtOffset, kValue, kAtExpression } kind = Kind::kSame;
  std::int64_t offset = 0;           // kAtOffset: in memory, from the frame's address
  std::vector<Dwarf_Op> expression;  // kValue, kAtExpression
};

// How to get from an instruction to the caller's registers.
struct Row {
  bool is_signal_frame = false;
  std::size_t base = kRegisterCount;  // the frame's address is the value of this register plus the offset ...
  std::int64_t offset = 0;
  std::vector<Dwarf_Op> expression;  // ... or, if there is no such register, the value of this expression
  std::array<Rule, std::size(kSaved)> saved;
};

Rule read_rule(Dwarf_Frame* frame, int number) {
  Rule rule;
  Dwarf_Op own[3];
  Dwarf_Op* steps = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_register(frame, number, own, &steps, &count) != 0) return {Rule::Kind::kUndefined, 0, {}};
  if (count == 0) return {steps == nullptr ? Rule::Kind::kSame : Rule::Kind::kUndefined, 0, {}};
  if (steps[0].atom == DW_OP_call_frame_cfa && (count == 1 || (count == 2 && steps[1].atom == DW_OP_plus_uconst)))
    return {Rule::Kind::kAtOffset, count == 1 ? 0 : static_cast<std::int64_t>(steps[1].number), {}};
  if (steps[0].atom == DW_OP_regx || (steps[0].atom >= DW_OP_reg0 && steps[0].atom <= DW_OP_reg31)) {
    const Dwarf_Word source = steps[0].atom == DW_OP_regx ? steps[0].number : static_cast<Dwarf_Word>(steps[0].atom - DW_OP_reg0);
    return {Rule::Kind::kValue, 0, {Dwarf_Op{DW_OP_bregx, source, 0, 0}}};
  }
  rule.kind = steps[count - 1].atom == DW_OP_stack_value ? Rule::Kind::kValue : Rule::Kind::kAtExpression;
  rule.expression.assign(steps, steps + (rule.kind == Rule::Kind::kValue ? count - 1 : count));
  return rule;
}

std::optional<Row> read_row(Dwarf_Frame* frame) {
  Row row;
  Dwarf_Op* steps = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &steps, &count) != 0 || count == 0) return std::nullopt;
  const std::uint8_t atom = steps[0].atom;
  if (count == 1 && atom == DW_OP_bregx && steps[0].number < kRegisterCount) {
    row.base = steps[0].number;
    row.offset = static_cast<std::int64_t>(steps[0].number2);
  } else if (count == 1 && atom >= DW_OP_breg0 && atom < DW_OP_breg0 + kRegisterCount) {
    row.base = atom - DW_OP_breg0;
    row.offset = static_cast<std::int64_t>(steps[0].number);
  } else {
    row.expression.assign(steps, steps + count);
  }
  for (std::size_t i = 0; i < std::size(kSaved); ++i) row.saved[i] = read_rule(frame, static_cast<int>(kSaved[i]));
  return row;
}

// Sets `registers` to those of the caller. Returns false if they can't be known.
bool step(const Row& row, const StackCopy& memory, UserRegisters& registers) {
  const std::optional<std::uint64_t> frame =
      row.base < kRegisterCount ? std::optional(registers[row.base] + static_cast<std::uint64_t>(row.offset)) : evaluate(row.expression, registers, memory, 0);
  if (!frame || (*frame <= registers[kStackPointer] && !row.is_signal_frame)) return false;
  UserRegisters caller = registers;
  caller[kStackPointer] = *frame;
  for (std::size_t i = 0; i < std::size(kSaved); ++i) {
    const Rule& rule = row.saved[i];
    std::optional<std::uint64_t> value;
    switch (rule.kind) {
      case Rule::Kind::kSame:
        value = registers[kSaved[i]];
        break;
      case Rule::Kind::kUndefined:
        value = 0;
        break;
      case Rule::Kind::kAtOffset:
        value = memory.read(*frame + static_cast<std::uint64_t>(rule.offset));
        break;
      case Rule::Kind::kValue:
        value = evaluate(rule.expression, registers, memory, *frame);
        break;
      case Rule::Kind::kAtExpression:
        value = evaluate(rule.expression, registers, memory, *frame);
        if (value) value = memory.read(*value);
        break;
    }
    if (!value && kSaved[i] == kInstructionPointer) return false;
    caller[kSaved[i]] = value.value_or(0);
  }
  registers = caller;
  return registers[kInstructionPointer] != 0;
}

// Steps by frame pointers: for code without tables, which is often generated at run time.
bool step_by_frame_pointer(const StackCopy& memory, UserRegisters& registers) {
  const std::uint64_t frame = registers[kFramePointer];
  const std::optional<std::uint64_t> caller_frame = memory.read(frame);
  const std::optional<std::uint64_t> return_address = memory.read(frame + sizeof(std::uint64_t));
  if (frame < registers[kStackPointer] || !caller_frame || !return_address || *return_address == 0) return false;
  registers[kStackPointer] = frame + 2 * sizeof(std::uint64_t);
  registers[kFramePointer] = *caller_frame;
  registers[kInstructionPointer] = *return_address;
  return true;
}

// During a call, CPython's trampoline has one word below its return address: padding (3.12), or the frame pointer (from 3.13 on).
bool step_out_of_trampoline(const StackCopy& memory, UserRegisters& registers) {
  const std::uint64_t frame = registers[kStackPointer];
  const std::optional<std::uint64_t> word = memory.read(frame);
  const std::optional<std::uint64_t> return_address = memory.read(frame + sizeof(std::uint64_t));
  if (!word || !return_address || *return_address == 0) return false;
  if (registers[kFramePointer] == frame) registers[kFramePointer] = *word;
  registers[kStackPointer] = frame + 2 * sizeof(std::uint64_t);
  registers[kInstructionPointer] = *return_address;
  return true;
}

}  // namespace

struct Unwinder::Tables {
  struct File {
    FileDescriptor descriptor;
    Elf* elf = nullptr;
    Dwarf_CFI* table = nullptr;                                  // belongs to `elf`
    std::unordered_map<std::uint64_t, std::optional<Row>> rows;  // by address
  };
  std::map<const Module*, File> files;
  std::size_t row_count = 0;  // total of all files

  Tables() { elf_version(EV_CURRENT); }
  ~Tables() { close_all(); }
  void close_all() {
    for (auto& [module, file] : files) {
      if (file.table != nullptr) dwarf_cfi_end(file.table);
      if (file.elf != nullptr) elf_end(file.elf);
    }
    files.clear();
    row_count = 0;
  }

  File& open(const Module& module) {
    constexpr std::size_t kMostFiles = 512;
    if (files.size() > kMostFiles && !files.contains(&module)) close_all();
    const auto [found, inserted] = files.try_emplace(&module);
    File& file = found->second;
    if (!inserted) return file;
    if (module.path == "[vdso]")
      file.descriptor = own_vdso();
    else if (std::optional<attach::ForeignFile> content = module.open())
      file.descriptor = std::move(content->descriptor);
    if (!file.descriptor.valid()) return file;
    file.elf = elf_begin(file.descriptor.get(), ELF_C_READ_MMAP, nullptr);
    if (file.elf != nullptr) file.table = dwarf_getcfi_elf(file.elf);
    return file;
  }

  const Row* row(const Place& place) {
    if (place.module == nullptr || place.module->is_generated) return nullptr;
    constexpr std::size_t kMostRows = 1'000'000;
    if (row_count > kMostRows) close_all();
    File& file = open(*place.module);
    if (file.table == nullptr) return nullptr;
    const auto [found, inserted] = file.rows.try_emplace(place.address);
    if (inserted) {
      ++row_count;
      Dwarf_Frame* frame = nullptr;
      if (dwarf_cfi_addrframe(file.table, place.address, &frame) == 0) {
        found->second = read_row(frame);
        Dwarf_Addr start = 0;
        Dwarf_Addr end = 0;
        bool is_signal_frame = false;
        dwarf_frame_info(frame, &start, &end, &is_signal_frame);
        if (found->second) found->second->is_signal_frame = is_signal_frame;
        std::free(frame);
      }
    }
    return found->second ? &*found->second : nullptr;
  }
};

Unwinder::Unwinder() : tables_(std::make_unique<Tables>()) {}
Unwinder::~Unwinder() = default;

std::span<const std::uint64_t> Unwinder::unwind(const AddressSpace& space, const UserRegisters& start, std::span<const std::byte> stack,
                                                const std::function<bool(std::uint64_t address)>& is_trampoline) {
  chain_.clear();
  UserRegisters registers = start;
  const StackCopy memory(registers[kStackPointer], stack);
  bool is_return_address = false;
  while (chain_.size() < kMaximumCalls) {
    const std::uint64_t address = registers[kInstructionPointer] - (is_return_address ? 1 : 0);
    const Place place = space.find(address);
    if (place.module == nullptr && is_return_address) break;  // there is no code at this address
    chain_.push_back(address);
    if (is_return_address && place.module->is_generated && is_trampoline(address)) {
      if (!step_out_of_trampoline(memory, registers)) break;
      continue;
    }
    const Row* row = tables_->row(place);
    if (row == nullptr ? !step_by_frame_pointer(memory, registers) : !step(*row, memory, registers)) break;
    is_return_address = row == nullptr || !row->is_signal_frame;
  }
  return chain_;
}

}  // namespace lanescope::cpu
