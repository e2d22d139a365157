#include "agent/nvtx/included_range.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "agent/nvtx/names.h"
#include "collector/channel/kernel_counters.h"

namespace lanescope::agent::nvtx {
namespace {

constexpr std::size_t kMostBytes = 1024;  // of the name
constexpr std::size_t kMostOpen = 256;    // ranges of that name that are open at once; more are not noticed

constinit char named[kMostBytes] = {};
constinit std::string_view wanted_text;
constinit std::string_view wanted_domain;  // empty: the default one
constinit bool is_profilers = false;       // channel::kProfilerRange: no range of NVTX is wanted
constinit std::atomic<bool> is_named{false};

// Keys of open ranges; 0: a free place.
constinit std::atomic<std::uint64_t> open_ranges[kMostOpen] = {};
constinit std::atomic<std::uint32_t> open_count{0};
constinit std::atomic<std::uint32_t> times{0};
constinit std::atomic<void (*)() noexcept> at_end{nullptr};

void open_one(std::uint64_t key) noexcept {
  for (std::atomic<std::uint64_t>& place : open_ranges) {
    std::uint64_t nobody = 0;
    if (!place.compare_exchange_strong(nobody, key)) continue;
    if (open_count++ == 0) ++times;
    return;
  }
}

}  // namespace

void read_included_range() noexcept {
  const char* const value = getenv(channel::kKernelRangeVariable);
  const std::string_view name = value == nullptr ? "" : value;
  if (name == std::string_view(named)) return;
  is_named.store(false);
  for (std::atomic<std::uint64_t>& key : open_ranges) key.store(0);
  open_count.store(0);
  if (name.size() >= kMostBytes) return;
  std::memcpy(named, name.data(), name.size());
  named[name.size()] = '\0';
  if (name.empty()) return;
  const std::string_view whole(named, name.size());
  const std::size_t mark = whole.find('@');
  wanted_domain = std::string_view(named, mark == std::string_view::npos ? 0 : mark);
  wanted_text = whole;
  if (mark != std::string_view::npos) wanted_text.remove_prefix(mark + 1);
  is_profilers = whole == channel::kProfilerRange;
  is_named.store(true);
}

void begin_included(std::uint32_t domain, std::string_view text, std::uint64_t key) noexcept {
  if (is_named.load(std::memory_order_acquire) && !is_profilers && text == wanted_text && domain_name(domain) == wanted_domain) open_one(key);
}

void begin_profiler_range(std::uint64_t key) noexcept {
  if (is_named.load(std::memory_order_acquire) && is_profilers) open_one(key);
}

void end_included(std::uint64_t key) noexcept {
  if (open_count.load(std::memory_order_relaxed) == 0) return;
  for (std::atomic<std::uint64_t>& place : open_ranges) {
    std::uint64_t ended = key;
    if (!place.compare_exchange_strong(ended, 0)) continue;
    if (--open_count != 0) return;
    if (void (*const call)() noexcept = at_end.load(std::memory_order_acquire)) call();
    return;
  }
}

std::uint32_t times_included() noexcept { return times.load(); }

void at_end_of_included(void (*call)() noexcept) noexcept { at_end.store(call, std::memory_order_release); }

std::string_view included_name() noexcept { return is_named.load(std::memory_order_acquire) ? std::string_view(named) : std::string_view(); }

bool is_included() noexcept { return !is_named.load(std::memory_order_acquire) || open_count.load() != 0; }

}  // namespace lanescope::agent::nvtx
