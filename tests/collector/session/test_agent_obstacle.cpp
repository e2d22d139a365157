// What is reported about programs that the agent cannot be loaded into.
#include "processes/agent_obstacle.h"

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
