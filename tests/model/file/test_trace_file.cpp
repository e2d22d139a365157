#include "model/file/trace_file.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <random>

#include <sys/resource.h>
#include <sys/stat.h>

#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
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

// A frame with one event, of process i.
std::vector<std::byte> event_frame(std::uint32_t i) {
  std::vector<std::byte> bytes;
  FrameHeader header;
  header.type = 6;
  header.process = i;
  header.event_count = 1;
  append_frame(header, payload_of(static_cast<int>(i)), bytes);
  return bytes;
}

// A file of kFrames frames, with its index if it is finished. Returns the position after each frame.
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

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
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
  bytes[ends[1] + sizeof(FrameHeader)] ^= 1;  // inside the payload of frame 2
  write_bytes(path, bytes);
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
  const auto ends = write_file(path, true);
  std::string bytes = read_bytes(path);
  for (const std::size_t before : {ends[0], ends[1], ends[3]}) bytes[before + sizeof(FrameHeader)] ^= 1;
  write_bytes(path, bytes);
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
  const auto ends = write_file(path, true);
  std::string bytes = read_bytes(path);
  bytes[ends.back() + sizeof(FrameHeader)] ^= 1;
  write_bytes(path, bytes);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == kFrames);
  CHECK(reader->condition().damaged_frames == 1);
  CHECK(reader->condition().first_damage == ends.back());
  CHECK(reader->condition().finished);
  CHECK_FALSE(reader->next());

  bytes[ends[0] + sizeof(FrameHeader)] ^= 1;  // the number of frames between two sound ones is no longer known
  bytes[ends[1] + sizeof(FrameHeader)] ^= 1;
  write_bytes(path, bytes);
  auto again = TraceFileReader::open(path);
  REQUIRE(again);
  CHECK(frames_in(*again) == kFrames - 2);
  CHECK(again->condition().damaged_frames == 2);
  CHECK(again->condition().finished);
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
  CHECK_THAT(failed.error().text,
             contains_text("What was recorded before is whole, and nothing more is recorded. For the next recording, allow larger files (ulimit -f)."));
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == 1);
  CHECK(reader->condition().unread_bytes == 0);
}

TEST_CASE("an old file is replaced by the first event of the new one, not before") {
  TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  write_file(path, true);
  const std::string old = read_bytes(path);
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer);
  CHECK_FALSE(writer->is_in_place());
  REQUIRE(writer->append(frame_bytes(0)));
  CHECK(read_bytes(path) == old);
  REQUIRE(writer->append(event_frame(7)));
  CHECK(writer->is_in_place());
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  CHECK(frames_in(*reader) == 2);
  REQUIRE(writer->finish());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("a writer knows that its file was moved, removed or overwritten, whatever has its name by now") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.trace", other = folder.path() / "other.trace";
  std::filesystem::create_hard_link((write_file(other, true), other), folder.path() / "kept");
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer->append(event_frame(7)));
  CHECK(writer->whereabouts().kind == Whereabouts::kInPlace);
  SECTION("moved") {
    std::filesystem::rename(path, folder.path() / "y.trace");
    CHECK(writer->whereabouts().kind == Whereabouts::kMoved);
    std::filesystem::rename(other, path);
    CHECK(writer->whereabouts().kind == Whereabouts::kMoved);
    CHECK(writer->whereabouts().moved_to == folder.path() / "y.trace");
    std::filesystem::create_hard_link(folder.path() / "y.trace", folder.path() / "z.trace");
    std::filesystem::remove(folder.path() / "y.trace");
    CHECK(writer->whereabouts().kind == Whereabouts::kMoved);
    CHECK(writer->whereabouts().moved_to.empty());
  }
  SECTION("with its folder") {
    const auto within = folder.path() / "a", without = folder.path() / "b";
    std::filesystem::create_directory(within);
    auto inner = TraceFileWriter::create(within / "x.trace", Overwrite::kRefuse);
    std::filesystem::rename(within, without);
    CHECK(inner->whereabouts().moved_to == without / "x.trace");
  }
  SECTION("removed") {
    std::filesystem::remove(path);
    CHECK(writer->whereabouts().kind == Whereabouts::kRemoved);
    std::filesystem::rename(other, path);
    CHECK(writer->whereabouts().kind == Whereabouts::kRemoved);
  }
  SECTION("overwritten") {
    const bool is_emptied = GENERATE(false, true);
    if (is_emptied)
      std::filesystem::resize_file(path, 0);
    else
      std::ofstream(path, std::ios::in | std::ios::out | std::ios::binary) << read_bytes(other);
    CHECK(writer->whereabouts().kind == Whereabouts::kOverwritten);
    REQUIRE(writer->append(event_frame(8)));
    CHECK(writer->whereabouts().kind == Whereabouts::kOverwritten);
  }
  SECTION("cut") {
    for (std::uint32_t i = 0; i < 20; ++i) REQUIRE(writer->append(event_frame(8 + i)));
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, size - 1);  // after the bytes that identify the file
    CHECK(writer->whereabouts().kind == Whereabouts::kCut);
    REQUIRE(writer->append(event_frame(9)));
    REQUIRE(writer->finish());
    CHECK(std::filesystem::file_size(path) > size);  // as long as it would have been
    CHECK(writer->whereabouts().kind == Whereabouts::kCut);
  }
  SECTION("with other last frames in place of the first ones") {
    REQUIRE(writer->append(event_frame(8)));
    CHECK(writer->make_room(0, 60) == 1);
    REQUIRE(writer->append(event_frame(9)));
    REQUIRE(writer->finish());
    CHECK(writer->whereabouts().kind == Whereabouts::kInPlace);
  }
}

TEST_CASE("an old file stays where the new one comes to nothing, and goes where that is finished without events") {
  TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  write_file(path, true);
  const std::string old = read_bytes(path);
  {
    auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
    REQUIRE(writer->append(frame_bytes(0)));
  }
  CHECK(read_bytes(path) == old);
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer->append(frame_bytes(0)));
  REQUIRE(writer->finish());
  CHECK(read_bytes(path) != old);
  writer->discard();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a file that a new one has replaced lies beside it until that is kept, and comes back where it is thrown away") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.trace", earlier = folder.path() / "x.trace.earlier";
  write_file(path, true);
  const std::string old = read_bytes(path);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()); };
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer->append(event_frame(1)));
  REQUIRE(read_bytes(path) != old);
  CHECK(read_bytes(earlier) == old);
  CHECK(writer->earlier() == earlier);
  const auto elsewhere = folder.path() / "elsewhere";
  SECTION("kept") {
    REQUIRE(writer->finish());
    CHECK(writer->earlier().empty());
    CHECK(read_bytes(path) != old);
    CHECK(files() == 1);
    SECTION("and then thrown away after all") {
      CHECK(writer->discard().empty());
      CHECK(files() == 0);
    }
  }
  SECTION("thrown away") {
    CHECK(writer->discard().empty());
    CHECK(read_bytes(path) == old);
    CHECK(files() == 1);
  }
  SECTION("given up, as when the process is killed") {
    *writer = std::move(*TraceFileWriter::create(elsewhere, Overwrite::kRefuse));
    CHECK(read_bytes(path) != old);
    CHECK(read_bytes(earlier) == old);
    auto next = TraceFileWriter::create(path, Overwrite::kAllow);  // it lays what it replaces beside both
    REQUIRE(next->append(event_frame(2)));
    REQUIRE(next->earlier() == folder.path() / "x.trace.earlier.1");
    REQUIRE(next->finish());
    CHECK(read_bytes(earlier) == old);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "x.trace.earlier.1"));
  }
  SECTION("moved by others") {
    std::filesystem::rename(path, elsewhere);
    const bool is_kept = GENERATE(true, false);
    if (is_kept)
      REQUIRE(writer->finish());
    else
      CHECK(writer->discard().empty());
    CHECK(read_bytes(path) == old);
    CHECK(read_bytes(elsewhere) != old);
    CHECK(files() == 2);
  }
  SECTION("moved, and others put a file there") {
    std::filesystem::rename(path, elsewhere);
    std::ofstream(path) << "other";
    const bool is_kept = GENERATE(true, false);
    if (is_kept) {
      REQUIRE(writer->finish());
      CHECK(writer->earlier() == earlier);
    } else {
      CHECK(writer->discard() == earlier);
    }
    CHECK(read_bytes(path) == "other");
    CHECK(read_bytes(earlier) == old);
  }
  SECTION("with what was replaced removed by others") {
    std::filesystem::remove(earlier);
    std::ofstream(earlier) << "other";
    CHECK(writer->discard().empty());
    CHECK(read_bytes(earlier) == "other");
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("a finished file that is added to stays as it was until all of that is written, and where it can't be") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "finished.trace";
  write_file(path, true);
  const std::string before = read_bytes(path);
  const auto frames_now = [&] {
    auto reader = TraceFileReader::open(path);
    REQUIRE(reader);
    const int frames = frames_in(*reader);
    CHECK(reader->condition().finished);
    CHECK(reader->index().size() == static_cast<std::size_t>(frames));
    return frames;
  };
  {
    auto given_up = TraceFileWriter::reopen(path);
    REQUIRE(given_up);
    REQUIRE(given_up->append(frame_bytes(kFrames)));
    CHECK(read_bytes(path) == before);
  }
  CHECK(read_bytes(path) == before);
  {
    auto writer = TraceFileWriter::reopen(path);
    REQUIRE(writer);
    std::vector<std::byte> large;
    FrameHeader header;
    header.type = 6;
    append_frame(header, noise(std::size_t{1} << 20), large);
    REQUIRE(writer->append(large));
    const rlimit kept = [] {
      rlimit limit{};
      getrlimit(RLIMIT_FSIZE, &limit);
      return limit;
    }();
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{before.size() + 1'000, kept.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto finished = writer->finish();
    REQUIRE(setrlimit(RLIMIT_FSIZE, &kept) == 0);
    REQUIRE_FALSE(finished);
    CHECK_THAT(finished.error().text, contains_text("It is as it was"));
  }
  CHECK(read_bytes(path) == before);
  CHECK(frames_now() == kFrames);

  auto writer = TraceFileWriter::reopen(path);
  REQUIRE(writer);
  REQUIRE(writer->append(frame_bytes(kFrames)));
  REQUIRE(writer->append(frame_bytes(kFrames + 1)));
  REQUIRE(writer->finish());
  CHECK(frames_now() == kFrames + 2);
}

TEST_CASE("what is added to a file goes to no other one that has its name by now") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  auto first = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(first);
  REQUIRE(first->append(event_frame(1)));
  const std::optional<FileIdentity> identity = first->identity();
  REQUIRE(identity);
  REQUIRE(first->finish());
  CHECK(identity_of(path) == identity);
  first->discard();  // its number is free for the next file
  REQUIRE_FALSE(std::filesystem::exists(path));
  for (int other = 0; other < 3; ++other) {
    std::optional<FileIdentity> own;
    {
      auto next = TraceFileWriter::create(path, Overwrite::kAllow);
      REQUIRE(next);
      REQUIRE(next->append(event_frame(2)));
      REQUIRE(next->finish());
      own = next->identity();
    }
    const std::string before = read_bytes(path);
    CHECK(identity_of(path) != identity);
    const auto refused = TraceFileWriter::reopen(path, identity);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text, contains_text("was replaced by another recording"));
    CHECK(read_bytes(path) == before);
    CHECK(TraceFileWriter::reopen(path, own));
  }
}

TEST_CASE("a second writer is kept out while the first lives, however far that is") {
  TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  const bool is_new = GENERATE(true, false);
  const bool has_event = GENERATE(true, false);
  CAPTURE(is_new, has_event);
  if (!is_new) write_file(path, true);
  auto first = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(first);
  if (has_event) REQUIRE(first->append(event_frame(1)));
  CHECK(TraceFileWriter::is_being_written(path));
  const auto second = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().text, contains_text("is being recorded"));
  REQUIRE(first->append(event_frame(2)));
  REQUIRE(first->finish());
  *first = std::move(*TraceFileWriter::create(folder.path() / "y.trace", Overwrite::kRefuse));
  CHECK_FALSE(TraceFileWriter::is_being_written(path));
  CHECK(TraceFileWriter::create(path, Overwrite::kAllow));
}

TEST_CASE("room for last words is taken from the last frames, even where the file can't grow by a byte") {
  TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  constexpr std::uint32_t kEvents = 100;
  for (std::uint32_t i = 0; i < kEvents; ++i) REQUIRE(writer->append(event_frame(i)));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit saved{};
  getrlimit(RLIMIT_FSIZE, &saved);
  rlimit none = saved;
  none.rlim_cur = writer->size();
  setrlimit(RLIMIT_FSIZE, &none);
  const bool fitted = writer->append(frame_bytes(1)) && true;
  const std::vector<std::byte> words = frame_bytes(4);
  const std::uint64_t lost = writer->make_room(words.size() + 64, std::nullopt);
  const auto written = writer->append(words);
  const auto finished = writer->finish();
  setrlimit(RLIMIT_FSIZE, &saved);
  CHECK_FALSE(fitted);
  REQUIRE(written);
  REQUIRE(finished);
  CHECK(lost > 0);
  CHECK(lost < kEvents);
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  std::uint64_t events = 0;
  std::uint64_t others = 0;
  while (const auto frame = reader->next()) frame->header.event_count > 0 ? events += frame->header.event_count : ++others;
  CHECK(events + lost == kEvents);
  CHECK(others == 1);
  CHECK(reader->condition().finished);
  CHECK(reader->condition().damaged_frames == 0);
  CHECK(std::filesystem::file_size(path) <= none.rlim_cur);
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
  const std::string whole = read_bytes(path);
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
  const auto ends = write_file(path, false);
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
    const std::string bytes = read_bytes(path);
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
  const auto ends = write_file(path, false);
  std::string bytes = read_bytes(path);
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
  const auto ends = write_file(path, true);
  std::string bytes = read_bytes(path);
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
