#include "inject/loading_thread.h"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "collector/attach/memory_map.h"

namespace lanescope::attach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kPageBytes = 4096;
constexpr milliseconds kStartLimit{2000};
constexpr std::uint64_t kPauseNanoseconds = 100'000;
constexpr std::uint64_t kRedZone = 128;  // bytes below the stack pointer that a function may use (System V ABI)

// At the start of the page. The instructions below rely on the offsets of its fields.
struct Desk {
  std::uint64_t asked = 0;     // number of calls asked for, written last
  std::uint64_t done = 0;      // number of calls done
  std::uint64_t function = 0;  // 0: end the thread
  std::uint64_t arguments[6] = {};
  std::uint64_t result = 0;
  std::uint64_t pauses_left = 0;  // until the thread ends by itself
  std::uint64_t pause[2] = {0, kPauseNanoseconds};
  std::uint64_t detach_thread = 0;
  std::uint64_t this_thread = 0;
  std::uint64_t unmap = 0;
  std::uint64_t stack = 0;   // stack pointer for leaving the instructions
  std::uint64_t thread = 0;  // the kernel's number of the thread, written by the thread
};
static_assert(offsetof(Desk, function) == 16 && offsetof(Desk, arguments) == 24 && offsetof(Desk, result) == 72 && offsetof(Desk, pauses_left) == 80 &&
              offsetof(Desk, pause) == 88 && offsetof(Desk, detach_thread) == 104 && offsetof(Desk, this_thread) == 112 && offsetof(Desk, unmap) == 120 &&
              offsetof(Desk, stack) == 128 && offsetof(Desk, thread) == 136 && sizeof(Desk) == 144);

// void* (*)(void* desk): the instructions that the thread runs. They contain no addresses, so they work wherever they are copied to. They end after
// about 15 s without a call, in pauses of a little more than 0.1 ms. The last instruction jumps into munmap, which returns to the caller of these
// instructions.
asm(R"(
    .pushsection .rodata
  lanescope_loading_begin:
    push %rbx
    mov %rdi, %rbx
    mov %rsp, 128(%rbx)
    mov $186, %eax
    syscall
    mov %rax, 136(%rbx)
    call *112(%rbx)
    mov %rax, %rdi
    call *104(%rbx)
    movq $100000, 80(%rbx)
  1:
    mov 0(%rbx), %rax
    cmp 8(%rbx), %rax
    jne 2f
    decq 80(%rbx)
    js 3f
    mov $35, %eax
    lea 88(%rbx), %rdi
    xor %esi, %esi
    syscall
    jmp 1b
  2:
    mov 16(%rbx), %r11
    test %r11, %r11
    je 3f
    mov 24(%rbx), %rdi
    mov 32(%rbx), %rsi
    mov 40(%rbx), %rdx
    mov 48(%rbx), %rcx
    mov 56(%rbx), %r8
    mov 64(%rbx), %r9
    xor %eax, %eax
    call *%r11
    mov %rax, 72(%rbx)
    incq 8(%rbx)
    movq $100000, 80(%rbx)
    jmp 1b
  lanescope_loading_leave:
  3:
    mov 128(%rbx), %rsp
    mov 120(%rbx), %r11
    mov %rbx, %rdi
    mov $4096, %esi
    pop %rbx
    jmp *%r11
  lanescope_loading_end:
    .popsection
)");
extern "C" {
extern const std::byte lanescope_loading_begin[];
extern const std::byte lanescope_loading_leave[];
extern const std::byte lanescope_loading_end[];
}

}  // namespace

LoadingThread::LoadingThread(pid_t process, const CLibraryFunctions& library, const RemoteMemory& memory, std::uint64_t page)
    : process_(process),
      library_(library),
      memory_(memory),
      page_(page),
      used_(sizeof(Desk) + static_cast<std::uint64_t>(lanescope_loading_end - lanescope_loading_begin)) {}

std::unique_ptr<LoadingThread> LoadingThread::start(pid_t process, StoppedThread& stopped, const CLibraryFunctions& library, const RemoteMemory& memory) {
  if (library.map == 0 || library.unmap == 0 || library.create_thread == 0 || library.detach_thread == 0 || library.this_thread == 0) return nullptr;
  constexpr std::uint64_t kNoFile = ~std::uint64_t{0};
  const Result<std::uint64_t> page =
      stopped.call(library.map, {0, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, kNoFile, 0}, kStartLimit);
  if (!page || *page == kNoFile) return nullptr;
  Desk desk;
  desk.detach_thread = library.detach_thread;
  desk.this_thread = library.this_thread;
  desk.unmap = library.unmap;
  const std::span code(lanescope_loading_begin, lanescope_loading_end);
  std::vector<std::byte> content(sizeof desk);
  std::memcpy(content.data(), &desk, sizeof desk);
  content.insert(content.end(), code.begin(), code.end());
  const Result<std::uint64_t> handle = stopped.reserve(sizeof(std::uint64_t));
  const bool is_written = handle && memory.write(*page, content);
  const Result<std::uint64_t> started =
      is_written ? stopped.call(library.create_thread, {*handle, 0, *page + sizeof desk, *page}, kStartLimit) : Result<std::uint64_t>(Error{});
  if (started && *started == 0) return std::unique_ptr<LoadingThread>(new LoadingThread(process, library, memory, *page));
  if (started || !is_written) static_cast<void>(stopped.call(library.unmap, {*page, kPageBytes}, kStartLimit));
  return nullptr;
}

LoadingThread::~LoadingThread() {
  if (has_left_) return;
  if (write(offsetof(Desk, function), 0)) write(offsetof(Desk, asked), calls_ + 1);
}

bool LoadingThread::write(std::uint64_t offset, std::uint64_t value) const { return memory_.write(page_ + offset, std::as_bytes(std::span(&value, 1))); }

Result<std::uint64_t> LoadingThread::call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments, milliseconds limit) {
  if (failed_) return Error{"The thread that loads the agent can't be used any more, for a call in it has not returned in time. Try again."};
  watch_faults();
  failed_ = true;
  has_faulted_ = false;
  std::array<std::uint64_t, 7> request{function};
  std::copy(arguments.begin(), arguments.end(), request.begin() + 1);
  ++calls_;
  if (!memory_.write(page_ + offsetof(Desk, function), std::as_bytes(std::span(request))) || !write(offsetof(Desk, asked), calls_))
    return Error{"The process ended while the agent was loaded."};
  const Clock::time_point deadline = Clock::now() + limit;
  for (;;) {
    const auto done = memory_.read<std::uint64_t>(page_ + offsetof(Desk, done));
    if (!done) return Error{"The process ended while the agent was loaded."};
    if (*done == calls_) break;
    if (const std::optional<Fault> fault = watch_ ? watch_->look() : std::nullopt; fault)
      if (const Result<void> recovered = recover(*fault, function); !recovered) return recovered.error();
    if (Clock::now() >= deadline) return Error{"Loading the agent waits for a lock that another thread holds. Try again."};
    constexpr timespec kPause{0, 50'000};
    nanosleep(&kPause, nullptr);
  }
  const auto result = memory_.read<std::uint64_t>(page_ + offsetof(Desk, result));
  if (!result) return Error{"The process ended while the agent was loaded."};
  failed_ = false;
  return *result;
}

void LoadingThread::watch_faults() {
  constexpr int kLooks = 1'000;
  for (int i = 0; i < kLooks && !watch_ && !watches_; ++i) {
    const auto thread = memory_.read<std::uint64_t>(page_ + offsetof(Desk, thread)).value_or(0);
    constexpr timespec kPause{0, 50'000};
    if (thread != 0)
      watch_ = FaultWatch::start(process_, static_cast<pid_t>(thread));
    else
      nanosleep(&kPause, nullptr);
    watches_ = thread != 0;
  }
}

// True if code of the agent was running in the thread: at the fault, or in one of the calls that led to it.
bool LoadingThread::runs_agent(const Fault& fault) const {
  const std::vector<Mapping> map = read_memory_map(process_).value_or(std::vector<Mapping>());
  const auto is_agents = [&map](std::uint64_t address) {
    return std::any_of(map.begin(), map.end(),
                       [address](const Mapping& mapping) { return mapping.contains(address) && mapping.executable && is_agent(mapping.path); });
  };
  if (is_agents(fault.registers.rip)) return true;
  const auto end = memory_.read<std::uint64_t>(page_ + offsetof(Desk, stack)).value_or(0);
  for (std::uint64_t place = fault.registers.rsp; place < end; place += sizeof(std::uint64_t))
    if (is_agents(memory_.read<std::uint64_t>(place).value_or(0))) return true;
  return false;
}

// If the loader faults, for example because a file is truncated, it is made to refuse the file, and releases its locks. Other code is left by ending
// the thread.
Result<void> LoadingThread::recover(const Fault& fault, std::uint64_t function) {
  user_regs_struct registers = fault.registers;
  const std::string name = fault.signal == SIGBUS ? "SIGBUS" : fault.signal == SIGSEGV ? "SIGSEGV" : "signal " + std::to_string(fault.signal);
  const bool may_refuse = !has_faulted_ && function == library_.open && library_.refuse_load != 0 && !runs_agent(fault);
  has_faulted_ = true;
  const Result<std::uint64_t> text = may_refuse ? place("it could not be read: the loader faulted (" + name + ")") : Result<std::uint64_t>(Error{});
  if (text) {
    registers.rdi = 0;
    registers.rsi = registers.rdx = 0;
    registers.rcx = *text;
    registers.rsp = ((registers.rsp - kRedZone) & ~std::uint64_t{15}) - sizeof(std::uint64_t);  // as after a call
    registers.rip = library_.refuse_load;
    registers.rax = 0;
    registers.orig_rax = ~std::uint64_t{0};
    watch_->go_on_at(registers);
    return {};
  }
  registers.rbx = page_;
  registers.rip = page_ + sizeof(Desk) + static_cast<std::uint64_t>(lanescope_loading_leave - lanescope_loading_begin);
  registers.orig_rax = ~std::uint64_t{0};
  watch_->go_on_at(registers);
  has_left_ = true;
  return Error{"The agent faulted (" + name + ") while it was loaded into the process, which runs on without it."};
}

Result<std::uint64_t> LoadingThread::reserve(std::size_t bytes) {
  used_ = (used_ + 15) & ~std::uint64_t{15};
  if (used_ + bytes > kPageBytes) return Error{"The path of the agent is too long."};
  return page_ + std::exchange(used_, used_ + bytes);
}

Result<std::uint64_t> LoadingThread::place(std::string_view text) {
  std::vector<std::byte> bytes(text.size() + 1);
  std::memcpy(bytes.data(), text.data(), text.size());
  const Result<std::uint64_t> address = reserve(bytes.size());
  if (address && !memory_.write(*address, bytes)) return Error{"The process ended while the agent was loaded."};
  return address;
}

}  // namespace lanescope::attach
