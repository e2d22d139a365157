#include "bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace lanescope::analysis {

Bootstrap::Side::Side(std::size_t length, std::uint64_t seed)
    : length_(length), blocks_(std::min(length, kBlocks)), weights_(kResamples * blocks_) {
  std::mt19937_64 random(seed);
  for (std::size_t resample = 0; resample < kResamples; ++resample)
    for (std::size_t draw = 0; draw < blocks_; ++draw) ++weights_[resample * blocks_ + random() % blocks_];
}

std::vector<double> Bootstrap::Side::means(std::span<const double> series) const {
  std::vector<double> sums(blocks_), lengths(blocks_);
  for (std::size_t i = 0; i < length_; ++i) {
    sums[i * blocks_ / length_] += series[i];
    ++lengths[i * blocks_ / length_];
  }
  std::vector<double> means(kResamples);
  for (std::size_t resample = 0; resample < kResamples; ++resample) {
    const std::uint16_t* weights = &weights_[resample * blocks_];
    double sum = 0, length = 0;
    for (std::size_t block = 0; block < blocks_; ++block) {
      sum += weights[block] * sums[block];
      length += weights[block] * lengths[block];
    }
    means[resample] = sum / length;
  }
  return means;
}

Bootstrap::Bootstrap(std::size_t first_length, std::size_t second_length) : first_(first_length, 1), second_(second_length, 2) {}

Interval Bootstrap::change(std::span<const double> first, std::span<const double> second, double confidence) const {
  const std::vector<double> before = first_.means(first), after = second_.means(second);
  std::vector<double> changes(kResamples);
  for (std::size_t i = 0; i < kResamples; ++i)
    changes[i] = before[i] > 0 ? 100 * (after[i] / before[i] - 1) : after[i] > 0 ? std::numeric_limits<double>::infinity() : 0;
  std::sort(changes.begin(), changes.end());
  const auto cut = static_cast<std::size_t>(std::floor((1 - confidence) / 2 * static_cast<double>(kResamples)));
  return {changes[cut], changes[kResamples - 1 - cut]};
}

}  // namespace lanescope::analysis
