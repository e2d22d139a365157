// Agents that are greeted.
#include "processes/process_table.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// A process that has ended; whoever asks for it by its number finds that it has.
class EndedProcess {
 public:
  EndedProcess() : pid_(fork()) {
    if (pid_ == 0) _exit(0);
    siginfo_t ended{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) == 0);
  }
  ~EndedProcess() { waitpid(pid_, nullptr, 0); }
  EndedProcess(const EndedProcess&) = delete;
  EndedProcess& operator=(const EndedProcess&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// How many processes could not be followed where this one has hung up by the time that it is greeted.
std::uint64_t unfollowed_of(pid_t pid, std::int64_t since) {
  FrameLog log{{}, {}};
  ProcessTable table(log, {}, {}, nullptr, [](const std::string&) {});
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  close(ends[1]);
  Greeting greeting{pid};
  greeting.hello.time = since;
  table.greet(FileDescriptor(ends[0]), greeting, {}, Joining::kWelcome);
  return table.unfollowed();
}

}  // namespace

TEST_CASE("a process that ended while its agent waited for an answer gave all that it had, and others that have hung up did not") {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const EndedProcess ended;
  CHECK(unfollowed_of(ended.pid(), monotonic_now()) == 0);
  CHECK(unfollowed_of(ended.pid(), monotonic_now() - 6 * kSecond) == 1);  // it may have gone on without an answer, and then ended
  CHECK(unfollowed_of(ended.pid(), monotonic_now() + kSecond) == 1);      // by a clock of its own: nothing is known
  CHECK(unfollowed_of(getpid(), monotonic_now()) == 1);                   // it lives, and records nothing from here on
}
