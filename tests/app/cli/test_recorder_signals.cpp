// Which signals of a recorder reached its program as well.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "session/recording_watch.h"
#include "support/catch.h"

using namespace lanescope::cli;

namespace {

// In a separate process group: a recorder, a signal to the group, the program's process, and another signal to the group. Exits with the signals that the
// program is said to have received: 1 for the first, 2 for the second.
[[noreturn]] void record_signals() {
  setpgid(0, 0);
  RecorderSignals signals(std::vector<std::string>{"program"});
  kill(0, SIGTERM);
  const pid_t program = fork();
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  signals.note_missed(program);
  kill(0, SIGINT);
  int came = 0;
  while (const std::optional<siginfo_t> signal = signals.next())
    if (!signals.receiver_of(*signal, program)) came |= signal->si_signo == SIGTERM ? 1 : 2;
  kill(program, SIGKILL);
  _exit(came);
}

}  // namespace

TEST_CASE("a signal that came before the program's process was there came to the recorder alone") {
  const pid_t recorder = fork();
  if (recorder == 0) record_signals();
  int status = 0;
  REQUIRE(waitpid(recorder, &status, 0) == recorder);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 2);
}
