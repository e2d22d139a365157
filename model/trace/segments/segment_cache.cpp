#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "model/file/memory_limits.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/home_process.h"
#include "model/trace/workers/usable_cores.h"

namespace lanescope {
namespace {

constexpr std::uint64_t kSegmentBytes = std::uint64_t{24} * LaneSegment::kCapacity;  // of a full segment, approximately
constexpr std::size_t kReserve = std::size_t{8} << 20;                               // bytes: enough for two substitutes of segments under construction
constexpr std::size_t kProblems = 16;                                                // sentences for which room is reserved from the start
constexpr std::size_t kAhead = 2;                                                    // segments for each core that are decoded before they are asked for
constexpr std::size_t kRecent = 8;                        // most recently used segments: those of a reader of one lane, and some others
constexpr std::uint64_t kTimes = std::uint64_t{1} << 63;  // a bit in the number of an entry: only the times of that segment
constexpr std::uint64_t kSharesAhead = 8;                 // of a budget that is used up, one share is for segments that nobody has asked for yet
constexpr std::uint64_t kSharesUndecoded = 4;             // of the budget, one share is for undecoded segments

}  // namespace

struct SegmentCache::State {
  struct Entry {
    std::shared_ptr<const void> content;       // null while it is being decoded: a LaneSegment, or what others have put under their numbers
    std::list<std::uint64_t>::iterator place;  // in `decoding`, then in `used`
    std::uint64_t bytes = 0;
    bool ahead = false;  // nobody has asked for it so far
    [[nodiscard]] std::shared_ptr<const LaneSegment> segment() const noexcept { return std::static_pointer_cast<const LaneSegment>(content); }
  };
  struct Wanted {
    std::weak_ptr<const DemandedSegments> from;
    std::size_t segment;
  };
  struct Undecoded {
    std::shared_ptr<const LaneSegmentParts> segment;
    std::uint64_t bytes = 0;
    std::list<std::uint64_t>::iterator place;  // in `undecoded_used`
  };

  const unsigned cores = usable_cores();
  mutable std::mutex mutex;
  std::condition_variable decoded;
  std::unordered_map<std::uint64_t, Entry> entries;
  std::list<std::uint64_t> used;  // the most recently used first
  std::list<std::uint64_t> decoding;
  std::unordered_map<std::uint64_t, Undecoded> undecoded;
  std::list<std::uint64_t> undecoded_used;  // the most recently used first
  std::uint64_t undecoded_bytes = 0;        // which count in `live`, too
  std::vector<std::string> problems;
  // Reserved for a shortage of memory: some memory, and the sentence that is reported.
  std::unique_ptr<std::byte[]> reserve{new (std::nothrow) std::byte[kReserve]};  // null if memory is short already
  std::string shortage{kShortage};
  std::atomic<std::uint64_t> budget{default_budget()};
  // Shared with the segments that count in it; they may be freed later than the cache.
  std::shared_ptr<std::atomic<std::uint64_t>> live = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t most = 0, times_decoded = 0, decoded_in_part = 0, read_in_parts = 0, others_decoded = 0, times_ahead = 0, dropped = 0;
  std::atomic<std::uint64_t> next_identity{1};

  std::deque<Wanted> wanted;  // segments to decode ahead
  std::size_t unasked = 0;    // number of entries that nobody has asked for
  std::condition_variable added;
  bool stopping = false;
  const HomeProcess home{};
  std::vector<std::thread> threads;  // last: they use all of the above

  // Counts the bytes for as long as anybody holds what takes them.
  template <typename Counted>
  [[nodiscard]] std::shared_ptr<const Counted> counted(std::shared_ptr<const Counted> what, std::uint64_t bytes) {
    const Counted* address = what.get();
    live->fetch_add(bytes);
    return {address, [what = std::move(what), live = live, bytes](const Counted*) mutable {
              what.reset();
              live->fetch_sub(bytes);
            }};
  }
  [[nodiscard]] std::shared_ptr<const LaneSegment> counted(std::shared_ptr<const LaneSegment> segment) {
    const std::uint64_t bytes = segment->memory_bytes();
    return counted(std::move(segment), bytes);
  }

  // Returns true if it is new; then the caller must decode it with fill(). Requires: `lock` is held. If it throws, nothing has changed.
  bool begin(std::uint64_t identity) {
    if (entries.contains(identity)) return false;
    decoding.push_front(identity);
    try {
      entries.emplace(identity, Entry{nullptr, decoding.begin()});
    } catch (...) {
      decoding.pop_front();
      throw;
    }
    return true;
  }

  // Bytes of undecoded segments that do not give way to others.
  [[nodiscard]] std::uint64_t share_of_undecoded() const noexcept { return budget.load() / kSharesUndecoded; }

  // Removes the undecoded segment that was unused longest. Requires: `lock` is held, and there is one.
  Content take_oldest_undecoded() noexcept {
    const auto oldest = undecoded.find(undecoded_used.back());
    Content content{std::move(oldest->second.segment), oldest->second.bytes};
    undecoded_bytes -= content.bytes;
    undecoded_used.pop_back();
    undecoded.erase(oldest);
    return content;
  }

  // Removes the segment that was unused longest from the cache and returns it; null if the cache holds none. Undecoded segments go first if they take more than
  // their share. Requires: `lock` is held.
  Content take_oldest() noexcept {
    if (!undecoded_used.empty() && (used.empty() || undecoded_bytes > share_of_undecoded())) return take_oldest_undecoded();
    if (used.empty()) return {};
    const auto oldest = entries.find(used.back());
    Content content{std::move(oldest->second.content), oldest->second.bytes};
    used.pop_back();
    unasked -= oldest->second.ahead;
    entries.erase(oldest);
    ++dropped;
    return content;
  }

  // Gives up what would exceed the budget after this many more bytes are decoded. Segments that threads have pinned count as given up.
  void make_room(std::uint64_t bytes) noexcept {
    const std::uint64_t all = live->load() + bytes;
    for (std::uint64_t freed = 0; all > budget.load() + freed;) {
      Content oldest;  // freed after the lock is released
      const std::lock_guard lock(mutex);
      oldest = take_oldest();
      if (!oldest.what) return;
      freed += oldest.bytes;
    }
  }

  void give_up_all() noexcept {
    for (bool any = true; any;) {
      Content oldest;
      const std::lock_guard lock(mutex);
      oldest = take_oldest();
      any = oldest.what != nullptr;
    }
  }

  // Decodes a segment after begin() was called for it. Throws if there is no memory at all; then the segment is no longer begun.
  std::shared_ptr<const LaneSegment> fill(const DemandedSegments& from, std::size_t s) {
    make_room(std::uint64_t{24} * from.bounds()[s].count);
    std::shared_ptr<const LaneSegment> segment = read(from, s);
    const std::lock_guard lock(mutex);
    most = std::max(most, live->load());
    ++times_decoded;
    const auto entry = entries.find(from.identity(s));
    if (segment) {
      used.splice(used.begin(), decoding, entry->second.place);
      entry->second.bytes = segment->memory_bytes();
      entry->second.content = segment;
    } else {  // threads that wait for it must not wait for ever
      decoding.erase(entry->second.place);
      unasked -= entry->second.ahead;
      entries.erase(entry);
    }
    decoded.notify_all();
    if (!segment) throw std::bad_alloc();
    return segment;
  }

  // Anything that is there of a segment has its times. Null if nothing is there, or if all of it is being decoded. Requires: `lock` is held.
  std::shared_ptr<const LaneSegment> find_times(const DemandedSegments& from, std::size_t s) noexcept {
    for (const std::uint64_t key : {from.identity(s), from.identity(s) | kTimes}) {
      const auto known = entries.find(key);
      if (known == entries.end() || !known->second.content) continue;
      ask(known->second, from, s);
      used.splice(used.begin(), used, known->second.place);
      return known->second.segment();
    }
    return nullptr;
  }

  // As fill(), for what is no segment of a lane. If it throws, it is no longer begun.
  std::shared_ptr<const void> fill(std::uint64_t identity, std::uint64_t expected, const std::function<Content()>& read) {
    make_room(expected);
    Content content;
    std::exception_ptr failed;
    try {
      try {
        content = read();
      } catch (const std::bad_alloc&) {
        give_up_all();
        content = read();
      }
      if (content.what) content.what = counted(std::move(content.what), content.bytes);
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    most = std::max(most, live->load());
    ++others_decoded;
    const auto entry = entries.find(identity);
    if (content.what && !failed) {
      used.splice(used.begin(), decoding, entry->second.place);
      entry->second.bytes = content.bytes;
      entry->second.content = content.what;
    } else {  // threads that wait for it must not wait for ever
      decoding.erase(entry->second.place);
      entries.erase(entry);
    }
    decoded.notify_all();
    if (failed) std::rethrow_exception(failed);
    return content.what;
  }

  // Null if the times can't be read alone, or if all of the segment is being decoded.
  std::shared_ptr<const LaneSegment> times_of(const DemandedSegments& from, std::size_t s) {
    {
      const std::lock_guard lock(mutex);
      if (auto known = find_times(from, s)) return known;
      if (entries.contains(from.identity(s))) return nullptr;
    }
    make_room(std::uint64_t{12} * from.bounds()[s].count);
    std::shared_ptr<const LaneSegment> times = from.read_times_apart(s);
    if (!times) return nullptr;
    times = counted(std::move(times));
    const std::lock_guard lock(mutex);
    most = std::max(most, live->load());
    ++decoded_in_part;
    const std::uint64_t key = from.identity(s) | kTimes;
    if (entries.contains(key)) return times;  // another thread was as fast
    used.push_front(key);
    try {
      entries.emplace(key, Entry{times, used.begin(), times->memory_bytes()});
    } catch (const std::bad_alloc&) {
      used.pop_front();
    }
    return times;
  }

  // Null if there is no memory at all. If there is little, the contents of the cache are given up first, then the reserve for this case: a timeline
  // without names is better than none.
  std::shared_ptr<const LaneSegment> read(const DemandedSegments& from, std::size_t s) noexcept {
    const auto try_to_read = [&] {
      auto segment = from.read(s);
      return counted(segment ? std::move(segment) : from.substitute(s));
    };
    try {
      return try_to_read();
    } catch (const std::bad_alloc&) {
    }
    give_up_all();
    try {
      return try_to_read();
    } catch (const std::bad_alloc&) {
    }
    note_shortage();
    try {
      return counted(from.substitute(s, DemandedSegments::Reason::kNoMemory));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  // Reports that there was too little memory, and frees the reserve for that case.
  void note_shortage() noexcept {
    give_up_all();
    const std::lock_guard lock(mutex);
    reserve.reset();
    if (shortage.empty() || problems.size() == problems.capacity()) return;
    problems.push_back(std::move(shortage));
    shortage.clear();
  }

  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      added.wait(lock, [&] { return stopping || !wanted.empty(); });
      if (stopping) return;
      const Wanted next = std::move(wanted.front());
      wanted.pop_front();
      lock.unlock();
      if (const auto from = next.from.lock()) decode_ahead(*from, next.segment);
      lock.lock();
    }
  }

  // If memory lacks, nothing happens: there may be enough when somebody asks for the segment later.
  void decode_ahead(const DemandedSegments& from, std::size_t s) noexcept {
    try {
      bool is_new = false;
      {
        const std::lock_guard lock(mutex);
        is_new = begin(from.identity(s));
        if (is_new) {
          entries.find(from.identity(s))->second.ahead = true;
          ++unasked;
          ++times_ahead;
        }
      }
      if (is_new) (void)fill(from, s);
    } catch (const std::bad_alloc&) {
    }
  }

  // Called when somebody asks for a segment that is there, or is being decoded. Requires: `lock` is held.
  void ask(Entry& known, const DemandedSegments& from, std::size_t s) noexcept {
    if (!std::exchange(known.ahead, false)) return;
    --unasked;
    want_next(from, s);
  }

  // Requires: `lock` is held, and segment s is asked for the first time since it is there. If memory lacks for it, nothing is lost.
  void want_next(const DemandedSegments& from, std::size_t s) noexcept {
    try {
      try_to_want_next(from, s);
    } catch (const std::bad_alloc&) {
    } catch (const std::system_error&) {  // no room for another thread
    }
  }
  // True if it is among the most recently used segments, not counting those that nobody asked for. Requires: `lock` is held.
  [[nodiscard]] bool is_recent(std::uint64_t identity) const noexcept {
    const auto end = std::next(used.begin(), static_cast<std::ptrdiff_t>(std::min(used.size(), kRecent + unasked)));
    return std::find(used.begin(), end, identity) != end;
  }
  [[nodiscard]] bool is_wanted(const DemandedSegments& from, std::size_t s) const noexcept {
    const std::weak_ptr<const DemandedSegments> same = from.weak_from_this();
    const auto is_it = [&](const Wanted& known) { return known.segment == s && !known.from.owner_before(same) && !same.owner_before(known.from); };
    return std::any_of(wanted.begin(), wanted.end(), is_it);
  }
  void try_to_want_next(const DemandedSegments& from, std::size_t s) {
    if (s == 0 || !entries.contains(from.identity(s - 1))) return;  // not read one after the other
    const std::size_t ahead = kAhead * cores;
    // Once the budget is used up, which it stays if more is read than fits, segments that are decoded ahead replace those that were unused longest. So
    // they must be few, and belong to lanes that are read nearly alone: if many lanes are merged, each segment must stay for longer, and one that is
    // decoded early is dropped before its turn.
    const bool has_room = live->load() + 2 * ahead * kSegmentBytes <= budget.load();
    if (!has_room && !is_recent(from.identity(s - 1))) return;
    const std::uint64_t most_unasked = budget.load() / kSharesAhead / kSegmentBytes;
    for (std::size_t next = s + 1; next < std::min(s + 1 + ahead, from.bounds().size()); ++next) {
      if (!has_room && unasked + wanted.size() >= most_unasked) break;
      if (!entries.contains(from.identity(next)) && !is_wanted(from, next)) wanted.push_back({from.weak_from_this(), next});
    }
    while (wanted.size() > 4 * ahead) wanted.pop_front();
    if (wanted.empty()) return;
    if (threads.empty())
      for (unsigned i = 0; i < std::max(1u, cores - 1); ++i) threads.emplace_back([this] { serve(); });
    added.notify_all();
  }
};

SegmentCache::SegmentCache() : state_(std::make_unique<State>()) { state_->problems.reserve(kProblems); }
SegmentCache::~SegmentCache() {
  if (!state_->home.is_here()) {
    HomeProcess::leave(std::move(state_));
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->added.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

SegmentCache& SegmentCache::of_process() {
  static SegmentCache cache;
  return cache;
}

std::uint64_t SegmentCache::default_budget() noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{4} << 30;
  try {
    return std::min(kMost, memory_limit() / 4);
  } catch (const std::bad_alloc&) {
    return kMost / 64;  // there is hardly any memory
  }
}

void SegmentCache::set_budget(std::uint64_t bytes) {
  state_->budget = bytes;
  state_->make_room(0);
}

std::uint64_t SegmentCache::budget() const noexcept { return state_->budget.load(); }

std::uint64_t SegmentCache::pinned_bytes_per_thread() const noexcept { return state_->budget.load() / (4 * state_->cores); }

SegmentCache::Use SegmentCache::use() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return {state_->budget.load(),   state_->live->load(),  state_->most,           state_->used.size(), state_->times_decoded,
          state_->decoded_in_part, state_->read_in_parts, state_->others_decoded, state_->times_ahead, state_->dropped};
}

std::vector<std::string> SegmentCache::problems() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problems;
}

std::vector<std::string> SegmentCache::take_problems() {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> taken = state_->problems;
  state_->problems.clear();  // keeps the reserved capacity
  return taken;
}

void SegmentCache::report_shortage() noexcept { state_->note_shortage(); }

void SegmentCache::report(std::string sentence) {
  const std::lock_guard lock(state_->mutex);
  if (std::find(state_->problems.begin(), state_->problems.end(), sentence) == state_->problems.end()) state_->problems.push_back(std::move(sentence));
}

std::uint64_t SegmentCache::new_identities(std::size_t count) noexcept { return state_->next_identity.fetch_add(count); }

std::shared_ptr<const void> SegmentCache::take(std::uint64_t identity, std::uint64_t expected, const std::function<Content()>& read) {
  State& state = *state_;
  {
    std::unique_lock lock(state.mutex);
    while (!state.begin(identity)) {
      State::Entry& known = state.entries.find(identity)->second;
      if (known.content) {
        state.used.splice(state.used.begin(), state.used, known.place);
        return known.content;
      }
      state.decoded.wait(lock);
    }
  }
  return state.fill(identity, expected, read);
}

std::shared_ptr<const void> SegmentCache::at_hand(std::uint64_t identity) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const auto known = state.entries.find(identity);
  if (known == state.entries.end() || !known->second.content) return nullptr;
  state.used.splice(state.used.begin(), state.used, known->second.place);
  return known->second.content;
}

std::shared_ptr<const LaneSegment> SegmentCache::take(const DemandedSegments& from, std::size_t s) {
  State& state = *state_;
  try {
    std::unique_lock lock(state.mutex);
    while (!state.begin(from.identity(s))) {
      State::Entry& known = state.entries.find(from.identity(s))->second;
      state.ask(known, from, s);
      if (known.content) {
        state.used.splice(state.used.begin(), state.used, known.place);
        return known.segment();
      }
      state.decoded.wait(lock);
    }
    state.want_next(from, s);
  } catch (const std::bad_alloc&) {  // not even for its entry in the cache
    if (auto segment = state.read(from, s)) return segment;
    throw;
  }
  return state.fill(from, s);
}

std::shared_ptr<const LaneSegment> SegmentCache::take_times(const DemandedSegments& from, std::size_t s) {
  try {
    if (auto times = state_->times_of(from, s)) return times;
  } catch (const std::bad_alloc&) {  // take() makes room
  }
  return take(from, s);
}

bool SegmentCache::reads_in_parts(const DemandedSegments& from, std::size_t s, Wanted wanted) noexcept {
  const std::lock_guard lock(state_->mutex);
  if (state_->entries.contains(from.identity(s))) return false;
  return wanted == Wanted::kEvents || !state_->entries.contains(from.identity(s) | kTimes);
}

void SegmentCache::count_read_in_parts() noexcept {
  const std::lock_guard lock(state_->mutex);
  ++state_->read_in_parts;
}

std::uint64_t SegmentCache::room_for_undecoded() const noexcept {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t budget = state_->budget.load(), decoded = state_->live->load() - std::min(state_->live->load(), state_->undecoded_bytes);
  return std::max(state_->share_of_undecoded(), budget - std::min(budget, decoded));
}

std::shared_ptr<const LaneSegmentParts> SegmentCache::undecoded(std::uint64_t identity) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const auto known = state.undecoded.find(identity);
  if (known == state.undecoded.end()) return nullptr;
  state.undecoded_used.splice(state.undecoded_used.begin(), state.undecoded_used, known->second.place);
  return known->second.segment;
}

void SegmentCache::keep_undecoded(std::uint64_t identity, std::shared_ptr<const LaneSegmentParts> segment) noexcept {
  State& state = *state_;
  const std::uint64_t bytes = segment->memory_bytes();
  std::vector<Content> gone;  // freed after the lock is released
  try {
    const std::lock_guard lock(state.mutex);
    if (identity == 0 || state.undecoded.contains(identity)) return;
    for (std::uint64_t freed = 0; state.live->load() + bytes > state.budget.load() + freed; freed += gone.back().bytes) {
      gone.emplace_back();
      if (state.undecoded_bytes + bytes <= state.share_of_undecoded())
        gone.back() = state.take_oldest();
      else if (!state.undecoded_used.empty())
        gone.back() = state.take_oldest_undecoded();
      if (!gone.back().what) return;
    }
    state.undecoded_used.push_front(identity);
    try {
      state.undecoded.emplace(identity, State::Undecoded{state.counted(std::move(segment), bytes), bytes, state.undecoded_used.begin()});
    } catch (const std::bad_alloc&) {
      state.undecoded_used.pop_front();
      return;
    }
    state.undecoded_bytes += bytes;
    state.most = std::max(state.most, state.live->load());
  } catch (const std::bad_alloc&) {  // it is read again when it is asked for
  }
}

void SegmentCache::forget(std::uint64_t first_identity, std::size_t count) noexcept {
  State& state = *state_;
  const auto forget_entry = [&](std::uint64_t key) {
    std::shared_ptr<const void> gone;  // freed after the lock is released
    const std::lock_guard lock(state.mutex);
    const auto found = state.entries.find(key);
    if (found == state.entries.end() || !found->second.content) return;
    gone = std::move(found->second.content);
    state.used.erase(found->second.place);
    state.unasked -= found->second.ahead;
    state.entries.erase(found);
  };
  const auto forget_undecoded = [&](std::uint64_t identity) {
    std::shared_ptr<const void> gone;  // as above
    const std::lock_guard lock(state.mutex);
    const auto found = state.undecoded.find(identity);
    if (found == state.undecoded.end()) return;
    gone = std::move(found->second.segment);
    state.undecoded_bytes -= found->second.bytes;
    state.undecoded_used.erase(found->second.place);
    state.undecoded.erase(found);
  };
  for (std::uint64_t identity = first_identity; identity < first_identity + count; ++identity) {
    for (const std::uint64_t key : {identity, identity | kTimes}) forget_entry(key);
    forget_undecoded(identity);
  }
}

}  // namespace lanescope
