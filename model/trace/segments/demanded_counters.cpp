#include "model/trace/segments/demanded_counters.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace.h"

namespace lanescope {
namespace {

constexpr std::uint64_t kValueBytes = 8, kTimeBytes = 8;  // of a sample in memory, at most, and of its time

}  // namespace

DemandedCounters::DemandedCounters(std::size_t members, std::vector<Block> blocks, std::vector<CounterSummary> summaries)
    : members_(members),
      blocks_(std::move(blocks)),
      summaries_(std::move(summaries)),
      first_identity_(SegmentCache::of_process().new_identities(blocks_.size() * (members + 1))) {
  assert(!blocks_.empty() && members > 0 && summaries_.size() == blocks_.size() * members);
}

DemandedCounters::~DemandedCounters() { SegmentCache::of_process().forget(first_identity_, blocks_.size() * (members_ + 1)); }

DemandedCounters::Times DemandedCounters::times(std::size_t block, const std::function<Times()>& decode) const {
  const auto content = SegmentCache::of_process().take(identity(block), kTimeBytes * blocks_[block].count, [&]() -> SegmentCache::Content {
    Times decoded = decode();
    if (decoded == nullptr) return {};
    const std::uint64_t bytes = decoded->capacity() * sizeof(Nanoseconds);
    return {std::move(decoded), bytes};
  });
  return std::static_pointer_cast<const std::vector<Nanoseconds>>(content);
}

std::shared_ptr<const CounterSegment> DemandedCounters::held(std::size_t block, std::size_t member) const noexcept {
  const auto read_it = [&]() -> SegmentCache::Content {
    std::shared_ptr<const CounterSegment> segment = read(block, member);
    if (segment == nullptr) {
      has_unreadable_.store(true, std::memory_order_relaxed);
      SegmentCache::of_process().report(damage_text());
      segment = substitute(block);
    }
    const std::uint64_t bytes = sizeof(CounterSegment) + segment->memory_bytes();
    return {std::move(segment), bytes};
  };
  SegmentCache& cache = SegmentCache::of_process();
  try {
    return std::static_pointer_cast<const CounterSegment>(cache.take(identity(block) + 1 + member, kValueBytes * blocks_[block].count, read_it));
  } catch (const std::bad_alloc&) {
  }
  cache.report_shortage();
  lacked_memory_.store(true, std::memory_order_relaxed);
  return substitute(block);
}

std::shared_ptr<const CounterSegment> DemandedCounters::at_hand(std::size_t block, std::size_t member) const noexcept {
  return std::static_pointer_cast<const CounterSegment>(SegmentCache::of_process().at_hand(identity(block) + 1 + member));
}

std::shared_ptr<const CounterSegment> DemandedCounters::substitute(std::size_t block) const {
  const Block& known = blocks_[block];
  std::vector<Nanoseconds> times(known.count);
  const auto count = static_cast<Nanoseconds>(known.count);
  for (Nanoseconds i = 0; i < count; ++i)  // avoids a product that could overflow
    times[static_cast<std::size_t>(i)] = known.extent.begin + known.extent.length() / count * i + known.extent.length() % count * i / count;
  const std::vector<std::int64_t> nothing(known.count, kNoValue);
  return std::make_shared<const CounterSegment>(std::make_shared<const std::vector<Nanoseconds>>(std::move(times)), nothing, known.extent.end);
}

bool demands_counters(const Trace& trace) noexcept {
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (trace.counter_series(id).demanded() != nullptr) return true;
  return false;
}

bool has_unreadable_counters(const Trace& trace) noexcept {
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (const DemandedCounters* const demanded = trace.counter_series(id).demanded(); demanded != nullptr && demanded->has_unreadable()) return true;
  return false;
}

}  // namespace lanescope
