#include "look/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace lanescope::attach {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif

using Value = std::optional<std::uint32_t>;  // nothing: it depends on unknown values

// State of the filter program before an instruction.
struct State {
  std::size_t at = 0;
  Value accumulator;
  Value index;
  std::array<Value, BPF_MEMWORDS> memory{};
  auto operator<=>(const State&) const = default;
};

Verdict verdict_of(const Value& result) {
  if (!result) return Verdict::kKills;
  switch (*result & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
      return Verdict::kAllows;
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_TRACE:  // without a tracer that asks for it, the call fails
      return Verdict::kDenies;
    default:
      return Verdict::kKills;
  }
}

Value computed(std::uint16_t operation, const Value& left, const Value& right) {
  if (operation == BPF_NEG) return left ? Value(0u - *left) : Value();
  if (!left || !right) return {};
  constexpr std::uint32_t kBits = 32;
  switch (operation) {
    case BPF_ADD:
      return *left + *right;
    case BPF_SUB:
      return *left - *right;
    case BPF_MUL:
      return *left * *right;
    case BPF_DIV:
      return *right == 0 ? Value() : Value(*left / *right);
    case BPF_OR:
      return *left | *right;
    case BPF_AND:
      return *left & *right;
    case BPF_XOR:
      return *left ^ *right;
    case BPF_LSH:
      return *right < kBits ? Value(*left << *right) : Value();
    case BPF_RSH:
      return *right < kBits ? Value(*left >> *right) : Value();
    default:
      return {};
  }
}

// True if the condition of a jump holds; nothing if that depends on unknown values.
std::optional<bool> holds(std::uint16_t condition, const Value& left, const Value& right) {
  if (!left || !right) return std::nullopt;
  switch (condition) {
    case BPF_JEQ:
      return *left == *right;
    case BPF_JGT:
      return *left > *right;
    case BPF_JGE:
      return *left >= *right;
    case BPF_JSET:
      return (*left & *right) != 0;
    default:
      return std::nullopt;
  }
}

// Follows every path through the program that is possible for some arguments.
class Walk {
 public:
  Walk(const FilterProgram& program, long call, FilterWork& work) : program_(program), call_(static_cast<std::uint32_t>(call)), work_(work) {}

  Verdict run() {
    visit({});
    while (!waiting_.empty() && worst_ != Verdict::kKills) {
      constexpr std::size_t kMostStates = 100'000;  // they are kept
      if (work_.left == 0 || seen_.size() > kMostStates) return Verdict::kKills;
      --work_.left;
      const State state = std::move(waiting_.back());
      waiting_.pop_back();
      step(state);
    }
    return worst_;
  }

 private:
  void visit(State state) {
    if (state.at >= program_.size()) {
      worst_ = Verdict::kKills;  // the kernel accepts no such program
    } else if (seen_.insert(state).second) {
      waiting_.push_back(std::move(state));
    }
  }

  [[nodiscard]] Value loaded(const sock_filter& instruction, const State& state) const {
    switch (BPF_MODE(instruction.code)) {
      case BPF_IMM:
        return instruction.k;
      case BPF_LEN:
        return static_cast<std::uint32_t>(sizeof(seccomp_data));
      case BPF_MEM:
        return instruction.k < BPF_MEMWORDS ? state.memory[instruction.k] : Value();
      case BPF_ABS:
        if (instruction.k == offsetof(seccomp_data, nr)) return call_;
        if (instruction.k == offsetof(seccomp_data, arch)) return kMachine;
        return {};
      default:
        return {};
    }
  }

  void step(State state) {
    const sock_filter& instruction = program_[state.at++];
    const Value operand = BPF_SRC(instruction.code) == BPF_X ? state.index : Value(instruction.k);
    switch (BPF_CLASS(instruction.code)) {
      case BPF_LD:
        state.accumulator = loaded(instruction, state);
        return visit(std::move(state));
      case BPF_LDX:
        state.index = loaded(instruction, state);
        return visit(std::move(state));
      case BPF_ST:
      case BPF_STX:
        if (instruction.k < BPF_MEMWORDS) state.memory[instruction.k] = BPF_CLASS(instruction.code) == BPF_ST ? state.accumulator : state.index;
        return visit(std::move(state));
      case BPF_ALU:
        // The kernel ends a filter that divides by zero with 0: SECCOMP_RET_KILL_THREAD.
        if (BPF_OP(instruction.code) == BPF_DIV && operand.value_or(0) == 0) worst_ = Verdict::kKills;
        state.accumulator = computed(BPF_OP(instruction.code), state.accumulator, operand);
        return visit(std::move(state));
      case BPF_MISC:
        if (BPF_MISCOP(instruction.code) == BPF_TAX)
          state.index = state.accumulator;
        else
          state.accumulator = state.index;
        return visit(std::move(state));
      case BPF_JMP:
        return jump(instruction, operand, std::move(state));
      default: {
        const Value result = BPF_RVAL(instruction.code) == BPF_A ? state.accumulator : Value(instruction.k);
        worst_ = std::max(worst_, verdict_of(result));
      }
    }
  }

  void jump(const sock_filter& instruction, const Value& operand, State state) {
    if (BPF_OP(instruction.code) == BPF_JA) {
      state.at += instruction.k;
      return visit(std::move(state));
    }
    const std::optional<bool> condition = holds(BPF_OP(instruction.code), state.accumulator, operand);
    if (condition != false) {
      State taken = state;
      taken.at += instruction.jt;
      visit(std::move(taken));
    }
    if (condition != true) {
      state.at += instruction.jf;
      visit(std::move(state));
    }
  }

  const FilterProgram& program_;
  std::uint32_t call_;
  FilterWork& work_;
  std::set<State> seen_;
  std::vector<State> waiting_;
  Verdict worst_ = Verdict::kAllows;
};

}  // namespace

Verdict worst_verdict(const FilterProgram& filter, long call, FilterWork& work) { return Walk(filter, call, work).run(); }

}  // namespace lanescope::attach
