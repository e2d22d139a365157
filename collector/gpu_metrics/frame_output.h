// Frames of the sampler on their way to the session: written to a pipe, whole, from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "lanescope/trace.pb.h"

namespace lanescope::gpu_metrics {

class FrameOutput {
 public:
  explicit FrameOutput(int descriptor) : descriptor_(descriptor) {}

  void write(proto::FrameType type, const google::protobuf::MessageLite& message);
  void diagnose(proto::Severity severity, proto::ComponentState state, std::string_view text);
  // A frame of no type and no payload: everything that was asked for before has been written.
  void acknowledge();
  // Ids of counters, one for each.
  [[nodiscard]] std::uint32_t new_counter_id();

 private:
  std::mutex mutex_;
  int descriptor_;
  bool broken_ = false;  // nobody reads any more
  std::uint32_t counters_ = 0;
  std::vector<std::byte> buffer_;
};

// Counters that are read together, of one GPU. One thread.
class CounterStream {
 public:
  // The ids of `counters` are given out here.
  CounterStream(FrameOutput& output, std::vector<proto::Counter> counters);

  // One integer a counter, or kMissing, for the time from begin to end (CLOCK_MONOTONIC ns). A time that was told of already is left out.
  static constexpr std::int64_t kMissing = INT64_MIN;
  void add(std::int64_t begin, std::int64_t end, std::span<const std::int64_t> values);
  void flush();

 private:
  FrameOutput& output_;
  std::vector<std::uint32_t> ids_;
  proto::EventChunk chunk_;
  std::vector<std::int64_t> last_values_;
  std::int64_t last_begin_ = 0;
  std::int64_t last_end_ = 0;
};

}  // namespace lanescope::gpu_metrics
