// A program that another one replaces (exec) while it is attached to is no longer recorded, and that is reported.
#include <signal.h>
#include <sys/syscall.h>

#include "collector/cpu/access.h"
#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;

// Lets a shell that waits for a line continue while it is recorded, and ends the recording after the recorder reported what it cannot follow.
static void record_until_unfollowed(const RunningTarget& shell, const LanescopeProcess& recorder) {
  recorder.wait_for_message("Recording process");
  shell.send("go\n");
  recorder.wait_for_message("could not be followed, so nothing is recorded");
  kill(recorder.pid(), SIGINT);
}

TEST_CASE("of a program that becomes another one nothing more is recorded, and that is said") {
  const TemporaryFolder folder;
  RunningTarget target({"/bin/sh", "-c", "read line; exec sleep 60"});
  target.wait_until_in(SYS_read);
  LanescopeProcess recorder(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx,osrt", "-o", "x"});
  record_until_unfollowed(target, recorder);
  CHECK(recorder.wait() == 1);
  const std::string who = "[" + std::to_string(target.pid()) + "] sleep: this process could not be followed";
  CHECK_THAT(recorder.messages(), contains_text(who) && contains_text("became another program (exec)") && contains_text("1 process could not be followed"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text("processes could not be followed") && contains_text(who));
}

TEST_CASE("a program that a process starts while it is attached to is not recorded, and that is said; those from before are seen from outside alone") {
  const TemporaryFolder folder;
  RunningTarget target({"/bin/sh", "-c", "sleep 61 & read line; sleep 62 & wait"});
  target.wait_until_in(SYS_read);
  LanescopeProcess recorder(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx,osrt", "-o", "x"});
  record_until_unfollowed(target, recorder);
  CHECK(recorder.wait() == 0);
  CHECK_THAT(recorder.messages(), contains_text("] sleep: this process could not be followed, so nothing is recorded"));
  const bool are_seen = cpu::probe_access().own_processes;
  CHECK_THAT(recorder.messages(), contains_text(are_seen ? "2 processes could not be followed" : "1 process could not be followed"));
  CHECK((recorder.messages().find("it ran already when lanescope attach came") != std::string::npos) == are_seen);
}

TEST_CASE("programs that live for a moment are told of, each of them, where threads are recorded") {
  if (!cpu::probe_access().own_processes) {
    WARN("threads can't be recorded here: not tried");
    return;
  }
  const TemporaryFolder folder;
  RunningTarget target({"/bin/sh", "-c", "read line; for i in 1 2 3 4 5 6 7; do /bin/true; done; read line; exec /bin/true"});
  target.wait_until_in(SYS_read);
  LanescopeProcess recorder(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx,osrt", "-s", "none", "-o", "x"});
  recorder.wait_for_message("Recording process");
  target.send("go\n");
  target.wait_until_in(SYS_read);
  target.send("go\n");
  CHECK(recorder.wait() == 1);
  CHECK_THAT(recorder.messages(), contains_text("8 processes could not be followed") && contains_text("became another program (exec)") &&
                                      contains_text("[" + std::to_string(target.pid()) + "] true: this process could not be followed"));
}
