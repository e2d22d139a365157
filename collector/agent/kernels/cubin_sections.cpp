#include "agent/kernels/cubin_sections.h"

#include <algorithm>
#include <cstring>

namespace lanescope::agent::kernels {
namespace {

constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kSectionBytes = 64;
constexpr std::uint64_t kSymbolBytes = 24;
constexpr std::uint32_t kProgramBits = 1;
constexpr std::uint32_t kSymbolTable = 2;
constexpr std::uint64_t kExecutable = 4;

}  // namespace

template <typename Number>
Number CubinSections::at(std::uint64_t place) const noexcept {
  Number number = 0;
  if (place <= image_.size() && image_.size() - place >= sizeof(Number)) std::memcpy(&number, image_.data() + place, sizeof(Number));
  return number;
}

CubinSections::CubinSections(std::span<const std::byte> image) noexcept : image_(image) {
  constexpr unsigned char kIdentity[] = {0x7f, 'E', 'L', 'F', 2, 1};  // 64 bits, little-endian
  if (image.size() < kHeaderBytes || std::memcmp(image.data(), kIdentity, sizeof(kIdentity)) != 0 || at<std::uint16_t>(58) != kSectionBytes) return;
  table_ = at<std::uint64_t>(40);
  if (table_ > image.size() || image.size() - table_ < kSectionBytes) return;
  // If there are very many, their number is in the first section.
  const std::uint64_t stated = at<std::uint16_t>(60) != 0 ? at<std::uint16_t>(60) : at<std::uint64_t>(table_ + 32);
  count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>({stated, (image.size() - table_) / kSectionBytes, UINT32_MAX}));
  for (std::uint32_t section = 1; section < count_ && symbols_ == 0; ++section)
    if (at<std::uint32_t>(table_ + section * kSectionBytes + 4) == kSymbolTable) symbols_ = section;
}

CubinSections::Extent CubinSections::code(std::uint32_t section) const noexcept {
  const std::uint64_t head = table_ + section * kSectionBytes;
  if (at<std::uint32_t>(head + 4) != kProgramBits || (at<std::uint64_t>(head + 8) & kExecutable) == 0) return {};
  const Extent extent{at<std::uint64_t>(head + 24), at<std::uint64_t>(head + 32)};
  return extent.offset <= image_.size() && extent.size <= image_.size() - extent.offset ? extent : Extent();
}

std::uint32_t CubinSections::section_of(std::uint32_t symbol) const noexcept {
  if (symbols_ == 0 || symbol == 0) return 0;
  const std::uint64_t head = table_ + symbols_ * kSectionBytes;
  const auto offset = at<std::uint64_t>(head + 24), size = at<std::uint64_t>(head + 32);
  if (symbol >= size / kSymbolBytes || offset > image_.size()) return 0;
  const auto section = at<std::uint16_t>(offset + symbol * kSymbolBytes + 6);
  return section < count_ && code(section).size != 0 ? section : 0;
}

}  // namespace lanescope::agent::kernels
