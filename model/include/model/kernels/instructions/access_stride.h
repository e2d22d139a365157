// The distance between the accesses of a warp's threads to memory, as far as counts of requests show it.
//
// Global memory: the counts say how many sectors of 32 bytes a warp's request needed, and into how few its bytes would fit. If the first is larger, the
// addresses are apart. The distance is known only for strides below a sector: threads whose addresses are 32 bytes or more apart need one sector each.
//
// Shared memory has 32 banks of 4 bytes side by side, and a wavefront takes one word from each. Threads whose addresses are the same multiple of a power of two
// apart share banks, and a request takes as many times its wavefronts as threads share one.
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

// The distance of neighbouring threads in shared memory is a multiple of `elements` of `bytes` each.
struct BankStride {
  std::uint32_t elements = 0;
  std::uint32_t bytes = 0;
};

// For requests of `wavefronts` that would need `ideal` without conflicts. Each thread requests `bytes`. Nothing if there are hardly conflicts, or if their
// number does not show a stride: it is no power of two, or more than threads can share a bank. Nothing for less than 4 bytes, where threads share words, too.
[[nodiscard]] std::optional<BankStride> bank_stride(double wavefronts, double ideal, std::uint32_t bytes);

// "a multiple of 32 elements of 4 B".
[[nodiscard]] Message stride_text(const BankStride& stride);

// Bytes that a thread loads or stores by this instruction of compute capability 7.0 or later; 0 if it does not access memory, or if unknown.
[[nodiscard]] std::uint32_t access_bytes(std::span<const std::byte> instruction) noexcept;

}  // namespace lanescope::kernels
