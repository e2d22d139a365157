#include "agent/nvtx/filter.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/channel/capture.h"
#include "agent/channel/membership.h"
#include "agent/nvtx/names.h"
#include "agent/process/forks.h"

namespace lanescope::agent::nvtx {
namespace {

using channel::NameRule;

constexpr std::uint32_t kRememberedDomains = 1024;

// The verdict on a domain, and the generation in which it was found: the generation shifted left by one, then the verdict. 0: not asked yet.
constinit std::atomic<std::uint32_t> verdicts[kRememberedDomains] = {};

bool lists(const channel::Settings& settings, std::string_view name) noexcept {
  const char* next = settings.domain_names;
  const char* end = next + std::min<std::size_t>(settings.domain_name_bytes, channel::kDomainNamesBytes);
  while (next < end) {
    const std::string_view listed(next, strnlen(next, static_cast<std::size_t>(end - next)));
    if (listed == name) return true;
    next += listed.size() + 1;
  }
  return false;
}

bool allows(const channel::Settings& settings, std::uint32_t domain) noexcept {
  return lists(settings, domain_name(domain)) == (settings.domain_rule == NameRule::kOnlyListed);
}

std::string_view text_of(const char (&bytes)[channel::kCaptureNameBytes]) noexcept { return {bytes, strnlen(bytes, channel::kCaptureNameBytes)}; }

}  // namespace

bool is_wanted(const channel::Settings& settings, std::uint32_t domain) noexcept {
  if (settings.domain_rule == NameRule::kAll) return true;
  if (domain >= kRememberedDomains) return allows(settings, domain);
  const std::uint32_t generation = process_generation();
  const std::uint32_t known = verdicts[domain].load(std::memory_order_relaxed);
  if (known >> 1 == generation) return (known & 1) != 0;
  const bool allowed = allows(settings, domain);
  verdicts[domain].store(generation << 1 | (allowed ? 1 : 0), std::memory_order_relaxed);
  return allowed;
}

bool begins_capture(const channel::Settings& settings, std::uint32_t domain, std::string_view text) noexcept {
  if (!captures_by(settings, channel::CaptureTrigger::kNvtxRange)) return false;
  if (text != text_of(settings.capture_range)) return false;
  return settings.capture_any_domain != 0 || domain_name(domain) == text_of(settings.capture_domain);
}

}  // namespace lanescope::agent::nvtx
