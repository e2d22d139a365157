// Hands events on to a sink on a thread of its own, so that who reads a recording need not wait until they are where they go. Internal to model/trace.
//
// Threads: one thread gives, and looks at the sink after wait().
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "ingest/batch_queue.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

class SinkThread final : public EventSink {
 public:
  // The sink outlives this. Where there is no room for another thread, it is called where events are given.
  explicit SinkThread(EventSink& sink);
  // What has not been begun then is left out.
  ~SinkThread() override;
  SinkThread(const SinkThread&) = delete;
  SinkThread& operator=(const SinkThread&) = delete;

  // Waits while many others have not been begun. Throws what the sink threw.
  void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) override;
  // Until the sink has taken all that was given. Throws what it threw.
  void wait();

 private:
  struct Chunk {
    TrackId track = kNone;
    std::vector<Event> events;
    std::vector<std::uint32_t> depths;
  };
  static constexpr std::size_t kBatch = 32'768;     // events
  static constexpr std::size_t kLeastOfChunk = 16;  // events that a chunk of fewer counts for: it takes memory, too
  void run() noexcept;

  EventSink& sink_;
  BatchQueue<Chunk> chunks_{kBatch};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lanescope
