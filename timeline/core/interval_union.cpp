#include "timeline/core/interval_union.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace lanescope::timeline {
namespace {

struct Cursor {
  const Lane* lane;
  EventIndex index;
  Nanoseconds start;
  bool operator>(const Cursor& other) const { return start > other.start; }
};

}  // namespace

IntervalUnion::IntervalUnion(std::span<const Lane* const> lanes) : busy_{0} { merge(lanes, std::numeric_limits<Nanoseconds>::min()); }

IntervalUnion::IntervalUnion(std::span<const Lane* const> lanes, const IntervalUnion& before, Nanoseconds unchanged_until) {
  std::size_t kept = before.lower_bound(unchanged_until);
  if (kept > 0 && before.end(kept - 1) >= unchanged_until) --kept;  // it may go on
  const Nanoseconds from = kept < before.size() ? std::min(before.start(kept), unchanged_until) : unchanged_until;
  starts_.assign(before.starts_.begin(), before.starts_.begin() + static_cast<std::ptrdiff_t>(kept));
  busy_.assign(before.busy_.begin(), before.busy_.begin() + static_cast<std::ptrdiff_t>(kept) + 1);
  merge(lanes, from);
}

// Appends the events that start at `from` or later. Requires: intervals that are here already end before it.
void IntervalUnion::merge(std::span<const Lane* const> lanes, Nanoseconds from) {
  std::priority_queue<Cursor, std::vector<Cursor>, std::greater<>> next;
  for (const Lane* lane : lanes)
    if (const EventIndex first = lane->lower_bound(from); first < lane->size()) next.push({lane, first, lane->start(first)});
  Nanoseconds open_start = 0;
  Nanoseconds open_end = 0;
  bool open = false;
  const auto close = [&] {
    if (!open) return;
    starts_.push_back(open_start);
    busy_.push_back(busy_.back() + open_end - open_start);
  };
  while (!next.empty()) {
    Cursor cursor = next.top();
    next.pop();
    // Stays with this lane for as long as it is first, which spares the queue.
    const Nanoseconds limit = next.empty() ? std::numeric_limits<Nanoseconds>::max() : next.top().start;
    for (; cursor.index < cursor.lane->size(); ++cursor.index) {
      cursor.start = cursor.lane->start(cursor.index);
      if (cursor.start > limit) break;
      const Nanoseconds end = cursor.lane->end(cursor.index);
      if (end == cursor.start) continue;
      if (open && cursor.start <= open_end) {
        open_end = std::max(open_end, end);
      } else {
        close();
        open_start = cursor.start;
        open_end = end;
        open = true;
      }
    }
    if (cursor.index < cursor.lane->size()) next.push(cursor);
  }
  close();
}

Nanoseconds IntervalUnion::end(std::size_t interval) const noexcept { return starts_[interval] + busy_[interval + 1] - busy_[interval]; }

std::size_t IntervalUnion::lower_bound(Nanoseconds t, std::size_t from) const noexcept {
  std::size_t step = 1;
  std::size_t low = from;
  while (low + step < starts_.size() && starts_[low + step] < t) {
    low += step;
    step *= 2;
  }
  const auto first = starts_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto last = starts_.begin() + static_cast<std::ptrdiff_t>(std::min(low + step + 1, starts_.size()));
  return static_cast<std::size_t>(std::lower_bound(first, last, t) - starts_.begin());
}

Nanoseconds IntervalUnion::busy_before(Nanoseconds t, std::size_t lower_bound_of_t) const noexcept {
  if (lower_bound_of_t == 0) return 0;
  return busy_[lower_bound_of_t] - std::max<Nanoseconds>(0, end(lower_bound_of_t - 1) - t);
}

}  // namespace lanescope::timeline
