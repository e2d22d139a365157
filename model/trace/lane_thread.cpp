#include "lane_thread.h"

#include <utility>

namespace lanescope {

LaneThread::LaneThread() : thread_([this] { run(); }) {}

LaneThread::~LaneThread() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LaneThread::add(TrackLanes& into, std::vector<Event> events, std::vector<std::uint32_t> depths) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return chunks_.size() < kAhead; });
    chunks_.push_back({&into, std::move(events), std::move(depths)});
  }
  changed_.notify_all();
}

void LaneThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return chunks_.empty() && !working_; });
}

void LaneThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !chunks_.empty(); });
    if (chunks_.empty()) return;
    Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    working_ = true;
    lock.unlock();
    changed_.notify_all();
    if (chunk.depths.empty())
      chunk.into->add(std::move(chunk.events));
    else
      chunk.into->add_at_depths(std::move(chunk.events), chunk.depths);
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

}  // namespace lanescope
