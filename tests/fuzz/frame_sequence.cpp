#include "frame_sequence.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "fuzz_target.h"
#include "lanescope/trace.pb.h"
#include "message_mutator.h"

namespace lanescope::fuzz {
namespace {

constexpr std::size_t kHeaderBytes = 3 + 4 + 4;  // type, source, process, events, bytes of the payload
constexpr std::size_t kMostFrames = 64;

std::unique_ptr<google::protobuf::Message> message_of(std::uint8_t type) {
  switch (type) {
    case proto::FRAME_SESSION_START:
      return std::make_unique<proto::SessionStart>();
    case proto::FRAME_SESSION_END:
      return std::make_unique<proto::SessionEnd>();
    case proto::FRAME_PROCESS_START:
      return std::make_unique<proto::ProcessStart>();
    case proto::FRAME_PROCESS_END:
      return std::make_unique<proto::ProcessEnd>();
    case proto::FRAME_RESOURCES:
      return std::make_unique<proto::Resources>();
    case proto::FRAME_EVENTS:
      return std::make_unique<proto::EventChunk>();
    case proto::FRAME_CLOCK_SYNC:
      return std::make_unique<proto::ClockSync>();
    case proto::FRAME_DIAGNOSTIC:
      return std::make_unique<proto::Diagnostic>();
    case proto::FRAME_COUNTERS:
      return std::make_unique<proto::Counters>();
    case proto::FRAME_OUTPUT:
      return std::make_unique<proto::Output>();
    case proto::FRAME_INDEX:
      return std::make_unique<proto::Index>();
    case proto::FRAME_SYMBOLS:
      return std::make_unique<proto::Symbols>();
    case proto::FRAME_OUTLINE:
      return std::make_unique<proto::Outline>();
    case proto::FRAME_NAMES:
      return std::make_unique<proto::Names>();
    case proto::FRAME_CALL_STACKS:
      return std::make_unique<proto::CallStacks>();
    case proto::FRAME_DETAILS:
      return std::make_unique<proto::Details>();
    case proto::FRAME_TRACKS:
      return std::make_unique<proto::Tracks>();
    case proto::FRAME_LANE_SEGMENT:
      return std::make_unique<proto::LaneSegment>();
    case proto::FRAME_CODE_OBJECT:
      return std::make_unique<proto::CodeObject>();
    case proto::FRAME_PC_SAMPLES:
      return std::make_unique<proto::PcSamples>();
    default:
      return nullptr;
  }
}

void change_payload(Frame& frame, std::mt19937& random) {
  const auto message = message_of(frame.type);
  if (message && random() % 8 != 0 && message->ParseFromString(frame.payload)) {
    change(*message, random);
    frame.payload = message->SerializeAsString();
    return;
  }
  const std::size_t size = frame.payload.size();
  frame.payload.resize(size + 64);
  frame.payload.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(frame.payload.data()), size, frame.payload.size()));
}

}  // namespace

std::vector<Frame> frames_of(std::string_view bytes) {
  std::vector<Frame> frames;
  while (bytes.size() >= kHeaderBytes && frames.size() < kMostFrames) {
    Frame frame;
    frame.type = static_cast<std::uint8_t>(bytes[0]);
    frame.source = static_cast<std::uint8_t>(bytes[1]);
    frame.process = static_cast<std::uint8_t>(bytes[2]);
    std::uint32_t size = 0;
    std::memcpy(&frame.events, bytes.data() + 3, sizeof(frame.events));
    std::memcpy(&size, bytes.data() + 7, sizeof(size));
    bytes.remove_prefix(kHeaderBytes);
    frame.payload = bytes.substr(0, size);
    bytes.remove_prefix(frame.payload.size());
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::string bytes_of(const std::vector<Frame>& frames) {
  std::string bytes;
  for (const Frame& frame : frames) {
    bytes += static_cast<char>(frame.type);
    bytes += static_cast<char>(frame.source);
    bytes += static_cast<char>(frame.process);
    const auto size = static_cast<std::uint32_t>(frame.payload.size());
    bytes.append(reinterpret_cast<const char*>(&frame.events), sizeof(frame.events));
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes += frame.payload;
  }
  return bytes;
}

void change(std::vector<Frame>& frames, std::mt19937& random) {
  if (frames.empty()) frames.emplace_back();
  const auto any = [&]() -> Frame& { return frames[random() % frames.size()]; };
  switch (random() % 16) {
    case 0:
      if (frames.size() < kMostFrames) frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(random() % frames.size()), Frame(any()));
      break;
    case 1:
      if (frames.size() > 1) frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(random() % frames.size()));
      break;
    case 2:
      std::swap(any(), any());
      break;
    case 3:
      any().type = static_cast<std::uint8_t>(random() % 15);
      break;
    case 4:
      any().source = static_cast<std::uint8_t>(random() % 6);
      break;
    case 5:
      any().process = static_cast<std::uint8_t>(random() % 4);
      break;
    case 6:
      any().events = static_cast<std::uint32_t>(number(random));
      break;
    default:
      change_payload(any(), random);
  }
}

}  // namespace lanescope::fuzz
