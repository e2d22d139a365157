// Frames of the sampler on their way to the session: written to a pipe, whole, from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "collector/counters/counter_stream.h"
#include "lanescope/trace.pb.h"

namespace lanescope::gpu_metrics {

class FrameOutput final : public counters::CounterSink {
 public:
  explicit FrameOutput(int descriptor) : descriptor_(descriptor) {}

  void write(proto::FrameType type, const google::protobuf::MessageLite& message) override;
  void diagnose(proto::Severity severity, proto::ComponentState state, std::string_view text);
  // A frame of no type and no payload: everything that was asked for before has been written.
  void acknowledge();
  [[nodiscard]] std::uint32_t new_counter_id() override;

 private:
  std::mutex mutex_;
  int descriptor_;
  bool broken_ = false;  // nobody reads any more
  std::uint32_t counters_ = 0;
  std::vector<std::byte> buffer_;
};

using counters::CounterStream;

}  // namespace lanescope::gpu_metrics
