// The trace that a reader makes of the frames of a sampler.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "frame_output.h"
#include "model/trace/ingest/frame_ingest.h"
#include "support/catch.h"

namespace lanescope::gpu_metrics {

// For the frames that `write` writes.
template <typename Write>
std::shared_ptr<const Trace> read_back(Write write) {
  const int file = memfd_create("frames", MFD_CLOEXEC);
  REQUIRE(file >= 0);
  FrameOutput output(file);
  write(output);
  std::string bytes(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  REQUIRE(pread(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  close(file);
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
