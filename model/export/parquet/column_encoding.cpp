#include "column_encoding.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "thrift_writer.h"

namespace lanescope::exporters {
namespace {

// Appends values of `width` bits each, the lowest bit first; the last byte is padded with zeros.
class BitAppender {
 public:
  BitAppender(std::string& bytes, int width) : bytes_(bytes), width_(width) {}
  void add(std::uint64_t value) {
    if (width_ == 0) return;
    bits_ |= value << count_;
    count_ += width_;
    if (count_ < 64) return;
    append(8);
    count_ -= 64;
    // The bits that did not fit. A shift by 64 is undefined.
    bits_ = count_ == 0 ? 0 : value >> (width_ - count_);
  }
  void finish() { append((count_ + 7) / 8); }

 private:
  void append(int count) {
    char little_endian[8];
    std::memcpy(little_endian, &bits_, sizeof little_endian);
    bytes_.append(little_endian, static_cast<std::size_t>(count));
  }
  std::string& bytes_;
  int width_;
  std::uint64_t bits_ = 0;
  int count_ = 0;
};
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kGroup = 8;         // values that bit packing combines
constexpr std::size_t kShortestRun = 16;  // equal values that justify a run of their own

void append_packed(std::string& bytes, std::span<const std::uint32_t> values, int width) {
  if (values.empty()) return;
  const std::size_t groups = (values.size() + kGroup - 1) / kGroup;
  append_varint(bytes, groups << 1 | 1);
  BitAppender packed(bytes, width);
  for (const std::uint32_t value : values) packed.add(value);
  for (std::size_t i = values.size(); i < groups * kGroup; ++i) packed.add(0);
  packed.finish();
}

}  // namespace

int bit_width(std::uint64_t largest) noexcept { return static_cast<int>(std::bit_width(largest)); }

void append_runs(std::string& bytes, std::span<const std::uint32_t> values, int width) {
  std::size_t first_packed = 0;
  for (std::size_t i = 0; i < values.size();) {
    const auto differs = std::find_if(values.begin() + static_cast<std::ptrdiff_t>(i), values.end(), [&](auto v) { return v != values[i]; });
    const std::size_t run = static_cast<std::size_t>(differs - values.begin()) - i;
    if (run < kShortestRun) {
      i = std::min(i + kGroup, values.size());  // whole groups are packed, so that a run can begin after each
      continue;
    }
    append_packed(bytes, values.subspan(first_packed, i - first_packed), width);
    append_varint(bytes, run << 1);
    for (int shift = 0; shift < width; shift += 8) bytes.push_back(static_cast<char>(values[i] >> shift));
    i += run;
    first_packed = i;
  }
  append_packed(bytes, values.subspan(first_packed), width);
}

void append_deltas(std::string& bytes, std::span<const std::int64_t> values, DeltaWidth width) {
  constexpr std::size_t kBlock = 128, kMiniblocks = 4, kMiniblock = kBlock / kMiniblocks;
  append_varint(bytes, kBlock);
  append_varint(bytes, kMiniblocks);
  append_varint(bytes, values.size());
  append_varint(bytes, zigzag(values.empty() ? 0 : values[0]));
  for (std::size_t first = 1; first < values.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - first);
    std::uint64_t deltas[kBlock];
    std::int64_t smallest = INT64_MAX;
    for (std::size_t i = 0; i < count; ++i) {
      deltas[i] = static_cast<std::uint64_t>(values[first + i]) - static_cast<std::uint64_t>(values[first + i - 1]);
      smallest = std::min(smallest, static_cast<std::int64_t>(deltas[i]));
    }
    for (std::size_t i = 0; i < count; ++i) deltas[i] -= static_cast<std::uint64_t>(smallest);
    std::fill(deltas + count, deltas + kBlock, 0);
    append_varint(bytes, zigzag(smallest));
    int widths[kMiniblocks];
    for (std::size_t mini = 0; mini < kMiniblocks; ++mini) {
      const auto* of_mini = deltas + mini * kMiniblock;
      widths[mini] = bit_width(*std::max_element(of_mini, of_mini + kMiniblock));
      if (width == DeltaWidth::kWholeBytes) widths[mini] = (widths[mini] + 7) / 8 * 8;
      bytes.push_back(static_cast<char>(widths[mini]));
    }
    for (std::size_t mini = 0; mini * kMiniblock < count; ++mini) {
      BitAppender packed(bytes, widths[mini]);
      for (std::size_t i = 0; i < kMiniblock; ++i) packed.add(deltas[mini * kMiniblock + i]);
      packed.finish();
    }
  }
}

void append_bits(std::string& bytes, std::span<const std::int64_t> values) {
  BitAppender packed(bytes, 1);
  for (const std::int64_t value : values) packed.add(value != 0 ? 1 : 0);
  packed.finish();
}

}  // namespace lanescope::exporters
