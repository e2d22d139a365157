// How this process ends after the program that it ran has ended.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "session/ending.h"
#include "support/catch.h"

using namespace lanescope::cli;

namespace {

enum class Program { kRuns, kHasEnded };
constexpr int kCodeOfProgram = 7;

// How a process that runs `work` ends, as a shell sees it.
template <typename Work>
int code_behind(Program program, const Work& work) {
  const pid_t process = fork();
  if (process == 0) {
    std::signal(SIGABRT, SIG_DFL);
    if (program == Program::kHasEnded) keep_code(kCodeOfProgram);
    work();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(process, &status, 0) == process);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void lack_memory() { throw std::bad_alloc(); }

}  // namespace

TEST_CASE("what a thread lacks memory for behind a program's end leaves the exit code to the program") {
  const auto in_thread = [] { std::thread(lack_memory).join(); };
  CHECK(code_behind(Program::kRuns, in_thread) == 128 + SIGABRT);
  CHECK(code_behind(Program::kHasEnded, in_thread) == kCodeOfProgram);
}

TEST_CASE("so does what may not throw, and does") {
  const auto without_exceptions = []() noexcept { lack_memory(); };
  CHECK(code_behind(Program::kRuns, without_exceptions) == 128 + SIGABRT);
  CHECK(code_behind(Program::kHasEnded, without_exceptions) == kCodeOfProgram);
}

TEST_CASE("the code of a program that has ended is kept until it is replaced") {
  const auto kept = [] { _exit(kept_code().value_or(99)); };
  CHECK(code_behind(Program::kRuns, kept) == 99);
  CHECK(code_behind(Program::kHasEnded, kept) == kCodeOfProgram);
  const auto replaced = [] {
    keep_code(0);
    _exit(kept_code().value_or(99));
  };
  CHECK(code_behind(Program::kHasEnded, replaced) == 0);
}

TEST_CASE("what can't be made fails by itself") {
  CHECK(is_made("A thing", [] {}));
  CHECK_FALSE(is_made("A thing", lack_memory));
  CHECK_FALSE(is_made("A thing", [] { throw std::runtime_error("it is not there"); }));
}
