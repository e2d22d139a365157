#include "segment_workers.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "model/trace/workers/usable_cores.h"

namespace lanescope {
namespace {

constexpr unsigned kMostThreads = 4;  // more threads would wait for the one thread that puts events in their places
constexpr std::size_t kMostWaiting = 4;
constexpr std::size_t kMostSpare = 4;

}  // namespace

class SegmentWorkers::Segment {
 public:
  std::vector<Event> owned;
  std::span<const Event> events;
  std::shared_ptr<const LaneSegment> built;
  std::exception_ptr failure;  // of the construction
};

std::shared_ptr<const LaneSegment> make_segment(std::span<const Event> events, EventMemory memory) {
  if (memory == EventMemory::kAll || events.size() < LaneSegment::kCapacity) return std::make_shared<const LaneSegment>(events);
  return std::make_shared<const LaneSegment>(events, ScratchBlock::of_at_most(LaneSegment::most_bytes(events.size())));
}

SegmentWorkers::SegmentWorkers(EventMemory memory) : memory_(memory) {
  const unsigned threads = std::clamp(usable_cores() - 1, 1u, kMostThreads);
  for (unsigned index = 0; index < threads; ++index) threads_.emplace_back([this] { serve(); });
}

SegmentWorkers::~SegmentWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

SegmentWorkers::Pending SegmentWorkers::build(std::vector<Event> events) {
  auto pending = std::make_shared<Segment>();
  pending->owned = std::move(events);
  pending->events = pending->owned;
  return add(std::move(pending));
}

SegmentWorkers::Pending SegmentWorkers::build(std::span<const Event> events) {
  auto pending = std::make_shared<Segment>();
  pending->events = events;
  return add(std::move(pending));
}

SegmentWorkers::Pending SegmentWorkers::add(Pending pending) {
  std::unique_lock lock(mutex_);
  waiting_.push_back(pending);
  added_.notify_one();
  if (waiting_.size() > kMostWaiting) build_one(lock);
  return pending;
}

std::shared_ptr<const LaneSegment> SegmentWorkers::take(const Pending& pending) {
  std::unique_lock lock(mutex_);
  while (!pending->built && !pending->failure) {
    if (waiting_.empty())
      built_.wait(lock);
    else
      build_one(lock);
  }
  if (pending->failure) std::rethrow_exception(pending->failure);
  return pending->built;
}

std::vector<Event> SegmentWorkers::spare() {
  const std::lock_guard lock(mutex_);
  std::vector<Event> events;
  if (!spare_.empty()) {
    events = std::move(spare_.back());
    spare_.pop_back();
  }
  return events;
}

void SegmentWorkers::build_one(std::unique_lock<std::mutex>& lock) {
  const Pending next = std::move(waiting_.front());
  waiting_.pop_front();
  lock.unlock();
  std::shared_ptr<const LaneSegment> built;
  std::exception_ptr failure;
  try {
    built = make_segment(next->events, memory_);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  next->built = std::move(built);
  next->failure = std::move(failure);
  if (next->owned.capacity() > 0 && spare_.size() < kMostSpare) {
    next->owned.clear();
    spare_.push_back(std::move(next->owned));
  }
  built_.notify_all();
}

void SegmentWorkers::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    build_one(lock);
  }
}

}  // namespace lanescope
