// How far a ratio of means may lie from what was seen: a percentile bootstrap with a fixed seed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanescope::analysis {

struct Interval {
  double low = 0;
  double high = 0;
};

// Resamples two series, the same way for every item, so that equal inputs give equal intervals. Series longer than kBlocks are cut into
// that many blocks of neighbours first, which also keeps what hangs together in time together.
class Bootstrap {
 public:
  static constexpr std::size_t kLeastSamples = 5;
  static constexpr std::size_t kBlocks = 200;
  static constexpr std::size_t kResamples = 2'000;

  // Requires: lengths of at least kLeastSamples. O(kResamples · kBlocks).
  Bootstrap(std::size_t first_length, std::size_t second_length);

  // The interval that holds 100 · (mean(second) / mean(first) - 1) with the given confidence. Infinite where the first is all zero in
  // resamples. Requires: series of the lengths given. O(kResamples · kBlocks).
  [[nodiscard]] Interval change(std::span<const double> first, std::span<const double> second, double confidence) const;

 private:
  class Side {
   public:
    Side(std::size_t length, std::uint64_t seed);
    [[nodiscard]] std::vector<double> means(std::span<const double> series) const;  // one a resample

   private:
    std::size_t length_;
    std::size_t blocks_;
    std::vector<std::uint16_t> weights_;  // how often each resample draws each block
  };
  Side first_, second_;
};

}  // namespace lanescope::analysis
