// Messages from children that a recorded process forked and that cannot reach the recorder.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "processes/process_table.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// Does what the agent in such a child does.
void leave_word(channel::LostChildren& lost, std::int32_t process) {
  const std::uint32_t index = lost.count.fetch_add(1);
  lost.named[index].problem = ENOENT;
  lost.named[index].process = process;
}

}  // namespace

TEST_CASE("children that come while the recorder listens no more are not among those that could not be followed") {
  FrameLog log{{}, {}};
  ProcessTable table(log, {}, {}, nullptr, [](const std::string&) {});
  table.add_attached(getpid());
  TargetProcess& process = *table.live().front();
  Result<std::unique_ptr<TargetMemory>> memory = TargetMemory::create(process.instance(), {});
  REQUIRE(memory);
  channel::LostChildren& lost = (*memory)->shared().header().status.lost_children;
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  process.connect(std::move(*memory), FileDescriptor(ends[0]));
  leave_word(lost, 11);
  leave_word(lost, 12);
  table.listen();
  CHECK(table.unfollowed() == 2);
  process.hear_no_more_of_children();
  leave_word(lost, 13);
  table.listen();
  CHECK(table.unfollowed() == 2);
  leave_word(lost, 14);
  table.detach_all();
  CHECK(table.unfollowed() == 2);
  close(ends[1]);
}
