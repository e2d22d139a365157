// The numbers that a summary is made of, all of them, in any order: as they come while they are few, and by how often each occurs once they
// are many. A billion durations are some hundred thousand different ones.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lanescope {

class Samples {
 public:
  // Amortized O(1). Memory for kMostPlain of them, and some times what the different ones take; for one alone, none beside this object.
  void push_back(std::int64_t sample) {
    if (plain_.empty()) [[unlikely]] {
      if (!has_first_ && counted_.empty()) {
        first_ = sample;
        has_first_ = true;
        return;
      }
      if (std::exchange(has_first_, false)) plain_.push_back(first_);
    } else if (plain_.size() >= most_plain_) [[unlikely]] {
      count_plain();
    }
    plain_.push_back(sample);
  }
  void append(Samples&& others);
  void clear() noexcept {
    plain_.clear();
    counted_.clear();
    has_first_ = false;
  }
  [[nodiscard]] bool empty() const noexcept { return plain_.empty() && counted_.empty() && !has_first_; }

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

  // Makes the plain ones counted ones. O(plain + counted): so there are as many plain ones as counted ones then, where those are many.
  void count_plain();
  void merge(std::span<const Counted> others);

  std::vector<std::int64_t> plain_;
  std::vector<Counted> counted_;  // ascending
  std::int64_t first_ = 0;        // where there is one sample alone
  std::uint32_t most_plain_ = kMostPlain;
  bool has_first_ = false;
};

}  // namespace lanescope
