// A link whose other side has gone.
#include <unistd.h>

#include <csignal>

#include "lanescope/remote.pb.h"
#include "link/link.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("writing to a side that is gone neither ends the program nor changes its signals", "[remote][link]") {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  int to_here[2], from_here[2];
  REQUIRE(pipe(to_here) == 0);
  REQUIRE(pipe(from_here) == 0);
  remote::Link link(channel::FileDescriptor{to_here[0]}, channel::FileDescriptor{from_here[1]}, 1u << 20);
  close(from_here[0]);
  link.send(proto::RemotePulse());
  link.move(std::chrono::milliseconds(100));
  CHECK(link.unsent() == 0);
  CHECK(std::signal(SIGPIPE, before) == SIG_DFL);
  close(to_here[1]);
}
