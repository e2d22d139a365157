#include "read_guard.h"

#include <sys/mman.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <vector>

namespace lanescope {
namespace {

constexpr std::size_t kMostGuards = 60'000;  // Linux allows 65,530 mappings

struct Range {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;  // 0: not in use
};

constinit std::array<Range, kMostGuards> ranges{};
constinit std::atomic<std::size_t> ranges_in_use = 0;  // later ranges were never used
constinit std::atomic<bool> has_failed = false;
std::uintptr_t guarded_page = 0;
struct sigaction action_before {};

bool is_guarded(std::uintptr_t address) noexcept {
  for (std::size_t i = 0; i < ranges_in_use.load(); ++i)
    if (const std::uintptr_t end = ranges[i].end.load(); address < end && address >= ranges[i].begin.load()) return true;
  return false;
}

// Runs in the thread that read.
void put_zeros(int signal, siginfo_t* info, void*) noexcept {
  if (info->si_code <= 0) {  // sent by a process: not caused by a read
    sigaction(signal, &action_before, nullptr);
    raise(signal);
    return;
  }
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  void* const page = reinterpret_cast<void*>(address / guarded_page * guarded_page);  // NOLINT(performance-no-int-to-ptr)
  if (is_guarded(address) && mmap(page, guarded_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
    has_failed.store(true);
  else
    sigaction(signal, &action_before, nullptr);  // the read is tried again, and fails as without the guard
  errno = error;
}

struct Guards {
  std::mutex mutex;
  std::vector<std::size_t> free;
};
Guards& guards() {
  static Guards all;
  return all;
}

void take_over() {
  guarded_page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = put_zeros;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &action_before);
}

}  // namespace

std::optional<std::size_t> guard_reads(std::span<const std::byte> memory) {
  Guards& all = guards();
  const std::lock_guard lock(all.mutex);
  if (guarded_page == 0) take_over();
  all.free.reserve(ranges_in_use.load() + 1);  // so that ending a guard does not fail
  std::size_t guard = ranges_in_use.load();
  if (!all.free.empty()) {
    guard = all.free.back();
    all.free.pop_back();
  } else if (guard == kMostGuards) {
    return std::nullopt;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  ranges[guard].begin = begin;
  ranges[guard].end = begin + memory.size();
  if (guard == ranges_in_use.load()) ++ranges_in_use;
  return guard;
}

void end_guard(std::size_t guard) noexcept {
  Guards& all = guards();
  const std::lock_guard lock(all.mutex);
  ranges[guard].end = 0;
  all.free.push_back(guard);
}

bool a_read_failed() noexcept { return has_failed.load(); }

}  // namespace lanescope
