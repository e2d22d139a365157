#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "collector/session/inheritance.h"
#include "support/catch.h"

using namespace lanescope::session;

namespace {

enum class Descriptor { kClosed, kGoesToPrograms, kStaysHere };

Descriptor state_of(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  if (flags < 0) return Descriptor::kClosed;
  return (flags & FD_CLOEXEC) != 0 ? Descriptor::kStaysHere : Descriptor::kGoesToPrograms;
}

}  // namespace

TEST_CASE("a program gets the descriptors that its recorder was given, and none that the recorder has opened") {
  constexpr int kGiven = 40;
  constexpr int kOpenedBelow = 39;
  constexpr int kOpenedAbove = 41;
  constexpr int kOpenedLast = 1'023;
  const pid_t child = fork();
  if (child == 0) {  // in a child, because keeping is permanent in a process
    for (int descriptor = STDERR_FILENO + 1; descriptor < 1'024; ++descriptor) close(descriptor);
    close(STDIN_FILENO);
    dup2(STDOUT_FILENO, kGiven);
    keep_inheritance();
    for (const int opened : {kOpenedBelow, kOpenedAbove, kOpenedLast}) dup2(STDOUT_FILENO, opened);  // without O_CLOEXEC, as std::ifstream opens them
    give_back_inheritance();
    const bool is_right = state_of(STDIN_FILENO) == Descriptor::kClosed && state_of(STDOUT_FILENO) == Descriptor::kGoesToPrograms &&
                          state_of(kGiven) == Descriptor::kGoesToPrograms && state_of(kOpenedBelow) == Descriptor::kStaysHere &&
                          state_of(kOpenedAbove) == Descriptor::kStaysHere && state_of(kOpenedLast) == Descriptor::kStaysHere;
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a recorder that lets go keeps no descriptor open that its program was given, nor a lock of it") {
  const pid_t child = fork();
  if (child == 0) {  // in a child, because keeping is permanent in a process
    constexpr int kGiven = 40;
    constexpr int kEnd = 41;
    int ends[2];
    int gate[2];
    char path[] = "/tmp/lanescope-lock-XXXXXX";
    struct flock whole {};
    whole.l_type = F_WRLCK;
    const int file = mkstemp(path);
    unlink(path);
    if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(gate, O_CLOEXEC) != 0 || dup2(file, kGiven) < 0 || dup2(ends[1], kEnd) < 0) _exit(2);
    close(file);
    close(ends[1]);
    if (fcntl(kGiven, F_SETLK, &whole) != 0) _exit(3);
    keep_inheritance();
    const pid_t program = fork();
    if (program == 0) {
      char go = 0;
      close(gate[1]);
      close(ends[0]);
      if (read(gate[0], &go, 1) != 1) _exit(4);
      give_back_inheritance();
      close(kEnd);
      _exit(state_of(kGiven) == Descriptor::kGoesToPrograms && fcntl(kGiven, F_SETLK, &whole) == 0 ? 0 : 5);
    }
    let_go_of_other_descriptors();
    if (state_of(kGiven) != Descriptor::kClosed || state_of(kEnd) != Descriptor::kClosed || inherited(kGiven)) _exit(6);
    if (write(gate[1], "g", 1) != 1) _exit(7);
    char nothing = 0;
    if (read(ends[0], &nothing, 1) != 0) _exit(8);  // the end of the pipe, once the program has closed it
    int status = 0;
    waitpid(program, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a program gets the timers that its recorder was given, which a fork does not pass on") {
  const pid_t child = fork();
  if (child == 0) {  // in a child, because keeping is permanent in a process
    constexpr std::array kTimers{ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    const itimerval given{{0, 0}, {1'000, 0}};
    for (const auto timer : kTimers) setitimer(timer, &given, nullptr);
    keep_inheritance();
    const pid_t program = fork();
    if (program == 0) {
      give_back_inheritance();
      bool is_right = true;
      for (const auto timer : kTimers) {
        itimerval got{};
        is_right = is_right && getitimer(timer, &got) == 0 && got.it_value.tv_sec > 900 && got.it_value.tv_sec <= 1'000;
      }
      _exit(is_right ? 0 : 1);
    }
    int status = 0;
    waitpid(program, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a program gets orphans if its recorder was to get them, which then gets none") {
  const pid_t child = fork();
  if (child == 0) {  // in a child, because keeping is permanent in a process
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    keep_inheritance();
    const auto gets_orphans = [] {
      int gets = 0;
      return prctl(PR_GET_CHILD_SUBREAPER, &gets) == 0 && gets != 0;
    };
    const bool recorder_gets = gets_orphans();
    const pid_t program = fork();
    if (program == 0) {
      give_back_inheritance();
      _exit(gets_orphans() ? 0 : 1);
    }
    int status = 0;
    waitpid(program, &status, 0);
    _exit(WIFEXITED(status) && !recorder_gets ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a recorder has room on its stacks though its program may have little, and the program has what it was given") {
  const pid_t child = fork();
  if (child == 0) {  // in a child, because keeping is permanent in a process
    constexpr rlim_t kLittle = 128u << 10, kUsual = 8u << 20;
    rlimit given{};
    getrlimit(RLIMIT_STACK, &given);
    const rlim_t most = given.rlim_max;
    given.rlim_cur = kLittle;
    setrlimit(RLIMIT_STACK, &given);
    pthread_attr_t little;
    pthread_attr_init(&little);
    pthread_attr_setstacksize(&little, kLittle);
    pthread_setattr_default_np(&little);  // as the C library does when a process starts with that limit
    keep_inheritance();
    std::size_t of_threads = 0;
    pthread_getattr_default_np(&little);
    pthread_attr_getstacksize(&little, &of_threads);
    rlimit own{}, of_program{};
    getrlimit(RLIMIT_STACK, &own);
    give_back_inheritance();
    getrlimit(RLIMIT_STACK, &of_program);
    _exit(own.rlim_cur == std::min(most, kUsual) && of_threads >= (1u << 20) && of_program.rlim_cur == kLittle && of_program.rlim_max == most ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
