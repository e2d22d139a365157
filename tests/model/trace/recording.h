// A recording made of frames by hand, and the resulting trace.
#pragma once

#include <cstring>

#include "lanescope/trace.pb.h"
#include "model/trace/ingest/frame_ingest.h"

namespace lanescope::test {

inline constexpr std::int64_t kEpoch = 1'000'000;

class Recording {
 public:
  Recording() : Recording(usual_start()) {}
  explicit Recording(const proto::SessionStart& start) { add(proto::FRAME_SESSION_START, 0, proto::SOURCE_SESSION, start); }

  template <typename Message>
  void add(proto::FrameType type, std::uint32_t process, proto::FrameSource source, const Message& message) {
    add_raw(type, process, source, message.SerializeAsString());
  }
  void add_raw(proto::FrameType type, std::uint32_t process, proto::FrameSource source, const std::string& payload) {
    std::vector<std::byte> bytes;
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.process = process;
    header.source = static_cast<std::uint8_t>(source);
    append_frame(header, payload, bytes);
    FrameView frame;
    std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
    frame.stored = std::span(bytes).subspan(sizeof(FrameHeader));
    ingest_.add(frame);
  }

  static proto::SessionStart usual_start() {
    proto::SessionStart start;
    start.set_epoch(kEpoch);
    start.set_host_name("gpu01");
    return start;
  }

  std::shared_ptr<const Trace> trace() { return builder_.snapshot(); }
  std::uint64_t malformed() const { return ingest_.malformed(); }
  std::uint64_t memory_bytes() const { return ingest_.memory_bytes(); }

 private:
  TraceBuilder builder_;
  FrameIngest ingest_{builder_};
};

}  // namespace lanescope::test
