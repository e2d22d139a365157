#include "model/kernels/instructions/access_stride.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "model/kernels/code/kernel_code.h"

namespace lanescope::kernels {
namespace {

constexpr double kSector = 32;  // bytes

}  // namespace

std::optional<AccessStride> access_stride(double sectors, double ideal, std::uint32_t bytes) {
  constexpr double kApart = 1.9;      // from which it is a stride; of a mean of requests, of which some begin within a sector
  constexpr double kOfItsOwn = 0.97;  // of the most sectors that threads could have, from which each has one
  if (!(ideal > 0) || !(sectors / ideal >= kApart)) return std::nullopt;
  const double most = bytes == 0 ? kSector : std::max(1.0, kSector / bytes);  // of elements, as sectors show it
  return AccessStride{std::min(sectors / ideal, most), bytes, bytes != 0 && sectors / ideal >= kOfItsOwn * most};
}

Message stride_text(const AccessStride& stride) {
  const std::string elements = std::to_string(std::llround(stride.elements));
  if (stride.bytes == 0) return Message("{elements} or more elements", {{"elements", elements}});
  return Message(stride.is_least ? "{elements} or more elements of {bytes} B" : "about {elements} elements of {bytes} B",
                 {{"elements", elements}, {"bytes", std::to_string(stride.bytes)}});
}

// Bits 73 to 75 say how much: one and two bytes with and without sign, then 4, 8 and 16.
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
