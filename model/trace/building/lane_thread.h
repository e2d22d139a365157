// Builds lanes on a thread of its own, in the order in which events are given. Internal to model/trace.
#pragma once

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "ingest/batch_queue.h"
#include "lane_builder.h"

namespace lanescope {

// Threads: one thread gives, and looks at the lanes after wait().
class LaneThread {
 public:
  LaneThread();
  ~LaneThread();
  LaneThread(const LaneThread&) = delete;
  LaneThread& operator=(const LaneThread&) = delete;

  // As TrackLanes::add_at_depths() if there are depths, otherwise as TrackLanes::add(). Waits while many others were not started.
  void add(TrackLanes& into, std::vector<Event> events, std::vector<std::uint32_t> depths);
  // As TrackLanes::add_to_lane().
  void add_to_lane(TrackLanes& into, std::uint32_t lane, std::vector<Event> events);
  // Waits until all events that were given are on their lanes.
  void wait();

 private:
  struct Chunk {
    TrackLanes* into = nullptr;
    std::vector<Event> events;
    std::vector<std::uint32_t> depths;
    std::optional<std::uint32_t> lane;
  };
  void run() noexcept;  // errors here are thrown by add() and wait()
  static void place(std::vector<Chunk>& batch);

  BatchQueue<Chunk> chunks_{32'768};  // events
  std::thread thread_;                // last: it uses all of the above
};

}  // namespace lanescope
