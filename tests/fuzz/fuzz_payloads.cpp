// Payloads of frames of any type, which are only decoded: what a reader does with each before it knows the others.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "frame_sequence.h"
#include "fuzz_target.h"
#include "lanescope/trace.pb.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/ingest/frame_ingest.h"
#include "valid_frames.h"

using namespace lanescope;

namespace {

// The head of a segment that can be decoded is unchanged after it is encoded and decoded. Its parts are its events.
void decode_segment(std::string_view payload) {
  const auto segment = decode_lane_segment(payload);
  if (!segment || segment->events.empty()) return;
  const SegmentHead head = head_of(segment->lane, segment->events, 0);
  const auto again = decode_segment_head(encode_segment_head(head));
  if (!again || *again != head) std::abort();
  const auto count = static_cast<EventIndex>(segment->events.size());
  const auto parts = LaneSegmentParts::of(std::string(payload), count);
  if (!parts) return;
  const auto events = std::make_unique<LaneSegmentParts::Events>();
  LaneSegmentParts::Details details;
  for (EventIndex i = 0; i < count; ++i) {
    const EventIndex within = i % LaneSegmentParts::kPart;
    const Event& event = segment->events[i];
    if (within == 0 && !parts->decode(i / LaneSegmentParts::kPart, event.start, *events)) std::abort();
    if (events->starts[within] != event.start || events->durations[within] != event.duration || events->names[within] != event.name) std::abort();
    if (within % 100 == 0 && parts->detail(i, details) != event.detail) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const fuzz::Frame& each : fuzz::frames_of({reinterpret_cast<const char*>(data), size})) {
    FrameView frame;
    frame.header.type = each.type;
    frame.header.source = each.source;
    frame.header.process = each.process;
    frame.header.event_count = each.events;
    frame.header.codec = Codec::kRaw;
    frame.header.raw_size = frame.header.stored_size = static_cast<std::uint32_t>(each.payload.size());
    frame.stored = std::as_bytes(std::span(each.payload));
    (void)DecodedFrame(frame).cost();
    if (each.type == proto::FRAME_LANE_SEGMENT) decode_segment(each.payload);
    if (each.type == proto::FRAME_INDEX) (void)decode_segment_head(each.payload);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  auto frames = fuzz::frames_of({reinterpret_cast<const char*>(data), size});
  fuzz::change(frames, random);
  const std::string bytes = fuzz::bytes_of(frames);
  if (bytes.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

std::vector<std::string> valid_inputs() {
  std::vector<std::string> inputs;
  for (const auto& frames : {fuzz::first_frames(), fuzz::event_frames(), fuzz::compacted_frames(), fuzz::last_frames()})
    for (const fuzz::Frame& frame : frames) inputs.push_back(fuzz::bytes_of({frame}));
  return inputs;
}
