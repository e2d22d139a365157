#include "frame_log.h"

namespace lanescope::session {

void FrameLog::seal(const FrameTag& tag, const google::protobuf::MessageLite& message) {
  payload_.clear();
  message.AppendToString(&payload_);
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(tag.type);
  header.source = static_cast<std::uint8_t>(tag.source);
  header.process = tag.process;
  header.event_count = tag.events;
  buffer_.clear();
  append_frame(header, payload_, buffer_);
}

void FrameLog::write(const FrameTag& tag, const google::protobuf::MessageLite& message) {
  if (failure_) return;
  seal(tag, message);
  append(buffer_, tag.events);
}

void FrameLog::pass_on(std::span<const std::byte> frames, std::uint64_t events) {
  if (!failure_ && !frames.empty()) append(frames, events);
}

bool FrameLog::append(std::span<const std::byte> frames, std::uint64_t events) {
  if (Result<void> written = file_.append(frames); !written) {
    if (!failure_) failure_ = written.error();
    return false;
  }
  events_.fetch_add(events, std::memory_order_relaxed);
  bytes_.store(file_.size(), std::memory_order_relaxed);
  if (sink_) sink_(frames);
  return true;
}

void FrameLog::close(const proto::SessionEnd& end) {
  seal({proto::FRAME_SESSION_END}, end);
  if (!append(buffer_, 0)) return;
  if (Result<void> finished = file_.finish(); !finished && !failure_) failure_ = finished.error();
  bytes_.store(file_.size(), std::memory_order_relaxed);
}

}  // namespace lanescope::session
