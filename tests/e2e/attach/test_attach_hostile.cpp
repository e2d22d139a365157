// Programs of another user that try to get the rights of whoever attaches to them. Needs root.
#include <sys/stat.h>

#include <fstream>

#include "nvtx_program.h"
#include "small_root.h"
#include "support/file_content.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

bool is_root() {
  if (geteuid() == 0) return true;
  WARN("Only root attaches to programs of other users: not tested.");
  return false;
}

// A folder whose contents every user can reach.
class OpenFolder {
 public:
  OpenFolder() { fs::permissions(folder_.path(), fs::perms(0755)); }
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("nothing is made where links of a hostile root lead") {
  if (!is_root()) return;
  const OpenFolder folder;
  const std::string root = make_root(folder.path()).string();
  const fs::path victim = folder.path() / "victim";
  fs::create_directory(victim);
  const auto untouched = fs::last_write_time(victim);
  // An absolute link, which leads the program and us to different places.
  fs::remove(root + "/tmp");
  fs::create_symlink(victim, root + "/tmp");
  fs::create_directories(root + "/var/tmp");
  fs::permissions(root + "/var/tmp", fs::perms(0777));
  NvtxProgram target({"/usr/bin/unshare", "-m", "sh", "-c", "exec chroot --userspec=65534:65534 '" + root + "' /target initialised"});
  std::unique_ptr<session::Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("range seen");
  CHECK(ranges(*end(std::move(recording)), "seen") == 1);
  CHECK(fs::last_write_time(victim) == untouched);
  CHECK(fs::is_empty(root + "/var/tmp"));
  struct stat facts {};
  REQUIRE(stat((folder.path() / "x.trace").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);  // a recording of another user's program is readable only by us
  target.check_end(1);
}

TEST_CASE("a descriptor that the program names in place of what was asked for is not used") {
  if (!is_root()) return;
  const OpenFolder folder;
  const fs::path victim = folder.path() / "victim";
  std::ofstream(victim) << "precious";
  const std::string lie = GENERATE("memory", "socket");
  CAPTURE(lie);
  // In a separate mount namespace, so that it does not see our files.
  const fs::path program = folder.path() / "target";
  fs::copy_file(test::program("attach_hostile_target"), program);
  RunningTarget target({"/usr/bin/unshare", "-m", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program.string(), lie, victim.string()});
  REQUIRE(target.read_line() == "ready");
  session::AttachRequest request = attach_request(target.pid(), folder.path() / "x");
  const auto recording = session::Recording::attach(request);
  REQUIRE_FALSE(recording);
  CHECK_THAT(recording.error().text, contains_text(lie == "memory" ? "could not be copied into its memory" : "is something else"));
  CHECK(content(victim) == "precious");
  CHECK(kill(target.pid(), 0) == 0);
}
