// Frames that the agent of one process writes: what makes sense of them goes to the file as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collector/channel/ring.h"
#include "collector/channel/shared_memory.h"
#include "file/frame_log.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"

namespace lanescope::session {

class AgentFrames {
 public:
  // The number that a thread has for us, of one that has this number for its own process.
  using NumberOf = std::function<std::uint32_t(std::uint32_t thread)>;

  AgentFrames(std::uint32_t instance, const channel::SharedMemory& memory, FrameLog& log)
      : instance_(instance), log_(log), ring_(memory.header().frame_ring, memory.frame_bytes()) {}

  // From here on threads are numbered so.
  void number_by(NumberOf number) { number_ = std::move(number); }

  // Takes those that are in the ring now. Returns their bytes.
  std::size_t drain();

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }  // in frames that were taken
  // Frames that made no sense, and times that the ring did not.
  [[nodiscard]] std::uint64_t invalid() const noexcept { return rejected_ + ring_.damaged(); }

 private:
  [[nodiscard]] bool is_acceptable(const FrameView& frame) const;
  bool append_numbered(const FrameView& frame, std::vector<std::byte>& run) const;  // false where it holds no events

  std::uint32_t instance_;
  FrameLog& log_;
  channel::FrameRingConsumer ring_;
  NumberOf number_;  // none where they need no other numbers
  std::vector<std::byte> frame_;
  std::uint64_t events_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace lanescope::session
