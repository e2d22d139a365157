#include "model/file/written_in_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kOther = 65534;

// A named pipe, and what comes out of it.
class ReadPipe {
 public:
  explicit ReadPipe(const fs::path& path) {
    REQUIRE(mkfifo(path.c_str(), 0666) == 0);
    reader_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader_ >= 0);
  }
  ~ReadPipe() { close(reader_); }
  ReadPipe(const ReadPipe&) = delete;
  ReadPipe& operator=(const ReadPipe&) = delete;
  [[nodiscard]] std::string content() const {
    std::array<char, 64> bytes{};
    const ssize_t size = read(reader_, bytes.data(), bytes.size());
    return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  }

 private:
  int reader_ = -1;
};

void say(const fs::path& path, const std::string& text) {
  const auto opened = open_written_in_place(path);
  REQUIRE(opened);
  REQUIRE(*opened);
  CHECK(::write(**opened, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(**opened);
}

}  // namespace

TEST_CASE("pipes and devices are written to as they are, files and folders are not") {
  const TemporaryFolder folder;
  const fs::path place = folder.path() / "x";
  for (const fs::path& none : {place, folder.path(), fs::path("/dev"), folder.path() / "no" / "x"}) {
    const auto opened = open_written_in_place(none);
    REQUIRE(opened);
    CHECK_FALSE(*opened);
  }
  const ReadPipe pipe(place);
  say(place, "words");
  CHECK(pipe.content() == "words");
  say("/dev/null", "words");
  std::ofstream(folder.path() / "file") << "text";
  fs::create_symlink("file", folder.path() / "link");
  for (const char* name : {"file", "link"}) {
    const auto opened = open_written_in_place(folder.path() / name);
    REQUIRE(opened);
    CHECK_FALSE(*opened);
  }
}

TEST_CASE("a link of this user leads to a pipe, and the name of an open file to that file") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "there");
  const ReadPipe pipe(folder.path() / "there" / "pipe");
  fs::create_symlink("there/pipe", folder.path() / "first");
  fs::create_symlink(folder.path() / "first", folder.path() / "second");
  say(folder.path() / "second", "words");
  CHECK(pipe.content() == "words");
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  static_cast<void>(fchown(ends[1], kOther, kOther));  // if root runs the test: the pipe was given by whoever started us
  fs::create_symlink("/dev/fd/" + std::to_string(ends[1]), folder.path() / "open");
  for (const fs::path& name : {fs::path("/dev/fd/" + std::to_string(ends[1])), fs::path("/proc/self/fd/" + std::to_string(ends[1])), folder.path() / "open"}) {
    CAPTURE(name);
    say(name, "words");
    std::array<char, 16> bytes{};
    CHECK(read(ends[0], bytes.data(), bytes.size()) == 5);
  }
  close(ends[0]);
  close(ends[1]);
  fs::create_symlink("loop", folder.path() / "loop");
  CHECK_FALSE(open_written_in_place(folder.path() / "loop"));
}

TEST_CASE("neither a link nor a pipe of another user is written to") {
  if (geteuid() != 0) {
    WARN("Only root can give something to somebody else: not tested.");
    return;
  }
  const TemporaryFolder folder;
  const ReadPipe pipe(folder.path() / "pipe");
  const fs::path link = folder.path() / "link", own = folder.path() / "own";
  fs::create_symlink("pipe", link);
  REQUIRE(lchown(link.c_str(), kOther, kOther) == 0);
  fs::create_symlink("link", own);
  for (const fs::path& place : {link, own}) {
    const auto opened = open_written_in_place(place);
    REQUIRE_FALSE(opened);
    CHECK_THAT(opened.error().text, contains_text("link is a link of another user"));
  }
  fs::remove(link);
  fs::create_symlink("/dev/null", link);
  REQUIRE(lchown(link.c_str(), kOther, kOther) == 0);
  CHECK_FALSE(open_written_in_place(link));
  REQUIRE(chown((folder.path() / "pipe").c_str(), kOther, kOther) == 0);
  fs::remove(own);
  fs::create_symlink("pipe", own);
  for (const fs::path& place : {folder.path() / "pipe", own}) {
    const auto opened = open_written_in_place(place);
    REQUIRE_FALSE(opened);
    CHECK_THAT(opened.error().text, contains_text("pipe is a pipe of another user"));
  }
  CHECK(pipe.content().empty());
}
