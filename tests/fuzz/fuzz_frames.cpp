// Frames with any payload, as the ingest of a recording takes them. The first byte says if they are read like a live recording, in which the trace so far is
// looked at after each frame.
#include <cstring>

#include "frame_sequence.h"
#include "fuzz_target.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/outline.h"
#include "valid_frames.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool is_live = data[0] % 2 == 1;
  TraceBuilder builder;
  FrameIngest ingest(builder);
  std::vector<std::byte> bytes;
  for (const fuzz::Frame& each : fuzz::frames_of({reinterpret_cast<const char*>(data) + 1, size - 1})) {
    FrameHeader header;
    header.type = each.type;
    header.source = each.source;
    header.process = each.process;
    header.event_count = each.events;
    bytes.clear();
    append_frame(header, each.payload, bytes);
    FrameView frame;
    std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
    frame.stored = std::span(bytes).subspan(sizeof(FrameHeader));
    ingest.add(frame);
    if (each.type == proto::FRAME_OUTLINE) (void)add_outline(builder, each.payload);
    if (is_live) (void)builder.snapshot();
  }
  (void)builder.snapshot()->memory_bytes();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  if (size == 0 || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  auto frames = fuzz::frames_of({reinterpret_cast<const char*>(data) + 1, size - 1});
  fuzz::change(frames, random);
  const std::string bytes = fuzz::bytes_of(frames);
  if (bytes.size() + 1 > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data + 1, bytes.data(), bytes.size());
  return bytes.size() + 1;
}

std::vector<std::string> valid_inputs() {
  std::vector<std::string> inputs;
  for (const fuzz::Frame& events : fuzz::event_frames()) {
    std::vector<fuzz::Frame> frames = fuzz::first_frames();
    frames.push_back(events);
    inputs.push_back('\0' + fuzz::bytes_of(frames));
  }
  inputs.push_back('\1' + fuzz::bytes_of(fuzz::last_frames()));
  return inputs;
}
