// How far apart the threads of a warp access global memory, as far as counts of their requests tell it.
//
// What is known is of how many sectors of 32 bytes a warp's request asked, and into how few its bytes would fit. Where the one exceeds the other,
// the addresses lie apart; how far, only a stride below a sector tells: threads whose addresses lie 32 bytes apart or further take a sector each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/text/message.h"

namespace lanescope::kernels {

struct AccessStride {
  double elements = 0;      // from one thread's to the next one's
  std::uint32_t bytes = 0;  // of an element; 0: not known
  bool is_least = false;    // it may be any larger: each thread has a sector of its own
};

// Of requests for so many sectors, whose bytes would fit into `ideal`; a thread asks for `bytes` each, 0 where that is not known. None where neighbours lie
// side by side, or nearly: less than the second element is also what an address that does not begin at a sector's does.
[[nodiscard]] std::optional<AccessStride> access_stride(double sectors, double ideal, std::uint32_t bytes);

// "8 or more elements of 4 B", "about 2 elements of 4 B".
[[nodiscard]] Message stride_text(const AccessStride& stride);

// Bytes that a thread loads or stores by this instruction of compute capability 7.0 or later; 0 where it is no load or store of memory, or not known.
[[nodiscard]] std::uint32_t access_bytes(std::span<const std::byte> instruction) noexcept;

}  // namespace lanescope::kernels
