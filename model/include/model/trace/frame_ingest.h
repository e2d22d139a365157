// Turns frames of a recording into a trace: the one path for a finished file, a cut one and a live recording.
#pragma once

#include <memory>

#include "model/file/frame_codec.h"
#include "model/file/result.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

// A frame with its payload decompressed and parsed: the part of ingest that needs no order, and so may run on any thread.
class DecodedFrame {
 public:
  explicit DecodedFrame(const FrameView& frame);
  DecodedFrame(DecodedFrame&&) noexcept;
  DecodedFrame& operator=(DecodedFrame&&) noexcept;
  ~DecodedFrame();

 private:
  friend class FrameIngest;
  struct Content;
  std::unique_ptr<Content> content_;
};

// Threads: one thread at a time.
class FrameIngest {
 public:
  explicit FrameIngest(TraceBuilder& builder);
  ~FrameIngest();
  FrameIngest(const FrameIngest&) = delete;
  FrameIngest& operator=(const FrameIngest&) = delete;

  // Adds what one frame says. A payload that does not parse, or whose columns disagree, is skipped whole and counted in malformed().
  // Unknown frame types are skipped.
  void add(const FrameView& frame);
  void add(const DecodedFrame& frame);

  [[nodiscard]] std::uint64_t malformed() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
