#include "model/file/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

#include "model/file/privacy.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;
using test::content;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
void put(NewFile& file, const std::string& text) { REQUIRE(::write(file.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size())); }
mode_t mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 0777;
}
std::size_t count_in(const fs::path& folder) { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator())); }

}  // namespace

TEST_CASE("a file that is replaced stays as it was until the new one takes its place") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  write(path, "old");
  std::ifstream reader(path);
  auto file = NewFile::create(path, Overwrite::kAllow, Readers::kAsUsual);
  REQUIRE(file);
  put(*file, "new");
  CHECK(content(path) == "old");
  REQUIRE(file->take_place());
  CHECK(content(path) == "new");
  std::string seen;
  reader >> seen;
  CHECK(seen == "old");  // a reader that had opened the file keeps it
  CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("a new file that does not take its place leaves nothing behind") {
  const TemporaryFolder folder;
  { REQUIRE(NewFile::create(folder.path() / "x", Overwrite::kRefuse, Readers::kAsUsual)); }
  CHECK(count_in(folder.path()) == 0);
}

TEST_CASE("a file that came meanwhile is not replaced unless that is allowed") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  auto file = NewFile::create(path, Overwrite::kRefuse, Readers::kAsUsual);
  REQUIRE(file);
  write(path, "theirs");
  const auto placed = file->take_place();
  REQUIRE_FALSE(placed);
  CHECK_THAT(placed.error().text, contains_text("exists already"));
  CHECK(content(path) == "theirs");
}

TEST_CASE("a file that is being recorded is not replaced, whether its recorder came before or meanwhile") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  write(path, "recorded");
  auto file = NewFile::create(path, Overwrite::kAllow, Readers::kAsUsual);
  REQUIRE(file);
  const int recorder = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(recorder, LOCK_EX) == 0);
  const auto placed = file->take_place();
  REQUIRE_FALSE(placed);
  CHECK_THAT(placed.error().text, contains_text("is being recorded"));
  CHECK_FALSE(NewFile::create(path, Overwrite::kAllow, Readers::kAsUsual));
  CHECK(content(path) == "recorded");
  close(recorder);
  CHECK(file->take_place());
  CHECK(content(path).empty());
}

TEST_CASE("what stands in the way and is no file is refused and never opened") {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const fs::path& path : {pipe, folder.path(), fs::path("/dev/null")}) {
    CAPTURE(path);
    const auto file = NewFile::create(path, Overwrite::kAllow, Readers::kAsUsual);
    REQUIRE_FALSE(file);
    CHECK_THAT(file.error().text, contains_text("is not a file"));
  }
}

TEST_CASE("links laid beside the place lead nowhere") {
  const TemporaryFolder folder;
  const fs::path victim = folder.path() / "victim";
  write(victim, "precious");
  fs::create_symlink(victim, folder.path() / "x.partial");
  auto file = NewFile::create(folder.path() / "x", Overwrite::kAllow, Readers::kAsUsual);
  REQUIRE(file);
  put(*file, "new");
  REQUIRE(file->take_place());
  CHECK(content(victim) == "precious");
  CHECK(content(folder.path() / "x") == "new");
}

TEST_CASE("a link of this user at the place is followed, one of another user is refused") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "large");
  const fs::path link = folder.path() / "x";
  const fs::path target = folder.path() / "large" / "x";
  write(target, "old");
  fs::create_symlink("large/x", link);
  {
    auto file = NewFile::create(link, Overwrite::kAllow, Readers::kAsUsual);
    REQUIRE(file);
    put(*file, "new");
    REQUIRE(file->take_place());
  }
  CHECK(fs::is_symlink(link));
  CHECK(content(target) == "new");
  constexpr uid_t kOther = 65534;
  if (lchown(link.c_str(), kOther, kOther) != 0) {
    WARN("Only root can give a link to somebody else: not tested.");
    return;
  }
  const auto file = NewFile::create(link, Overwrite::kAllow, Readers::kAsUsual);
  REQUIRE_FALSE(file);
  CHECK_THAT(file.error().text, contains_text("link of another user"));
  CHECK(content(target) == "new");
}

TEST_CASE("a new file is for its owner alone where that is asked for, else it has the rights of what it replaces") {
  const TemporaryFolder folder;
  const mode_t before = umask(0);
  write(folder.path() / "known", "old");
  REQUIRE(chmod((folder.path() / "known").c_str(), 0640) == 0);
  for (const auto& [name, readers] : {std::pair("own", Readers::kOwnerAlone), {"known", Readers::kAsUsual}}) {
    auto file = NewFile::create(folder.path() / name, Overwrite::kAllow, readers);
    REQUIRE(file);
    CHECK((mode_of(file->beside()) & 0007) == 0);
    REQUIRE(file->take_place());
  }
  umask(before);
  CHECK(mode_of(folder.path() / "own") == 0600);
  CHECK(mode_of(folder.path() / "known") == 0640);
}

TEST_CASE("a process that keeps its new files private replaces one that others may read with one that they may not") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "known";
  write(path, "old");
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  const pid_t child = fork();  // the limit holds for the whole process
  if (child == 0) {
    keep_new_files_to(Readers::kOwnerAlone);
    auto file = NewFile::create(path, Overwrite::kAllow, Readers::kAsUsual);
    const bool is_private = file && mode_of(file->beside()) == 0600 && file->take_place();
    _exit(is_private ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("a new file is gone with a process that is killed") {
  const TemporaryFolder folder;
  const int nameless = open(folder.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (nameless < 0) {
    WARN("The file system has no files without names: not tested.");
    return;
  }
  close(nameless);
  write(folder.path() / "x", "old");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto first = NewFile::create(folder.path() / "x", Overwrite::kAllow, Readers::kAsUsual);
    auto second = NewFile::create(folder.path() / "y", Overwrite::kRefuse, Readers::kAsUsual);
    if (first && second && ftruncate(first->descriptor(), 1 << 20) == 0 && ftruncate(second->descriptor(), 1 << 20) == 0) raise(SIGKILL);
    _exit(1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(count_in(folder.path()) == 1);
  CHECK(content(folder.path() / "x") == "old");
}

TEST_CASE("a new file can be read while it has no name, and has one where it is asked for") {
  const TemporaryFolder folder;
  auto file = NewFile::create(folder.path() / "x", Overwrite::kRefuse, Readers::kAsUsual);
  REQUIRE(file);
  put(*file, "new");
  CHECK(content(file->to_read()) == "new");
  const fs::path beside = file->beside();
  CHECK(beside.parent_path() == folder.path());
  CHECK(content(beside) == "new");
  CHECK(content(file->to_read()) == "new");
  REQUIRE(file->take_place());
  CHECK(content(folder.path() / "x") == "new");
  CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("the name of an unfinished file ends within no character") {
  const TemporaryFolder folder;
  for (const std::size_t ascii : {0, 1, 2}) {  // these move the cut to each byte of a character of three bytes
    std::string name(ascii, 'a');
    while (name.size() < 230) name += "\u8bad";
    auto file = NewFile::create(folder.path() / name, Overwrite::kRefuse, Readers::kAsUsual);
    REQUIRE(file);
    const std::string beside = file->beside().filename().string();
    CHECK(beside.size() <= 255);
    const std::size_t end = beside.rfind('.', beside.rfind('.') - 1);  // before the part that makes the name unique
    CHECK(beside.substr(0, end) == name.substr(0, end));
    CHECK((end - ascii) % 3 == 0);
    CHECK(end > 190);
  }
}

TEST_CASE("what is made of files that a group may read is for that group at most, whatever the umask and the file in its place") {
  const TemporaryFolder folder;
  const auto source = folder.path() / "source", other = folder.path() / "other", known = folder.path() / "known";
  for (const auto& path : {source, other, known}) write(path, "old");
  REQUIRE(chmod(source.c_str(), 0640) == 0);
  REQUIRE(chmod(other.c_str(), 0664) == 0);
  REQUIRE(chmod(known.c_str(), 0666) == 0);
  const mode_t before = umask(0);
  const auto mode_after = [&](const fs::path& path, std::vector<fs::path> sources) {
    auto file = NewFile::create(path, Overwrite::kAllow, readers_of(sources));
    REQUIRE(file);
    REQUIRE(file->take_place());
    return mode_of(path);
  };
  CHECK(mode_after(folder.path() / "a", {source}) == 0640);
  CHECK(mode_after(folder.path() / "b", {source, other}) == 0640);
  CHECK(mode_after(folder.path() / "c", {other}) == 0664);
  CHECK(mode_after(known, {source}) == 0640);
  umask(before);
  const pid_t child = fork();  // the limit holds for the whole process
  if (child == 0) {
    umask(022);
    keep_new_files_to(readers_of(std::array{source}));
    auto file = NewFile::create(folder.path() / "d", Overwrite::kAllow, Readers::kAsUsual);
    _exit(file && mode_of(file->beside()) == 0640 && umask(0) == 027 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a process that ends by a signal can remove its new files") {
  const TemporaryFolder folder;
  write(folder.path() / "x", "old");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto first = NewFile::create(folder.path() / "x", Overwrite::kAllow, Readers::kAsUsual);
    auto second = NewFile::create(folder.path() / "y", Overwrite::kRefuse, Readers::kAsUsual);
    if (chdir("/") != 0) _exit(1);
    remove_new_files();
    _exit(first && second ? 0 : 1);  // without running destructors
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(count_in(folder.path()) == 1);
  CHECK(content(folder.path() / "x") == "old");
}

TEST_CASE("a link to what is open, as /dev/stdout is one, is no place for a new file") {
  const TemporaryFolder folder;
  write(folder.path() / "log", "mine");
  const int log = open((folder.path() / "log").c_str(), O_RDWR | O_CLOEXEC);
  int pipe_ends[2] = {-1, -1};
  REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
  for (const int opened : {log, pipe_ends[1]}) {
    const fs::path link = folder.path() / ("stdout" + std::to_string(opened));
    fs::create_symlink("/proc/self/fd/" + std::to_string(opened), link);
    for (const Overwrite overwrite : {Overwrite::kRefuse, Overwrite::kAllow}) {
      const auto file = NewFile::create(link, overwrite, Readers::kAsUsual);
      REQUIRE_FALSE(file);
      CHECK_THAT(file.error().text, contains_text(link.string() + " stands for a file that is open") && contains_text("-o -"));
    }
  }
  for (const int opened : {log, pipe_ends[0], pipe_ends[1]}) close(opened);
  CHECK(content(folder.path() / "log") == "mine");
}
