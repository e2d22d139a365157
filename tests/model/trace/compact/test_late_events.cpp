// Events that come an hour after their time, as from a process that was stopped for so long, are where events in order are.
#include <cstring>
#include <set>
#include <utility>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "recordings.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kBegin = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3'600 * kSecond;
constexpr std::int64_t kLasting = 300;  // ns, each event
constexpr std::int64_t kApart = 1'000;  // ns
constexpr std::uint32_t kOfChunk = 5'000;

using Known = std::multiset<std::pair<TrackKind, Nanoseconds>>;  // kinds and starts

struct Chunk {
  std::uint32_t events;
  std::string payload;
};

// Five chunks, one for each kind of event, from this time on.
std::vector<Chunk> chunks_at(std::int64_t time, Known& known) {
  const auto fill = [&](TrackKind kind, auto make) {
    proto::EventChunk chunk;
    chunk.set_base_time(kBegin + time);
    for (std::uint32_t i = 0; i < kOfChunk; ++i) {
      make(chunk, i == 0 ? 0 : kApart);
      known.emplace(kind, time + i * kApart);
    }
    return Chunk{kOfChunk, chunk.SerializeAsString()};
  };
  return {fill(TrackKind::kCudaApi,
               [](proto::EventChunk& chunk, std::int64_t delta) {
                 auto& calls = *chunk.mutable_api_calls();
                 calls.set_thread(1);
                 calls.add_start_delta(delta);
                 calls.add_duration(kLasting);
                 calls.add_name(0);
                 calls.add_correlation_delta(1);
               }),
          fill(TrackKind::kNvtxRanges,
               [](proto::EventChunk& chunk, std::int64_t delta) {
                 auto& ranges = *chunk.mutable_nvtx_ranges();
                 ranges.set_thread(1);
                 ranges.add_start_delta(delta);
                 ranges.add_duration(kLasting);
                 ranges.add_name(0);
                 ranges.add_depth(0);
               }),
          fill(TrackKind::kNvtxMarks,
               [](proto::EventChunk& chunk, std::int64_t delta) {
                 auto& marks = *chunk.mutable_nvtx_marks();
                 marks.set_thread(1);
                 marks.add_time_delta(delta);
                 marks.add_name(0);
               }),
          fill(TrackKind::kThreadStates,
               [](proto::EventChunk& chunk, std::int64_t delta) {
                 auto& states = *chunk.mutable_thread_states();
                 states.set_thread(1);
                 states.add_start_delta(delta);
                 states.add_duration(kLasting);
                 states.add_state(proto::THREAD_RUNNING);
               }),
          fill(TrackKind::kKernels, [](proto::EventChunk& chunk, std::int64_t delta) {
            auto& kernels = *chunk.mutable_kernels();
            kernels.add_start_delta(delta);
            kernels.add_duration(kLasting);
            kernels.add_name(0);
            kernels.add_queue(1);
            kernels.add_correlation_delta(1);
            kernels.add_shape(0);
          })};
}

Known events_of(const Trace& trace) {
  Known events;
  for (const Track& track : trace.tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) events.emplace(track.key.kind, trace.lane(id).start(i));
  return events;
}

}  // namespace

TEST_CASE("events that come an hour after their time are neither lost nor moved") {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace", compact = folder.path() / "compact.trace";
  Known known;
  {
    auto writer = TraceFileWriter::create(log, Overwrite::kRefuse);
    REQUIRE(writer);
    TraceBuilder builder;
    FrameIngest ingest(builder);
    std::vector<std::byte> frame;
    const auto put = [&](proto::FrameType type, std::uint32_t process, const Chunk& chunk) {
      FrameHeader header;
      header.type = static_cast<std::uint16_t>(type);
      header.process = process;
      header.source = process == 0 ? proto::SOURCE_SESSION : proto::SOURCE_AGENT;
      header.event_count = chunk.events;
      frame.clear();
      append_frame(header, chunk.payload, frame);
      REQUIRE(writer->append(frame));
      FrameView view;
      std::memcpy(&view.header, frame.data(), sizeof(FrameHeader));
      view.stored = std::span(frame).subspan(sizeof(FrameHeader));
      ingest.add(view);
    };
    proto::SessionStart start;
    start.set_epoch(kBegin);
    put(proto::FRAME_SESSION_START, 0, {0, start.SerializeAsString()});

    // Some of them an hour, or two or five, after later ones.
    for (const std::int64_t time : {std::int64_t{0}, 2 * kHour, kHour - kSecond, 2 * kHour + kSecond, kHour, 5 * kHour, 4 * kHour - kSecond, kSecond}) {
      for (const Chunk& chunk : chunks_at(time, known)) put(proto::FRAME_EVENTS, 1, chunk);
      CHECK((events_of(*builder.snapshot()) == known));  // as the viewer has it while the recording goes on
    }
    REQUIRE(writer->finish());
  }
  REQUIRE(known.size() == 8 * 5 * kOfChunk);

  const auto whole = load_trace(log);
  REQUIRE(whole);
  CHECK((events_of(**whole) == known));
  CHECK((*whole)->diagnostics().empty());
  for (const std::uint64_t mebibytes : {1'024u, 4u, 1u}) {
    INFO(mebibytes << " MiB");
    CHECK(compacted(log, compact, {.memory_bytes = mebibytes << 20}).events == known.size());
    const auto again = load_trace(compact);
    REQUIRE(again);
    CHECK((events_of(**again) == known));
    CHECK((*again)->diagnostics().empty());
  }
}
