// Ascending times, as 32-bit distances from the first if the last allows it: 4 bytes each instead of 8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "model/trace/storage/fixed_array.h"
#include "model/trace/types.h"

namespace lanescope {

class AscendingTimes {
 public:
  using Distance = std::uint32_t;                                              // ns after the first
  static constexpr Distance kFarthest = std::numeric_limits<Distance>::max();  // larger than any distance that is kept

  AscendingTimes() = default;
  // Keeps time_of(0) to time_of(count - 1). Requires: they ascend. They lie in `memory`, if that is given and has room.
  template <typename TimeOf>
  explicit AscendingTimes(std::size_t count, TimeOf time_of, ColumnMemory* memory = nullptr) {
    if (count == 0) return;
    first_ = time_of(0);
    if (distance(time_of(count - 1)) == kFarthest) {
      far_ = FixedArray<Nanoseconds>(count, memory);
      for (std::size_t i = 0; i < count; ++i) far_[i] = time_of(i);
    } else {
      near_ = FixedArray<Distance>(count, memory);
      for (std::size_t i = 0; i < count; ++i) near_[i] = static_cast<Distance>(time_of(i) - first_);
    }
  }
  explicit AscendingTimes(std::span<const Nanoseconds> times, ColumnMemory* memory = nullptr)
      : AscendingTimes(
            times.size(), [times](std::size_t i) { return times[i]; }, memory) {}

  [[nodiscard]] std::size_t size() const noexcept { return far_.empty() ? near_.size() : far_.size(); }
  [[nodiscard]] Nanoseconds operator[](std::size_t i) const noexcept { return far_.empty() ? first_ + near_[i] : far_[i]; }
  [[nodiscard]] Nanoseconds front() const noexcept { return first_; }
  // Requires: not empty.
  [[nodiscard]] Nanoseconds back() const noexcept { return (*this)[size() - 1]; }
  // First of [from, to) that is not before t, otherwise `to`. O(log n).
  [[nodiscard]] std::size_t lower_bound(Nanoseconds t, std::size_t from, std::size_t to) const noexcept {
    const auto within = [&](const auto& times, auto wanted) {
      return static_cast<std::size_t>(std::lower_bound(times.begin() + from, times.begin() + to, wanted) - times.begin());
    };
    return far_.empty() ? within(near_, distance(t)) : within(far_, t);
  }

  // The stored times: one of the two spans has them.
  [[nodiscard]] std::span<const Distance> near() const noexcept { return {near_.data(), near_.size()}; }
  [[nodiscard]] std::span<const Nanoseconds> far() const noexcept { return {far_.data(), far_.size()}; }
  // The distance to look for among near(): the distance of t, or the distance of the first or kFarthest if t lies before or after all possible times.
  [[nodiscard]] Distance distance(Nanoseconds t) const noexcept {
    if (t <= first_) return 0;
    // Unsigned, because two times can lie farther apart than the range of Nanoseconds.
    const std::uint64_t after = static_cast<std::uint64_t>(t) - static_cast<std::uint64_t>(first_);
    return after >= kFarthest ? kFarthest : static_cast<Distance>(after);
  }

  void prefetch(std::size_t i) const noexcept {
    if (far_.empty())
      __builtin_prefetch(&near_[i]);
    else
      __builtin_prefetch(&far_[i]);
  }
  // Bytes on the heap.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return near_.memory_bytes() + far_.memory_bytes(); }

 private:
  Nanoseconds first_ = 0;
  FixedArray<Distance> near_;
  FixedArray<Nanoseconds> far_;  // used instead if distances do not fit
};

}  // namespace lanescope
