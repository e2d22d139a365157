// A group of counters that are read together, written to a recording: frames of their descriptions and of their samples.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lanescope/trace.pb.h"

namespace lanescope::counters {

// The destination of frames of counters.
class CounterSink {
 public:
  virtual void write(proto::FrameType type, const google::protobuf::MessageLite& message) = 0;
  // Returns a new id for a counter.
  [[nodiscard]] virtual std::uint32_t new_counter_id() = 0;

 protected:
  ~CounterSink() = default;
};

// Threads: one.
class CounterStream {
 public:
  // Gives ids to `counters`. The sink must outlive the stream.
  CounterStream(CounterSink& sink, std::vector<proto::Counter> counters);

  // Adds one integer for each counter, or kMissing, for the time from begin to end (CLOCK_MONOTONIC ns). Times that were already added are left out.
  static constexpr std::int64_t kMissing = INT64_MIN;
  void add(std::int64_t begin, std::int64_t end, std::span<const std::int64_t> values);
  void flush();

 private:
  CounterSink* sink_;
  std::vector<std::uint32_t> ids_;
  proto::EventChunk chunk_;
  std::vector<std::int64_t> last_values_;
  std::int64_t last_begin_ = 0;
  std::int64_t last_end_ = 0;
};

}  // namespace lanescope::counters
