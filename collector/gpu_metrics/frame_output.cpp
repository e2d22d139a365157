#include "frame_output.h"

#include <unistd.h>

#include <cerrno>

#include "collector/channel/clock.h"
#include "model/file/frame_codec.h"

namespace lanescope::gpu_metrics {

void FrameOutput::write(proto::FrameType type, const google::protobuf::MessageLite& message) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.source = proto::SOURCE_GPU_METRICS;
  const std::lock_guard lock(mutex_);
  buffer_.clear();
  append_frame(header, message.SerializeAsString(), buffer_);
  for (std::size_t done = 0; done < buffer_.size() && !broken_;) {
    const ssize_t written = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (written > 0) done += static_cast<std::size_t>(written);
    broken_ = written < 0 && errno != EINTR;
  }
}

void FrameOutput::diagnose(proto::Severity severity, proto::ComponentState state, std::string_view text, proto::DiagnosticKind kind) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(channel::monotonic_now());
  diagnostic.set_severity(severity);
  diagnostic.set_component(proto::COMPONENT_GPU_METRICS);
  diagnostic.set_state(state);
  diagnostic.set_text(std::string(text));
  diagnostic.set_kind(kind);
  write(proto::FRAME_DIAGNOSTIC, diagnostic);
}

void FrameOutput::acknowledge() { write(proto::FRAME_UNKNOWN, proto::Resources()); }

std::uint32_t FrameOutput::new_counter_id() {
  const std::lock_guard lock(mutex_);
  return ++counters_;
}

}  // namespace lanescope::gpu_metrics
