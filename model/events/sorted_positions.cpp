#include "sorted_positions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "model/events/column_reader.h"
#include "model/trace/workers/parallel.h"

namespace lanescope {
namespace {

constexpr std::size_t kWorthThreads = 1u << 18;  // numbers that take one thread about a millisecond

// Keys that sort in the wanted order: missing values come last in both directions. The smallest key is 0, so that few bits are used.
class SortKeys {
 public:
  SortKeys(std::span<const std::int64_t> numbers, SortDirection direction) : direction_(direction) {
    for (const std::int64_t number : numbers) {
      if (number == ColumnReader::kMissing) continue;
      smallest_ = std::min(smallest_, number);
      largest_ = std::max(largest_, number);
    }
  }
  [[nodiscard]] std::uint64_t operator()(std::int64_t number) const noexcept {
    if (number == ColumnReader::kMissing) return missing();
    return direction_ == SortDirection::kAscending ? difference(number, smallest_) : difference(largest_, number);
  }
  [[nodiscard]] int bits() const noexcept { return std::bit_width(missing()); }

 private:
  static std::uint64_t difference(std::int64_t a, std::int64_t b) noexcept { return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b); }
  [[nodiscard]] std::uint64_t missing() const noexcept { return largest_ < smallest_ ? 0 : difference(largest_, smallest_) + 1; }

  SortDirection direction_;
  std::int64_t smallest_ = INT64_MAX;
  std::int64_t largest_ = INT64_MIN;
};

// Sorts distinct 64-bit values; values that differ only in the lowest bits are in order already. Starts with the highest digit while the parts do not fit into
// the cache, so that memory is read as few times as there are large parts; within the cache it starts with the lowest digit.
class RadixSort {
 public:
  RadixSort(int lowest_bit, std::stop_token stop) : lowest_bit_(lowest_bit), stop_(std::move(stop)) {}

  void sort(LargeArray<std::uint64_t>& values, int bits) const {
    LargeArray<std::uint64_t> spare(values.size());
    sort_large({values.data(), spare.data(), values.size()}, lowest_bit_ + bits, Result::kInPlace);
  }

 private:
  static constexpr int kDigitBits = 8;
  static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  static constexpr std::size_t kFew = 256;           // for which a comparison sort is as fast
  static constexpr std::size_t kInCache = 1u << 15;  // values that, with as many spare ones, fit into a core's own cache
  using Counts = std::array<std::size_t, kDigits>;
  enum class Result { kInPlace, kInSpare };
  struct Part {
    std::uint64_t* values;
    std::uint64_t* spare;
    std::size_t size;
    [[nodiscard]] Part exchanged(std::size_t first, std::size_t count) const { return {spare + first, values + first, count}; }
  };
  static Result other(Result result) { return result == Result::kInPlace ? Result::kInSpare : Result::kInPlace; }
  static void put(const Part& part, Result result) {
    if (result == Result::kInSpare) std::copy_n(part.values, part.size, part.spare);
  }
  static std::size_t digit(std::uint64_t value, int shift) { return (value >> shift) & (kDigits - 1); }

  static void count(std::span<const std::uint64_t> values, int shift, Counts& counts) {
    for (const std::uint64_t value : values) ++counts[digit(value, shift)];
  }
  static void scatter(std::span<const std::uint64_t> values, int shift, Counts& next, std::uint64_t* into) {
    for (const std::uint64_t value : values) into[next[digit(value, shift)]++] = value;
  }

  void sort_part(const Part& part, int top_bit, Result result) const {
    if (stop_.stop_requested() || part.size < 2 || top_bit <= lowest_bit_) return put(part, result);
    if (part.size <= kFew) {
      std::sort(part.values, part.values + part.size);
      return put(part, result);
    }
    if (part.size <= kInCache) return sort_in_cache(part, top_bit, result);
    const int shift = std::max(lowest_bit_, top_bit - kDigitBits);
    Counts counts{};
    count({part.values, part.size}, shift, counts);
    if (std::find(counts.begin(), counts.end(), part.size) != counts.end()) return sort_part(part, shift, result);
    Counts next;
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
    scatter({part.values, part.size}, shift, next, part.spare);
    for (std::size_t i = 0; i < kDigits; ++i) sort_part(part.exchanged(next[i] - counts[i], counts[i]), shift, other(result));
  }

  void sort_in_cache(Part part, int top_bit, Result result) const {
    for (int shift = lowest_bit_; shift < top_bit; shift += kDigitBits) {
      Counts counts{};
      count({part.values, part.size}, shift, counts);
      if (std::find(counts.begin(), counts.end(), part.size) != counts.end()) continue;
      Counts next;
      std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
      scatter({part.values, part.size}, shift, next, part.spare);
      part = part.exchanged(0, part.size);
      result = other(result);
    }
    put(part, result);
  }

  // Same as sort_part(), on two threads.
  void sort_large(const Part& part, int top_bit, Result result) const {
    if (part.size < kWorthThreads || top_bit <= lowest_bit_) return sort_part(part, top_bit, result);
    const int shift = std::max(lowest_bit_, top_bit - kDigitBits);
    const std::size_t half = part.size / 2;
    Counts first{}, second{};
    const auto halves = [&](auto work) {
      const std::jthread another([&] { work(std::span(part.values + half, part.size - half), second); });
      work(std::span(part.values, half), first);
    };
    halves([&](std::span<const std::uint64_t> values, Counts& counts) { count(values, shift, counts); });
    Counts sizes;
    std::transform(first.begin(), first.end(), second.begin(), sizes.begin(), std::plus<>());
    if (std::find(sizes.begin(), sizes.end(), part.size) != sizes.end()) return sort_large(part, shift, result);
    Counts begins;
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), std::size_t{0});
    for (std::size_t i = 0; i < kDigits; ++i) {
      second[i] = begins[i] + first[i];
      first[i] = begins[i];
    }
    halves([&](std::span<const std::uint64_t> values, Counts& next) { scatter(values, shift, next, part.spare); });

    const auto is_large = [&](std::size_t i) { return sizes[i] > part.size / 4; };
    std::atomic<std::size_t> next_digit = 0;
    const auto sort_digits = [&] {
      for (std::size_t i = next_digit++; i < kDigits; i = next_digit++)
        if (!is_large(i)) sort_part(part.exchanged(begins[i], sizes[i]), shift, other(result));
    };
    {
      const std::jthread another(sort_digits);
      sort_digits();
    }
    for (std::size_t i = 0; i < kDigits; ++i)
      if (is_large(i)) sort_large(part.exchanged(begins[i], sizes[i]), shift, other(result));
  }

  int lowest_bit_;
  std::stop_token stop_;
};

}  // namespace

void in_two_parts(std::size_t size, const std::function<void(std::size_t begin, std::size_t end)>& part) {
  if (size < kWorthThreads) return part(0, size);
  parallel_for(2, [&](std::size_t half) { half == 0 ? part(0, size / 2) : part(size / 2, size); });
}

LargeArray<std::uint32_t> sorted_positions(LargeArray<std::int64_t> numbers, SortDirection direction, std::stop_token stop) {
  const SortKeys key(numbers.span(), direction);
  // Key and position in one word. If that is too narrow, keys lose their lowest bits, and keys that then look equal are sorted afterwards.
  const std::size_t size = numbers.size();
  const int position_bits = std::bit_width(size);
  const int lost_bits = std::max(0, key.bits() + position_bits - 64);
  const std::uint64_t position_mask = (std::uint64_t{1} << position_bits) - 1;
  LargeArray<std::uint64_t> packed(size);
  in_two_parts(size, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) packed[begin] = key(numbers[begin]) >> lost_bits << position_bits | begin;
  });
  if (lost_bits == 0) numbers = LargeArray<std::int64_t>(0);
  RadixSort(position_bits, stop).sort(packed, key.bits() - lost_bits);
  const auto full_key = [&](std::uint64_t value) { return key(numbers[value & position_mask]); };
  for (auto first = packed.begin(); lost_bits > 0 && !stop.stop_requested() && first != packed.end();) {
    const auto last = std::find_if(first + 1, packed.end(), [&](std::uint64_t value) { return value >> position_bits != *first >> position_bits; });
    std::stable_sort(first, last, [&](std::uint64_t a, std::uint64_t b) { return full_key(a) < full_key(b); });
    first = last;
  }
  LargeArray<std::uint32_t> positions(size);
  in_two_parts(size, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) positions[begin] = static_cast<std::uint32_t>(packed[begin] & position_mask);
  });
  return positions;
}

}  // namespace lanescope
