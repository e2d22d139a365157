#include "agent/core/unwinding/frame_rules.h"

#include <cstring>

namespace lanescope::agent {
namespace {

using Bytes = const std::uint8_t*;

template <typename Number>
Number take(Bytes& at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  at += sizeof(number);
  return number;
}

std::uint64_t take_unsigned(Bytes& at) noexcept {  // ULEB128
  std::uint64_t value = 0;
  unsigned shift = 0;
  std::uint8_t byte;
  do {
    byte = *at++;
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) != 0);
  return value;
}

std::int64_t take_signed(Bytes& at) noexcept {  // SLEB128
  std::uint64_t value = 0;
  unsigned shift = 0;
  std::uint8_t byte;
  do {
    byte = *at++;
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) != 0);
  if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{} << shift;
  return static_cast<std::int64_t>(value);
}

// DW_EH_PE_*. False for forms that no compiler uses for code.
bool skip_pointer(Bytes& at, std::uint8_t encoding) noexcept {
  constexpr std::uint8_t kOmitted = 0xff, kAligned = 0x50;
  if (encoding == kOmitted) return true;
  if (encoding == kAligned) return false;  // what follows would be read at a wrong place
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      at += 8;
      return true;
    case 0x02:
    case 0x0a:
      at += 2;
      return true;
    case 0x03:
    case 0x0b:
      at += 4;
      return true;
    case 0x01:
    case 0x09:
      take_unsigned(at);
      return true;
    default:
      return false;
  }
}

struct Rule {
  enum class Kind : std::uint32_t { kSame, kUndefined, kAtOffset, kIsOffset, kRegister, kAtExpression, kIsExpression };
  Kind kind = Rule::Kind::kSame;
  std::int32_t value = 0;  // offset from the frame's address, number of a register, or distance of an expression from the entry
};

// The state that the instructions of an entry build up.
struct Rules {
  Rule registers[Registers::kCount];
  bool frame_by_expression = false;
  std::uint32_t frame_register = 0;
  std::int64_t frame_offset = 0;  // or the distance of the expression
};

class Entry {
 public:
  // False if it has a form that is unknown here.
  bool read(const void* entry) noexcept;
  [[nodiscard]] bool is_signal_frame() const noexcept { return is_signal_frame_; }
  [[nodiscard]] std::uint64_t return_register() const noexcept { return return_register_; }
  [[nodiscard]] Bytes at(std::int64_t distance) const noexcept { return begin_ + distance; }
  // The rules for a place, if the code of the entry begins at `function`.
  bool rules_at(std::uint64_t place, std::uint64_t function, Rules& rules) noexcept;

 private:
  bool read_common(Bytes at) noexcept;
  bool run(Bytes at, Bytes end, std::uint64_t place, Rules& rules, const Rules* initial) noexcept;
  bool run_extended(std::uint8_t operation, Bytes& at, Rules& rules, const Rules* initial) noexcept;
  void set(Rules& rules, std::uint64_t number, Rule::Kind kind, std::int64_t value) const noexcept {
    if (number < Registers::kCount) rules.registers[number] = {kind, static_cast<std::int32_t>(value)};
  }
  [[nodiscard]] std::int64_t distance(Bytes place) const noexcept { return place - begin_; }

  static constexpr int kMostKept = 4;

  Bytes begin_ = nullptr;
  Bytes instructions_ = nullptr;
  Bytes end_ = nullptr;
  Bytes common_instructions_ = nullptr;
  Bytes common_end_ = nullptr;
  std::uint64_t code_unit_ = 1;
  std::int64_t data_unit_ = 1;
  std::uint64_t return_register_ = 0;
  std::uint64_t location_ = 0;
  std::uint8_t encoding_ = 0;
  bool has_sizes_ = false;
  bool is_signal_frame_ = false;
  int kept_ = 0;
  Rules kept_rules_[kMostKept];
};

bool Entry::read(const void* entry) noexcept {
  constexpr std::uint32_t kLong = 0xffffffff;  // 64-bit entries, which no linker makes
  begin_ = static_cast<Bytes>(entry);
  Bytes at = begin_;
  const auto size = take<std::uint32_t>(at);
  if (size == 0 || size == kLong) return false;
  end_ = at + size;
  const Bytes reference = at;
  if (!read_common(reference - take<std::int32_t>(at))) return false;
  constexpr std::uint8_t kFormat = 0x0f;
  if (!skip_pointer(at, encoding_) || !skip_pointer(at, encoding_ & kFormat)) return false;
  if (has_sizes_) {
    const std::uint64_t more = take_unsigned(at);
    at += more;
  }
  instructions_ = at;
  return true;
}

bool Entry::read_common(Bytes at) noexcept {
  const auto size = take<std::uint32_t>(at);
  common_end_ = at + size;
  at += sizeof(std::uint32_t);  // the mark of a common entry
  const std::uint8_t version = *at++;
  const char* const augmentation = reinterpret_cast<const char*>(at);
  at += std::strlen(augmentation) + 1;
  if (version != 1 && version != 3) return false;
  code_unit_ = take_unsigned(at);
  data_unit_ = take_signed(at);
  return_register_ = version == 1 ? *at++ : take_unsigned(at);
  const char* letter = augmentation;
  if (*letter == 'z') {
    has_sizes_ = true;
    const std::uint64_t more = take_unsigned(at);
    common_instructions_ = at + more;
    ++letter;
  } else if (*letter != '\0') {
    return false;
  } else {
    common_instructions_ = at;
  }
  for (; *letter != '\0'; ++letter) {
    if (*letter == 'R') {
      encoding_ = *at++;
    } else if (*letter == 'L') {
      ++at;
    } else if (*letter == 'P') {
      const std::uint8_t encoding = *at++;
      if (!skip_pointer(at, encoding)) return false;
    } else if (*letter == 'S') {
      is_signal_frame_ = true;
    } else if (*letter != 'B') {
      return false;
    }
  }
  return true;
}

bool Entry::rules_at(std::uint64_t place, std::uint64_t function, Rules& rules) noexcept {
  constexpr std::uint64_t kEverything = ~std::uint64_t{};
  location_ = 0;
  if (!run(common_instructions_, common_end_, kEverything, rules, nullptr)) return false;
  const Rules initial = rules;
  location_ = function;
  return run(instructions_, end_, place, rules, &initial);
}

bool Entry::run(Bytes at, Bytes end, std::uint64_t place, Rules& rules, const Rules* initial) noexcept {
  while (at < end && location_ <= place) {
    const std::uint8_t operation = *at++;
    const std::uint8_t operand = operation & 0x3f;
    switch (operation & 0xc0) {
      case 0x40:
        location_ += operand * code_unit_;
        break;
      case 0x80:
        set(rules, operand, Rule::Kind::kAtOffset, static_cast<std::int64_t>(take_unsigned(at)) * data_unit_);
        break;
      case 0xc0:
        if (initial != nullptr && operand < Registers::kCount) rules.registers[operand] = initial->registers[operand];
        break;
      default:
        if (!run_extended(operation, at, rules, initial)) return false;
    }
  }
  return true;
}

bool Entry::run_extended(std::uint8_t operation, Bytes& at, Rules& rules, const Rules* initial) noexcept {
  const auto number = [&] { return take_unsigned(at); };
  const auto scaled = [&] { return static_cast<std::int64_t>(take_unsigned(at)) * data_unit_; };
  const auto scaled_signed = [&] { return take_signed(at) * data_unit_; };
  const auto expression = [&] {
    const std::int64_t place = distance(at);
    const std::uint64_t size = take_unsigned(at);
    at += size;
    return place;
  };
  const auto frame_is = [&](std::uint64_t of, std::int64_t offset) {
    rules.frame_by_expression = false;
    rules.frame_register = static_cast<std::uint32_t>(of);
    rules.frame_offset = offset;
  };
  // Operands are read from left to right.
  switch (operation) {  // DW_CFA_*
    case 0x00:
      return true;
    case 0x02:
      location_ += take<std::uint8_t>(at) * code_unit_;
      return true;
    case 0x03:
      location_ += take<std::uint16_t>(at) * code_unit_;
      return true;
    case 0x04:
      location_ += take<std::uint32_t>(at) * code_unit_;
      return true;
    case 0x05: {
      const auto of = number();
      set(rules, of, Rule::Kind::kAtOffset, scaled());
      return true;
    }
    case 0x06: {
      const auto of = number();
      if (initial != nullptr && of < Registers::kCount) rules.registers[of] = initial->registers[of];
      return true;
    }
    case 0x07:
      set(rules, number(), Rule::Kind::kUndefined, 0);
      return true;
    case 0x08:
      set(rules, number(), Rule::Kind::kSame, 0);
      return true;
    case 0x09: {
      const auto of = number();
      set(rules, of, Rule::Kind::kRegister, static_cast<std::int64_t>(number()));
      return true;
    }
    case 0x0a:
      if (kept_ == kMostKept) return false;
      kept_rules_[kept_++] = rules;
      return true;
    case 0x0b:
      if (kept_ == 0) return false;
      rules = kept_rules_[--kept_];
      return true;
    case 0x0c: {
      const auto of = number();
      frame_is(of, static_cast<std::int64_t>(number()));
      return true;
    }
    case 0x0d:
      frame_is(number(), rules.frame_offset);
      return true;
    case 0x0e:
      rules.frame_offset = static_cast<std::int64_t>(number());
      return true;
    case 0x0f:
      rules.frame_by_expression = true;
      rules.frame_offset = expression();
      return true;
    case 0x10: {
      const auto of = number();
      set(rules, of, Rule::Kind::kAtExpression, expression());
      return true;
    }
    case 0x11: {
      const auto of = number();
      set(rules, of, Rule::Kind::kAtOffset, scaled_signed());
      return true;
    }
    case 0x12: {
      const auto of = number();
      frame_is(of, scaled_signed());
      return true;
    }
    case 0x13:
      rules.frame_offset = scaled_signed();
      return true;
    case 0x14: {
      const auto of = number();
      set(rules, of, Rule::Kind::kIsOffset, scaled());
      return true;
    }
    case 0x15: {
      const auto of = number();
      set(rules, of, Rule::Kind::kIsOffset, scaled_signed());
      return true;
    }
    case 0x16: {
      const auto of = number();
      set(rules, of, Rule::Kind::kIsExpression, expression());
      return true;
    }
    case 0x2d:
      return true;  // whether the return address is signed: a signature is taken off in any case
    case 0x2e:
      number();
      return true;
    case 0x2f: {
      const auto of = number();
      set(rules, of, Rule::Kind::kAtOffset, -scaled());
      return true;
    }
    default:
      return false;
  }
}

// Evaluates an expression of DWARF. False if it reads what can't be read, or has an operation that tables of code do not have.
class Evaluation {
 public:
  Evaluation(const Registers& registers, CheckedMemory& memory) noexcept : registers_(registers), memory_(memory) {}

  bool run(Bytes at, std::uint64_t& value) noexcept {
    const std::uint64_t size = take_unsigned(at);
    for (const Bytes end = at + size; at < end;)
      if (!apply(*at++, at)) return false;
    if (count_ == 0) return false;
    value = values_[count_ - 1];
    return true;
  }
  bool push(std::uint64_t value) noexcept {
    if (count_ == kMost) return false;
    values_[count_++] = value;
    return true;
  }

 private:
  bool push_register(std::uint64_t number, std::int64_t offset) noexcept {
    return number < Registers::kCount && push((number == kPlace ? registers_.place : registers_.values[number]) + static_cast<std::uint64_t>(offset));
  }
  bool apply(std::uint8_t operation, Bytes& at) noexcept;
  bool apply_to_two(std::uint8_t operation) noexcept;

  static constexpr std::size_t kMost = 16;
#if defined(__x86_64__)
  static constexpr std::size_t kPlace = Registers::kReturnAddress;  // of this function, as in the tables of a file's links
#else
  static constexpr std::size_t kPlace = Registers::kCount;
#endif

  const Registers& registers_;
  CheckedMemory& memory_;
  std::uint64_t values_[kMost];
  std::size_t count_ = 0;
};

bool Evaluation::apply(std::uint8_t operation, Bytes& at) noexcept {
  if (operation >= 0x30 && operation <= 0x4f) return push(operation - 0x30u);                            // DW_OP_lit
  if (operation >= 0x70 && operation <= 0x8f) return push_register(operation - 0x70u, take_signed(at));  // DW_OP_breg
  const auto wide = [](auto number) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(number)); };
  switch (operation) {  // DW_OP_*
    case 0x06:
      return count_ != 0 && memory_.read(values_[count_ - 1], values_[count_ - 1]);
    case 0x08:
      return push(take<std::uint8_t>(at));
    case 0x09:
      return push(wide(take<std::int8_t>(at)));
    case 0x0a:
      return push(take<std::uint16_t>(at));
    case 0x0b:
      return push(wide(take<std::int16_t>(at)));
    case 0x0c:
      return push(take<std::uint32_t>(at));
    case 0x0d:
      return push(wide(take<std::int32_t>(at)));
    case 0x0e:
    case 0x0f:
      return push(take<std::uint64_t>(at));
    case 0x10:
      return push(take_unsigned(at));
    case 0x11:
      return push(wide(take_signed(at)));
    case 0x12:
      return count_ != 0 && push(values_[count_ - 1]);
    case 0x13:
      return count_ != 0 && count_-- != 0;
    case 0x23:
      if (count_ == 0) return false;
      values_[count_ - 1] += take_unsigned(at);
      return true;
    case 0x92: {
      const auto number = take_unsigned(at);
      return push_register(number, take_signed(at));
    }
    case 0x96:
      return true;
    default:
      return apply_to_two(operation);
  }
}

bool Evaluation::apply_to_two(std::uint8_t operation) noexcept {
  if (count_ < 2) return false;
  const std::uint64_t right = values_[--count_];
  std::uint64_t& left = values_[count_ - 1];
  const auto signed_left = static_cast<std::int64_t>(left);
  const auto signed_right = static_cast<std::int64_t>(right);
  switch (operation) {  // DW_OP_*
    case 0x1a:
      left &= right;
      return true;
    case 0x1c:
      left -= right;
      return true;
    case 0x1e:
      left *= right;
      return true;
    case 0x21:
      left |= right;
      return true;
    case 0x22:
      left += right;
      return true;
    case 0x24:
      left = right < 64 ? left << right : 0;
      return true;
    case 0x25:
      left = right < 64 ? left >> right : 0;
      return true;
    case 0x29:
      left = left == right ? 1 : 0;
      return true;
    case 0x2a:
      left = signed_left >= signed_right ? 1 : 0;
      return true;
    case 0x2b:
      left = signed_left > signed_right ? 1 : 0;
      return true;
    case 0x2c:
      left = signed_left <= signed_right ? 1 : 0;
      return true;
    case 0x2d:
      left = signed_left < signed_right ? 1 : 0;
      return true;
    case 0x2e:
      left = left != right ? 1 : 0;
      return true;
    default:
      return false;
  }
}

std::uint64_t without_signature(std::uint64_t address) noexcept {
#if defined(__aarch64__)
  register std::uint64_t stripped asm("x30") = address;
  asm("hint #7" : "+r"(stripped));  // xpaclri
  return stripped;
#else
  return address;
#endif
}

bool frame_of(const Rules& rules, const Entry& entry, const Registers& registers, CheckedMemory& memory, std::uint64_t& frame) noexcept {
  if (rules.frame_by_expression) return Evaluation(registers, memory).run(entry.at(rules.frame_offset), frame);
  if (rules.frame_register >= Registers::kCount) return false;
  frame = registers.values[rules.frame_register] + static_cast<std::uint64_t>(rules.frame_offset);
  return true;
}

bool apply(const Rule& rule, const Entry& entry, const Registers& registers, std::uint64_t frame, CheckedMemory& memory, std::uint64_t& value) noexcept {
  const auto at_expression = [&](std::uint64_t& result) {
    Evaluation evaluation(registers, memory);
    return evaluation.push(frame) && evaluation.run(entry.at(rule.value), result);
  };
  const std::uint64_t beside_frame = frame + static_cast<std::uint64_t>(static_cast<std::int64_t>(rule.value));
  switch (rule.kind) {
    case Rule::Kind::kAtOffset:
      return memory.read(beside_frame, value);
    case Rule::Kind::kIsOffset:
      value = beside_frame;
      return true;
    case Rule::Kind::kRegister:
      if (rule.value < 0 || static_cast<std::size_t>(rule.value) >= Registers::kCount) return false;
      value = registers.values[rule.value];
      return true;
    case Rule::Kind::kAtExpression: {
      std::uint64_t place = 0;
      return at_expression(place) && memory.read(place, value);
    }
    case Rule::Kind::kIsExpression:
      return at_expression(value);
    default:
      return true;
  }
}

}  // namespace

Step step_to_caller(Registers& registers, const void* entry, std::uint64_t function, CheckedMemory& memory) noexcept {
  Entry table;
  Rules rules;
  if (!table.read(entry) || !table.rules_at(registers.looked_up(), function, rules)) return Step::kAtEnd;
  const std::uint64_t back = table.return_register();
  if (back >= Registers::kCount || rules.registers[back].kind == Rule::Kind::kUndefined) return Step::kAtEnd;
  std::uint64_t frame = 0;
  if (!frame_of(rules, table, registers, memory, frame)) return Step::kAtEnd;
  Registers caller = registers;
  caller.values[Registers::kStackPointer] = frame;
  for (std::size_t i = 0; i < Registers::kCount; ++i)
    if (!apply(rules.registers[i], table, registers, frame, memory, caller.values[i])) return Step::kAtEnd;
  caller.place = without_signature(caller.values[back]);
  caller.is_exact = table.is_signal_frame();
  const bool is_same = caller.place == registers.place && frame == registers.values[Registers::kStackPointer];
  registers = caller;
  return is_same || caller.place == 0 ? Step::kAtEnd : Step::kDone;
}

}  // namespace lanescope::agent
