#include "model/kernels/instructions/access_stride.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "memory_units.h"
#include "model/kernels/code/kernel_code.h"

namespace lanescope::kernels {
std::optional<AccessStride> access_stride(double sectors, double ideal, std::uint32_t bytes) {
  constexpr double kApart = 1.9;      // sectors by ideal sectors from which it is a stride; a mean of requests, some of which begin within a sector
  constexpr double kOfItsOwn = 0.97;  // share of the maximum number of sectors from which each thread has its own
  if (!(ideal > 0) || !(sectors / ideal >= kApart)) return std::nullopt;
  const double most = bytes == 0 ? kSectorBytes : std::max(1.0, kSectorBytes / bytes);  // in elements, the maximum that sectors can show
  return AccessStride{std::min(sectors / ideal, most), bytes, bytes != 0 && sectors / ideal >= kOfItsOwn * most};
}

Message stride_text(const AccessStride& stride) {
  const std::string elements = std::to_string(std::llround(stride.elements));
  if (stride.bytes == 0) return Message("{elements} or more elements", {{"elements", elements}});
  return Message(stride.is_least ? "{elements} or more elements of {bytes} B" : "about {elements} elements of {bytes} B",
                 {{"elements", elements}, {"bytes", std::to_string(stride.bytes)}});
}

std::optional<BankStride> bank_stride(double wavefronts, double ideal, std::uint32_t bytes) {
  constexpr double kLikePower = 0.03;  // part by which a mean of requests may differ from a power of two
  constexpr std::uint32_t kBankBytes = 4, kBanks = 32;
  if (!(ideal > 0) || bytes < kBankBytes) return std::nullopt;
  const double times = wavefronts / ideal;
  const std::uint32_t most = kBanks / (bytes / kBankBytes);  // a request of wide elements is served in parts of this many threads
  for (std::uint32_t sharing = 2; sharing <= most; sharing *= 2)
    if (std::abs(times / sharing - 1) <= kLikePower) return BankStride{sharing, bytes};
  return std::nullopt;
}

Message stride_text(const BankStride& stride) {
  return Message("a multiple of {elements} elements of {bytes} B", {{"elements", std::to_string(stride.elements)}, {"bytes", std::to_string(stride.bytes)}});
}

// Bits 73 to 75 encode the size: one and two bytes with and without sign, then 4, 8 and 16 bytes.
std::uint32_t access_bytes(std::span<const std::byte> instruction) noexcept {
  constexpr std::array<std::string_view, 8> kAccesses{"LD", "ST", "LDG", "STG", "LDL", "STL", "LDS", "STS"};
  constexpr std::array<std::uint32_t, 8> kBytes{1, 1, 2, 2, 4, 8, 16, 0};
  constexpr std::size_t kWhole = 16, kByte = 9;
  if (instruction.size() < kWhole) return 0;
  const std::string_view name = opcode_name(instruction);
  if (std::find(kAccesses.begin(), kAccesses.end(), name) == kAccesses.end()) return 0;
  return kBytes[std::to_integer<unsigned>(instruction[kByte]) >> 1 & 7];
}

}  // namespace lanescope::kernels
