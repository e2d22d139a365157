// The numbers that a summary is made of, all of them, in any order: as they come while they are few, and by how often each occurs once they
// are many. A billion durations are some hundred thousand different ones.
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

  // Amortized O(1). Memory for kMostPlain of them, and some times what the different ones take; for one alone, none beside this object, of which
  // there may be millions.
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
  // The samples: those that stand one by one, and those that are counted, ascending; one of the two is empty.
  struct All {
    std::span<std::int64_t> plain;  // whose order may be changed
    std::span<const Counted> counted;
  };
  [[nodiscard]] All all();

  // The sample before which so many of all lie, in order. Requires: rank < number of samples. O(n).
  [[nodiscard]] std::int64_t nth(std::uint64_t rank);
  // The middle one; the mean of the two middle ones where their number is even. Requires: there are some. O(n).
  [[nodiscard]] double median();

 private:
  static constexpr std::size_t kMostPlain = 1u << 18;  // 2 MB, which the processor's cache holds while they are sorted

  struct Many {
    std::vector<std::int64_t> plain;
    std::vector<Counted> counted;  // ascending
    std::uint32_t most_plain = kMostPlain;
  };
  void begin_many();
  // Makes the plain ones counted ones. O(plain + counted): so there are as many plain ones as counted ones then, where those are many.
  void count_plain();
  void merge(std::span<const Counted> others);

  std::unique_ptr<Many> many_;
  std::int64_t first_ = 0;  // where there is one sample alone
  bool has_first_ = false;
};

}  // namespace lanescope
