// Writes what the target prints into Output frames. What one stream prints without interruption by the other becomes one frame.
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
