#include "model/events/samples.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace lanescope {
namespace {

using Plain = std::span<std::int64_t>;
using Counted = std::span<const Samples::Counted>;

std::int64_t nth_of(Plain samples, std::uint64_t rank) {
  const auto found = samples.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(samples.begin(), found, samples.end());
  return *found;
}
std::int64_t nth_of(Counted samples, std::uint64_t rank) {
  for (const auto& [sample, count] : samples) {
    if (rank < count) return sample;
    rank -= count;
  }
  return 0;
}

// The sample behind it. Requires: nth_of() was called before, and there is one.
std::int64_t behind_nth(Plain samples, std::uint64_t rank) { return *std::min_element(samples.begin() + static_cast<std::ptrdiff_t>(rank) + 1, samples.end()); }
std::int64_t behind_nth(Counted samples, std::uint64_t rank) { return nth_of(samples, rank + 1); }

template <typename All>
double percentile_of(All samples, std::uint64_t size, unsigned percent) {
  const std::uint64_t place = (size - 1) * percent, rank = place / 100;  // of (size - 1), in hundredths
  const auto low = static_cast<double>(nth_of(samples, rank));
  if (place % 100 == 0) return low;
  return low + (static_cast<double>(behind_nth(samples, rank)) - low) * (static_cast<double>(place % 100) / 100);
}

// Radix sort with digits of 11 bits, lowest first: the differences from the least sample have few digits.
void sort(std::vector<std::int64_t>& samples) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  const auto [least, greatest] = std::minmax_element(samples.begin(), samples.end());
  const auto base = static_cast<std::uint64_t>(*least);
  const int width = std::bit_width(static_cast<std::uint64_t>(*greatest) - base);
  std::vector<std::int64_t> other(samples.size());
  std::array<std::size_t, kDigits> ends{};
  for (int shift = 0; shift < width; shift += kBits) {
    const auto digit = [&](std::int64_t sample) { return (static_cast<std::uint64_t>(sample) - base) >> shift & (kDigits - 1); };
    ends.fill(0);
    for (const std::int64_t sample : samples) ++ends[digit(sample)];
    std::size_t place = 0;
    for (std::size_t& end : ends) place += std::exchange(end, place);
    for (const std::int64_t sample : samples) other[ends[digit(sample)]++] = sample;
    samples.swap(other);
  }
}

// The different values in ascending order, and the count of each. Most durations are less than some ten microseconds: values near the least are counted in a
// table, and only the others are sorted. Requires: there are some. Leaves `samples` in any state.
std::vector<Samples::Counted> counted(std::vector<std::int64_t>& samples) {
  constexpr std::uint64_t kNear = 1u << 16;
  const std::int64_t least = *std::min_element(samples.begin(), samples.end());
  std::vector<std::uint32_t> near(kNear + 1);  // the last element: all others
  std::size_t far = 0;
  for (const std::int64_t sample : samples) {  // without a branch, which could not be predicted
    const std::uint64_t above = static_cast<std::uint64_t>(sample) - static_cast<std::uint64_t>(least);
    ++near[std::min(above, kNear)];
    samples[far] = sample;
    far += above >= kNear;
  }
  samples.resize(far);
  std::vector<Samples::Counted> run;
  for (std::uint64_t above = 0; above < kNear; ++above)
    if (near[above] > 0) run.push_back({least + static_cast<std::int64_t>(above), near[above]});
  if (samples.empty()) return run;
  sort(samples);
  for (const std::int64_t sample : samples) {
    if (run.back().sample != sample) run.push_back({sample, 0});
    ++run.back().count;
  }
  return run;
}

}  // namespace

void Samples::begin_many() {
  many_ = std::make_unique<Many>();
  if (std::exchange(has_first_, false)) many_->plain.push_back(first_);
}

void Samples::count_plain() {
  if (!many_) begin_many();
  if (many_->plain.empty()) return;
  merge(counted(many_->plain));
  many_->plain.clear();
  many_->most_plain = static_cast<std::uint32_t>(std::clamp(many_->counted.size(), kMostPlain, std::size_t{1} << 31));
}

void Samples::merge(std::span<const Counted> others) {
  std::vector<Counted> merged;
  merged.reserve(many_->counted.size() + others.size());
  auto own = many_->counted.begin();
  const auto end = many_->counted.end();
  for (const Counted& other : others) {
    while (own != end && own->sample < other.sample) merged.push_back(*own++);
    merged.push_back(other);
    if (own != end && own->sample == other.sample) merged.back().count += (own++)->count;
  }
  merged.insert(merged.end(), own, end);
  many_->counted = std::move(merged);
}

void Samples::append(Samples&& others) {
  if (empty()) {
    *this = std::move(others);
    others.clear();
    return;
  }
  if (others.many_ && !others.many_->counted.empty()) {
    count_plain();
    merge(others.many_->counted);
  }
  if (others.has_first_) push_back(others.first_);
  if (others.many_)
    for (const std::int64_t sample : others.many_->plain) push_back(sample);
  others.clear();
}

double Samples::percentile(unsigned percent) {
  const auto [plain, counted] = all();
  if (counted.empty()) return percentile_of(plain, plain.size(), percent);
  std::uint64_t size = 0;
  for (const Counted& each : counted) size += each.count;
  return percentile_of(counted, size, percent);
}

Samples::All Samples::all() {
  if (!many_) return {has_first_ ? Plain(&first_, 1) : Plain(), {}};
  if (!many_->counted.empty() && !many_->plain.empty()) count_plain();
  return {many_->plain, many_->counted};
}

}  // namespace lanescope
