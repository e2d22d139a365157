// Padding: what a file must contain so that it is as large as readers demand for its contents (docs/file-format.md, Limits).
#include <array>
#include <cstring>

#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/message_size.h"
#include "model/file/trace_file.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;
using test::TemporaryFolder;

namespace {

// Frames that hold very much: many equal texts in few bytes.
std::vector<FrameContent> append_texts(std::size_t count, std::vector<std::byte>& frames) {
  std::vector<FrameContent> contents;
  FrameHeader header;
  header.type = proto::FRAME_EVENTS;
  for (std::size_t i = 0; i < count; ++i) {
    proto::EventChunk chunk;
    for (int text = 0; text < 50'000; ++text) chunk.add_strings("t" + std::to_string(i));
    const std::string payload = chunk.SerializeAsString();
    append_frame(header, payload, frames);
    contents.push_back(content_of(header.type, payload));
  }
  return contents;
}

}  // namespace

TEST_CASE("the size that a file needs for what it holds is the smallest that may hold it") {
  for (const std::uint64_t size : {10'000'001u, 12'345'678u, 4'000'000'000u}) {
    const limits::FileBudget most = limits::budget_of(size);
    for (const auto part : {&limits::FileBudget::unpacked, &limits::FileBudget::entries, &limits::FileBudget::events, &limits::FileBudget::memory}) {
      limits::FileBudget wanted{};
      wanted.*part = most.*part;
      CHECK(limits::size_for(wanted) <= size);
      ++(wanted.*part);
      const std::uint64_t more = limits::size_for(wanted);
      CHECK(more > size);
      CHECK(limits::budget_of(more).*part >= wanted.*part);
      CHECK(limits::budget_of(more - 1).*part < wanted.*part);
    }
  }
  CHECK(limits::size_for(limits::budget_of(1)) == 0);  // every file may hold what small ones may
}

TEST_CASE("in front of frames that say too much in too few bytes comes padding, so that the file stays within what readers take") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "dense.trace";
  constexpr std::uint32_t kEvents = 60'000;   // in a frame
  constexpr std::uint64_t kFrameCount = 400;  // together more events than any small file may have
  constexpr std::uint64_t kAllowed = 7'000'000;
  proto::EventChunk chunk;
  for (std::uint32_t i = 0; i < kEvents; ++i) chunk.mutable_nvtx_ranges()->add_start_delta(2);
  const std::string payload = chunk.SerializeAsString();
  FrameHeader header;
  header.type = 6;
  header.event_count = kEvents;
  std::vector<std::byte> dense;
  append_frame(header, payload, dense);
  REQUIRE(dense.size() < 200);

  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  std::vector<std::byte> two = dense;  // several frames that are appended at once are padded as well
  two.insert(two.end(), dense.begin(), dense.end());
  std::uint64_t events = 0;
  for (std::uint64_t i = 0; i < kFrameCount; i += 2) {
    const std::uint64_t foreseen = writer->finished_size_with(two);
    REQUIRE(writer->append(two));
    events += 2 * kEvents;
    CHECK(writer->finished_size() <= foreseen + 4 * 64);          // entries of the index
    REQUIRE(events <= limits::budget_of(writer->size()).events);  // also of a file that is cut off here
    if (events <= kAllowed) REQUIRE(writer->size() < 100'000);    // a small file is not padded
    if (i == kFrameCount / 2) {                                   // a file that is reopened counts its contents
      REQUIRE(writer->finish());
      writer = Error{"it is closed"};
      writer = TraceFileWriter::reopen(path);
      REQUIRE(writer);
    }
  }
  REQUIRE(writer->finish());
  CHECK(std::filesystem::file_size(path) < events * 10 / 7 + 200'000);  // no more than necessary

  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  std::uint64_t found = 0;
  while (const auto frame = reader->next()) {
    CHECK(frame_is_sound(*frame));
    if (frame->header.type == proto::FRAME_PADDING) continue;
    CHECK(frame->header.event_count == kEvents);
    CHECK(*open_frame(*frame) == payload);
    ++found;
  }
  CHECK(found == kFrameCount);
  CHECK(reader->condition().sentence().empty());
  CHECK(reader->indexed_events() == events);
}

TEST_CASE("a frame whose header says more events than its payload has bytes for gets no padding for them") {
  const TemporaryFolder folder;
  auto writer = TraceFileWriter::create(folder.path() / "false.trace", Overwrite::kRefuse);
  REQUIRE(writer);
  FrameHeader header;
  header.type = GENERATE(proto::FRAME_EVENTS, proto::FRAME_OUTPUT, proto::FRAME_LANE_SEGMENT);
  header.event_count = 0xffff'ffff;
  std::vector<std::byte> frame;
  append_frame(header, std::string(5'000, '\0'), frame);
  for (int i = 0; i < 3; ++i) REQUIRE(writer->append(frame));
  REQUIRE(writer->finish());
  CHECK(writer->size() < 5'000);
}

TEST_CASE("a file is the same whether it is told what its frames hold, or finds it out, or finds it out of some") {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const std::size_t told_of_three : {0u, 1u, 3u}) {
    const auto path = folder.path() / "a.trace";
    auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
    REQUIRE(writer);
    for (std::size_t i = 0; i < 90; ++i) {  // 4,500,000 texts; small files may have 2,500,000
      std::vector<std::byte> frames;
      std::vector<FrameContent> contents = append_texts(1, frames);
      if (i % 3 >= told_of_three) contents.clear();
      const std::uint64_t foreseen = writer->finished_size_with(frames, contents);
      REQUIRE(writer->append(frames, contents));
      CHECK(writer->finished_size() == foreseen);
    }
    REQUIRE(writer->finish());
    files.push_back(test::content(path));
  }
  CHECK(files[0].size() > 18'000'000);  // four bytes for each text
  CHECK((files[0] == files[1]));
  CHECK((files[0] == files[2]));
}

TEST_CASE("what frames are told to hold is believed: they are not decompressed for it") {
  const TemporaryFolder folder;
  auto writer = TraceFileWriter::create(folder.path() / "a.trace", Overwrite::kAllow);
  REQUIRE(writer);
  std::vector<std::byte> frames;
  const std::vector<FrameContent> contents = append_texts(60, frames);
  const std::uint64_t foreseen = writer->finished_size_with(frames, contents);
  CHECK(foreseen > 12'000'000);
  std::vector<std::byte> unreadable = frames;
  for (std::size_t at = 0; at < unreadable.size();) {
    FrameHeader header;
    std::memcpy(&header, unreadable.data() + at, sizeof(header));
    unreadable[at + sizeof(header)] ^= std::byte{0xff};  // no longer a zstd frame
    at += sizeof(header) + header.stored_size;
  }
  CHECK(writer->finished_size_with(unreadable, contents) == foreseen);
  CHECK(writer->finished_size_with(unreadable) < 1'000'000);  // readers would skip these frames
  // The size is foreseen for all frames together, however they are split into runs.
  const std::array<FrameRun, 2> runs{FrameRun{frames, contents}, FrameRun{frames, {}}};
  std::vector<std::byte> twice = frames;
  twice.insert(twice.end(), frames.begin(), frames.end());
  CHECK(writer->finished_size_with(runs) == writer->finished_size_with(twice));
}
