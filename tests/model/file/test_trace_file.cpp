#include "model/file/trace_file.h"

#include <csignal>
#include <fstream>

#include <sys/resource.h>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using test::TemporaryFolder;

namespace {

constexpr int kFrames = 5;

std::string payload_of(int i) { return "payload " + std::to_string(i) + std::string(static_cast<std::size_t>(i) * 20, 'p'); }

std::vector<std::byte> frame_bytes(int i) {
  std::vector<std::byte> bytes;
  FrameHeader header;
  header.type = 6;
  header.process = static_cast<std::uint32_t>(i);
  append_frame(header, payload_of(i), bytes);
  return bytes;
}

// A file of kFrames frames; with its index where finished. Returns the position behind each frame.
std::vector<std::uint64_t> write_file(const std::filesystem::path& path, bool finished) {
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  std::vector<std::uint64_t> ends;
  for (int i = 0; i < kFrames; ++i) {
    REQUIRE(writer->append(frame_bytes(i)));
    ends.push_back(writer->size());
  }
  if (finished) REQUIRE(writer->finish());
  return ends;
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_bytes(const std::filesystem::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

int frames_in(TraceFileReader& reader) {
  int count = 0;
  while (const auto frame = reader.next()) {
    CHECK(*open_frame(*frame) == payload_of(static_cast<int>(frame->header.process)));
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a finished file gives back its frames in order and says that it is finished") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  write_file(path, true);
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
  const auto ends = write_file(whole, true);
  const std::string bytes = read_bytes(whole);
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
  const auto ends = write_file(path, true);
  std::string bytes = read_bytes(path);
  bytes[ends[1] + sizeof(FrameHeader)] ^= 1;  // in the payload of frame 2
  write_bytes(path, bytes);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames - 1);
  CHECK(reader->condition().damaged_frames == 1);
  CHECK(reader->condition().first_damage == ends[1]);
  CHECK(reader->condition().finished);
  CHECK_THAT(reader->condition().sentence(), contains_text(std::to_string(ends[1])));
}

TEST_CASE("a frame whose header claims gigabytes does not hide the frames behind it") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  const auto ends = write_file(path, true);
  std::string bytes = read_bytes(path);
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
  const auto [content, expected] = GENERATE(table<std::string, std::string>({
      {"", "is empty"},
      {"hello", "is not a .trace file"},
      {std::string("SQLite format 3\0", 16), "lanescope import"},
      {"{\"traceEvents\": []}", "JSON"},
      {"\x89LST", "cut off"},
  }));
  write_bytes(path, content);
  const auto reader = TraceFileReader::open(path);
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().text, contains_text(expected));
}

TEST_CASE("a file of a newer major version is refused, a newer minor version is read") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  write_file(path, true);
  std::string bytes = read_bytes(path);
  bytes[offsetof(FileHeader, minor_version)] = 9;
  write_bytes(path, bytes);
  CHECK(TraceFileReader::open(path));
  bytes[offsetof(FileHeader, major_version)] = kFormatMajor + 1;
  write_bytes(path, bytes);
  const auto reader = TraceFileReader::open(path);
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().text, contains_text("newer Lanescope"));
}

TEST_CASE("an existing file is overwritten only where that is asked for") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  write_bytes(path, "precious");
  const auto refused = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, contains_text("exists already"));
  CHECK(read_bytes(path) == "precious");
  CHECK(TraceFileWriter::create(path, Overwrite::kAllow));
}

TEST_CASE("a full disk leaves a file that opens with what came before") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  REQUIRE(writer->append(frame_bytes(0)));
  std::signal(SIGXFSZ, SIG_IGN);  // the kernel then answers EFBIG, as a full disk answers ENOSPC
  rlimit saved{};
  getrlimit(RLIMIT_FSIZE, &saved);
  rlimit small = saved;
  small.rlim_cur = writer->size() + 10;
  setrlimit(RLIMIT_FSIZE, &small);
  const auto failed = writer->append(frame_bytes(1));
  setrlimit(RLIMIT_FSIZE, &saved);
  REQUIRE_FALSE(failed);
  CHECK_THAT(failed.error().text, contains_text("What was recorded before is whole"));
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == 1);
  CHECK(reader->condition().unread_bytes == 0);
}
