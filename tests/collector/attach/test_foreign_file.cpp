#include "collector/attach/foreign_file.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

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

// A file system of FUSE that a user mounted. It has one file, of which it says that it is root's.
class MountedByUser {
 public:
  MountedByUser(const fs::path& folder, uid_t user) : folder_(folder), device_(open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    const std::string by = std::to_string(user);
    const std::string options = "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=" + by + ",group_id=" + by + ",allow_other";
    is_mounted_ = device_.valid() && mount("mounted", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
    if (!is_mounted_) return;
    server_ = fork();
    if (server_ != 0) return;
    while (serve()) {
    }
    _exit(0);
  }
  ~MountedByUser() {
    if (!is_mounted_) return;
    umount2(folder_.c_str(), MNT_DETACH);
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
  }
  MountedByUser(const MountedByUser&) = delete;
  MountedByUser& operator=(const MountedByUser&) = delete;
  [[nodiscard]] bool is_mounted() const { return is_mounted_; }

 private:
  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr attributes{};
    attributes.ino = node;
    attributes.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
    attributes.nlink = 1;
    return attributes;
  }
  template <typename Body>
  bool answer(const fuse_in_header& question, const Body& body) const {
    struct {
      fuse_out_header head;
      Body body;
    } message{{sizeof(fuse_out_header) + sizeof(Body), 0, question.unique}, body};
    return write(device_.get(), &message, message.head.len) > 0;
  }
  // Answers one question. Returns false at the end.
  [[nodiscard]] bool serve() const {
    constexpr std::size_t kMostBytes = 1u << 17;
    std::vector<char> bytes(kMostBytes);
    if (read(device_.get(), bytes.data(), bytes.size()) < static_cast<ssize_t>(sizeof(fuse_in_header))) return false;
    fuse_in_header question{};
    std::memcpy(&question, bytes.data(), sizeof(question));
    switch (question.opcode) {
      case FUSE_INIT: {
        fuse_init_out ours{};
        ours.major = FUSE_KERNEL_VERSION;
        ours.minor = FUSE_KERNEL_MINOR_VERSION;
        ours.max_write = 4096;
        return answer(question, ours);
      }
      case FUSE_LOOKUP: {
        fuse_entry_out entry{};
        entry.nodeid = FUSE_ROOT_ID + 1;
        entry.attr = attributes(entry.nodeid);
        return answer(question, entry);
      }
      case FUSE_GETATTR: {
        fuse_attr_out said{};
        said.attr = attributes(question.nodeid);
        return answer(question, said);
      }
      case FUSE_STATFS:
        return answer(question, fuse_statfs_out{});
      case FUSE_OPEN:
        return answer(question, fuse_open_out{});
      case FUSE_FORGET:
        return true;
      default: {
        const fuse_out_header refusal{sizeof(fuse_out_header), -ENOSYS, question.unique};
        return write(device_.get(), &refusal, sizeof(refusal)) > 0;
      }
    }
  }

  fs::path folder_;
  channel::FileDescriptor device_;
  bool is_mounted_ = false;
  pid_t server_ = 0;
};

}  // namespace

TEST_CASE("files of another user's FUSE are not opened, whoever they say that they belong to") {
  const uid_t user = GENERATE(uid_t{0}, uid_t{1000});
  const test::TemporaryFolder folder;
  const MountedByUser mounted(folder.path(), user);
  if (!mounted.is_mounted()) {
    WARN("FUSE can't be mounted here: not tested.");
    return;
  }
  const std::string file = folder.path() / "file";
  struct stat facts {};
  REQUIRE(stat(file.c_str(), &facts) == 0);
  REQUIRE(facts.st_uid == 0);
  CHECK(open_file(file).has_value() == (user == 0));
  CHECK(open_file_of(getpid(), file).has_value() == (user == 0));
}

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
