// A compacted file is the same trace as the log that it was made from.
#include <cstdlib>
#include <cstring>
#include <random>

#include "answers.h"
#include "lanescope/trace.pb.h"
#include "long_recording.h"
#include "model/export/trace_file_export.h"
#include "model/file/frame.h"
#include "model/import/open_trace.h"
#include "model/trace/completeness.h"
#include "recordings.h"
#include "sample_trace.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

// For each recording; there are more in the nightly tests (packaging/nightly.sh).
int cuts() {
  const char* wanted = std::getenv("LANESCOPE_TEST_CUTS");
  return wanted == nullptr ? 4 : std::atoi(wanted);
}

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Calls of some threads, whose buffers come in turns, and NVTX ranges of one of them. At the end comes a buffer of the second thread that was filled at the
// start, and the range that lasted as long as the program.
void write_long_threads(const fs::path& path, std::uint32_t buffers) {
  constexpr std::uint32_t kThreads = 3, kRows = 20'000;
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer);
  std::vector<std::byte> frames;
  const auto put = [&](proto::FrameType type, std::uint32_t process, std::uint32_t events, const std::string& payload) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.process = process;
    header.source = process == 0 ? proto::SOURCE_SESSION : proto::SOURCE_AGENT;
    header.event_count = events;
    append_frame(header, payload, frames);
    REQUIRE(writer->append(frames));
    frames.clear();
  };
  proto::SessionStart start;
  start.set_epoch(1'000'000);
  put(proto::FRAME_SESSION_START, 0, 0, start.SerializeAsString());
  std::mt19937 random(8);
  const auto put_calls = [&](std::uint32_t thread, std::int64_t from) {
    proto::EventChunk chunk;
    chunk.set_base_time(1'000'000 + from);
    proto::ApiCalls& calls = *chunk.mutable_api_calls();
    calls.set_thread(thread);
    for (std::uint32_t i = 0; i < kRows; ++i) {
      calls.add_start_delta(i == 0 ? 0 : static_cast<std::int64_t>(random() % 3));  // many start at the same time, nested
      calls.add_duration(random() % 5);
      calls.add_name(0);
      calls.add_correlation_delta(1);
    }
    put(proto::FRAME_EVENTS, 1, kRows, chunk.SerializeAsString());
  };
  const auto put_ranges = [&](std::int64_t from, std::int64_t duration, std::uint32_t depth, std::uint32_t count) {
    proto::EventChunk chunk;
    chunk.set_base_time(1'000'000 + from);
    proto::NvtxRanges& ranges = *chunk.mutable_nvtx_ranges();
    ranges.set_thread(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      ranges.add_start_delta(i == 0 ? 0 : duration);
      ranges.add_duration(static_cast<std::uint64_t>(duration));
      ranges.add_name(0);
      ranges.add_depth(depth);
    }
    put(proto::FRAME_EVENTS, 1, count, chunk.SerializeAsString());
  };
  const auto time_of = [](std::uint32_t buffer) { return std::int64_t{buffer} * 3 * kRows; };
  for (std::uint32_t buffer = 1; buffer < buffers; ++buffer) {
    // Sometimes buffers of two threads change places, as do two buffers of one thread.
    for (std::uint32_t thread = 1; thread <= kThreads; ++thread)
      put_calls(thread, time_of(buffer % 4 == 1 ? buffer + 1 : buffer % 4 == 2 ? buffer - 1 : buffer));
    put_ranges(time_of(buffer), 3, 1, kRows);
  }
  put_calls(2, 0);
  put_ranges(0, time_of(buffers + 1), 0, 1);
  REQUIRE(writer->finish());
}

}  // namespace

TEST_CASE("ranges that are all open at once are not compacted to a file of many times their size") {
  const TemporaryFolder folder;
  constexpr std::uint32_t kRows = 65'536;
  proto::EventChunk chunk;
  chunk.set_base_time(1'000'000);
  proto::NvtxRanges& ranges = *chunk.mutable_nvtx_ranges();
  ranges.set_thread(1);
  ranges.set_style(proto::NVTX_START_END);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    ranges.add_start_delta(1);
    ranges.add_duration(std::uint64_t{1} << 40);
    ranges.add_name(0);
  }
  const auto source = folder.path() / "open.trace", copy = folder.path() / "copy.trace";
  {
    auto writer = TraceFileWriter::create(source, Overwrite::kRefuse);
    REQUIRE(writer);
    std::vector<std::byte> frame;
    FrameHeader header;
    header.type = proto::FRAME_EVENTS;
    header.process = 1;
    header.source = proto::SOURCE_AGENT;
    header.event_count = kRows;
    append_frame(header, chunk.SerializeAsString(), frame);
    for (int i = 0; i < 40; ++i) REQUIRE(writer->append(frame));
    REQUIRE(writer->finish());
  }
  const auto compacted = compact_trace_file(source, copy, Overwrite::kRefuse);
  REQUIRE_FALSE(compacted);
  CHECK_THAT(compacted.error().text, contains_text("on so many lanes that a file of these would take more than"));
  CHECK_FALSE(fs::exists(copy));
}

TEST_CASE("a long recording gives the same file whether its events wait, go to lanes while others come, or come too late for that") {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace";
  write_long_threads(log, 12);  // three threads of 220,000 calls
  const auto compacted_with = [&](std::uint64_t memory) {
    compacted(log, folder.path() / "compact.trace", {.memory_bytes = memory});
    return bytes_of(folder.path() / "compact.trace");
  };
  const std::string whole = compacted_with(std::uint64_t{1} << 30);
  check_same(*loaded(log), *loaded(folder.path() / "compact.trace"));
  for (const std::uint64_t mebibytes : {24, 16, 8, 1}) {
    INFO(mebibytes << " MiB");
    CHECK((compacted_with(mebibytes << 20) == whole));
  }
}

TEST_CASE("a recording that comes nearly in order is not sorted on the disk, and is the same file in next to no memory") {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace";
  write_long_program(log, 500'000);
  const Compacted whole = compacted(log, folder.path() / "whole.trace");
  CHECK(whole.sorted_on_disk == 0);
  for (const std::uint64_t kibibytes : {2'048, 256}) {
    INFO(kibibytes << " KiB");
    const Compacted result = compacted(log, folder.path() / "compact.trace", {.memory_bytes = kibibytes << 10});
    if (kibibytes == 2'048) CHECK(result.sorted_on_disk == 0);
    CHECK(result.events == whole.events);
    CHECK((bytes_of(folder.path() / "compact.trace") == bytes_of(folder.path() / "whole.trace")));
  }
  check_same(*loaded(log), *loaded(folder.path() / "compact.trace"));
}

TEST_CASE("every recording is the same trace once it is compacted") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const auto log = loaded(recording);
  const Compacted result = compacted(recording, folder.path() / "compact.trace");
  CHECK(result.events == log->event_count());
  CHECK(result.source.finished);
  const auto compact = loaded(folder.path() / "compact.trace");
  check_same(*log, *compact);
  CHECK(compact->provenance().condition.empty());
  CHECK(compact->diagnostics().size() == log->diagnostics().size());
  CHECK(compact->provenance().end == log->provenance().end);
  REQUIRE(form_of(recording));
  CHECK(*form_of(recording) == FileForm::kLog);
  CHECK(*form_of(folder.path() / "compact.trace") == FileForm::kCompacted);
  fs::copy_file(folder.path() / "compact.trace", folder.path() / "cut.trace");
  fs::resize_file(folder.path() / "cut.trace", fs::file_size(folder.path() / "cut.trace") - 1);  // without its index
  CHECK(*form_of(folder.path() / "cut.trace") == FileForm::kCompacted);

  // The result does not depend on the memory for sorting, or on whether the file is already compacted.
  compacted(recording, folder.path() / "small.trace", {.memory_bytes = 1});
  CHECK((bytes_of(folder.path() / "small.trace") == bytes_of(folder.path() / "compact.trace")));
  compacted(folder.path() / "compact.trace", folder.path() / "again.trace");
  check_same(*log, *loaded(folder.path() / "again.trace"));
}

TEST_CASE("a recording that was cut anywhere is the same trace once it is compacted, and lacks as much") {
  const fs::path recording = GENERATE(from_range(recordings()));
  const TemporaryFolder folder;
  const std::string bytes = bytes_of(recording);
  std::mt19937 random(5);
  for (int i = 0; i < cuts(); ++i) {
    const std::size_t length = 200 + random() % (bytes.size() - 200);
    INFO(recording << " cut at " << length);
    write(folder.path() / "cut.trace", std::string_view(bytes).substr(0, length));
    const auto log = loaded(folder.path() / "cut.trace");
    const Compacted result = compacted(folder.path() / "cut.trace", folder.path() / "compact.trace");
    CHECK_FALSE(result.source.finished);
    const auto compact = loaded(folder.path() / "compact.trace");
    check_same(*log, *compact);
    check_lacks_as_much(*log, *compact);
    CHECK_FALSE(compact->provenance().finished);
    CHECK(completeness_text(*compact).starts_with("incomplete: "));
    compacted(folder.path() / "compact.trace", folder.path() / "again.trace");
    check_lacks_as_much(*log, *loaded(folder.path() / "again.trace"));
  }
}

TEST_CASE("a damaged recording is compacted without what is damaged, and says so") {
  const TemporaryFolder folder;
  std::string bytes = bytes_of(data_file("torch_graph.trace"));
  std::mt19937 random(6);
  for (int i = 0; i < 10; ++i) {
    std::string damaged = bytes;
    damaged[300 + random() % (bytes.size() - 400)] ^= 0x10;
    write(folder.path() / "damaged.trace", damaged);
    const auto log = loaded(folder.path() / "damaged.trace");
    compacted(folder.path() / "damaged.trace", folder.path() / "compact.trace");
    const auto compact = loaded(folder.path() / "compact.trace");
    check_same(*log, *compact);
    check_lacks_as_much(*log, *compact);
  }
}

TEST_CASE("a compacted file that was cut anywhere keeps whole segments") {
  const TemporaryFolder folder;
  compacted(data_file("torch_loader_samples.trace"), folder.path() / "compact.trace");
  const std::string bytes = bytes_of(folder.path() / "compact.trace");
  const auto whole = loaded(folder.path() / "compact.trace");
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    write(folder.path() / "cut.trace", std::string_view(bytes).substr(0, 200 + random() % (bytes.size() - 200)));
    const auto cut = loaded(folder.path() / "cut.trace");
    CHECK(cut->event_count() <= whole->event_count());
    CHECK_FALSE(cut->provenance().finished);
    for (const Track& track : cut->tracks())
      for (const LaneId lane : track.lanes) {
        const Lane& events = cut->lane(lane);
        for (EventIndex k = 1; k < events.size(); ++k) REQUIRE(events.start(k) >= events.end(k - 1));
      }
  }
}

TEST_CASE("imported traces are the same once they are compacted") {
  const TemporaryFolder folder;
  const auto compare = [&](const Trace& trace) {
    REQUIRE(export_trace_file(trace, folder.path() / "log.trace", Overwrite::kAllow));
    compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
    check_same(*loaded(folder.path() / "log.trace"), *loaded(folder.path() / "compact.trace"));
  };
  compare(*sample_trace());
  const auto files = corpus();
  if (!files) return;
  for (const char* part : {"nsys", "kineto"})
    for (const auto& entry : fs::directory_iterator(*files / part)) {
      const auto trace = open_trace(entry.path());
      if (!trace) continue;  // reports whose format is not public
      INFO(entry.path());
      compare(**trace);
    }
}

TEST_CASE("events whose times make no sense stay counted") {
  const TemporaryFolder folder;
  {
    auto writer = TraceFileWriter::create(folder.path() / "log.trace", Overwrite::kRefuse);
    REQUIRE(writer);
    std::vector<std::byte> frames;
    FrameHeader header;
    header.type = proto::FRAME_SESSION_START;
    append_frame(header, proto::SessionStart().SerializeAsString(), frames);
    header.process = 1;
    header.type = proto::FRAME_COUNTERS;
    proto::Counters counters;
    counters.set_produced(10);
    counters.set_invalid(4);
    append_frame(header, counters.SerializeAsString(), frames);
    header.type = proto::FRAME_EVENTS;
    header.event_count = 2;
    proto::EventChunk chunk;
    for (const std::uint64_t duration : {std::uint64_t{5}, std::uint64_t{1} << 63}) {
      chunk.mutable_os_runtime()->add_start_delta(100);
      chunk.mutable_os_runtime()->add_duration(duration);
      chunk.mutable_os_runtime()->add_name(0);
    }
    append_frame(header, chunk.SerializeAsString(), frames);
    REQUIRE(writer->append(frames));
    REQUIRE(writer->finish());
  }
  CHECK(loaded(folder.path() / "log.trace")->processes().front().completeness.invalid == 5);
  compacted(folder.path() / "log.trace", folder.path() / "one.trace");
  CHECK(loaded(folder.path() / "one.trace")->processes().front().completeness.invalid == 5);
  compacted(folder.path() / "one.trace", folder.path() / "two.trace");
  CHECK(loaded(folder.path() / "two.trace")->processes().front().completeness.invalid == 5);
}

TEST_CASE("a frame that can't be understood is spoken of once, however often the recording is compacted") {
  // A frame of the first kind is kept unchanged; of a frame of the second kind nothing is kept.
  const auto type = GENERATE(proto::FRAME_PROCESS_END, proto::FRAME_EVENTS);
  const TemporaryFolder folder;
  {
    auto writer = TraceFileWriter::create(folder.path() / "log.trace", Overwrite::kRefuse);
    REQUIRE(writer);
    std::vector<std::byte> frames;
    FrameHeader header;
    header.type = proto::FRAME_SESSION_START;
    append_frame(header, proto::SessionStart().SerializeAsString(), frames);
    header.process = 1;
    header.type = static_cast<std::uint16_t>(type);
    append_frame(header, "\xff\xff\xff", frames);
    REQUIRE(writer->append(frames));
    REQUIRE(writer->finish());
  }
  const std::string said = loaded(folder.path() / "log.trace")->provenance().condition;
  CHECK_THAT(said, contains_text("1 frame could not be understood and was skipped."));
  compacted(folder.path() / "log.trace", folder.path() / "one.trace");
  CHECK(loaded(folder.path() / "one.trace")->provenance().condition == said);
  compacted(folder.path() / "one.trace", folder.path() / "two.trace");
  CHECK(loaded(folder.path() / "two.trace")->provenance().condition == said);
}

TEST_CASE("what a newer version writes is skipped, counted and told") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "newer.trace";
  const bool is_one = GENERATE(true, false);
  {
    auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(writer);
    std::vector<std::byte> frames;
    FrameHeader header;
    header.type = proto::FRAME_SESSION_START;
    append_frame(header, proto::SessionStart().SerializeAsString(), frames);
    header.type = 777;
    header.event_count = 42;
    append_frame(header, "of a kind to come", frames);
    header.event_count = 0;
    if (!is_one) append_frame(header, "and another", frames);
    header.type = proto::FRAME_SESSION_END;
    append_frame(header, proto::SessionEnd().SerializeAsString(), frames);
    REQUIRE(writer->append(frames));
    REQUIRE(writer->finish());
  }
  const auto trace = loaded(path);
  CHECK(trace->provenance().condition == (is_one
                                              ? "1 frame of a kind that this version does not know was skipped (events: 42): a newer Lanescope reads it."
                                              : "2 frames of kinds that this version does not know were skipped (events: 42): a newer Lanescope reads them."));
  CHECK(completeness_text(*trace) == "incomplete: not all of it could be read");
}

TEST_CASE("readers of older versions are told what they lack, and only they") {
  const TemporaryFolder folder;
  compacted(data_file("cuda_streams.trace"), folder.path() / "compact.trace");
  auto reader = TraceFileReader::open(folder.path() / "compact.trace");
  REQUIRE(reader);
  CHECK(reader->minor_version() == kFormatMinor);
  std::vector<std::string> said;
  while (const auto frame = reader->next()) {
    if (frame->header.type != proto::FRAME_DIAGNOSTIC) continue;
    proto::Diagnostic message;
    REQUIRE(message.ParseFromString(*open_frame(*frame)));
    if (message.known_from_minor_version() != 0) said.push_back(message.text());
  }
  REQUIRE(said.size() == 1);
  CHECK(said.front().find("newer") != std::string::npos);
  const auto trace = loaded(folder.path() / "compact.trace");
  for (const DiagnosticMessage& message : trace->diagnostics()) CHECK(message.text != said.front());
}

TEST_CASE("what can't be compacted stays, and the reason is told") {
  const TemporaryFolder folder;
  fs::copy_file(data_file("torch_graph.trace"), folder.path() / "log.trace");
  const std::string before = bytes_of(folder.path() / "log.trace");
  const auto fails = [&](const CompactionProgress& progress, Overwrite overwrite) {
    const auto result = compact_trace_file(folder.path() / "log.trace", folder.path() / "log.trace", overwrite, progress);
    REQUIRE_FALSE(result);
    CHECK((bytes_of(folder.path() / "log.trace") == before));
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    return result.error().text;
  };
  CHECK(fails({}, Overwrite::kRefuse).find("exists already") != std::string::npos);
  CHECK(fails([](double) { return LoadStep::kCancel; }, Overwrite::kAllow).find("stopped") != std::string::npos);
  CHECK(fails([](double fraction) { return fraction > 0.6 ? LoadStep::kCancel : LoadStep::kContinue; }, Overwrite::kAllow).find("stopped") !=
        std::string::npos);
  {
    const auto writer = TraceFileWriter::reopen(folder.path() / "log.trace");
    REQUIRE(writer);
    const auto result = compact_trace_file(folder.path() / "log.trace", folder.path() / "log.trace", Overwrite::kAllow);
    REQUIRE_FALSE(result);
    CHECK(result.error().text.find("is being recorded") != std::string::npos);
  }
  write(folder.path() / "newer.trace", [&] {
    std::string newer = before;
    const std::uint16_t version = kFormatMinor + 1;
    std::memcpy(newer.data() + offsetof(FileHeader, minor_version), &version, sizeof(version));
    return newer;
  }());
  const auto newer = compact_trace_file(folder.path() / "newer.trace", folder.path() / "out.trace", Overwrite::kAllow);
  REQUIRE_FALSE(newer);
  CHECK(newer.error().text.find("newer one") != std::string::npos);
}

TEST_CASE("progress ascends to the end") {
  const TemporaryFolder folder;
  double last = 0;
  REQUIRE(compact_trace_file(data_file("ranks_compute.trace"), folder.path() / "compact.trace", Overwrite::kRefuse, [&](double fraction) {
    CHECK(fraction >= last);
    CHECK(fraction <= 1);
    last = fraction;
    return LoadStep::kContinue;
  }));
  CHECK(last == 1);
}
