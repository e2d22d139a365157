#include "lane_thread.h"

#include <utility>

namespace lanescope {

LaneThread::LaneThread() : thread_([this] { run(); }) {}

LaneThread::~LaneThread() {
  chunks_.close();
  thread_.join();
}

void LaneThread::add(TrackLanes& into, std::vector<Event> events, std::vector<std::uint32_t> depths) {
  const std::size_t count = events.size();
  chunks_.put({&into, std::move(events), std::move(depths), std::nullopt}, count);
}

void LaneThread::add_to_lane(TrackLanes& into, std::uint32_t lane, std::vector<Event> events) {
  const std::size_t count = events.size();
  chunks_.put({&into, std::move(events), {}, lane}, count);
}

void LaneThread::wait() { chunks_.drain(); }

void LaneThread::run() noexcept {
  try {
    for (std::vector<Chunk> batch = chunks_.take(); !batch.empty(); batch = chunks_.take()) place(batch);
  } catch (...) {
    chunks_.fail(std::current_exception());
  }
}

void LaneThread::place(std::vector<Chunk>& batch) {
  for (Chunk& chunk : batch) {
    if (chunk.lane)
      chunk.into->add_to_lane(*chunk.lane, std::move(chunk.events));
    else if (chunk.depths.empty())
      chunk.into->add(std::move(chunk.events));
    else
      chunk.into->add_at_depths(std::move(chunk.events), chunk.depths);
  }
}

}  // namespace lanescope
