#include "records/agent_frames.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "records/event_encoder.h"

namespace lanescope::session {
namespace {

constexpr std::size_t kRunBytes = 4u << 20;  // frames are appended to the file in runs of about this size

}  // namespace

std::size_t AgentFrames::drain() {
  std::vector<std::byte> run;
  std::uint64_t events = 0;  // of the run
  std::size_t total = 0;
  const auto pass_on = [&] {
    log_.pass_on(run, events);
    events_ += events;
    events = 0;
    run.clear();
  };
  while (const std::size_t bytes = ring_.next()) {
    frame_.resize(bytes);
    ring_.take(frame_);
    total += bytes;
    FrameView frame;
    std::memcpy(&frame.header, frame_.data(), sizeof(frame.header));
    frame.stored = std::span<const std::byte>(frame_).subspan(sizeof(frame.header));
    if (!is_acceptable(frame)) {
      ++rejected_;
      continue;
    }
    if (!number_ || !append_numbered(frame, run)) run.insert(run.end(), frame_.begin(), frame_.end());
    events += frame.header.event_count;
    if (run.size() >= kRunBytes) pass_on();
  }
  pass_on();
  return total;
}

bool AgentFrames::is_acceptable(const FrameView& frame) const {
  constexpr proto::FrameType kFromAgents[] = {proto::FRAME_RESOURCES, proto::FRAME_EVENTS, proto::FRAME_CLOCK_SYNC, proto::FRAME_CODE_OBJECT,
                                              proto::FRAME_PC_SAMPLES};
  const FrameHeader& header = frame.header;
  const bool type_fits = std::find(std::begin(kFromAgents), std::end(kFromAgents), header.type) != std::end(kFromAgents);
  return type_fits && header.source == proto::SOURCE_AGENT && header.process == instance_ && header.event_count <= kMaximumChunkEvents && frame_is_sound(frame);
}

bool AgentFrames::append_numbered(const FrameView& frame, std::vector<std::byte>& run) const {
  proto::EventChunk chunk;
  const Result<std::string> payload = frame.header.type == proto::FRAME_EVENTS ? open_frame(frame) : Result<std::string>(Error{});
  if (!payload || !chunk.ParseFromString(*payload)) return false;
  const auto change = [this](proto::Spans& spans) {
    for (std::uint32_t& thread : *spans.mutable_thread()) thread = number_(thread);
  };
  if (chunk.has_api_calls()) chunk.mutable_api_calls()->set_thread(number_(chunk.api_calls().thread()));
  if (chunk.has_overheads()) change(*chunk.mutable_overheads());
  if (chunk.has_compilations()) change(*chunk.mutable_compilations());
  append_frame(frame.header, chunk.SerializeAsString(), run);
  return true;
}

}  // namespace lanescope::session
