#include "agent/kernels/code_objects.h"

#include <algorithm>
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
  kept_.push_back({asked.cubinCrc, static_cast<std::byte*>(copy), image.size(), 0, {}, nullptr, 0, 0, false});
}

void CodeObjects::find_sections(Kept& kept) noexcept {
  if (kept.sections != nullptr) return;
  kept.layout = CubinSections({kept.bytes, kept.size});
  const std::uint32_t count = kept.layout.count();
  void* const marks = count == 0 ? nullptr : system::map(nullptr, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (marks == nullptr) return;
  kept.sections = static_cast<Mark*>(marks);
  kept.count = count;
}

void CodeObjects::want(std::uint64_t crc) noexcept {
  const ScopedLock lock(lock_);
  Kept* const known = find(crc);
  if (known == nullptr) return;
  find_sections(*known);
  if (known->taken == 0) known->is_wanted = true;
  for (std::uint32_t section = 0; section < known->count; ++section) {
    if (known->sections[section] != Mark::kUnwanted) continue;
    known->sections[section] = Mark::kWanted;
    known->is_wanted = true;
  }
}

void CodeObjects::want(std::uint64_t crc, std::uint32_t function) noexcept {
  std::uint32_t section = 0;
  {
    const ScopedLock lock(lock_);
    Kept* const known = find(crc);
    if (known == nullptr) return;
    find_sections(*known);
    if (known->sections != nullptr) section = known->layout.section_of(function);
    if (section != 0 && known->sections[section] == Mark::kUnwanted) {
      known->sections[section] = Mark::kWanted;
      known->is_wanted = true;
    }
  }
  if (section == 0) want(crc);
}

std::uint64_t CodeObjects::crc_that_ends_in(std::uint32_t bits) noexcept {
  const ScopedLock lock(lock_);
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (static_cast<std::uint32_t>(kept_[i].crc) == bits) return kept_[i].crc;
  return bits;
}

CodeObjects::Part CodeObjects::next_of_image(Kept& kept, std::size_t most_bytes) noexcept {
  if (kept.taken == 0)
    for (std::uint32_t section = 0; section < kept.count; ++section)
      if (kept.sections[section] == Mark::kWanted) kept.sections[section] = Mark::kTaken;
  const std::uint64_t begin = kept.taken, size = std::min<std::uint64_t>(most_bytes, kept.size - begin), end = begin + size;
  kept.taken = end;
  Part part{kept.crc, kept.size, begin, {kept.bytes + begin, static_cast<std::size_t>(size)}};
  bool is_copied = false;
  for (std::uint32_t section = 0; section < kept.count; ++section) {
    const CubinSections::Extent code = kept.layout.code(section);
    if (kept.sections[section] == Mark::kTaken || code.size == 0 || code.offset >= end || code.offset + code.size <= begin) continue;
    if (!is_copied) {
      part_.clear();
      part_.append(part.bytes.data(), part.bytes.size());
      if (part_.failed()) return part;  // without replacing code by zeros
      part.bytes = part_.bytes();
      is_copied = true;
    }
    const std::uint64_t from = std::max(begin, code.offset), to = std::min(end, code.offset + code.size);
    std::memset(part_.data() + (from - begin), 0, static_cast<std::size_t>(to - from));
  }
  return part;
}

CodeObjects::Part CodeObjects::next_of_sections(Kept& kept, std::size_t most_bytes) noexcept {
  for (std::uint32_t section = 0; section < kept.count; ++section) {
    if (kept.sections[section] != Mark::kWanted) continue;
    const CubinSections::Extent code = kept.layout.code(section);
    const std::uint64_t begin = code.offset + kept.replaced, size = std::min<std::uint64_t>(most_bytes, code.size - kept.replaced);
    kept.replaced += size;
    if (kept.replaced == code.size) {
      kept.sections[section] = Mark::kTaken;
      kept.replaced = 0;
    }
    if (size != 0) return {kept.crc, kept.size, begin, {kept.bytes + begin, static_cast<std::size_t>(size)}};
  }
  return {};
}

CodeObjects::Part CodeObjects::take_wanted(std::size_t most_bytes) noexcept {
  const ScopedLock lock(lock_);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    Kept& kept = kept_[i];
    if (!kept.is_wanted) continue;
    const Part part = kept.taken < kept.size ? next_of_image(kept, most_bytes) : next_of_sections(kept, most_bytes);
    if (!part.bytes.empty()) return part;
    kept.is_wanted = false;
  }
  return {};
}

void CodeObjects::forget_taken() noexcept {
  const ScopedLock lock(lock_);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    kept_[i].taken = kept_[i].replaced = 0;
    kept_[i].is_wanted = false;
    std::fill_n(kept_[i].sections, kept_[i].count, Mark::kUnwanted);
  }
}

std::uint64_t CodeObjects::left_out() noexcept {
  const ScopedLock lock(lock_);
  return left_out_;
}

}  // namespace lanescope::agent::kernels
