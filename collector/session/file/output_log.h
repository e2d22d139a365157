// Writes what the target prints into Output frames: what one stream prints at a stretch becomes one frame.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "file/frame_log.h"
#include "launch/output_relay.h"

namespace lanescope::session {

class OutputLog {
 public:
  explicit OutputLog(FrameLog& log) : log_(log) {}

  void take(OutputStream stream, std::span<const char> bytes);
  void flush();

 private:
  FrameLog& log_;
  proto::Output pending_;
};

}  // namespace lanescope::session
