// The folder of sessions, and starts that were requested before their session runs.
#include "session/session_directory.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cli;

namespace {

using Names = std::vector<std::string>;

// The sessions of a user who has none yet.
class OwnSessions {
 public:
  OwnSessions() { setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1); }
  ~OwnSessions() { unsetenv("XDG_RUNTIME_DIR"); }
  [[nodiscard]] std::filesystem::path above() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path place() const { return folder_.path() / "lanescope"; }

 private:
  test::TemporaryFolder folder_;
};

constexpr uid_t kAnother = 1000;

// That nobody enters the folder, and that nothing is made in it, though it is where sessions would be.
void require_refused(const std::filesystem::path& folder) {
  const auto found = session_folder();
  REQUIRE_FALSE(found);
  CHECK_THAT(found.error().text, contains_text("The folder of sessions " + folder.string() + " is not there or not yours alone"));
  CHECK_FALSE(hold_and_open_session("mine"));
  CHECK_FALSE(hold_sessions());
  CHECK(session_names().empty());
  CHECK_FALSE(leave_start("mine", {{"output", "x"}}));
  CHECK(std::filesystem::is_empty(folder));
}

// That another folder is taken than the one in the runtime folder.
void require_elsewhere(const OwnSessions& sessions) {
  const std::string other = "/tmp/lanescope-" + std::to_string(getuid());
  if (const auto found = session_folder()) {
    CHECK(*found == other);
  } else {
    CHECK_THAT(found.error().text, contains_text(other));  // somebody else has it
  }
  CHECK_FALSE(std::filesystem::exists(sessions.place()));
}

}  // namespace

TEST_CASE("the folder of sessions is for its user alone, whatever the mask of modes") {
  const OwnSessions sessions;
  const mode_t before = umask(0);
  const auto folder = session_folder();
  umask(before);
  REQUIRE(folder);
  CHECK(*folder == sessions.place());
  struct stat status {};
  REQUIRE(lstat(folder->c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0700);
  CHECK(status.st_uid == getuid());
}

TEST_CASE("a folder of sessions that others may enter or read, that is a link, or somebody else's, is not used") {
  const OwnSessions sessions;
  SECTION("others may enter or read it") {
    std::filesystem::create_directory(sessions.place());
    const auto mode = GENERATE(0701u, 0710u, 0740u, 0755u, 0777u, 01777u);
    REQUIRE(chmod(sessions.place().c_str(), mode) == 0);
    require_refused(sessions.place());
  }
  SECTION("it is a link to a folder of ours") {
    const test::TemporaryFolder aim;
    REQUIRE(chmod(aim.path().c_str(), 0700) == 0);
    std::filesystem::create_directory_symlink(aim.path(), sessions.place());
    require_refused(sessions.place());
  }
  SECTION("it is somebody else's") {
    if (geteuid() != 0) {
      WARN("Only root can give a folder away: not tested.");
      return;
    }
    std::filesystem::create_directory(sessions.place());
    REQUIRE(chmod(sessions.place().c_str(), 0700) == 0);
    REQUIRE(chown(sessions.place().c_str(), kAnother, kAnother) == 0);
    require_refused(sessions.place());
  }
}

TEST_CASE("no sessions are in a runtime folder that others may change, or that is somebody else's") {
  const OwnSessions sessions;
  SECTION("others may change it") {
    const auto mode = GENERATE(0720u, 0702u, 0777u, 01777u);
    REQUIRE(chmod(sessions.above().c_str(), mode) == 0);
    require_elsewhere(sessions);
  }
  SECTION("it is somebody else's") {
    if (geteuid() != 0) {
      WARN("Only root can give a folder away: not tested.");
      return;
    }
    REQUIRE(chown(sessions.above().c_str(), kAnother, kAnother) == 0);
    require_elsewhere(sessions);
  }
}

TEST_CASE("a start that was left is one launch's, also while that launch begins") {
  const OwnSessions sessions;
  REQUIRE(leave_start("mine", {{"output", "first"}}));
  CHECK(left_starts() == Names{"mine"});
  HeldStart first("mine");
  CHECK(first.message() == nlohmann::json{{"output", "first"}});
  CHECK(left_starts().empty());
  CHECK(HeldStart("mine").message().is_null());
  first.use_up();
  CHECK(HeldStart("mine").message().is_null());
  CHECK_FALSE(take_start_back("mine"));
}

TEST_CASE("a start is left where its launch ends before it began, or is killed") {
  const OwnSessions sessions;
  REQUIRE(leave_start("mine", {{"output", "first"}}));
  { const HeldStart fails("mine"); }
  CHECK(left_starts() == Names{"mine"});

  const pid_t launch = fork();
  REQUIRE(launch >= 0);
  if (launch == 0) {
    const HeldStart start("mine");
    if (!start.message().is_null()) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(launch, &status, 0) == launch);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK(left_starts() == Names{"mine"});
  CHECK(take_start_back("mine"));
  CHECK(left_starts().empty());
}

TEST_CASE("a start that replaces one which a launch holds is for the launch after it") {
  const OwnSessions sessions;
  REQUIRE(leave_start("mine", {{"output", "first"}}));
  HeldStart first("mine");
  REQUIRE(leave_start("mine", {{"output", "second"}}));
  CHECK(first.message() == nlohmann::json{{"output", "first"}});
  first.use_up();
  CHECK(HeldStart("mine").message() == nlohmann::json{{"output", "second"}});
}

TEST_CASE("a file of starts that says nothing is no start") {
  const OwnSessions sessions;
  REQUIRE(leave_start("mine", "no request"));
  CHECK(HeldStart("mine").message().is_null());
  CHECK(left_starts().empty());
}
