// Frames that an agent writes: what the host believes, and what it counts.
#include <unistd.h>

#include "clock.h"
#include "model/trace/load.h"
#include "processes/target_process.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

constexpr std::uint32_t kInstance = 1;

FrameHeader event_header(std::uint32_t events) {
  FrameHeader header;
  header.type = proto::FRAME_EVENTS;
  header.source = proto::SOURCE_AGENT;
  header.process = kInstance;
  header.event_count = events;
  return header;
}

// A frame with this number of calls, as the agent would make it.
std::vector<std::byte> calls(std::uint32_t count, FrameHeader header) {
  proto::EventChunk chunk;
  chunk.set_base_time(monotonic_now());
  chunk.set_first_string(1);
  chunk.add_strings("cudaLaunchKernel_v7000");
  for (std::uint32_t i = 0; i < count; ++i) {
    chunk.mutable_api_calls()->add_start_delta(10);
    chunk.mutable_api_calls()->add_duration(5);
    chunk.mutable_api_calls()->add_name(1);
    chunk.mutable_api_calls()->add_correlation_delta(1);
  }
  std::vector<std::byte> frame;
  append_frame(header, chunk.SerializeAsString(), frame);
  return frame;
}

// A target that is this process, and its ring of frames.
struct Target {
  test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "x.trace";
  FrameLog log{{}, {}};
  CodeNaming naming{log};
  std::unique_ptr<TargetProcess> process;
  channel::SharedMemory memory;
  channel::FrameRingProducer ring;

  Target() {
    auto file = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(file);
    proto::SessionStart start;
    start.set_epoch(monotonic_now());
    log.open(std::move(*file), start);
    auto shared = TargetMemory::create(kInstance, {});
    REQUIRE(shared);
    memory = (*shared)->shared();
    ring = {memory.header().frame_ring, memory.frame_bytes()};
    process = std::make_unique<TargetProcess>(kInstance, getpid(), describe_process(getpid()), AgentIntroduction{}, log, naming, [](const std::string&) {});
    process->connect(std::move(*shared), FileDescriptor());
  }
  // Ends the process's part of the file, and the file.
  std::shared_ptr<const Trace> finish(proto::ProcessEndKind kind) {
    process->finish(TargetProcess::Ending{kind, {}});
    log.close({});
    const auto trace = load_trace(path);
    REQUIRE(trace);
    return *trace;
  }
};

}  // namespace

TEST_CASE("sound frames of an agent reach the file; what an agent may not say, or is damaged, is left out and counted") {
  Target target;
  REQUIRE(target.ring.write(calls(7, event_header(7))));

  FrameHeader other_process = event_header(1);
  other_process.process = kInstance + 1;
  FrameHeader as_session = event_header(1);
  as_session.source = proto::SOURCE_SESSION;
  FrameHeader wrong_type = event_header(0);
  wrong_type.type = proto::FRAME_PROCESS_END;
  FrameHeader too_many = event_header(kMaximumChunkEvents + 1);
  for (const FrameHeader& wrong : {other_process, as_session, wrong_type, too_many}) REQUIRE(target.ring.write(calls(1, wrong)));
  std::vector<std::byte> damaged = calls(1, event_header(1));
  damaged.back() ^= std::byte{1};
  REQUIRE(target.ring.write(damaged));
  REQUIRE(target.ring.write(calls(3, event_header(3))));

  const auto trace = target.finish(proto::PROCESS_END_EXITED);
  CHECK(trace->event_count() == 10);
  CHECK(trace->processes()[0].completeness.invalid == 5);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kExited);  // not what the frame said
}

TEST_CASE("records that an agent had read and did not get to put into frames count as dropped") {
  Target target;
  REQUIRE(target.ring.write(calls(40, event_header(40))));
  channel::AgentStatus& status = target.memory.header().status;
  status.cupti_produced = 100;
  status.cupti_invalid = 2;
  status.cupti_dropped = 8;  // of these, CUPTI had no room for 3, which were never read
  status.frameless_dropped = 5;
  const auto trace = target.finish(proto::PROCESS_END_SIGNALED);
  CHECK(trace->event_count() == 40);
  CHECK(trace->processes()[0].completeness.dropped == 8 + (100 - 40 - 2 - 5));
}
