// Any instructions as a seccomp filter. If the kernel would run the filter and come to a worse end than the one that is expected, the target fails.
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "fuzz_target.h"
#include "look/call_filter.h"

using namespace lanescope::attach;

namespace {

constexpr std::size_t kMostInstructions = BPF_MAXINSNS;  // the kernel accepts no longer filter

// How much worse than permission the end is.
Verdict verdict_of(std::uint32_t action) {
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
      return Verdict::kAllows;
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_TRACE:
      return Verdict::kDenies;
    default:
      return Verdict::kKills;
  }
}

// Runs the filter as the kernel does. Nothing if it has an instruction that the kernel does not accept in filters.
std::optional<std::uint32_t> run(const FilterProgram& program, const seccomp_data& data) {
  std::uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& each = program[at];
    const std::uint32_t operand = BPF_SRC(each.code) == BPF_X ? x : each.k;
    switch (each.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (each.k % sizeof(a) != 0 || each.k >= sizeof(data)) return std::nullopt;
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + each.k, sizeof(a));
        break;
      case BPF_LD | BPF_W | BPF_LEN:
        a = sizeof(data);
        break;
      case BPF_LDX | BPF_W | BPF_LEN:
        x = sizeof(data);
        break;
      case BPF_LD | BPF_IMM:
        a = each.k;
        break;
      case BPF_LDX | BPF_IMM:
        x = each.k;
        break;
      case BPF_LD | BPF_MEM:
      case BPF_LDX | BPF_MEM:
      case BPF_ST:
      case BPF_STX:
        if (each.k >= BPF_MEMWORDS) return std::nullopt;
        if (each.code == (BPF_LD | BPF_MEM))
          a = memory[each.k];
        else if (each.code == (BPF_LDX | BPF_MEM))
          x = memory[each.k];
        else
          memory[each.k] = each.code == BPF_ST ? a : x;
        break;
      case BPF_MISC | BPF_TAX:
        x = a;
        break;
      case BPF_MISC | BPF_TXA:
        a = x;
        break;
      case BPF_ALU | BPF_ADD | BPF_K:
      case BPF_ALU | BPF_ADD | BPF_X:
        a += operand;
        break;
      case BPF_ALU | BPF_SUB | BPF_K:
      case BPF_ALU | BPF_SUB | BPF_X:
        a -= operand;
        break;
      case BPF_ALU | BPF_MUL | BPF_K:
      case BPF_ALU | BPF_MUL | BPF_X:
        a *= operand;
        break;
      case BPF_ALU | BPF_DIV | BPF_K:
        if (operand == 0) return std::nullopt;
        a /= operand;
        break;
      case BPF_ALU | BPF_DIV | BPF_X:
        if (operand == 0) return SECCOMP_RET_KILL_THREAD;
        a /= operand;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
      case BPF_ALU | BPF_AND | BPF_X:
        a &= operand;
        break;
      case BPF_ALU | BPF_OR | BPF_K:
      case BPF_ALU | BPF_OR | BPF_X:
        a |= operand;
        break;
      case BPF_ALU | BPF_XOR | BPF_K:
      case BPF_ALU | BPF_XOR | BPF_X:
        a ^= operand;
        break;
      case BPF_ALU | BPF_LSH | BPF_K:
      case BPF_ALU | BPF_RSH | BPF_K:
        if (operand >= 32) return std::nullopt;
        [[fallthrough]];
      case BPF_ALU | BPF_LSH | BPF_X:
      case BPF_ALU | BPF_RSH | BPF_X:
        a = BPF_OP(each.code) == BPF_LSH ? a << (operand & 31) : a >> (operand & 31);
        break;
      case BPF_ALU | BPF_NEG:
        a = 0u - a;
        break;
      case BPF_JMP | BPF_JA:
        at += each.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
      case BPF_JMP | BPF_JEQ | BPF_X:
        at += a == operand ? each.jt : each.jf;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
      case BPF_JMP | BPF_JGT | BPF_X:
        at += a > operand ? each.jt : each.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
      case BPF_JMP | BPF_JGE | BPF_X:
        at += a >= operand ? each.jt : each.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
      case BPF_JMP | BPF_JSET | BPF_X:
        at += (a & operand) != 0 ? each.jt : each.jf;
        break;
      case BPF_RET | BPF_K:
        return each.k;
      case BPF_RET | BPF_A:
        return a;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string bytes_of(const FilterProgram& program) {
  return std::string(1, '\1') + std::string(reinterpret_cast<const char*>(program.data()), program.size() * sizeof(sock_filter));
}

}  // namespace

// The first byte is the number of the call; the arguments are made of the last bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  FilterProgram program(std::min(kMostInstructions, (size - 1) / sizeof(sock_filter)));
  if (!program.empty()) std::memcpy(program.data(), data + 1, program.size() * sizeof(sock_filter));
  const long call = data[0];
  FilterWork work;
  const Verdict worst = worst_verdict(program, call, work);
  seccomp_data facts{};
  std::memcpy(facts.args, data + size - std::min(size, sizeof(facts.args)), std::min(size, sizeof(facts.args)));
  facts.nr = static_cast<int>(call);
#if defined(__x86_64__)
  facts.arch = AUDIT_ARCH_X86_64;
#else
  facts.arch = AUDIT_ARCH_AARCH64;
#endif
  for (const std::uint64_t changed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    facts.args[0] ^= changed;
    facts.instruction_pointer = changed;
    if (const auto end = run(program, facts); end && verdict_of(*end) > worst) std::abort();
  }
  return 0;
}

std::vector<std::string> valid_inputs() {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kIfEqual = BPF_JMP | BPF_JEQ | BPF_K, kReturn = BPF_RET | BPF_K;
  const FilterProgram by_number{{kLoad, 0, 0, offsetof(seccomp_data, arch)},
                                {kIfEqual, 1, 0, AUDIT_ARCH_X86_64},
                                {kReturn, 0, 0, SECCOMP_RET_KILL_PROCESS},
                                {kLoad, 0, 0, offsetof(seccomp_data, nr)},
                                {kIfEqual, 0, 1, 1},
                                {kReturn, 0, 0, SECCOMP_RET_ALLOW},
                                {kReturn, 0, 0, SECCOMP_RET_ERRNO | 1}};
  const FilterProgram by_argument{{kLoad, 0, 0, offsetof(seccomp_data, args)},
                                  {BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xff},
                                  {BPF_ST, 0, 0, 3},
                                  {BPF_MISC | BPF_TAX, 0, 0, 0},
                                  {BPF_LD | BPF_IMM, 0, 0, 7},
                                  {BPF_ALU | BPF_LSH | BPF_X, 0, 0, 0},
                                  {BPF_LDX | BPF_MEM, 0, 0, 3},
                                  {BPF_JMP | BPF_JGT | BPF_X, 1, 0, 0},
                                  {BPF_JMP | BPF_JA, 0, 0, 1},
                                  {kReturn, 0, 0, SECCOMP_RET_TRAP},
                                  {BPF_RET | BPF_A, 0, 0, 0}};
  return {bytes_of(by_number), bytes_of(by_argument)};
}
