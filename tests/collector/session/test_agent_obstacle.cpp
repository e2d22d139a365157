// What is reported about programs that the agent cannot be loaded into.
#include "processes/unfollowed/agent_obstacle.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::session;

TEST_CASE("a program that runs through its loader is not taken for one without, and one that is linked statically has none") {
  const std::filesystem::path loader = "/lib64/ld-linux-x86-64.so.2";
  if (std::filesystem::exists(loader)) CHECK_FALSE(agent_obstacle(getpid(), std::filesystem::canonical(loader)));
  CHECK_FALSE(agent_obstacle(getpid(), std::filesystem::read_symlink("/proc/self/exe")));
  CHECK(agent_obstacle(getpid(), test::program("attach_target_static")) == "it is linked statically");
}

TEST_CASE("a program that gets rights from its file has a loader that ignores LD_PRELOAD") {
  constexpr gid_t kOther = 65'534;
  if (geteuid() != 0) return;  // only root may give a file to a group in which it is not
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "program";
  std::filesystem::copy_file(test::program("lanescope_program_endings"), file);
  REQUIRE(chown(file.c_str(), 0, kOther) == 0);
  CHECK_FALSE(agent_obstacle(getpid(), file));
  REQUIRE(chmod(file.c_str(), 02755) == 0);
  CHECK_THAT(agent_obstacle(getpid(), file).value_or(""), contains_text("its loader ignores LD_PRELOAD"));
}
