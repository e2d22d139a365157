#include "model/trace/segments/demanded_segments.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <set>

#include "model/trace/segments/demanded_counters.h"
#include "model/trace/segments/lane_in_parts.h"
#include "model/trace/trace.h"

namespace lanescope {
namespace {

constexpr std::size_t kPins = 256;      // of a thread; indexed by the segments' numbers
constexpr std::size_t kFewestPins = 8;  // that a thread keeps, whatever their size

struct Pin {
  std::uint64_t identity = 0;  // 0: none
  const LaneSegment* segment = nullptr;
};
// Plain memory of each thread, which is accessed without a check whether it was initialized.
constinit thread_local std::array<Pin, kPins> pins{};

// Owns the pins, and releases them at the end of the thread.
class PinnedSegments {
 public:
  PinnedSegments() = default;
  ~PinnedSegments() { give_up_all(); }
  PinnedSegments(const PinnedSegments&) = delete;
  PinnedSegments& operator=(const PinnedSegments&) = delete;

  const std::shared_ptr<const LaneSegment>& of(std::uint64_t identity) const { return held_[identity % kPins]; }
  const LaneSegment& pin(std::uint64_t identity, std::shared_ptr<const LaneSegment> segment, std::uint64_t most_bytes) {
    const std::size_t bytes = segment->memory_bytes();
    give_up(identity % kPins);
    while (count_ >= kFewestPins && bytes_ + bytes > most_bytes) give_up(next_++ % kPins);
    bytes_ += bytes;
    ++count_;
    pins[identity % kPins] = {identity, segment.get()};
    held_[identity % kPins] = std::move(segment);
    return *pins[identity % kPins].segment;
  }

 private:
  void give_up(std::size_t place) {
    if (!held_[place]) return;
    bytes_ -= held_[place]->memory_bytes();
    --count_;
    pins[place] = {};
    held_[place].reset();
  }
  void give_up_all() {
    for (std::size_t place = 0; place < kPins; ++place) give_up(place);
  }

  std::array<std::shared_ptr<const LaneSegment>, kPins> held_;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
  std::size_t next_ = 0;  // the pin that is given up next, in turns
};
thread_local PinnedSegments pinned_segments;

// Indexed by the number of the first segment, which identifies a lane.
struct AllDemanded {
  std::mutex mutex;
  std::map<std::uint64_t, const DemandedSegments*> by_identity;
};
AllDemanded& all_demanded() {
  static AllDemanded all;
  return all;
}

}  // namespace

DemandedSegments::DemandedSegments(std::vector<SegmentBounds> bounds, Lane outline, const DemandedSegments* origin)
    : bounds_(std::move(bounds)),
      outline_(std::move(outline)),
      origin_(origin),
      first_identity_(SegmentCache::of_process().new_identities(bounds_.size())),  // this makes the cache outlive them
      unreadable_(bounds_.size()) {
  const std::lock_guard lock(all_demanded().mutex);
  if (!bounds_.empty()) all_demanded().by_identity.emplace(first_identity_, this);
}
DemandedSegments::~DemandedSegments() {
  {
    const std::lock_guard lock(all_demanded().mutex);
    if (!bounds_.empty()) all_demanded().by_identity.erase(first_identity_);
  }
  SegmentCache::of_process().forget(first_identity_, bounds_.size());
}

const DemandedSegments* demanded_segments(const Lane& lane) noexcept {
  if (lane.holds_segments() || lane.segment_count() == 0) return nullptr;
  const std::lock_guard lock(all_demanded().mutex);
  const auto found = all_demanded().by_identity.find(lane.segment_identity(0) / 2);  // the number that Lane makes of it
  return found != all_demanded().by_identity.end() ? found->second : nullptr;
}

const Lane& outline_of(const Lane& lane) noexcept {
  const DemandedSegments* demanded = demanded_segments(lane);
  return demanded != nullptr ? demanded->outline() : lane;
}

Nanoseconds busy_total(const Lane& lane) noexcept {
  const DemandedSegments* demanded = demanded_segments(lane);
  if (demanded == nullptr) return lane.busy(lane.extent());
  Nanoseconds busy = 0;
  for (const SegmentBounds& bounds : demanded->bounds()) busy += bounds.busy;
  return busy;
}

bool holds_events(const Trace& trace) noexcept {
  return !demands_counters(trace) && std::all_of(trace.lanes().begin(), trace.lanes().end(), [](const Lane& lane) { return lane.holds_segments(); });
}

namespace {

// Calls visit(demanded) for each counter whose values are demanded; counters that are read together have the same.
template <typename Visit>
void for_each_demanded_counter(const Trace& trace, Visit visit) {
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (const DemandedCounters* const demanded = trace.counter_series(id).demanded()) visit(*demanded);
}

}  // namespace

bool has_substitutes(const Trace& trace) noexcept {
  bool has = std::any_of(trace.lanes().begin(), trace.lanes().end(), [](const Lane& lane) {
    const DemandedSegments* demanded = demanded_segments(lane);
    return demanded != nullptr && demanded->has_substitutes();
  });
  for_each_demanded_counter(trace, [&](const DemandedCounters& demanded) { has = has || demanded.has_unreadable() || demanded.lacked_memory(); });
  return has;
}

Result<void> check_all_was_read(const Trace& trace) {
  std::set<std::string> sentences;
  for (const Lane& lane : trace.lanes()) {
    const DemandedSegments* const demanded = demanded_segments(lane);
    if (demanded == nullptr || !demanded->has_substitutes()) continue;
    if (demanded->has_unreadable()) sentences.insert(demanded->damage_text());
    if (demanded->lacked_memory()) sentences.emplace(SegmentCache::kShortage);
  }
  for_each_demanded_counter(trace, [&](const DemandedCounters& demanded) {
    if (demanded.has_unreadable()) sentences.insert(demanded.damage_text());
    if (demanded.lacked_memory()) sentences.emplace(SegmentCache::kShortage);
  });
  if (sentences.empty()) return {};
  std::string text;
  for (const std::string& sentence : sentences) text.append(text.empty() ? "" : " ").append(sentence);
  return Error{std::move(text)};
}

bool has_memory_for_events(const Trace& trace) noexcept {
  return std::all_of(trace.lanes().begin(), trace.lanes().end(), [](const Lane& lane) { return lane.holds_segments() && !lane.is_spilled(); });
}

const LaneSegment& DemandedSegments::pinned(std::size_t s) const noexcept {
  const std::uint64_t wanted = identity(s);
  const Pin& pin = pins[wanted % kPins];
  if (pin.identity == wanted) return *pin.segment;
  SegmentCache& cache = SegmentCache::of_process();
  return pinned_segments.pin(wanted, cache.take(*this, s), cache.pinned_bytes_per_thread());
}

std::shared_ptr<const LaneSegment> DemandedSegments::held(std::size_t s) const noexcept {
  const std::uint64_t wanted = identity(s);
  if (pins[wanted % kPins].identity == wanted) return pinned_segments.of(wanted);
  return SegmentCache::of_process().take(*this, s);
}

std::shared_ptr<const LaneSegment> DemandedSegments::held_times(std::size_t s) const noexcept {
  const std::uint64_t wanted = identity(s);
  if (pins[wanted % kPins].identity == wanted) return pinned_segments.of(wanted);
  return SegmentCache::of_process().take_times(*this, s);
}

std::unique_ptr<SegmentParts> DemandedSegments::parts(std::size_t s) const {
  if (!may_be_read_in_parts(s) || !SegmentCache::of_process().reads_in_parts(*this, s, SegmentCache::Wanted::kEvents)) return nullptr;
  return read_parts(s);
}

std::unique_ptr<SegmentParts> DemandedSegments::times_in_parts(std::size_t s) const {
  if (!may_be_read_in_parts(s) || !SegmentCache::of_process().reads_in_parts(*this, s, SegmentCache::Wanted::kTimes)) return nullptr;
  return read_parts(s);
}

bool DemandedSegments::may_be_read_in_parts(std::size_t s) const noexcept { return bounds_[s].count > SegmentParts::kPart && !is_unreadable(s); }

std::unique_ptr<SegmentParts> DemandedSegments::read_parts(std::size_t) const { return nullptr; }

std::unique_ptr<SegmentParts> DemandedSegments::read_parts_apart(std::size_t s) const { return is_unreadable(s) ? nullptr : read_parts(s); }

bool DemandedSegments::has_substitutes() const noexcept {
  return has_unreadable_.load(std::memory_order_relaxed) || lacked_memory_.load(std::memory_order_relaxed) ||
         (origin_ != nullptr && origin_->has_substitutes());
}

bool DemandedSegments::has_unreadable() const noexcept {
  return has_unreadable_.load(std::memory_order_relaxed) || (origin_ != nullptr && origin_->has_unreadable());
}

bool DemandedSegments::is_unreadable(std::size_t s) const noexcept {
  return unreadable_[s].load(std::memory_order_relaxed) || (origin_ != nullptr && origin_->is_unreadable(s));
}

std::string DemandedSegments::own_damage_text() const {
  return "Not all events of the trace can be read any more: a file was changed, cut or damaged. Open it again.";
}

bool DemandedSegments::lacked_memory() const noexcept {
  return lacked_memory_.load(std::memory_order_relaxed) || (origin_ != nullptr && origin_->lacked_memory());
}

std::shared_ptr<const LaneSegment> DemandedSegments::substitute(std::size_t s, Reason reason) const {
  if (reason == Reason::kNoMemory) {
    lacked_memory_.store(true, std::memory_order_relaxed);
  } else {
    unreadable_[s].store(true, std::memory_order_relaxed);
    has_unreadable_.store(true, std::memory_order_relaxed);
  }
  const SegmentBounds& bounds = bounds_[s];
  std::vector<Event> events(bounds.count);
  const auto others = static_cast<Nanoseconds>(bounds.count) - 1;  // events other than the last, which takes the time after its start
  const Nanoseconds length = bounds.last_start - bounds.first_start;
  const Nanoseconds of_last = std::min(bounds.end - bounds.last_start, bounds.busy);
  const Nanoseconds of_others = others == 0 ? 0 : std::min(bounds.busy - of_last, length) / others;
  for (Nanoseconds i = 0; i < others; ++i) {
    // Avoids a product that could overflow.
    const Nanoseconds start = length / others * i + length % others * i / others;
    events[static_cast<std::size_t>(i)] = {bounds.first_start + start, of_others, 0, 0, 0};
  }
  events.back() = {bounds.last_start, of_last, 0, 0, 0};
  return std::make_shared<const LaneSegment>(events);
}

}  // namespace lanescope
