// A file that cannot take what is recorded: the disk is full, or the file has reached its largest size.
#include <random>

#include "clock.h"
#include "file/frame_log.h"
#include "model/trace/load.h"
#include "records/event_encoder.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/small_files.h"

using namespace lanescope;
using namespace lanescope::session;
using test::SmallFiles;

namespace {

constexpr std::uint32_t kEvents = 2000;
constexpr std::uint32_t kEventsInFrame = 10;

void begin(FrameLog& log, const std::filesystem::path& path, Overwrite overwrite = Overwrite::kRefuse) {
  auto file = TraceFileWriter::create(path, overwrite);
  REQUIRE(file);
  log.open(std::move(*file), {});
  proto::ProcessStart start;
  start.set_pid(100);
  start.set_executable("/bin/app");
  log.write({proto::FRAME_PROCESS_START, 1}, start);
}

void record(FrameLog& log) {
  for (std::uint32_t i = 0; i < kEvents; i += kEventsInFrame) {
    proto::EventChunk chunk;
    chunk.set_base_time(i);
    chunk.mutable_nvtx_marks()->set_thread(101);
    for (std::uint32_t k = 0; k < kEventsInFrame; ++k) {
      chunk.mutable_nvtx_marks()->add_time_delta(1);
      chunk.mutable_nvtx_marks()->add_name(0);
    }
    log.write({proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, kEventsInFrame}, chunk);
  }
}

void end(FrameLog& log) {
  proto::Counters counters;
  counters.set_produced(kEvents);
  log.write({proto::FRAME_COUNTERS, 1}, counters);
  proto::ProcessEnd ending;
  ending.set_kind(proto::PROCESS_END_EXITED);
  ending.set_exit_code(3);
  log.write({proto::FRAME_PROCESS_END, 1}, ending);
}

std::shared_ptr<const Trace> loaded(const std::filesystem::path& path) {
  auto trace = load_trace(path);
  REQUIRE(trace);
  return *trace;
}

// A file of kEvents events that is to be replaced.
void write_old(const std::filesystem::path& path) {
  FrameLog old({}, {});
  begin(old, path);
  record(old);
  CHECK(old.close({}).front().whereabouts.kind == Whereabouts::kInPlace);
}

// Checks what must hold for every such file.
void check_accounts(const Trace& trace) {
  CHECK(trace.event_count() > 0);
  CHECK(trace.provenance().unwritten_events > 0);
  CHECK(trace.event_count() + trace.provenance().unwritten_events == kEvents);
  CHECK(trace.provenance().finished);
  CHECK(trace.provenance().condition.empty());
  REQUIRE(trace.processes().size() == 1);
  CHECK(trace.processes()[0].end_kind == ProcessEndKind::kExited);
  CHECK(trace.processes()[0].exit_code == 3);
  CHECK(trace.processes()[0].completeness.produced == kEvents);
}

}  // namespace

TEST_CASE("a file on a full disk says how many events it lacks and how the recording ended") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  FrameLog log({}, {});
  begin(log, path);
  {
    const SmallFiles small(log.bytes() + GENERATE(1000, 3000, 5000));
    record(log);
    end(log);
    REQUIRE(log.failure());
    proto::SessionEnd last;
    last.set_reason(proto::END_DISK_FULL);
    CHECK(log.close(last).front().whereabouts.kind == Whereabouts::kInPlace);
  }
  const auto trace = loaded(path);
  check_accounts(*trace);
  CHECK(trace->provenance().end == RecordingEnd::kDiskFull);
  CHECK(log.unwritten() == trace->provenance().unwritten_events);
  CHECK(log.events() == trace->event_count());
}

TEST_CASE("a file does not grow beyond the size that it may have, and says what it lacks") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  const std::uint64_t most = GENERATE(2'000, 4'000, 6'001);
  FrameLog log({.several_files = false, .keep_last = {}, .maximum_bytes = most}, {});
  begin(log, path);
  CHECK_FALSE(log.is_full());
  record(log);
  CHECK(log.is_full());
  CHECK_FALSE(log.failure());
  end(log);
  proto::SessionEnd last;
  last.set_reason(proto::END_FILE_SIZE);
  CHECK(log.close(last).front().whereabouts.kind == Whereabouts::kInPlace);
  CHECK(std::filesystem::file_size(path) <= most);
  const auto trace = loaded(path);
  check_accounts(*trace);
  CHECK(trace->provenance().end == RecordingEnd::kFileSize);
}

TEST_CASE("a file has as much of a burst as it may, however many frames come at once") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  constexpr std::uint64_t kMost = 64u << 10;
  const bool is_ring = GENERATE(false, true);
  CAPTURE(is_ring);
  LogRules rules{.maximum_bytes = kMost};
  if (is_ring) rules.keep_last = std::chrono::hours(1);
  FrameLog log(rules, {});
  begin(log, path);
  // What an agent of ours hands over at a time: four times as much as the file may have.
  constexpr std::int64_t kApart = 1'000'000;  // ns, of two frames
  constexpr std::uint32_t kMarks = 100;
  std::mt19937 random(1);  // so that it can't be compressed away
  std::vector<std::byte> frames;
  std::uint64_t events = 0;
  for (std::int64_t number = 0; frames.size() < 4 * kMost; ++number) {
    proto::EventChunk chunk;
    chunk.set_base_time(number * kApart);
    for (std::uint32_t i = 0; i < kMarks; ++i) {
      chunk.mutable_nvtx_marks()->add_time_delta(random() % (kApart / kMarks));
      chunk.mutable_nvtx_marks()->add_name(0);
    }
    FrameHeader header;
    header.type = proto::FRAME_EVENTS;
    header.process = 1;
    header.event_count = kMarks;
    append_frame(header, chunk.SerializeAsString(), frames);
    events += kMarks;
  }
  log.pass_on(frames, events);
  proto::SessionEnd last;
  last.set_time(monotonic_now());
  const ClosedFile closed = log.close(last).front();
  CHECK(std::filesystem::file_size(path) <= kMost);
  CHECK(std::filesystem::file_size(path) >= kMost * 3 / 4);
  const auto trace = loaded(path);
  REQUIRE(trace->event_count() > 0);
  CHECK(trace->event_count() + trace->provenance().unwritten_events == (is_ring ? trace->event_count() : events));
  CHECK(closed.kept_part == (is_ring ? KeptPart::kShorterThanAsked : KeptPart::kAll));
  CHECK(trace->lane(0).start(0) / kApart == (is_ring ? static_cast<Nanoseconds>((events - trace->event_count()) / kMarks) : 0));
}

TEST_CASE("the chunks of a burst are small where the file is") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  constexpr std::uint64_t kMost = 64u << 10, kRanges = 100'000;
  FrameLog log({.maximum_bytes = kMost}, {});
  begin(log, path);
  const bool has_texts = GENERATE(false, true);
  CAPTURE(has_texts);
  const EncoderRoom room = encoder_room(std::uint64_t{1} << 40, 1, log.maximum_bytes());
  EventEncoder encoder([&log](const proto::EventChunk& chunk, std::uint32_t events) { log.write({proto::FRAME_EVENTS, 1, {}, events}, chunk); }, room);
  std::mt19937 random(1);  // so that it can't be compressed away
  for (std::uint64_t i = 0; i < kRanges; ++i) {
    NvtxMark mark;
    mark.thread = 1;
    mark.time = static_cast<std::int64_t>(i) * 1'000'000 + random() % 1'000'000;
    if (has_texts) mark.attributes.name = encoder.intern(std::to_string(random()) + std::to_string(random()));
    encoder.add(mark);
  }
  encoder.flush();
  log.close({});
  CHECK(std::filesystem::file_size(path) <= kMost);
  CHECK(std::filesystem::file_size(path) >= kMost * 3 / 4);
  const auto trace = loaded(path);
  CHECK(trace->event_count() + trace->provenance().unwritten_events == kRanges);
}

TEST_CASE("a file with room to spare lacks nothing") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  FrameLog log({.several_files = false, .keep_last = {}, .maximum_bytes = 1 << 20}, {});
  begin(log, path);
  record(log);
  end(log);
  CHECK_FALSE(log.is_full());
  CHECK(log.close({}).front().whereabouts.kind == Whereabouts::kInPlace);
  CHECK(loaded(path)->event_count() == kEvents);
  CHECK(loaded(path)->provenance().unwritten_events == 0);
}

TEST_CASE("the last part that is kept in memory is held to the size of its file") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  constexpr std::uint64_t kMost = 4'000;
  FrameLog log({.several_files = false, .keep_last = std::chrono::hours(1), .maximum_bytes = kMost}, {});
  begin(log, path);
  record(log);
  CHECK(log.bytes() <= kMost + 1'000);
  CHECK_FALSE(log.is_full());  // a ring is never full
  end(log);
  CHECK(log.close({}).front().whereabouts.kind == Whereabouts::kInPlace);
  CHECK(std::filesystem::file_size(path) <= kMost);
  // The last events are there, whatever else had to be written, and nothing that was recorded after the first of them is missing.
  const auto trace = loaded(path);
  CHECK(trace->provenance().finished);
  CHECK(trace->provenance().unwritten_events == 0);
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kExited);
  REQUIRE(trace->lanes().size() == 1);
  const Lane& lane = trace->lane(0);
  CHECK(lane.size() > 20);
  CHECK(lane.size() < kEvents);
  CHECK(lane.start(lane.size() - 1) == kEvents);
}

TEST_CASE("a file that fills the disk has replaced the old one once it is closed") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  write_old(path);
  FrameLog log({}, {});
  begin(log, path, Overwrite::kAllow);
  const SmallFiles small(log.bytes() + 3000);
  record(log);
  end(log);
  REQUIRE(log.failure());
  CHECK(std::filesystem::exists(folder.path() / "x.trace.earlier"));
  SECTION("kept") {
    CHECK(log.close({}).front().earlier.empty());
    check_accounts(*loaded(path));
  }
  SECTION("thrown away") {
    CHECK(log.discard().empty());
    CHECK(loaded(path)->event_count() == kEvents);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("an old file stays where the disk takes nothing of the new one") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  write_old(path);
  FrameLog log({}, {});
  begin(log, path, Overwrite::kAllow);
  {
    const SmallFiles small(log.bytes());
    record(log);
    CHECK(log.close({}).front().whereabouts.kind == Whereabouts::kBeside);
  }
  CHECK(loaded(path)->event_count() == kEvents);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) == 1);
}
