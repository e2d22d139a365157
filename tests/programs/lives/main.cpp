// A target that lives and ends in the given way, after 100 ranges "step" and the lines "out" and "err" on standard output and error. lives WAY [ARGUMENT];
// lives.h names the lists of ways. tests/e2e/lifecycle/ways.cpp has the number of ranges of each way.
//
// If the environment variable LIVES_UNTIL names a file, it first makes ranges "waiting" until that file exists.
//
// If something fails that a way needs, it exits with 99 and says why: nothing can be concluded from that run.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lives.h"

namespace lives {

char** arguments;

void steps(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
}

int number(int otherwise) { return arguments[2] != nullptr ? std::atoi(arguments[2]) : otherwise; }

void must(bool succeeded, const char* what) {
  if (succeeded) return;
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  _exit(99);
}

int code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void wait_for_all() {
  while (wait(nullptr) > 0) {
  }
}

void become(const char* way, const char* argument) {
  execl("/proc/self/exe", arguments[0], way, argument, nullptr);
  _exit(98);
}

int child_with_steps(const std::function<pid_t()>& make) {
  const pid_t child = make();
  if (child == 0) {
    steps(50);
    _exit(2);
  }
  must(child > 0, "a child");
  const int code = code_of(child);
  steps(100);
  return code;
}

namespace {

void wait_for(const char* file) {
  while (access(file, F_OK) != 0) {
    nvtxRangePushA("waiting");
    usleep(2'000);
    nvtxRangePop();
  }
  unsetenv("LIVES_UNTIL");
}

int live(const Way& way) {
  if (const char* file = std::getenv("LIVES_UNTIL")) wait_for(file);
  if (way.begin == Begin::kWithItsWay) return way.live();
  steps(100);
  std::puts("out");
  std::fflush(stdout);
  std::fputs("err\n", stderr);
  return way.live();
}

}  // namespace
}  // namespace lives

int main(int, char** argv) {
  lives::arguments = argv;
  const std::string_view asked = argv[1] != nullptr ? argv[1] : "exit";
  for (const auto& list : {lives::endings(), lives::families(), lives::confinement(), lives::talking()})
    for (const lives::Way& way : list)
      if (way.name == asked) return lives::live(way);
  return 99;
}
