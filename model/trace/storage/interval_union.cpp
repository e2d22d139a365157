#include "model/trace/storage/interval_union.h"

#include <utility>

namespace lanescope {

std::size_t IntervalUnion::lower_bound(Nanoseconds t) const noexcept {
  const auto found = std::lower_bound(parts_.begin(), parts_.end(), t, [](const auto& part, Nanoseconds time) { return part->starts.back() < time; });
  if (found == parts_.end()) return size();
  const AscendingTimes& starts = (*found)->starts;
  return static_cast<std::size_t>(found - parts_.begin()) * kCapacity + starts.lower_bound(t, 0, starts.size());
}

Nanoseconds IntervalUnion::covered_before(Nanoseconds t, std::size_t lower_bound_of_t) const noexcept {
  if (lower_bound_of_t == 0) return 0;
  const std::size_t last = lower_bound_of_t - 1;
  const Nanoseconds covered = part(last).covered[last % kCapacity + 1], reached = end(last);
  return reached > t ? covered - (reached - t) : covered;
}

void IntervalUnion::covered_before(std::span<const Nanoseconds> times, std::span<Nanoseconds> into) const noexcept {
  std::size_t done = 0;
  auto reaches = parts_.begin();
  while (done < times.size()) {
    reaches = std::lower_bound(reaches, parts_.end(), times[done], [](const auto& part, Nanoseconds time) { return part->starts.back() < time; });
    if (reaches == parts_.end()) break;
    const auto p = static_cast<std::size_t>(reaches - parts_.begin());
    const AscendingTimes& starts = (*reaches)->starts;
    std::size_t from = starts.lower_bound(times[done], 0, starts.size());
    for (; done < times.size() && times[done] <= starts.back(); ++done) {
      // Neighbouring times are often near each other, so the nearest intervals are looked at first.
      std::size_t step = 8;
      while (starts.size() - from > step && starts[from + step] < times[done]) {
        from += step;
        step *= 2;
      }
      from = starts.lower_bound(times[done], from, std::min(starts.size(), from + step + 1));
      into[done] = covered_before(times[done], p * kCapacity + from);
    }
  }
  for (; done < times.size(); ++done) into[done] = covered_before(times[done], size());
}

Nanoseconds IntervalUnion::overlap(const IntervalUnion& other) const noexcept {
  Nanoseconds sum = 0;
  for (std::size_t i = 0, j = 0; i < size() && j < other.size();) {
    const TimeRange own = range(i), others = other.range(j);
    sum += own.intersected(others).length();
    own.end < others.end ? ++i : ++j;
  }
  return sum;
}

std::size_t IntervalUnion::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto& each : parts_)
    bytes += sizeof(Part) + each->starts.memory_bytes() + each->covered.memory_bytes() + (each->block ? each->block->memory_bytes() : 0);
  return bytes;
}

IntervalUnion::Part::Part(std::span<const Nanoseconds> starts_of, std::span<const Nanoseconds> covered_before_them, EventMemory memory) {
  if (memory == EventMemory::kBudget && starts_of.size() == kCapacity)
    block = ScratchBlock::of_at_most((starts_of.size_bytes() + covered_before_them.size_bytes()) + 64);
  ColumnMemory* const columns = block ? &block->memory() : nullptr;
  starts = AscendingTimes(starts_of, columns);
  covered = AscendingTimes(covered_before_them, columns);
  if (block) ScratchBlock::seal(block, ScratchBlock::WhereDiskIsBehind::kGoOn);
}

IntervalUnion::Writer::Writer(EventMemory memory) : memory_(memory), covered_{0} {}

IntervalUnion::Writer::Writer(const IntervalUnion& before, Nanoseconds t, EventMemory memory) : memory_(memory), covered_{0} {
  std::size_t kept = before.lower_bound(t);
  if (kept == 0) return;
  // The last interval may continue.
  --kept;
  open_ = true;
  open_start_ = before.start(kept);
  open_end_ = std::min(before.end(kept), t);
  const auto full = static_cast<std::ptrdiff_t>(kept / kCapacity);
  into_.parts_.assign(before.parts_.begin(), before.parts_.begin() + full);
  if (full > 0) covered_ = {into_.parts_.back()->covered.back()};
  for (std::size_t i = kept / kCapacity * kCapacity; i < kept; ++i) {
    starts_.push_back(before.start(i));
    covered_.push_back(before.part(i).covered[i % kCapacity + 1]);
  }
}

void IntervalUnion::Writer::close() {
  starts_.push_back(open_start_);
  covered_.push_back(covered_.back() + open_end_ - open_start_);
  open_ = false;
  if (starts_.size() == kCapacity) flush();
}

void IntervalUnion::Writer::flush() {
  const Nanoseconds covered = covered_.back();
  into_.parts_.push_back(std::make_shared<const Part>(starts_, covered_, memory_));
  starts_.clear();
  covered_ = {covered};
}

IntervalUnion IntervalUnion::Writer::take() {
  if (open_) close();
  if (!starts_.empty()) flush();
  return std::move(into_);
}

}  // namespace lanescope
