// Parquet's encodings of columns (https://parquet.apache.org/docs/file-format/data-pages/encodings/). Internal to model/export.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lanescope::exporters {

// The number of bits for numbers up to `largest`; 0 for 0.
[[nodiscard]] int bit_width(std::uint64_t largest) noexcept;

// RLE and bit packing alternately (encoding RLE, without a preceding length). Requires: each value fits in `width` bits, width <= 32. O(n).
void append_runs(std::string& bytes, std::span<const std::uint32_t> values, int width);

// Width of a miniblock: the bits of its largest difference, or whole bytes, in which zstd finds repeated differences.
enum class DeltaWidth { kFewestBits, kWholeBytes };

// DELTA_BINARY_PACKED, in blocks of 128 values and miniblocks of 32. Differences wrap around like unsigned integers. O(n).
void append_deltas(std::string& bytes, std::span<const std::int64_t> values, DeltaWidth width);

// PLAIN booleans: one bit each, the lowest first. O(n).
void append_bits(std::string& bytes, std::span<const std::int64_t> values);

}  // namespace lanescope::exporters
