#include "noise.h"
#include "numbered_frames.h"
#include "support/paths.h"
#include "support/small_files.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// A frame with one event, of process i.
std::vector<std::byte> event_frame(std::uint32_t i) { return frame_bytes(static_cast<int>(i), 1); }

}  // namespace

TEST_CASE("an existing file is overwritten only where that is asked for") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  write_bytes(path, "precious");
  const auto refused = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, contains_text("exists already"));
  CHECK(content(path) == "precious");
  CHECK(TraceFileWriter::create(path, Overwrite::kAllow));
}

TEST_CASE("a full disk leaves a file that opens with what came before") {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  REQUIRE(writer->append(frame_bytes(0)));
  const auto failed = [&] {
    const SmallFiles small(writer->size() + 10);
    return writer->append(frame_bytes(1));
  }();
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
  write_file(path);
  const std::string old = content(path);
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer);
  CHECK_FALSE(writer->is_in_place());
  REQUIRE(writer->append(frame_bytes(0)));
  CHECK(content(path) == old);
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
  std::filesystem::create_hard_link((write_file(other), other), folder.path() / "kept");
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
      std::ofstream(path, std::ios::in | std::ios::out | std::ios::binary) << content(other);
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
  write_file(path);
  const std::string old = content(path);
  {
    auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
    REQUIRE(writer->append(frame_bytes(0)));
  }
  CHECK(content(path) == old);
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer->append(frame_bytes(0)));
  REQUIRE(writer->finish());
  CHECK(content(path) != old);
  writer->discard();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a file that a new one has replaced lies beside it until that is kept, and comes back where it is thrown away") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.trace", earlier = folder.path() / "x.trace.earlier";
  write_file(path);
  const std::string old = content(path);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()); };
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer->append(event_frame(1)));
  REQUIRE(content(path) != old);
  CHECK(content(earlier) == old);
  CHECK(writer->earlier() == earlier);
  const auto elsewhere = folder.path() / "elsewhere";
  SECTION("kept") {
    REQUIRE(writer->finish());
    CHECK(writer->earlier().empty());
    CHECK(content(path) != old);
    CHECK(files() == 1);
    SECTION("and then thrown away after all") {
      CHECK(writer->discard().empty());
      CHECK(files() == 0);
    }
  }
  SECTION("thrown away") {
    CHECK(writer->discard().empty());
    CHECK(content(path) == old);
    CHECK(files() == 1);
  }
  SECTION("given up, as when the process is killed") {
    *writer = std::move(*TraceFileWriter::create(elsewhere, Overwrite::kRefuse));
    CHECK(content(path) != old);
    CHECK(content(earlier) == old);
    auto next = TraceFileWriter::create(path, Overwrite::kAllow);  // it lays what it replaces beside both
    REQUIRE(next->append(event_frame(2)));
    REQUIRE(next->earlier() == folder.path() / "x.trace.earlier.1");
    REQUIRE(next->finish());
    CHECK(content(earlier) == old);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "x.trace.earlier.1"));
  }
  SECTION("moved by others") {
    std::filesystem::rename(path, elsewhere);
    const bool is_kept = GENERATE(true, false);
    if (is_kept)
      REQUIRE(writer->finish());
    else
      CHECK(writer->discard().empty());
    CHECK(content(path) == old);
    CHECK(content(elsewhere) != old);
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
    CHECK(content(path) == "other");
    CHECK(content(earlier) == old);
  }
  SECTION("with what was replaced removed by others") {
    std::filesystem::remove(earlier);
    std::ofstream(earlier) << "other";
    CHECK(writer->discard().empty());
    CHECK(content(earlier) == "other");
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("a finished file that is added to stays as it was until all of that is written, and where it can't be") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "finished.trace";
  write_file(path);
  const std::string before = content(path);
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
    CHECK(content(path) == before);
  }
  CHECK(content(path) == before);
  {
    auto writer = TraceFileWriter::reopen(path);
    REQUIRE(writer);
    std::vector<std::byte> large;
    FrameHeader header;
    header.type = 6;
    append_frame(header, noise(std::size_t{1} << 20), large);
    REQUIRE(writer->append(large));
    const auto finished = [&] {
      const SmallFiles small(before.size() + 1'000);
      return writer->finish();
    }();
    REQUIRE_FALSE(finished);
    CHECK_THAT(finished.error().text, contains_text("It is as it was"));
  }
  CHECK(content(path) == before);
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
    const std::string before = content(path);
    CHECK(identity_of(path) != identity);
    const auto refused = TraceFileWriter::reopen(path, identity);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text, contains_text("was replaced by another recording"));
    CHECK(content(path) == before);
    CHECK(TraceFileWriter::reopen(path, own));
  }
}

TEST_CASE("a second writer is kept out while the first lives, however far that is") {
  TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  const bool is_new = GENERATE(true, false);
  const bool has_event = GENERATE(true, false);
  CAPTURE(is_new, has_event);
  if (!is_new) write_file(path);
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
  const std::uint64_t full = writer->size();
  std::uint64_t lost = 0;
  {
    const SmallFiles small(full);
    CHECK_FALSE(writer->append(frame_bytes(1)));
    const std::vector<std::byte> words = frame_bytes(4);
    lost = writer->make_room(words.size() + 64, std::nullopt);
    REQUIRE(writer->append(words));
    REQUIRE(writer->finish());
  }
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
  CHECK(std::filesystem::file_size(path) <= full);
}
