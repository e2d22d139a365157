// All the numbers from which a summary is computed, in any order: stored one by one while they are few, and as values with their counts once they are many. A
// billion durations have some hundred thousand different values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace lanescope {

class Samples {
 public:
  Samples() = default;
  Samples(const Samples& other) : many_(other.many_ ? std::make_unique<Many>(*other.many_) : nullptr), first_(other.first_), has_first_(other.has_first_) {}
  Samples(Samples&&) noexcept = default;
  Samples& operator=(const Samples& other) { return *this = Samples(other); }
  Samples& operator=(Samples&&) noexcept = default;

  // Amortized O(1). Memory: kMostPlain samples, and a few times that of the different values; a single sample needs none except this object, of which there may
  // be millions.
  void push_back(std::int64_t sample) {
    if (!many_) [[unlikely]] {
      if (!std::exchange(has_first_, true)) {
        first_ = sample;
        return;
      }
      begin_many();
    } else if (many_->plain.size() >= many_->most_plain) [[unlikely]] {
      count_plain();
    }
    many_->plain.push_back(sample);
  }
  void append(Samples&& others);
  void clear() noexcept {
    has_first_ = false;
    if (!many_) return;
    many_->plain.clear();
    many_->counted.clear();
  }
  [[nodiscard]] bool empty() const noexcept { return !has_first_ && (!many_ || (many_->plain.empty() && many_->counted.empty())); }

  struct Counted {
    std::int64_t sample = 0;
    std::uint64_t count = 0;
  };
  // All samples: single ones, and counted ones in ascending order; one of the two is empty.
  struct All {
    std::span<std::int64_t> plain;  // its order may be changed
    std::span<const Counted> counted;
  };
  [[nodiscard]] All all();

  // The value below which `percent` of a hundred samples lie: of n samples in ascending order, counted from 0, the one at (n - 1) * percent / 100; between two
  // of them, by linear interpolation. Requires: there are some, and percent <= 100. O(n).
  [[nodiscard]] double percentile(unsigned percent);
  // The middle sample; the mean of the two middle ones if their number is even. Requires: there are some. O(n).
  [[nodiscard]] double median() { return percentile(50); }

 private:
  static constexpr std::size_t kMostPlain = 1u << 18;  // 2 MB, which fits into the processor's cache while they are sorted

  struct Many {
    std::vector<std::int64_t> plain;
    std::vector<Counted> counted;  // ascending
    std::uint32_t most_plain = kMostPlain;
  };
  void begin_many();
  // Turns the plain samples into counted ones. O(plain + counted); so if there are many counted ones, as many plain ones are collected first.
  void count_plain();
  void merge(std::span<const Counted> others);

  std::unique_ptr<Many> many_;
  std::int64_t first_ = 0;  // if there is only one sample
  bool has_first_ = false;
};

}  // namespace lanescope
