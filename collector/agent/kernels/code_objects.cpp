#include "agent/kernels/code_objects.h"

#include <cstring>

#include <sys/mman.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent::kernels {

CodeObjects::Kept* CodeObjects::find(std::uint64_t crc) noexcept {
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (kept_[i].crc == crc) return &kept_[i];
  return nullptr;
}

void CodeObjects::add(std::span<const std::byte> image) noexcept {
  CUpti_GetCubinCrcParams asked{};
  asked.size = CUpti_GetCubinCrcParamsSize;
  asked.cubinSize = image.size();
  asked.cubin = image.data();
  if (image.empty() || get_crc_(&asked) != CUPTI_SUCCESS) return;
  const ScopedLock lock(lock_);
  if (find(asked.cubinCrc) != nullptr) return;
  const bool fits = image.size() <= kMostBytes - bytes_;
  void* const copy = fits ? system::map(nullptr, image.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) : nullptr;
  if (copy == nullptr) {
    left_out_ += image.size();
    return;
  }
  std::memcpy(copy, image.data(), image.size());
  bytes_ += image.size();
  kept_.push_back({asked.cubinCrc, static_cast<std::byte*>(copy), image.size(), State::kKept});
}

void CodeObjects::want(std::uint64_t crc) noexcept {
  const ScopedLock lock(lock_);
  if (Kept* known = find(crc); known != nullptr && known->state == State::kKept) known->state = State::kWanted;
}

std::uint64_t CodeObjects::crc_that_ends_in(std::uint32_t bits) noexcept {
  const ScopedLock lock(lock_);
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (static_cast<std::uint32_t>(kept_[i].crc) == bits) return kept_[i].crc;
  return bits;
}

CodeObjects::Image CodeObjects::take_wanted() noexcept {
  const ScopedLock lock(lock_);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].state != State::kWanted) continue;
    kept_[i].state = State::kTaken;
    return {kept_[i].crc, {kept_[i].bytes, kept_[i].size}};
  }
  return {};
}

void CodeObjects::forget_taken() noexcept {
  const ScopedLock lock(lock_);
  for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i].state = State::kKept;
}

std::uint64_t CodeObjects::left_out() noexcept {
  const ScopedLock lock(lock_);
  return left_out_;
}

}  // namespace lanescope::agent::kernels
