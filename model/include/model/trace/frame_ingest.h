// Turns frames of a recording into a trace: the one path for a finished file, a cut one and a live recording.
#pragma once

#include <memory>

#include "model/file/frame_codec.h"
#include "model/file/result.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

class FrameIngest {
 public:
  explicit FrameIngest(TraceBuilder& builder);
  ~FrameIngest();
  FrameIngest(const FrameIngest&) = delete;
  FrameIngest& operator=(const FrameIngest&) = delete;

  // Adds what one frame says. A payload that does not parse, or whose columns disagree, is skipped whole and counted in malformed().
  // Unknown frame types are skipped.
  void add(const FrameView& frame);

  [[nodiscard]] std::uint64_t malformed() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
