#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>

#include "model/trace/demanded_segments.h"
#include "model/trace/usable_cores.h"

namespace lanescope {
namespace {

constexpr std::uint64_t kSegmentBytes = std::uint64_t{24} * LaneSegment::kCapacity;  // of a full one, about
constexpr std::size_t kAhead = 2;  // segments for each core that are decoded before they are asked for

}  // namespace

struct SegmentCache::State {
  struct Entry {
    std::shared_ptr<const LaneSegment> segment;  // null while it is being decoded
    std::list<std::uint64_t>::iterator place;    // in `used`
  };
  struct Wanted {
    std::weak_ptr<const DemandedSegments> from;
    std::size_t segment;
  };

  const unsigned cores = usable_cores();
  mutable std::mutex mutex;
  std::condition_variable decoded;
  std::unordered_map<std::uint64_t, Entry> entries;
  std::list<std::uint64_t> used;  // the last one first
  std::vector<std::string> problems;
  std::atomic<std::uint64_t> budget{default_budget()};
  // Shared with what counts there when it goes, which may be later than the cache.
  std::shared_ptr<std::atomic<std::uint64_t>> live = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t most = 0, times_decoded = 0, dropped = 0;

  std::deque<Wanted> wanted;  // ahead
  std::condition_variable added;
  bool stopping = false;
  std::vector<std::thread> threads;  // last: they use all of the above

  // Counts its bytes for as long as anybody has it.
  [[nodiscard]] std::shared_ptr<const LaneSegment> counted(std::shared_ptr<const LaneSegment> segment) {
    const std::uint64_t bytes = segment->memory_bytes();
    const LaneSegment* address = segment.get();
    live->fetch_add(bytes);
    return {address, [segment = std::move(segment), live = live, bytes](const LaneSegment*) mutable {
              segment.reset();
              live->fetch_sub(bytes);
            }};
  }

  // Requires: `lock` is held. What goes is freed by the caller, without the lock.
  void make_room(std::uint64_t bytes, std::vector<std::shared_ptr<const LaneSegment>>& gone) {
    std::uint64_t freed = 0;
    while (!used.empty() && live->load() + bytes > budget.load() + freed) {
      const auto oldest = entries.find(used.back());
      freed += oldest->second.segment->memory_bytes();
      gone.push_back(std::move(oldest->second.segment));
      used.pop_back();
      entries.erase(oldest);
      ++dropped;
    }
  }

  // Decodes a segment for which there is an entry without one.
  std::shared_ptr<const LaneSegment> fill(const DemandedSegments& from, std::size_t s) {
    std::vector<std::shared_ptr<const LaneSegment>> gone;
    {
      const std::lock_guard lock(mutex);
      make_room(std::uint64_t{24} * from.bounds()[s].count, gone);
    }
    gone.clear();
    std::shared_ptr<const LaneSegment> segment = read(from, s);
    const std::lock_guard lock(mutex);
    most = std::max(most, live->load());
    ++times_decoded;
    const auto entry = entries.find(from.identity(s));
    used.push_front(from.identity(s));
    entry->second = {segment, used.begin()};
    decoded.notify_all();
    return segment;
  }

  std::shared_ptr<const LaneSegment> read(const DemandedSegments& from, std::size_t s) {
    try {
      if (auto segment = from.read(s)) return counted(std::move(segment));
    } catch (const std::bad_alloc&) {
      std::vector<std::shared_ptr<const LaneSegment>> gone;
      {
        const std::lock_guard lock(mutex);
        make_room(budget.load(), gone);
        problems.emplace_back("There was not enough memory to decode all events. Close other programs, or set a smaller budget.");
      }
    }
    return counted(from.substitute(s));
  }

  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      added.wait(lock, [&] { return stopping || !wanted.empty(); });
      if (stopping) return;
      const Wanted next = std::move(wanted.front());
      wanted.pop_front();
      lock.unlock();
      if (const auto from = next.from.lock()) {
        bool is_new = false;
        {
          const std::lock_guard again(mutex);
          is_new = entries.try_emplace(from->identity(next.segment)).second;
        }
        if (is_new) (void)fill(*from, next.segment);
      }
      lock.lock();
    }
  }

  // Requires: `lock` is held, and segment s was asked for and is not there.
  void want_next(const DemandedSegments& from, std::size_t s) {
    if (s == 0 || !entries.contains(from.identity(s - 1))) return;  // not one after the other
    const std::size_t ahead = kAhead * cores;
    if (live->load() + 2 * ahead * kSegmentBytes > budget.load()) return;
    for (std::size_t next = s + 1; next < std::min(s + 1 + ahead, from.bounds().size()); ++next)
      if (!entries.contains(from.identity(next))) wanted.push_back({from.weak_from_this(), next});
    while (wanted.size() > 4 * ahead) wanted.pop_front();
    if (threads.empty())
      for (unsigned i = 0; i < std::max(1u, cores - 1); ++i) threads.emplace_back([this] { serve(); });
    added.notify_all();
  }
};

SegmentCache::SegmentCache() : state_(std::make_unique<State>()) {}
SegmentCache::~SegmentCache() {
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
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kMost / 4;
  return std::min(kMost, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 4);
}

void SegmentCache::set_budget(std::uint64_t bytes) {
  std::vector<std::shared_ptr<const LaneSegment>> gone;
  const std::lock_guard lock(state_->mutex);
  state_->budget = bytes;
  state_->make_room(0, gone);
}

std::uint64_t SegmentCache::pinned_bytes_per_thread() const noexcept { return state_->budget.load() / (4 * state_->cores); }

SegmentCache::Use SegmentCache::use() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return {state_->budget.load(), state_->live->load(),  state_->most,
          state_->used.size(),   state_->times_decoded, state_->dropped};
}

std::vector<std::string> SegmentCache::problems() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problems;
}

void SegmentCache::report(std::string sentence) {
  const std::lock_guard lock(state_->mutex);
  if (std::find(state_->problems.begin(), state_->problems.end(), sentence) == state_->problems.end())
    state_->problems.push_back(std::move(sentence));
}

std::shared_ptr<const LaneSegment> SegmentCache::take(const DemandedSegments& from, std::size_t s) {
  State& state = *state_;
  {
    std::unique_lock lock(state.mutex);
    while (true) {
      const auto [found, is_new] = state.entries.try_emplace(from.identity(s));
      if (is_new) {
        state.want_next(from, s);
        break;
      }
      if (found->second.segment) {
        state.used.splice(state.used.begin(), state.used, found->second.place);
        return found->second.segment;
      }
      state.decoded.wait(lock);
    }
  }
  return state.fill(from, s);
}

void SegmentCache::forget(std::uint64_t first_identity, std::size_t count) {
  std::vector<std::shared_ptr<const LaneSegment>> gone;
  const std::lock_guard lock(state_->mutex);
  for (std::uint64_t identity = first_identity; identity < first_identity + count; ++identity) {
    const auto found = state_->entries.find(identity);
    if (found == state_->entries.end() || !found->second.segment) continue;
    gone.push_back(std::move(found->second.segment));
    state_->used.erase(found->second.place);
    state_->entries.erase(found);
  }
}

}  // namespace lanescope
