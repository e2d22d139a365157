// What a seccomp filter may do with a system call: known by hand, and by running the filter with many arguments.
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "look/call_filter.h"
#include "support/catch.h"

using namespace lanescope::attach;

namespace {

constexpr sock_filter statement(std::uint16_t code, std::uint32_t k) { return {code, 0, 0, k}; }
constexpr sock_filter jump(std::uint16_t code, std::uint32_t k, std::uint8_t yes, std::uint8_t no) { return {code, yes, no, k}; }
constexpr sock_filter load(std::size_t offset) { return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
constexpr sock_filter answer(std::uint32_t action) { return statement(BPF_RET | BPF_K, action); }
constexpr sock_filter if_equal(std::uint32_t k, std::uint8_t yes, std::uint8_t no) { return jump(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no); }
constexpr std::size_t kNumber = offsetof(seccomp_data, nr);
constexpr std::size_t kMachine = offsetof(seccomp_data, arch);
constexpr std::size_t kFirstArgument = offsetof(seccomp_data, args);

// Runs the filter as the kernel does.
std::uint32_t run(const FilterProgram& program, const seccomp_data& data) {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::uint32_t memory[BPF_MEMWORDS] = {};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& each = program[at];
    const std::uint32_t operand = BPF_SRC(each.code) == BPF_X ? x : each.k;
    switch (each.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + each.k, sizeof(a));
        break;
      case BPF_LD | BPF_IMM:
        a = each.k;
        break;
      case BPF_LD | BPF_MEM:
        a = memory[each.k];
        break;
      case BPF_ST:
        memory[each.k] = a;
        break;
      case BPF_MISC | BPF_TAX:
        x = a;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
      case BPF_ALU | BPF_AND | BPF_X:
        a &= operand;
        break;
      case BPF_ALU | BPF_ADD | BPF_K:
        a += operand;
        break;
      case BPF_JMP | BPF_JA:
        at += each.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += a == operand ? each.jt : each.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += a >= operand ? each.jt : each.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (a & operand) != 0 ? each.jt : each.jf;
        break;
      default:
        return each.k;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

Verdict verdict_of(std::uint32_t action) {
  if (action == SECCOMP_RET_ALLOW) return Verdict::kAllows;
  return (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO ? Verdict::kDenies : Verdict::kKills;
}

Verdict worst(const FilterProgram& filter, long call) {
  FilterWork work;
  return worst_verdict(filter, call, work);
}

}  // namespace

TEST_CASE("a filter that lists what it allows kills for the rest") {
  const FilterProgram filter{load(kMachine),
                             if_equal(AUDIT_ARCH_X86_64, 1, 0),
                             answer(SECCOMP_RET_KILL_PROCESS),
                             load(kNumber),
                             if_equal(SYS_read, 2, 0),
                             if_equal(SYS_socket, 2, 0),
                             answer(SECCOMP_RET_KILL_THREAD),
                             answer(SECCOMP_RET_ALLOW),
                             answer(SECCOMP_RET_ERRNO | 1)};
  CHECK(worst(filter, SYS_read) == Verdict::kAllows);
  CHECK(worst(filter, SYS_socket) == Verdict::kDenies);
  CHECK(worst(filter, SYS_write) == Verdict::kKills);
}

TEST_CASE("what depends on arguments counts as the worst that it may come to") {
  const FilterProgram filter{load(kNumber),     if_equal(SYS_socket, 0, 3), load(kFirstArgument),
                             if_equal(1, 1, 0), answer(SECCOMP_RET_TRAP),   answer(SECCOMP_RET_ALLOW)};
  CHECK(worst(filter, SYS_socket) == Verdict::kKills);
  CHECK(worst(filter, SYS_read) == Verdict::kAllows);
  const FilterProgram computed{load(kFirstArgument), statement(BPF_RET | BPF_A, 0)};
  CHECK(worst(computed, SYS_read) == Verdict::kKills);
}

TEST_CASE("a program without an end is believed to kill") {
  CHECK(worst({}, SYS_read) == Verdict::kKills);
  CHECK(worst({load(kNumber)}, SYS_read) == Verdict::kKills);
  CHECK(worst({statement(BPF_JMP | BPF_JA, 0xffff'ffff), answer(SECCOMP_RET_ALLOW)}, SYS_read) == Verdict::kKills);
}

TEST_CASE("a filter that may divide by zero is believed to kill, as the kernel then does") {
  constexpr std::uint16_t kDivide = BPF_ALU | BPF_DIV | BPF_X;
  const auto divided_by = [&](sock_filter divisor) {
    return FilterProgram{divisor, statement(BPF_MISC | BPF_TAX, 0), statement(BPF_LD | BPF_IMM, 7), statement(kDivide, 0), answer(SECCOMP_RET_ALLOW)};
  };
  CHECK(worst(divided_by(statement(BPF_LD | BPF_IMM, 0)), SYS_read) == Verdict::kKills);
  CHECK(worst(divided_by(load(kFirstArgument)), SYS_read) == Verdict::kKills);
  CHECK(worst(divided_by(statement(BPF_LD | BPF_IMM, 2)), SYS_read) == Verdict::kAllows);
}

TEST_CASE("filters that take more work than there is are believed to kill") {
  // Four times the program takes one of two ways that leave different values behind: 16 states of each later instruction.
  FilterProgram filter;
  for (std::uint32_t choice = 0; choice < 4; ++choice)
    for (const sock_filter& each : {load(kFirstArgument), if_equal(choice, 0, 2), statement(BPF_LD | BPF_IMM, 1), statement(BPF_ST, choice)})
      filter.push_back(each);
  filter.resize(3'000, statement(BPF_LD | BPF_IMM, 0));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  FilterWork work;
  CHECK(worst_verdict(filter, SYS_read, work) == Verdict::kAllows);
  int questions = 1;
  while (questions < 1'000 && worst_verdict(filter, SYS_read, work) == Verdict::kAllows) ++questions;
  CHECK(work.left == 0);
  CHECK(questions > 10);
  CHECK(questions < 1'000);
}

TEST_CASE("no arguments come to a worse end than what is said, whatever the program") {
  std::mt19937 random(GENERATE(range(1u, 200u)));
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  constexpr std::size_t kLength = 24;
  FilterProgram filter;
  while (filter.size() < kLength) {
    const auto room = static_cast<std::uint32_t>(kLength - filter.size());  // the last instruction is an answer
    switch (below(10)) {
      case 0:
        filter.push_back(load(kNumber));
        break;
      case 1:
        filter.push_back(load(kFirstArgument + 8 * below(6)));
        break;
      case 2:
        filter.push_back(statement(BPF_ST, below(BPF_MEMWORDS)));
        break;
      case 3:
        filter.push_back(statement(BPF_LD | BPF_MEM, below(BPF_MEMWORDS)));
        break;
      case 4:
        filter.push_back(statement(BPF_ALU | BPF_AND | (below(2) == 0 ? BPF_K : BPF_X), below(8)));
        break;
      case 5:
        filter.push_back(statement(BPF_MISC | BPF_TAX, 0));
        break;
      case 6:
        filter.push_back(answer(below(2) == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO));
        break;
      default:
        constexpr std::uint16_t kConditions[] = {BPF_JEQ, BPF_JGE, BPF_JSET};
        filter.push_back(jump(static_cast<std::uint16_t>(BPF_JMP | BPF_K | kConditions[below(3)]), below(4), static_cast<std::uint8_t>(below(room)),
                              static_cast<std::uint8_t>(below(room))));
    }
  }
  filter.push_back(answer(below(3) == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW));
  for (std::uint32_t number = 0; number < 4; ++number) {
    Verdict seen = Verdict::kAllows;
    for (int attempt = 0; attempt < 200; ++attempt) {
      seccomp_data data{};
      data.nr = static_cast<int>(number);
      data.arch = AUDIT_ARCH_X86_64;
      for (auto& argument : data.args) argument = below(8);
      seen = std::max(seen, verdict_of(run(filter, data)));
    }
    CHECK(worst(filter, number) >= seen);
  }
}
