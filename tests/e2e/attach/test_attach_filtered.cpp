// Programs that a seccomp filter guards.
#include <unistd.h>

#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;

TEST_CASE("a program that the kernel ends for each system call but those that are said to be needed is recorded like others") {
  if (geteuid() != 0) {
    WARN("Filters of others are read by root alone.");
    return;
  }
  const TemporaryFolder folder;
  NvtxProgram target("filtered");
  auto recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("range before");
  target.obey("threads 20");
  target.obey("burst 200000");
  target.obey("fork");
  target.obey("range after");
  const auto trace = end(std::move(recording));
  CHECK(ranges(*trace, "before") == 1);
  CHECK(ranges(*trace, "after") == 1);
  CHECK(ranges(*trace, "burst") == 200'000);
  CHECK(ranges(*trace, "on thread") == 20);
  CHECK(ranges(*trace, "in child") == 1);
  target.check_end(200'023);
}
