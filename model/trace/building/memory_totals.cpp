#include "memory_totals.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace lanescope {
namespace {

struct Steps {
  std::vector<Nanoseconds> times;
  std::vector<std::int64_t> values;

  void set(Nanoseconds time, std::int64_t value) {
    if (!times.empty() && times.back() == time) {
      values.back() = value;
      return;
    }
    times.push_back(time);
    values.push_back(value);
  }
};

// Sums over one kind of memory.
struct KindTotal {
  std::int64_t bytes = 0;
  Steps steps;
};

struct Pool {
  std::int64_t size = 0;
  std::int64_t utilized = 0;
};

class Totals {
 public:
  void add(Nanoseconds time, const MemoryUsageDetail& usage) {
    switch (usage.operation) {
      case MemoryUsageOperation::kAllocation:
        allocate(time, usage);
        break;
      case MemoryUsageOperation::kRelease:
        release(time, usage);
        break;
      default:
        break;
    }
    follow_pool(time, usage);
  }

  std::map<MemoryKind, KindTotal> kinds;
  Steps pool_size;
  Steps pool_utilized;

 private:
  struct Allocation {
    MemoryKind kind;
    std::int64_t bytes;
  };

  void allocate(Nanoseconds time, const MemoryUsageDetail& usage) {
    release(time, usage);  // the release of the earlier allocation was not recorded
    const Allocation made{usage.memory_kind, static_cast<std::int64_t>(usage.bytes)};
    live_.insert_or_assign(usage.address, made);
    change(time, made.kind, made.bytes);
  }

  void release(Nanoseconds time, const MemoryUsageDetail& usage) {
    const auto found = live_.find(usage.address);
    if (found == live_.end()) return;
    change(time, found->second.kind, -found->second.bytes);
    live_.erase(found);
  }

  void change(Nanoseconds time, MemoryKind kind, std::int64_t bytes) {
    KindTotal& total = kinds[kind];
    total.bytes += bytes;
    total.steps.set(time, total.bytes);
  }

  void follow_pool(Nanoseconds time, const MemoryUsageDetail& usage) {
    if (usage.pool == 0) return;
    Pool& pool = pools_[usage.pool];
    const bool is_gone = usage.operation == MemoryUsageOperation::kPoolDestruction;
    const Pool now = is_gone ? Pool{} : Pool{static_cast<std::int64_t>(usage.pool_size), static_cast<std::int64_t>(usage.pool_utilized)};
    all_pools_.size += now.size - pool.size;
    all_pools_.utilized += now.utilized - pool.utilized;
    pool = now;
    pool_size.set(time, all_pools_.size);
    pool_utilized.set(time, all_pools_.utilized);
  }

  std::unordered_map<std::uint64_t, Allocation> live_;  // by address
  std::unordered_map<std::uint64_t, Pool> pools_;       // by address
  Pool all_pools_;
};

Counter counter_of(const TrackKey& key, std::string name, std::string description) {
  Counter counter;
  counter.process = key.process;
  counter.gpu = key.gpu;
  counter.name = std::move(name);
  counter.unit = "B";
  counter.group = "CUDA memory";
  counter.description = std::move(description);
  return counter;
}

}  // namespace

std::vector<MemoryTotal> memory_totals(const Trace& trace, const Track& track, Nanoseconds end) {
  struct Cursor {
    const Lane* lane;
    EventIndex next;
    [[nodiscard]] Nanoseconds start() const noexcept { return lane->start(next); }
  };
  const auto later = [](const Cursor& a, const Cursor& b) { return a.start() > b.start(); };
  std::vector<Cursor> lanes;  // a heap with the earliest on top
  for (const LaneId id : track.lanes)
    if (const Lane& lane = trace.lane(id); !lane.empty()) lanes.push_back({&lane, 0});
  std::make_heap(lanes.begin(), lanes.end(), later);
  Totals totals;
  std::vector<std::pair<std::uint32_t, DetailId>> together;  // correlation ids and details of events with the same time
  while (!lanes.empty()) {
    const Nanoseconds now = lanes.front().start();
    together.clear();
    while (!lanes.empty() && lanes.front().start() == now) {
      std::pop_heap(lanes.begin(), lanes.end(), later);
      Cursor& first = lanes.back();
      for (; first.next < first.lane->size() && first.start() == now; ++first.next)
        together.emplace_back(first.lane->correlation(first.next), first.lane->detail(first.next));
      if (first.next < first.lane->size())
        std::push_heap(lanes.begin(), lanes.end(), later);
      else
        lanes.pop_back();
    }
    // Calls follow each other, so their correlation ids tell the order of events with the same time.
    std::stable_sort(together.begin(), together.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [correlation, detail] : together) totals.add(now, trace.memory_usage_detail(detail));
  }

  std::vector<MemoryTotal> result;
  const auto give = [&](std::string name, std::string description, const Steps& steps) {
    if (steps.times.empty()) return;
    const Nanoseconds until = std::max(end, steps.times.back() + 1);
    result.push_back({counter_of(track.key, std::move(name), std::move(description)), CounterSeries(steps.times, steps.values, until)});
  };
  for (const auto& [kind, total] : totals.kinds)
    give(std::string(memory_kind_name(kind)) + " memory", "Allocated by CUDA calls since the recording began, and not yet released.", total.steps);
  give("Memory pools", "What memory pools hold, in use or not.", totals.pool_size);
  give("Memory pools in use", "What of the memory pools' memory is allocated.", totals.pool_utilized);
  return result;
}

}  // namespace lanescope
