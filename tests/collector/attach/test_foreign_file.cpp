#include "collector/attach/foreign_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::attach;
namespace fs = std::filesystem;

namespace {

std::string content(const std::optional<ForeignFile>& file) {
  REQUIRE(file);
  std::ifstream stream(file->path());
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A process whose root is this folder.
class Confined {
 public:
  explicit Confined(const fs::path& root) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char done = chroot(root.c_str()) == 0 && chdir("/") == 0 ? 'y' : 'n';
      if (write(ready[1], &done, 1) != 1) _exit(1);
      for (;;) pause();
    }
    char done = 'n';
    REQUIRE(read(ready[0], &done, 1) == 1);
    is_confined_ = done == 'y';
    close(ready[0]);
    close(ready[1]);
  }
  ~Confined() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Confined(const Confined&) = delete;
  Confined& operator=(const Confined&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_confined() const { return is_confined_; }

 private:
  pid_t pid_ = 0;
  bool is_confined_ = false;
};

}  // namespace

TEST_CASE("regular files are opened, also through links, and nothing else is") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "text";
  fs::create_symlink("file", folder.path() / "link");
  REQUIRE(mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(content(open_file(file)) == "text");
  CHECK(content(open_file(folder.path() / "link")) == "text");
  CHECK_FALSE(open_file(folder.path() / "link", Links::kRefuseLast));
  CHECK_FALSE(open_file(folder.path() / "pipe"));
  CHECK_FALSE(open_file(folder.path()));
  CHECK_FALSE(open_file("/dev/zero"));
  CHECK_FALSE(open_file("/proc/kmsg"));
  CHECK_FALSE(open_file("/proc/self/status"));
  CHECK_FALSE(open_file(folder.path() / "none"));
  CHECK(content(open_file_of(getpid(), file)) == "text");
  CHECK_FALSE(open_file_of(getpid(), folder.path() / "pipe"));
  CHECK_FALSE(open_file_of(0x7ffffff0, file));
}

TEST_CASE("links of a process's root stay below it") {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path() / "root";
  fs::create_directory(root);
  std::ofstream(folder.path() / "secret") << "secret";
  std::ofstream(root / "own") << "own";
  fs::create_symlink("/own", root / "absolute");
  fs::create_symlink("../../../../../../own", root / "climbing");
  fs::create_symlink("../secret", root / "out");
  fs::create_symlink(folder.path() / "secret", root / "far");
  fs::create_symlink("/proc/self/root", root / "magic");
  const Confined process(root);
  if (!process.is_confined()) {
    WARN("Only root can give a process another root: not tested.");
    return;
  }
  CHECK(content(open_file_of(process.pid(), "/own")) == "own");
  CHECK(content(open_file_of(process.pid(), "/absolute")) == "own");
  CHECK(content(open_file_of(process.pid(), "/climbing")) == "own");
  CHECK_FALSE(open_file_of(process.pid(), "/out"));
  CHECK_FALSE(open_file_of(process.pid(), "/far"));
  CHECK_FALSE(open_file_of(process.pid(), "/magic/etc/passwd"));
  CHECK_FALSE(open_file_of(process.pid(), "/../secret"));
}
