// Starts that were requested before their session runs.
#include "session/session_directory.h"

#include <csignal>
#include <cstdlib>

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

TEST_CASE("a folder of sessions that is not this user's alone is not used") {
  const test::TemporaryFolder runtime;
  setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
  const std::filesystem::path folder = runtime.path() / "lanescope";
  REQUIRE(session_folder());
  CHECK(*session_folder() == folder);
  CHECK(std::filesystem::status(folder).permissions() == std::filesystem::perms::owner_all);
  const auto is_refused = [&folder] {
    const auto refused = session_folder();
    return !refused &&
           refused.error().text == "The folder of sessions " + folder.string() + " is not there or not yours alone. Set XDG_RUNTIME_DIR to one that is.";
  };
  for (const auto others : {std::filesystem::perms::group_exec, std::filesystem::perms::others_read, std::filesystem::perms::others_write}) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all | others);
    CHECK(is_refused());
    CHECK_FALSE(hold_and_open_session("mine"));
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  constexpr uid_t kSomebody = 1000;
  if (chown(folder.c_str(), kSomebody, kSomebody) == 0) CHECK(is_refused());
  std::filesystem::rename(folder, runtime.path() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder);
  CHECK(is_refused());
  unsetenv("XDG_RUNTIME_DIR");
}
