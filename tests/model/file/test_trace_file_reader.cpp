#include <cstring>
#include <initializer_list>

#include <sys/stat.h>

#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "noise.h"
#include "numbered_frames.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Changes the first byte of the payload of each frame that begins at one of these positions.
void damage_frames(const std::filesystem::path& path, std::initializer_list<std::uint64_t> positions) {
  std::string bytes = content(path);
  for (const std::uint64_t begin : positions) bytes[begin + sizeof(FrameHeader)] ^= 1;
  write_bytes(path, bytes);
}

}  // namespace

TEST_CASE("a finished file gives back its frames in order and says that it is finished") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  write_file(path);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  for (int i = 0; i < kFrames; ++i) CHECK(reader->next()->header.process == static_cast<std::uint32_t>(i));
  CHECK_FALSE(reader->next());
  CHECK(reader->condition().finished);
  CHECK(reader->condition().sentence().empty());
}

TEST_CASE("a file cut at any byte opens with every frame that was whole") {
  TemporaryFolder folder;
  const auto whole = folder.path() / "whole.trace";
  const auto ends = write_file(whole);
  const std::string bytes = content(whole);
  const auto cut = folder.path() / "cut.trace";
  for (std::size_t size = sizeof(FileHeader); size < bytes.size(); ++size) {
    write_bytes(cut, bytes.substr(0, size));
    auto reader = TraceFileReader::open(cut);
    REQUIRE(reader);
    const auto expected = std::count_if(ends.begin(), ends.end(), [&](std::uint64_t end) { return end <= size; });
    INFO("cut at " << size);
    CHECK(frames_in(*reader) == expected);
    CHECK_FALSE(reader->condition().finished);
    CHECK_FALSE(reader->condition().sentence().empty());
  }
}

TEST_CASE("a file that is still being written gives more frames each time it is asked") {
  TemporaryFolder folder;
  const auto path = folder.path() / "live.trace";
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  for (int i = 0; i < kFrames; ++i) {
    CHECK_FALSE(reader->next());
    REQUIRE(writer->append(frame_bytes(i)));
    CHECK(*open_frame(*reader->next()) == payload_of(i));
  }
  REQUIRE(writer->finish());
  CHECK_FALSE(reader->next());
  CHECK(reader->condition().finished);
}

TEST_CASE("a damaged frame is skipped and counted, and the rest is read") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_file(path);
  damage_frames(path, {ends[1]});
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames - 1);
  CHECK(reader->condition().damaged_frames == 1);
  CHECK(reader->condition().first_damage == ends[1]);
  CHECK(reader->condition().finished);
  CHECK_THAT(reader->condition().sentence(), contains_text(std::to_string(ends[1])));
}

TEST_CASE("damaged frames that follow each other count as many as they are, by the index") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_file(path);
  damage_frames(path, {ends[0], ends[1], ends[3]});
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames - 3);
  CHECK(reader->condition().damaged_frames == 3);
  CHECK(reader->condition().first_damage == ends[0]);
  CHECK(reader->condition().finished);
}

TEST_CASE("a damaged index is a damaged frame of a file that is finished") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_file(path);
  damage_frames(path, {ends.back()});
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames);
  CHECK(reader->condition().damaged_frames == 1);
  CHECK(reader->condition().first_damage == ends.back());
  CHECK(reader->condition().finished);
  CHECK_FALSE(reader->next());

  damage_frames(path, {ends[0], ends[1]});  // the number of frames between two sound ones is no longer known
  auto again = TraceFileReader::open(path);
  REQUIRE(again);
  CHECK(frames_in(*again) == kFrames - 2);
  CHECK(again->condition().damaged_frames == 2);
  CHECK(again->condition().finished);
}

TEST_CASE("a frame whose header claims gigabytes does not hide the frames behind it") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_file(path);
  std::string bytes = content(path);
  const std::uint32_t huge = 0x7fffffff;
  bytes.replace(ends[0] + offsetof(FrameHeader, stored_size), sizeof(huge), reinterpret_cast<const char*>(&huge), sizeof(huge));
  write_bytes(path, bytes);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames - 1);
}

TEST_CASE("files that are not ours are refused with one sentence") {
  TemporaryFolder folder;
  const auto path = folder.path() / "foreign";
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"", "is empty"},
      {"hello", "is not a .trace file"},
      {std::string("SQLite format 3\0", 16), "lanescope import"},
      {"{\"traceEvents\": []}", "JSON"},
      {"\x89LST", "cut off"},
  }));
  write_bytes(path, text);
  const auto reader = TraceFileReader::open(path);
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().text, contains_text(expected));
}

TEST_CASE("a file of a newer major version is refused, a newer minor version is read") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  write_file(path);
  std::string bytes = content(path);
  bytes[offsetof(FileHeader, minor_version)] = 9;
  write_bytes(path, bytes);
  CHECK(TraceFileReader::open(path));
  bytes[offsetof(FileHeader, major_version)] = kFormatMajor + 1;
  write_bytes(path, bytes);
  const auto reader = TraceFileReader::open(path);
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().text, contains_text("newer Lanescope"));
}

TEST_CASE("a file that another program cuts while it is read gives what was read, and says so") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  constexpr int kManyFrames = 200;
  for (int i = 0; i < kManyFrames; ++i) {
    std::vector<std::byte> bytes;
    append_frame({}, noise(100'000), bytes);
    REQUIRE(writer->append(bytes));
  }
  REQUIRE(writer->finish());
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  std::vector<FrameView> kept;
  for (int i = 0; i < kManyFrames / 2; ++i) kept.push_back(*reader->next());
  std::filesystem::resize_file(path, sizeof(FileHeader));
  int more = 0;
  while (reader->next()) ++more;
  CHECK(more < kManyFrames / 2);
  for (const FrameView& frame : kept) CHECK(*open_frame(frame) == noise(100'000));
  CHECK(reader->condition().changed);
  CHECK_FALSE(reader->condition().finished);
  CHECK_THAT(reader->condition().sentence(), contains_text("while it was read"));
}

TEST_CASE("a file that another recording is written into while it is read is not taken for one with it") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto write = [&](char first, int frames) {
    FileHeader file{};
    std::memcpy(file.magic, kFileMagic, sizeof(kFileMagic));
    file.major_version = kFormatMajor;
    std::vector<std::byte> bytes(sizeof(file));
    std::memcpy(bytes.data(), &file, sizeof(file));
    append_frame({}, std::string(20, first), bytes);
    for (int i = 0; i < frames; ++i) append_frame({}, noise(100'000), bytes);
    write_bytes(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  write('a', 100);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  for (int i = 0; i < 30; ++i) REQUIRE(reader->next());
  write('b', 200);
  int more = 0;
  while (reader->next()) ++more;
  CHECK(more < 20);  // in the part of the file that was already read
  CHECK(reader->condition().changed);
}

TEST_CASE("an index of many entries is several frames, by which every frame is found") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  constexpr std::size_t kManyFrames = 500'000;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < kManyFrames; ++i) {
    FrameHeader header;
    header.type = i % 1'000 == 999 ? 5 : 6;
    header.process = static_cast<std::uint32_t>(i);
    header.event_count = 2;
    append_frame(header, "x", bytes);
  }
  {
    auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(writer);
    REQUIRE(writer->append(bytes));
    REQUIRE(writer->finish());
  }
  static constexpr std::uint16_t kFives[] = {5};
  const auto check = [&](std::size_t fives) {
    auto reader = TraceFileReader::open(path);
    REQUIRE(reader);
    const auto found = reader->indexed(kFives);
    REQUIRE(found.size() == fives);
    for (std::size_t i = 0; i < kManyFrames / 1'000; ++i) REQUIRE(found[i].header.process == i * 1'000 + 999);
    CHECK(reader->indexed_events() == 2 * (kManyFrames - kManyFrames / 1'000));
    std::size_t frames = 0;
    while (reader->next()) ++frames;
    CHECK(frames == kManyFrames + fives - kManyFrames / 1'000);
    CHECK(reader->condition().finished);
  };
  check(kManyFrames / 1'000);
  const std::string whole = content(path);
  std::size_t index_frames = 0;
  for (std::size_t at = sizeof(FileHeader) + bytes.size(); at + sizeof(FileTrailer) < whole.size(); ++index_frames) {
    FrameHeader header;
    std::memcpy(&header, whole.data() + at, sizeof(header));
    CHECK(header.raw_size <= limits::kWrittenPayloadBytes);
    at += sizeof(header) + header.stored_size;
  }
  CHECK(index_frames > 1);

  auto again = TraceFileWriter::reopen(path);
  REQUIRE(again);
  std::vector<std::byte> one_more;
  FrameHeader header;
  header.type = 5;
  append_frame(header, "y", one_more);
  REQUIRE(again->append(one_more));
  REQUIRE(again->finish());
  check(kManyFrames / 1'000 + 1);
}

TEST_CASE("an index whose entries repeat, overlap, or leave a frame out is not used") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_unfinished(path);
  constexpr std::uint64_t kFirst = sizeof(FileHeader);
  using Offsets = std::vector<std::uint64_t>;
  const Offsets all{kFirst, ends[0], ends[1], ends[2], ends[3]};
  const Offsets offsets = GENERATE_COPY(values<Offsets>({
      all,
      {kFirst, kFirst, ends[0], ends[1], ends[2], ends[3]},
      {ends[0], kFirst, ends[1], ends[2], ends[3]},
      {kFirst, kFirst + 8, ends[0], ends[1], ends[2], ends[3]},
      {ends[0], ends[1], ends[2], ends[3]},
      {kFirst, ends[0], ends[2], ends[3]},
      {kFirst, ends[0], ends[1], ends[2]},
      Offsets(),
  }));
  proto::Index index;
  for (const std::uint64_t offset : offsets) {
    proto::IndexEntry& entry = *index.add_entries();
    entry.set_offset(offset);
    entry.set_type(6);
    FrameHeader header;
    const std::string bytes = content(path);
    if (offset + sizeof(header) <= bytes.size()) std::memcpy(&header, bytes.data() + offset, sizeof(header));
    entry.set_stored_size(offset == kFirst + 8 ? 0 : header.stored_size);
  }
  std::vector<std::byte> tail;
  FrameHeader header;
  header.type = proto::FRAME_INDEX;
  append_frame(header, index.SerializeAsString(), tail);
  FileTrailer trailer{};
  trailer.index_offset = ends.back();
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(tail.data()), static_cast<std::streamsize>(tail.size()));
  file.write(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
  file.close();
  static constexpr std::uint16_t kEvents[] = {6};
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(reader->indexed(kEvents).size() == (offsets == all ? kFrames : 0));
  CHECK(frames_in(*reader) == kFrames);  // the frames hold everything that an index says
}

TEST_CASE("what looks like frames and is none is searched as far as the limit, and no further") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_unfinished(path);
  std::string bytes = content(path);
  constexpr std::size_t kFalseFrames = 400'000;  // each claims nearly all of the rest as its length: 1.3 TB to look at
  const std::size_t size = bytes.size() + kFalseFrames * 16;
  while (bytes.size() < size) {
    FrameHeader header;
    header.type = 6;
    const std::size_t left = size - bytes.size();
    header.stored_size = header.raw_size = left < 100 ? 0 : static_cast<std::uint32_t>(std::min(kMaximumPayloadBytes, left) - sizeof(header));
    bytes.append(reinterpret_cast<const char*>(&header), 16);
  }
  write_bytes(path, bytes);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames);
  CHECK(reader->condition().search_ended > ends.back());
  CHECK_THAT(reader->condition().sentence(), contains_text("not searched"));
  CHECK_FALSE(reader->next());
}

TEST_CASE("a few false beginnings of frames hide no frame behind them") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_file(path);
  std::string bytes = content(path);
  std::string damage;
  for (int i = 0; i < 50; ++i) {
    FrameHeader header;
    header.stored_size = header.raw_size = 60;
    damage.append(reinterpret_cast<const char*>(&header), 16);
  }
  bytes.insert(ends[1], damage);
  write_bytes(path, bytes);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames);
  CHECK(reader->condition().damaged_frames == 1);
  CHECK(reader->condition().search_ended == 0);
}

TEST_CASE("a FIFO is refused, and not waited for") {
  TemporaryFolder folder;
  const auto path = folder.path() / "fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const auto reader = TraceFileReader::open(path);
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().text, contains_text("is not a file"));
}
