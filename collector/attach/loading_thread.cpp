#include "loading_thread.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace lanescope::attach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kPageBytes = 4096;
constexpr milliseconds kStartLimit{2000};
constexpr std::uint64_t kPauseNanoseconds = 100'000;

// At the beginning of the page. The instructions below know where its fields lie.
struct Desk {
  std::uint64_t asked = 0;     // calls, written last
  std::uint64_t done = 0;      // of them
  std::uint64_t function = 0;  // 0: end
  std::uint64_t arguments[6] = {};
  std::uint64_t result = 0;
  std::uint64_t pauses_left = 0;  // before it ends by itself
  std::uint64_t pause[2] = {0, kPauseNanoseconds};
  std::uint64_t detach_thread = 0;
  std::uint64_t this_thread = 0;
  std::uint64_t unmap = 0;
};
static_assert(offsetof(Desk, function) == 16 && offsetof(Desk, arguments) == 24 && offsetof(Desk, result) == 72 &&
              offsetof(Desk, pauses_left) == 80 && offsetof(Desk, pause) == 88 && offsetof(Desk, detach_thread) == 104 &&
              offsetof(Desk, this_thread) == 112 && offsetof(Desk, unmap) == 120 && sizeof(Desk) == 128);

// void* (*)(void* desk): what the thread runs. It has no address in it, so that it works wherever it is copied to. About 15 s without a
// call, at 0.1 ms and a little a pause, end it. Its last instruction jumps into munmap, which returns to where the thread came from.
asm(R"(
    .pushsection .rodata
  lanescope_loading_begin:
    push %rbx
    mov %rdi, %rbx
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
  3:
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
extern const std::byte lanescope_loading_end[];
}

}  // namespace

LoadingThread::LoadingThread(const RemoteMemory& memory, std::uint64_t page)
    : memory_(memory), page_(page), used_(sizeof(Desk) + static_cast<std::uint64_t>(lanescope_loading_end - lanescope_loading_begin)) {}

std::unique_ptr<LoadingThread> LoadingThread::start(StoppedThread& stopped, const CLibraryFunctions& library, const RemoteMemory& memory) {
  if (library.map == 0 || library.unmap == 0 || library.create_thread == 0 || library.detach_thread == 0 || library.this_thread == 0)
    return nullptr;
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
  const Result<std::uint64_t> started = is_written
                                            ? stopped.call(library.create_thread, {*handle, 0, *page + sizeof desk, *page}, kStartLimit)
                                            : Result<std::uint64_t>(Error{});
  if (started && *started == 0) return std::unique_ptr<LoadingThread>(new LoadingThread(memory, *page));
  if (started || !is_written) static_cast<void>(stopped.call(library.unmap, {*page, kPageBytes}, kStartLimit));
  return nullptr;
}

LoadingThread::~LoadingThread() {
  if (write(offsetof(Desk, function), 0)) write(offsetof(Desk, asked), calls_ + 1);
}

bool LoadingThread::write(std::uint64_t offset, std::uint64_t value) const {
  return memory_.write(page_ + offset, std::as_bytes(std::span(&value, 1)));
}

Result<std::uint64_t> LoadingThread::call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments, milliseconds limit) {
  if (failed_) return Error{"The thread that loads the agent can't be used any more."};
  failed_ = true;
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
    if (Clock::now() >= deadline) return Error{"Loading the agent waits for a lock that another thread holds. Try again."};
    constexpr timespec kPause{0, 50'000};
    nanosleep(&kPause, nullptr);
  }
  const auto result = memory_.read<std::uint64_t>(page_ + offsetof(Desk, result));
  if (!result) return Error{"The process ended while the agent was loaded."};
  failed_ = false;
  return *result;
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
