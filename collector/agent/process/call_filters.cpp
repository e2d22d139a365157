#include "agent/process/call_filters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace lanescope::agent {

constinit std::atomic<bool> forbids_joining{false};
constinit std::atomic<bool> forbids_looking_at_files{false};
constinit std::atomic<bool> forbids_looking_at_session{false};
constinit std::atomic<bool> forbids_leaving_links{false};
constinit std::atomic<bool> forbids_holding_signals{false};
constinit std::atomic<bool> forbids_looking_at_loaded_files{false};
constinit std::atomic<bool> forbids_looking_for_children{false};
constinit std::atomic<bool> forbids_asking_for_numbers{false};
constinit std::atomic<bool> forbids_coming_into_programs{false};

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif

// The calls by which a process joins (channel/handshake.cpp), and those before; with their arguments if these are known.
struct NeededCall {
  int number;
  std::uint64_t arguments[4] = {};
};
constexpr NeededCall kNeeded[] = {
    {SYS_socket, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC}},
    {SYS_setsockopt},
    {SYS_connect},
    {SYS_sendto},
    {SYS_recvmsg},
    {SYS_fcntl, {0, F_DUPFD_CLOEXEC}},
    {SYS_fstat},
    {SYS_close},
    {SYS_mmap, {0, 0, PROT_NONE, MAP_SHARED}},
    {SYS_mprotect, {0, 0, PROT_READ | PROT_WRITE}},
    {SYS_madvise, {0, 0, MADV_DONTDUMP}},
    {SYS_getpid},
    {SYS_gettid},
    {SYS_rt_sigprocmask},
    {SYS_rt_sigaction},
};
constexpr NeededCall kNeededForFiles[] = {{SYS_fstat}, {SYS_readlinkat}};
constexpr NeededCall kNeededForSession[] = {{SYS_getsockopt}, {SYS_newfstatat}, {SYS_geteuid}, {SYS_openat}, {SYS_read}, {SYS_ppoll}};
constexpr NeededCall kNeededForLinks[] = {{SYS_symlinkat}};
constexpr NeededCall kNeededForSignals[] = {{SYS_rt_sigprocmask}};
constexpr NeededCall kNeededForLoadedFiles[] = {{SYS_futex},
                                                {SYS_mprotect, {0, 0, PROT_READ | PROT_WRITE}},
                                                {SYS_mprotect, {0, 0, PROT_READ}},
                                                {SYS_rt_sigprocmask},
                                                {SYS_gettid},
                                                {SYS_tgkill},
                                                {SYS_nanosleep},
                                                {SYS_sched_yield}};
constexpr NeededCall kNeededForChildren[] = {{SYS_openat},   {SYS_getdents64},      {SYS_read},        {SYS_close},  {SYS_pread64},
                                             {SYS_pwrite64}, {SYS_get_robust_list}, {SYS_sched_yield}, {SYS_gettid}, {SYS_futex}};
constexpr NeededCall kNeededForNumbers[] = {{SYS_getpid}, {SYS_gettid}};
// As a trace of the calls shows. The loader finds $ORIGIN by readlink(), and takes the program's memory to load a file by its name; the C library's allocator
// asks for random numbers when it is first used. Many programs never use it.
constexpr NeededCall kNeededToComeIn[] = {
#if defined(SYS_readlink)
    {SYS_readlink},
#endif
    {SYS_readlinkat},
    {SYS_getrandom},
    {SYS_brk},
    {SYS_openat},
    {SYS_read},
    {SYS_pread64},
    {SYS_newfstatat},
    {SYS_fstat},
    {SYS_close},
    {SYS_mmap, {0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE}},
    {SYS_mmap, {0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE}},
    {SYS_mmap, {0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}},
    {SYS_mprotect, {0, 0, PROT_READ}},
    {SYS_munmap},
    {SYS_madvise, {0, 0, MADV_WIPEONFORK}},
    {SYS_futex},
};
// In addition to the calls needed to look at the session and at loaded files.
constexpr NeededCall kNeededForOwnThreads[] = {{SYS_exit}, {SYS_madvise}, {SYS_munmap}, {SYS_accept4}};

struct Purpose {
  std::atomic<bool>& is_forbidden;
  std::span<const NeededCall> calls;
};
const Purpose kPurposesOfCalls[] = {{forbids_joining, kNeeded},
                                    {forbids_looking_at_files, kNeededForFiles},
                                    {forbids_looking_at_session, kNeededForSession},
                                    {forbids_leaving_links, kNeededForLinks},
                                    {forbids_holding_signals, kNeededForSignals},
                                    {forbids_looking_at_loaded_files, kNeededForLoadedFiles},
                                    {forbids_looking_for_children, kNeededForChildren},
                                    {forbids_asking_for_numbers, kNeededForNumbers},
                                    {forbids_coming_into_programs, kNeededToComeIn}};

std::uint32_t computed(std::uint16_t operation, std::uint32_t left, std::uint32_t right) noexcept {
  constexpr std::uint32_t kBits = 32;
  switch (operation) {
    case BPF_ADD:
      return left + right;
    case BPF_SUB:
      return left - right;
    case BPF_MUL:
      return left * right;
    case BPF_DIV:
      return right == 0 ? 0 : left / right;
    case BPF_OR:
      return left | right;
    case BPF_AND:
      return left & right;
    case BPF_XOR:
      return left ^ right;
    case BPF_LSH:
      return right < kBits ? left << right : 0;
    case BPF_RSH:
      return right < kBits ? left >> right : 0;
    default:  // BPF_NEG
      return 0u - left;
  }
}

bool holds(std::uint16_t condition, std::uint32_t left, std::uint32_t right) noexcept {
  switch (condition) {
    case BPF_JEQ:
      return left == right;
    case BPF_JGT:
      return left > right;
    case BPF_JGE:
      return left >= right;
    default:  // BPF_JSET
      return (left & right) != 0;
  }
}

// The kernel's answer: it runs the filter in the same way. The kernel has accepted the program, so all jumps go forward.
std::uint32_t answer_to(const seccomp_data& call, const sock_fprog& filter) noexcept {
  std::uint32_t accumulator = 0;
  std::uint32_t index = 0;
  std::uint32_t memory[BPF_MEMWORDS] = {};
  const auto loaded = [&](const sock_filter& instruction) -> std::uint32_t {
    if (BPF_MODE(instruction.code) == BPF_IMM) return instruction.k;
    if (BPF_MODE(instruction.code) == BPF_LEN) return sizeof(call);
    if (BPF_MODE(instruction.code) == BPF_MEM) return memory[instruction.k % BPF_MEMWORDS];
    std::uint32_t word = 0;
    if (instruction.k <= sizeof(call) - sizeof(word)) std::memcpy(&word, reinterpret_cast<const std::byte*>(&call) + instruction.k, sizeof(word));
    return word;
  };
  for (std::uint32_t at = 0; at < filter.len; ++at) {
    const sock_filter& instruction = filter.filter[at];
    const std::uint32_t operand = BPF_SRC(instruction.code) == BPF_X ? index : instruction.k;
    switch (BPF_CLASS(instruction.code)) {
      case BPF_LD:
        accumulator = loaded(instruction);
        break;
      case BPF_LDX:
        index = loaded(instruction);
        break;
      case BPF_ST:
        memory[instruction.k % BPF_MEMWORDS] = accumulator;
        break;
      case BPF_STX:
        memory[instruction.k % BPF_MEMWORDS] = index;
        break;
      case BPF_ALU:
        accumulator = computed(BPF_OP(instruction.code), accumulator, operand);
        break;
      case BPF_MISC:
        (BPF_MISCOP(instruction.code) == BPF_TAX ? index : accumulator) = BPF_MISCOP(instruction.code) == BPF_TAX ? accumulator : index;
        break;
      case BPF_JMP:
        if (BPF_OP(instruction.code) == BPF_JA)
          at += instruction.k;
        else
          at += holds(BPF_OP(instruction.code), accumulator, operand) ? instruction.jt : instruction.jf;
        break;
      default:
        return BPF_RVAL(instruction.code) == BPF_A ? accumulator : instruction.k;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

bool ends_process(std::uint32_t answer) noexcept {
  switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_TRACE:
      return false;
    default:
      return true;
  }
}

bool ends_who_calls(std::span<const NeededCall> calls, const sock_fprog& filter) noexcept {
  return std::any_of(calls.begin(), calls.end(), [&](const NeededCall& needed) {
    seccomp_data call{};
    call.nr = needed.number;
    call.arch = kMachine;
    std::copy(std::begin(needed.arguments), std::end(needed.arguments), call.args);
    return ends_process(answer_to(call, filter));
  });
}

}  // namespace

FilterInstallation::FilterInstallation() noexcept {
  static_assert(std::size(kPurposesOfCalls) == kPurposes);
  for (std::size_t i = 0; i < kPurposes; ++i) forbidden_[i] = kPurposesOfCalls[i].is_forbidden.exchange(true);
}

void FilterInstallation::has_succeeded(const sock_fprog& filter) noexcept {
  for (std::size_t i = 0; i < kPurposes; ++i) forbidden_[i] = forbidden_[i] || ends_who_calls(kPurposesOfCalls[i].calls, filter);
}

FilterInstallation::~FilterInstallation() {
  for (std::size_t i = 0; i < kPurposes; ++i) kPurposesOfCalls[i].is_forbidden.store(forbidden_[i]);
}

bool may_do_all() noexcept {
  return std::none_of(std::begin(kPurposesOfCalls), std::end(kPurposesOfCalls), [](const Purpose& purpose) { return purpose.is_forbidden.load(); });
}

void forbid_all() noexcept {
  for (const Purpose& purpose : kPurposesOfCalls) purpose.is_forbidden.store(true);
}

bool spares_own_threads(const sock_fprog& filter) noexcept {
  for (const std::span<const NeededCall> calls : {std::span<const NeededCall>(kNeeded), std::span<const NeededCall>(kNeededForSession),
                                                  std::span<const NeededCall>(kNeededForLoadedFiles), std::span<const NeededCall>(kNeededForOwnThreads)})
    if (ends_who_calls(calls, filter)) return false;
  return true;
}

}  // namespace lanescope::agent
