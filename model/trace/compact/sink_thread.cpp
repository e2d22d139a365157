#include "sink_thread.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace lanescope {

SinkThread::SinkThread(EventSink& sink) : sink_(sink) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no room for another thread
  }
}

SinkThread::~SinkThread() {
  if (!thread_.joinable()) return;
  chunks_.cancel();
  thread_.join();
}

void SinkThread::take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) {
  if (!thread_.joinable()) return sink_.take(track, std::move(events), std::move(depths));
  const std::size_t weight = std::max(events.size(), kLeastOfChunk);
  chunks_.put({track, std::move(events), std::move(depths)}, weight);
}

void SinkThread::wait() {
  if (thread_.joinable()) chunks_.drain();
}

void SinkThread::run() noexcept {
  try {
    for (std::vector<Chunk> batch = chunks_.take(); !batch.empty(); batch = chunks_.take())
      for (Chunk& chunk : batch) sink_.take(chunk.track, std::move(chunk.events), std::move(chunk.depths));
  } catch (...) {
    chunks_.fail(std::current_exception());
  }
}

}  // namespace lanescope
