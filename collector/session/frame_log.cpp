#include "frame_log.h"

#include <cstring>

#include "clock.h"

namespace lanescope::session {

void FrameLog::open(TraceFileWriter file, const proto::SessionStart& start) {
  file_.emplace(std::move(file));
  failure_.reset();
  events_.store(0, std::memory_order_relaxed);
  opened_ = start.epoch();
  gives_up_ = true;
  seal({proto::FRAME_SESSION_START}, start);
  if (!append(buffer_, 0) || rules_.keep_last) return;
  std::vector<std::byte> known;
  prologue_.append_to(known, opened_);
  if (!known.empty()) append(known, 0);
}

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
  seal(tag, message);
  take(buffer_, tag.events);
}

void FrameLog::pass_on(std::span<const std::byte> frames, std::uint64_t events) {
  if (!frames.empty()) take(frames, events);
}

void FrameLog::take(std::span<const std::byte> frames, std::uint64_t events) {
  if (!file_) {
    absorb(frames);
  } else if (rules_.keep_last) {
    hold(frames, events);
  } else {
    if (!failure_) append(frames, events);
    if (rules_.several_files) absorb(frames);
  }
}

void FrameLog::hold(std::span<const std::byte> frames, std::uint64_t events) {
  const std::int64_t now = monotonic_now();
  held_.push_back({now, {frames.begin(), frames.end()}, events});
  held_bytes_ += frames.size();
  events_.fetch_add(events, std::memory_order_relaxed);
  while (gives_up_ && now - held_.front().time > rules_.keep_last->count()) {
    absorb(held_.front().frames);
    held_bytes_ -= held_.front().frames.size();
    events_.fetch_sub(held_.front().events, std::memory_order_relaxed);
    held_.pop_front();
  }
  bytes_.store(file_->size() + held_bytes_, std::memory_order_relaxed);
}

void FrameLog::write_held() {
  events_.store(0, std::memory_order_relaxed);
  std::vector<std::byte> known;
  prologue_.append_to(known, opened_);
  if (!known.empty()) append(known, 0);
  for (const Held& part : held_) {
    if (!failure_) append(part.frames, part.events);
    absorb(part.frames);
  }
  held_.clear();
  held_bytes_ = 0;
}

void FrameLog::absorb(std::span<const std::byte> frames) {
  while (frames.size() >= sizeof(FrameHeader)) {
    FrameView frame;
    std::memcpy(&frame.header, frames.data(), sizeof(frame.header));
    const std::size_t bytes = sizeof(frame.header) + frame.header.stored_size;
    if (bytes > frames.size()) return;
    frame.stored = frames.subspan(sizeof(frame.header), frame.header.stored_size);
    prologue_.absorb(frame);
    frames = frames.subspan(bytes);
  }
}

bool FrameLog::append(std::span<const std::byte> frames, std::uint64_t events) {
  if (Result<void> written = file_->append(frames); !written) {
    if (!failure_) failure_ = written.error();
    return false;
  }
  events_.fetch_add(events, std::memory_order_relaxed);
  bytes_.store(file_->size(), std::memory_order_relaxed);
  if (sink_) sink_(frames);
  return true;
}

void FrameLog::close(const proto::SessionEnd& end) {
  if (rules_.keep_last) write_held();
  seal({proto::FRAME_SESSION_END}, end);
  if (append(buffer_, 0)) {
    if (Result<void> finished = file_->finish(); !finished && !failure_) failure_ = finished.error();
    bytes_.store(file_->size(), std::memory_order_relaxed);
  }
  file_.reset();
}

void FrameLog::discard() {
  for (const Held& part : held_) absorb(part.frames);
  held_.clear();
  held_bytes_ = 0;
  std::error_code ignored;
  std::filesystem::remove(file_->path(), ignored);
  file_.reset();
}

}  // namespace lanescope::session
