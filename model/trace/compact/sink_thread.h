// Passes events on to a sink on a thread of its own, so that the reader of a recording need not wait until they are processed. Internal to model/trace.
//
// Threads: one thread gives events, and looks at the sink after wait().
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "ingest/batch_queue.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

class SinkThread final : public EventSink {
 public:
  // The sink must outlive this object. If there is no room for another thread, the sink is called where events are given.
  explicit SinkThread(EventSink& sink);
  // Events that were not started by then are dropped.
  ~SinkThread() override;
  SinkThread(const SinkThread&) = delete;
  SinkThread& operator=(const SinkThread&) = delete;

  // Waits while many others were not started. Throws what the sink threw.
  void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) override;
  // Waits until the sink has taken all events that were given. Throws what it threw.
  void wait();

 private:
  struct Chunk {
    TrackId track = kNone;
    std::vector<Event> events;
    std::vector<std::uint32_t> depths;
  };
  static constexpr std::size_t kBatch = 32'768;     // events
  static constexpr std::size_t kLeastOfChunk = 16;  // the least number of events that a chunk counts as: a chunk takes memory itself, too
  void run() noexcept;

  EventSink& sink_;
  BatchQueue<Chunk> chunks_{kBatch};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lanescope
