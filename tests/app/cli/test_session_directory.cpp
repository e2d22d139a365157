// Starts that were requested before their session runs, and the folder in which sessions are found.
#include "session/session_directory.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

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

  [[nodiscard]] std::filesystem::path runtime() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path sessions() const { return folder_.path() / "lanescope"; }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

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

namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// Nothing is left in the folder or read from it.
void check_refused(const std::filesystem::path& folder) {
  const auto refused = session_folder();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text == "The folder of sessions " + folder.string() + " is not there or not yours alone. Set XDG_RUNTIME_DIR to one that is.");
  CHECK_FALSE(hold_sessions());
  CHECK_FALSE(leave_start("mine", {{"output", "first"}}));
  CHECK(left_starts().empty());
  CHECK(HeldStart("theirs").message().is_null());
  CHECK_FALSE(take_start_back("theirs"));
}

// As it would be if it were a request.
void put_start_of_another(const std::filesystem::path& folder) { std::ofstream(folder / "theirs.start") << R"({"output": "theirs"})"; }

}  // namespace

TEST_CASE("the folder of sessions is made for its user alone, whatever the mask is") {
  const OwnSessions sessions;
  const mode_t before = umask(0);
  const auto folder = session_folder();
  umask(before);
  REQUIRE(folder);
  CHECK(*folder == sessions.sessions());
  CHECK(mode_of(*folder) == 0700);
}

TEST_CASE("a folder of sessions that others may enter, a link, or no folder is not used") {
  const OwnSessions sessions;
  std::filesystem::create_directory(sessions.sessions());
  for (const mode_t mode : {0755, 0770, 0701, 0720, 0704}) {
    INFO(mode);
    chmod(sessions.sessions().c_str(), 0700);
    put_start_of_another(sessions.sessions());
    chmod(sessions.sessions().c_str(), mode);
    check_refused(sessions.sessions());
    CHECK(mode_of(sessions.sessions()) == mode);
  }
  chmod(sessions.sessions().c_str(), 0700);
  CHECK(left_starts() == Names{"theirs"});  // which it would have been

  const std::filesystem::path elsewhere = sessions.runtime() / "elsewhere";
  std::filesystem::rename(sessions.sessions(), elsewhere);
  std::filesystem::create_symlink(elsewhere, sessions.sessions());
  check_refused(sessions.sessions());
  std::filesystem::remove(sessions.sessions());
  std::ofstream(sessions.sessions()).flush();
  check_refused(sessions.sessions());
  CHECK(Names{"theirs.start"} == [&] {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(elsewhere)) names.push_back(entry.path().filename());
    return names;
  }());
}

TEST_CASE("a folder of sessions of another user is not used, nor made in that user's folder") {
  if (geteuid() != 0) return;  // only root can give folders away
  constexpr uid_t kNobody = 65534;
  const OwnSessions sessions;
  std::filesystem::create_directory(sessions.sessions());
  chmod(sessions.sessions().c_str(), 0700);
  put_start_of_another(sessions.sessions());
  REQUIRE(chown(sessions.sessions().c_str(), kNobody, kNobody) == 0);
  check_refused(sessions.sessions());

  std::filesystem::remove_all(sessions.sessions());
  REQUIRE(chown(sessions.runtime().c_str(), kNobody, kNobody) == 0);
  const auto folder = session_folder();
  CHECK((!folder || *folder == "/tmp/lanescope-0"));
  CHECK(std::filesystem::is_empty(sessions.runtime()));
}
