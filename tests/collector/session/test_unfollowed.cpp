// How many processes could not be followed, and what is reported about them.
#include "processes/unfollowed/unfollowed.h"

#include <unistd.h>

#include <vector>

#include "support/catch.h"

using namespace lanescope::session;

TEST_CASE("a process that becomes several programs that can't be followed is counted once, and each of them is told of") {
  FrameLog log{{}, {}};
  std::vector<std::string> told;
  UnfollowedProcesses unfollowed(log, [&told](const std::string& sentence) { told.push_back(sentence); });
  const std::string pid = "[" + std::to_string(getpid()) + "]";
  unfollowed.add(pid + " env", "why.");
  unfollowed.add(pid + " python3", "why.");
  CHECK(unfollowed.count() == 1);
  REQUIRE(told.size() == 2);
  CHECK(told[1].starts_with(pid + " python3: "));
  unfollowed.add("[" + std::to_string(getppid()) + "] sh", "why.");
  CHECK(unfollowed.count() == 2);
  // Ended processes may be two that had the same number.
  unfollowed.add("[4000001] make", "why.");
  unfollowed.add("[4000001] cc", "why.");
  CHECK(unfollowed.count() == 4);
  for (int i = 0; i < 100; ++i) unfollowed.add(pid + " sh", "why.");
  CHECK(unfollowed.count() == 4);
  CHECK(told.size() == 16);
}
