// Writes frames of the sampler to a pipe that leads to the session. Frames are written as a whole, from any thread.
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
  void diagnose(proto::Severity severity, proto::ComponentState state, std::string_view text, proto::DiagnosticKind kind = proto::DIAGNOSTIC_OTHER);
  // Writes a frame with no type and no payload. It means that everything asked for before has been written.
  void acknowledge();
  [[nodiscard]] std::uint32_t new_counter_id() override;

 private:
  std::mutex mutex_;
  int descriptor_;
  bool broken_ = false;  // the pipe has no reader any more
  std::uint32_t counters_ = 0;
  std::vector<std::byte> buffer_;
};

using counters::CounterStream;

}  // namespace lanescope::gpu_metrics
