#include "inject/return_frame.h"

#include <cpuid.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace lanescope::attach {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kRestore = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"sv;  // mov $15, %rax; syscall: debuggers recognise it by its bytes
constexpr std::string_view kEndBranch = "\xf3\x0f\x1e\xfa"sv;                    // endbr64, with which functions of some C libraries begin
constexpr std::string_view kKeep = "\x48\x83\xec\x38\x48\x89\x04\x24"sv;         // sub $56, %rsp; mov %rax, (%rsp)
constexpr std::string_view kKept = "\x48\x83\xc4\x38\xc3"sv;                     // add $56, %rsp; ret
constexpr std::size_t kKeepBytes = 128;                                          // more than the length of the function
constexpr std::uint64_t kResultBelow = 56;                                       // distance of its stack pointer when it stores the result
constexpr std::uint64_t kMostCode = 16 << 20;                                    // most bytes read of a file named like a C library; real ones have 2 MB
constexpr std::uint64_t kSystemCallBytes = 2;                                    // syscall

// The kernel's struct rt_sigframe. The kernel uses eight bytes of ucontext_t's signal mask. They are followed by the siginfo, which nobody reads.
constexpr std::size_t kContextBytes = offsetof(ucontext_t, uc_sigmask) + sizeof(std::uint64_t);
static_assert(kContextBytes == 304);
constexpr std::size_t kInformationBytes = 128;
constexpr std::uint64_t kContextFlags = 0x1 | 0x2 | 0x4;  // UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS
constexpr int kNoStackFlags = 0x7fff;                     // invalid, so the kernel leaves the alternate stack as it is

// An XSAVE area in its standard form (Intel SDM, volume 1, chapter 13).
constexpr std::size_t kSoftwareBytesAt = 464;
constexpr std::size_t kHeaderAt = 512;
constexpr std::size_t kLegacyAndHeaderBytes = 576;
constexpr std::size_t kExtendedAlignment = 64;
constexpr unsigned kExtendedStateLeaf = 0xd;
constexpr std::uint64_t kLegacyFeatures = 0x3;  // x87 and SSE

// The words on the stack at the start of a call, at ascending addresses.
struct Start {
  std::uint64_t step;
  std::uint64_t keep;
  std::uint64_t restore;  // the kernel's frame begins here
};
constexpr std::size_t kFrameAt = offsetof(Start, restore);
constexpr std::size_t kContextAt = sizeof(Start);
constexpr std::size_t kChainEndAt = kContextAt + kContextBytes + kInformationBytes;
constexpr std::size_t kChainEndBytes = 2 * sizeof(std::uint64_t);  // a frame pointer and a return address, both zero

std::uint64_t features_in_use(const std::vector<std::byte>& extended) {
  std::uint64_t features = 0;
  if (extended.size() >= kLegacyAndHeaderBytes) std::memcpy(&features, extended.data() + kHeaderAt, sizeof features);
  return features;
}

// Size of the part that is in use: the kernel accepts only as much as the thread may have, which may be less than the machine has.
std::size_t bytes_in_use(const std::vector<std::byte>& extended) {
  const std::uint64_t features = features_in_use(extended);
  std::size_t bytes = kLegacyAndHeaderBytes;
  for (unsigned feature = 2; feature < 63; ++feature) {
    unsigned size = 0;
    unsigned offset = 0;
    unsigned unused[2];
    if ((features >> feature & 1) != 0 && __get_cpuid_count(kExtendedStateLeaf, feature, &size, &offset, &unused[0], &unused[1]) != 0)
      bytes = std::max<std::size_t>(bytes, std::size_t{offset} + size);
  }
  return std::min(bytes, extended.size());
}

void put_context(std::byte* at, const ThreadState& state, std::uint64_t extended_address) {
  ucontext_t context{};
  const user_regs_struct& from = state.registers;
  greg_t* const to = context.uc_mcontext.gregs;
  const auto put = [&](int index, std::uint64_t value) { to[index] = static_cast<greg_t>(value); };
  put(REG_R8, from.r8);
  put(REG_R9, from.r9);
  put(REG_R10, from.r10);
  put(REG_R11, from.r11);
  put(REG_R12, from.r12);
  put(REG_R13, from.r13);
  put(REG_R14, from.r14);
  put(REG_R15, from.r15);
  put(REG_RDI, from.rdi);
  put(REG_RSI, from.rsi);
  put(REG_RBP, from.rbp);
  put(REG_RBX, from.rbx);
  put(REG_RDX, from.rdx);
  put(REG_RAX, from.rax);
  put(REG_RCX, from.rcx);
  put(REG_RSP, from.rsp);
  put(REG_RIP, from.rip);
  put(REG_EFL, from.eflags);
  put(REG_CSGSFS, (from.cs & 0xffff) | (from.ss & 0xffff) << 48);
  context.uc_flags = kContextFlags;
  context.uc_stack.ss_flags = kNoStackFlags;
  std::memcpy(&context.uc_mcontext.fpregs, &extended_address, sizeof extended_address);
  std::memcpy(&context.uc_sigmask, &state.signal_mask, sizeof state.signal_mask);
  std::memcpy(at, &context, kContextBytes);
}

void put_extended(std::byte* at, const std::vector<std::byte>& extended, std::size_t size) {
  std::memcpy(at, extended.data(), size);
  std::memset(at + kHeaderAt + sizeof(std::uint64_t), 0, kLegacyAndHeaderBytes - kHeaderAt - sizeof(std::uint64_t));
  _fpx_sw_bytes software{};
  software.magic1 = FP_XSTATE_MAGIC1;
  software.extended_size = static_cast<std::uint32_t>(size + FP_XSTATE_MAGIC2_SIZE);
  software.xstate_bv = features_in_use(extended) | kLegacyFeatures;
  software.xstate_size = static_cast<std::uint32_t>(size);
  std::memcpy(at + kSoftwareBytesAt, &software, sizeof software);
  constexpr std::uint32_t kEnd = FP_XSTATE_MAGIC2;
  std::memcpy(at + size, &kEnd, sizeof kEnd);
}

std::string read_bytes(const RemoteMemory& memory, std::uint64_t address, std::size_t size) {
  std::string bytes(size, '\0');
  if (!memory.read(address, std::as_writable_bytes(std::span(bytes)))) bytes.clear();
  return bytes;
}

std::uint64_t find_restore(const RemoteMemory& memory, const std::vector<Mapping>& map) {
  std::uint64_t budget = kMostCode;
  for (const Mapping& mapping : map) {
    if (!mapping.executable || !is_glibc(mapping.path)) continue;
    const std::uint64_t size = std::min(mapping.end - mapping.begin, budget);
    const std::size_t place = read_bytes(memory, mapping.begin, size).find(kRestore);
    if (place != std::string::npos) return mapping.begin + place;
    budget -= size;
  }
  return 0;
}

// System calls that the kernel continues by restart_syscall, which is their number from then on.
bool is_continued(long number) {
  constexpr std::array kNumbers{SYS_nanosleep, SYS_clock_nanosleep, SYS_poll, SYS_futex};
  return std::find(kNumbers.begin(), kNumbers.end(), number) != kNumbers.end();
}

// Finds the number by the instruction before the call, as in the C library: mov $number, %eax.
std::optional<long> number_before(std::uint64_t call, const RemoteMemory& memory) {
  constexpr char kMove = '\xb8';
  std::int32_t number = 0;
  const std::string code = read_bytes(memory, call - 1 - sizeof number, 1 + sizeof number);
  if (code.empty() || code[0] != kMove) return std::nullopt;
  std::memcpy(&number, code.data() + 1, sizeof number);
  return is_continued(number) ? std::optional<long>(number) : std::nullopt;
}

}  // namespace

std::optional<ReturnPath> find_return_path(const RemoteMemory& memory, const std::vector<Mapping>& map) {
  const Mapping* library = find_file(map, is_glibc);
  const std::optional<std::uint64_t> keep = library != nullptr ? find_function(memory, library->begin, "_mcount") : std::nullopt;
  if (!keep) return std::nullopt;
  const std::string code = read_bytes(memory, *keep, kKeepBytes);
  const std::size_t begin = code.starts_with(kEndBranch) ? kEndBranch.size() : 0;
  const std::size_t end = code.find(kKept);
  if (code.compare(begin, kKeep.size(), kKeep) != 0 || end == std::string::npos) return std::nullopt;
  const std::uint64_t restore = find_restore(memory, map);
  if (restore == 0) return std::nullopt;
  return ReturnPath{.step = *keep + end + kKept.size() - 1, .keep = *keep, .restore = restore};
}

user_regs_struct begun_anew(const user_regs_struct& interrupted, const RemoteMemory& memory) {
  constexpr std::array kRestarts{-512L, -513L, -514L, -516L};  // ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK
  user_regs_struct registers = interrupted;
  const auto number = static_cast<long>(interrupted.orig_rax);
  if (number < 0 || std::find(kRestarts.begin(), kRestarts.end(), static_cast<long>(interrupted.rax)) == kRestarts.end()) return registers;
  registers.rip -= kSystemCallBytes;
  registers.rax = interrupted.orig_rax;
  if (number == SYS_restart_syscall) registers.rax = static_cast<std::uint64_t>(number_before(registers.rip, memory).value_or(number));
  return registers;
}

ReturnFrame::ReturnFrame(const ReturnPath& path, const ThreadState& state, std::uint64_t below) : restore_(path.restore) {
  const std::size_t size = bytes_in_use(state.extended);
  const std::uint64_t extended = (below - size - FP_XSTATE_MAGIC2_SIZE) & ~std::uint64_t{kExtendedAlignment - 1};
  // The function expects its stack pointer at 8 plus a multiple of 16, and so does _mcount after the step.
  address_ = ((extended - kChainEndAt - kChainEndBytes) & ~std::uint64_t{15}) - sizeof(std::uint64_t);
  bytes_.resize(extended + size + FP_XSTATE_MAGIC2_SIZE - address_);
  const Start start{path.step, path.keep, path.restore};
  std::memcpy(bytes_.data(), &start, sizeof start);
  put_context(bytes_.data() + kContextAt, state, extended);
  put_extended(bytes_.data() + (extended - address_), state.extended, size);
}

std::uint64_t ReturnFrame::frame_pointer() const noexcept { return address_ + kChainEndAt; }

std::uint64_t ReturnFrame::result() const noexcept { return address_ + kFrameAt - kResultBelow; }

bool ReturnFrame::has_returned(const user_regs_struct& registers) const noexcept {
  return registers.orig_rax == SYS_rt_sigreturn && registers.rip == restore_ + kRestore.size() && registers.rsp == address_ + kFrameAt + sizeof(std::uint64_t);
}

user_regs_struct ReturnFrame::one_step_back(user_regs_struct registers) const noexcept {
  registers.orig_rax = SYS_getpid;
  registers.rip = restore_;
  return registers;
}

}  // namespace lanescope::attach
