// Counters that are read together on their way to a recording: frames of their descriptions and of their samples.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lanescope/trace.pb.h"

namespace lanescope::counters {

// Where frames of counters go.
class CounterSink {
 public:
  virtual void write(proto::FrameType type, const google::protobuf::MessageLite& message) = 0;
  // Ids of counters, one for each.
  [[nodiscard]] virtual std::uint32_t new_counter_id() = 0;

 protected:
  ~CounterSink() = default;
};

// One thread.
class CounterStream {
 public:
  // The ids of `counters` are given out here. The sink outlives it.
  CounterStream(CounterSink& sink, std::vector<proto::Counter> counters);

  // One integer a counter, or kMissing, for the time from begin to end (CLOCK_MONOTONIC ns). A time that was told of already is left out.
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
