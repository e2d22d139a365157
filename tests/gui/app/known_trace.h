// A trace file with kernels whose gaps are known, as a recording writes it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

namespace lanescope::test {

// Kernels "gemm" and "relu" in turn on one stream, 100 µs each; in front of kernel i + 1 lies a gap of kGaps[i]. Each was launched by a
// call of 10 µs that ended 5 µs before the kernel began, and the range "step" encloses all.
inline constexpr std::array<std::int64_t, 5> kGaps = {20'000, 50'000, 900'000, 30'000, 40'000};  // ns
inline constexpr std::int64_t kKernelDuration = 100'000;                                         // ns
inline constexpr std::int64_t kFirstKernel = 200'000;                                            // ns since the epoch
inline constexpr std::size_t kKernels = kGaps.size() + 1;
inline constexpr std::size_t kEvents = 2 * kKernels + 1;

// The kernels may take another time: the gaps stay.
void write_known_trace(const std::filesystem::path& path, std::int64_t kernel_duration = kKernelDuration, std::uint32_t pid = 4711);

// A file with so many kernels (in chunks of kLongChunk, 1 µs each, a new one every 2 µs) and, where they are enough for one, an outline.
inline constexpr std::size_t kLongChunk = 50'000;
inline constexpr std::int64_t kLongPeriod = 2'000;  // ns
void write_long_trace(const std::filesystem::path& path, std::size_t chunks);

}  // namespace lanescope::test
