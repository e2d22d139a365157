// Rings as a recorded process may leave them: records and frames, whole and broken, and positions that jump. An input is a list of steps; each is a byte that
// selects the step, followed by its data.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <sys/mman.h>

#include "collector/channel/ring.h"
#include "collector/channel/shared_memory.h"
#include "file/frame_log.h"
#include "fuzz_target.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "records/agent_frames.h"
#include "records/event_encoder.h"
#include "records/nvtx_assembler.h"
#include "records/payload_schemas.h"
#include "valid_frames.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

enum Step : std::uint8_t { kRecord, kRawRecord, kReadRecords, kMoveHead, kFrame, kRawFrame, kReadFrames, kMoveFrameHead, kMoveSegments, kSteps };

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  template <typename Value>
  Value take() {
    Value value{};
    std::memcpy(&value, bytes_.data(), std::min(sizeof(value), bytes_.size()));
    bytes_.remove_prefix(std::min(sizeof(value), bytes_.size()));
    return value;
  }
  std::string_view text(std::size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view bytes_;
};

// The memory of a recording, of which few pages are used; it is made only once.
const channel::SharedMemory& memory() {
  static const channel::SharedMemory made = [] {
    constexpr std::uint64_t kBytes = channel::memory_bytes_for(channel::kLeastPoolBytes);
    void* mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) std::abort();
    return channel::initialize_shared_memory(mapping, kBytes, 1);
  }();
  return made;
}

class Target {
 public:
  Target()
      : records_(ring_, pool()),
        encoder_([](const proto::EventChunk& chunk, std::uint32_t) { (void)chunk.ByteSizeLong(); }),
        assembler_(encoder_, [this](std::uint64_t schema, std::string_view values) { return schemas_.json(schema, values); }),
        frames_(1, memory(), log_) {}

  void run(Input& input) {
    while (!input.empty()) step(input);
    read_records();
    frames_.drain();
    assembler_.finish(0);
    encoder_.flush();
  }
  ~Target() {
    memory().header().frame_ring.tail.store(0);
    memory().header().frame_ring.head.store(0);
  }

 private:
  void step(Input& input) {
    channel::RingHeader& frame_ring = memory().header().frame_ring;
    switch (input.take<std::uint8_t>() % kSteps) {
      case kRecord: {
        channel::Record record{};
        record.type = static_cast<channel::RecordType>(input.take<std::uint8_t>() % 18);
        record.payload_type = input.take<std::uint8_t>();
        record.time = input.take<std::int32_t>();
        record.domain = input.take<std::uint8_t>();
        record.category = input.take<std::uint8_t>();
        record.thread = input.take<std::uint8_t>();
        record.id = input.take<std::uint16_t>();
        record.payload = input.take<std::uint64_t>();
        const std::string_view text = input.text(input.take<std::uint8_t>());
        // A process that damages what its own writer relies on harms only itself.
        if (ring_.head.load() % 8 == 0) channel::RingProducer(ring_, pool()).write(record, text);
        return;
      }
      case kRawRecord:
        return put(ring_, pool().bytes((ring_.last.load() + kSegments - 1) % kSegments), input.text(input.take<std::uint8_t>()));
      case kReadRecords:
        return read_records();
      case kMoveHead:
        ring_.head.store(input.take<std::uint64_t>());
        return;
      case kFrame: {
        FrameHeader header;
        header.type = input.take<std::uint8_t>();
        header.source = proto::SOURCE_AGENT;
        header.process = 1;
        header.event_count = input.take<std::uint16_t>();
        std::vector<std::byte> frame;
        append_frame(header, input.text(input.take<std::uint16_t>()), frame);
        channel::FrameRingProducer(frame_ring, memory().frame_bytes()).write(frame);
        return;
      }
      case kRawFrame:
        return put(frame_ring, memory().frame_bytes(), input.text(input.take<std::uint8_t>()));
      case kReadFrames:
        frames_.drain();
        return;
      case kMoveSegments:
        ring_.first.store(input.take<std::uint8_t>() % (kSegments + 2));
        ring_.last.store(input.take<std::uint8_t>() % (kSegments + 2));
        for (std::atomic<std::uint32_t>& link : links_) link.store(input.take<std::uint8_t>() % (kSegments + 2));
        pool_header_.warm.store(input.take<std::uint64_t>());
        pool_header_.cold.store(input.take<std::uint8_t>());
        pool_header_.untouched.store(input.take<std::uint8_t>());
        return;
      default:
        frame_ring.head.store(input.take<std::uint64_t>());
    }
  }

  // Publishes the bytes as they are.
  static void put(channel::RingHeader& ring, std::span<std::byte> ring_bytes, std::string_view bytes) {
    const std::uint64_t head = ring.head.load();
    for (std::size_t i = 0; i < bytes.size(); ++i) ring_bytes[(head + i) & (ring_bytes.size() - 1)] = static_cast<std::byte>(bytes[i]);
    ring.head.store(head + bytes.size());
  }

  void read_records() {
    records_.read([this](const channel::Record& record, std::string_view text) {
      schemas_.add(record, text);
      assembler_.add(record, text);
    });
  }

  static constexpr std::uint32_t kSegments = 3;
  channel::SegmentPool pool() { return {pool_header_, links_.data(), bytes_.data(), kSegments}; }

  channel::RingHeader ring_{};
  channel::SegmentPoolHeader pool_header_{};
  std::array<std::atomic<std::uint32_t>, kSegments> links_{};
  alignas(8) std::array<std::byte, kSegments * channel::kSegmentBytes> bytes_{};
  channel::RingConsumer records_;
  PayloadSchemas schemas_;
  EventEncoder encoder_;
  NvtxAssembler assembler_;
  FrameLog log_{{}, {}};
  AgentFrames frames_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto target = std::make_unique<Target>();
  target->run(input);
  return 0;
}

std::vector<std::string> valid_inputs() {
  const auto record = [](channel::RecordType type, std::int32_t time, std::uint16_t id, std::string_view text) {
    std::string bytes{static_cast<char>(kRecord), static_cast<char>(type), 1};
    bytes.append(reinterpret_cast<const char*>(&time), sizeof(time));
    bytes += std::string{0, 0, 7};
    bytes.append(reinterpret_cast<const char*>(&id), sizeof(id));
    bytes += std::string(8, '\1');
    bytes += static_cast<char>(text.size());
    return bytes.append(text);
  };
  using Type = channel::RecordType;
  std::string ranges = record(Type::kDomainCreate, 0, 0, "domain") + record(Type::kRangePush, 10, 1, "outer") + record(Type::kRangePush, 20, 2, "inner") +
                       record(Type::kRangePop, 30, 2, "") + record(Type::kMark, 31, 0, "mark") + record(Type::kRangePop, 40, 1, "") +
                       record(Type::kRangeStart, 50, 9, "start") + record(Type::kRangeEnd, 60, 9, "") + record(Type::kOsRuntimeCall, 70, 5, "poll");
  std::string payloads = record(Type::kPayloadField, 0, 3, "bytes") + record(Type::kPayloadEnumerator, 0, 3, "Sum") +
                         record(Type::kPayload, 9, 3, std::string("\1\0\10\0\1\0\0\0\0\0\0\0\4\0\2\0ab", 18)) + record(Type::kMark, 9, 0, "mark");
  std::string frames;
  for (const auto& each : {fuzz::first_frames().back(), fuzz::event_frames().front()}) {
    const auto events = static_cast<std::uint16_t>(each.events);
    const auto bytes = static_cast<std::uint16_t>(each.payload.size());
    frames += std::string{static_cast<char>(kFrame), static_cast<char>(each.type)};
    frames.append(reinterpret_cast<const char*>(&events), sizeof(events)).append(reinterpret_cast<const char*>(&bytes), sizeof(bytes)) += each.payload;
  }
  return {ranges, payloads, frames, ranges + static_cast<char>(kReadRecords) + frames + static_cast<char>(kReadFrames)};
}
