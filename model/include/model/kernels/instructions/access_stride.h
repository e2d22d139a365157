// The distance between the accesses of a warp's threads to global memory, as far as counts of requests show it.
//
// The counts say how many sectors of 32 bytes a warp's request needed, and into how few its bytes would fit. If the first is larger, the addresses are apart.
// The distance is known only for strides below a sector: threads whose addresses are 32 bytes or more apart need one sector each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/text/message.h"

namespace lanescope::kernels {

struct AccessStride {
  double elements = 0;      // from one thread to the next
  std::uint32_t bytes = 0;  // of an element; 0: unknown
  bool is_least = false;    // the stride may be larger: each thread has its own sector
};

// For requests of `sectors` sectors whose bytes would fit into `ideal`. Each thread requests `bytes`, or 0 if unknown. Nothing if neighbours are adjacent, or
// nearly: a stride of less than two elements can also come from an address that is not aligned to a sector.
[[nodiscard]] std::optional<AccessStride> access_stride(double sectors, double ideal, std::uint32_t bytes);

// "8 or more elements of 4 B", "about 2 elements of 4 B".
[[nodiscard]] Message stride_text(const AccessStride& stride);

// Bytes that a thread loads or stores by this instruction of compute capability 7.0 or later; 0 if it does not access memory, or if unknown.
[[nodiscard]] std::uint32_t access_bytes(std::span<const std::byte> instruction) noexcept;

}  // namespace lanescope::kernels
