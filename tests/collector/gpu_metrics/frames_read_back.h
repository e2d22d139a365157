// What a reader makes of the frames of a sampler.
#pragma once

#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "frame_output.h"
#include "model/trace/frame_ingest.h"
#include "support/catch.h"

namespace lanescope::gpu_metrics {

// Of those that `write` writes.
template <typename Write>
std::shared_ptr<const Trace> read_back(Write write) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  FrameOutput output(ends[1]);
  write(output);
  close(ends[1]);
  std::string bytes;
  char piece[4096];
  for (ssize_t count = 0; (count = read(ends[0], piece, sizeof(piece))) > 0;) bytes.append(piece, static_cast<std::size_t>(count));
  close(ends[0]);
  TraceBuilder builder;
  FrameIngest ingest(builder);
  for (std::size_t at = 0; at < bytes.size();) {
    FrameView frame;
    REQUIRE(bytes.size() - at >= sizeof(FrameHeader));
    std::memcpy(&frame.header, bytes.data() + at, sizeof(FrameHeader));
    frame.stored = std::as_bytes(std::span(bytes)).subspan(at + sizeof(FrameHeader), frame.header.stored_size);
    REQUIRE(frame_is_sound(frame));
    ingest.add(frame);
    at += sizeof(FrameHeader) + frame.header.stored_size;
  }
  CHECK(ingest.malformed() == 0);
  return builder.snapshot();
}

}  // namespace lanescope::gpu_metrics
