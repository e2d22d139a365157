// Frames that the agent of one process writes. Valid frames go to the file unchanged.
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
  // Converts the number that a thread has in its own process to ours.
  using NumberOf = std::function<std::uint32_t(std::uint32_t thread)>;

  AgentFrames(std::uint32_t instance, const channel::SharedMemory& memory, FrameLog& log)
      : instance_(instance), log_(log), ring_(memory.header().frame_ring, memory.frame_bytes()) {}

  // From here on thread numbers are converted by this function.
  void number_by(NumberOf number) { number_ = std::move(number); }

  // Takes the frames that are in the ring now. Returns their bytes.
  std::size_t drain();

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }  // in frames that were taken
  // Invalid frames, and the number of times that the ring was damaged.
  [[nodiscard]] std::uint64_t invalid() const noexcept { return rejected_ + ring_.damaged(); }

 private:
  [[nodiscard]] bool is_acceptable(const FrameView& frame) const;
  bool append_numbered(const FrameView& frame, std::vector<std::byte>& run) const;  // false if it holds no events

  std::uint32_t instance_;
  FrameLog& log_;
  channel::FrameRingConsumer ring_;
  NumberOf number_;  // empty if the numbers are the same
  std::vector<std::byte> frame_;
  std::uint64_t events_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace lanescope::session
