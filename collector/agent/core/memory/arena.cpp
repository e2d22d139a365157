#include "agent/core/memory/arena.h"

#include <cstring>

#include <sys/mman.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kBlockBytes = 64u << 10;

}  // namespace

void* Arena::allocate(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded > left_) {
    const std::size_t block = rounded > kBlockBytes ? (rounded + 4095) / 4096 * 4096 : kBlockBytes;
    if (taken_ + block > limit_) return nullptr;
    void* pages = system::map(nullptr, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (pages == nullptr) return nullptr;
    taken_ += block;
    next_ = static_cast<std::byte*>(pages);
    left_ = block;
  }
  void* result = next_;
  next_ += rounded;
  left_ -= rounded;
  return result;
}

std::string_view Arena::copy(std::string_view text) noexcept {
  if (text.empty()) return {};
  auto* target = static_cast<char*>(allocate(text.size()));
  if (target == nullptr) return {};
  std::memcpy(target, text.data(), text.size());
  return {target, text.size()};
}

}  // namespace lanescope::agent
