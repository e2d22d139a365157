// Where the frames of a recording go: the file, and whoever watches.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// What a frame's header says beyond its size.
struct FrameTag {
  proto::FrameType type = proto::FRAME_UNKNOWN;
  std::uint32_t process = 0;  // instance; 0: the session
  proto::FrameSource source = proto::SOURCE_SESSION;
  std::uint32_t events = 0;
};

// One thread writes; events(), bytes() may be read anywhere. After the first failure nothing more is written, except by close().
class FrameLog {
 public:
  FrameLog(TraceFileWriter file, FrameSink sink) : file_(std::move(file)), sink_(std::move(sink)), bytes_(file_.size()) {}

  void write(const FrameTag& tag, const google::protobuf::MessageLite& message);
  // Whole frames that were made elsewhere, and how many events they hold.
  void pass_on(std::span<const std::byte> frames, std::uint64_t events);
  // The last frame, and the index. Tried even when the disk was full: what the session has to say at the end is small.
  void close(const proto::SessionEnd& end);

  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
  [[nodiscard]] bool is_watched() const noexcept { return static_cast<bool>(sink_); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }

 private:
  bool append(std::span<const std::byte> frames, std::uint64_t events);
  void seal(const FrameTag& tag, const google::protobuf::MessageLite& message);  // into buffer_

  TraceFileWriter file_;
  FrameSink sink_;
  std::optional<Error> failure_;
  std::vector<std::byte> buffer_;
  std::string payload_;
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace lanescope::session
