// Ranges that a session is told to capture while its program runs.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;

TEST_CASE("a running session captures the ranges that it is told of, one after the other, and none that was taken back") {
  const TemporaryFolder folder;
  const TemporaryFolder messages;
  const auto ask = [&](const std::vector<std::string>& arguments) {
    return run_lanescope(messages.path(), arguments, {{"XDG_RUNTIME_DIR", folder.path().string()}});
  };
  const auto await = [&](const std::string& what) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ask({"sessions"}).output.find(what) == std::string::npos) REQUIRE(std::chrono::steady_clock::now() < give_up);
  };
  const std::filesystem::path agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so";
  setenv("LANESCOPE_AGENT", agent.c_str(), 1);
  NvtxProgram target({program("lanescope").string(), "profile", "--arm", "--", program("attach_nvtx_target").string(), "initialised"});
  LanescopeProcess session(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-Y", "-p", "usual"});
  await("Waiting");
  const auto file = [&](const std::string& name) { return messages.path() / (name + ".trace"); };

  // The default range of the session.
  CHECK(ask({"start", "-c", "nvtx", "--capture-range-end=stop", "-o", "usual"}).code == 0);
  CHECK(ask({"start"}).code == 1);  // it already waits
  target.obey("range other");
  target.obey("range usual");
  await("Waiting");
  target.obey("range usual");
  const auto usual = load(file("usual"));
  CHECK(ranges(*usual, "usual") == 1);
  CHECK(ranges(*usual, "other") == 0);

  // Another range, several times; then on request.
  CHECK(ask({"start", "-c", "nvtx", "-p", "again", "--capture-range-end=repeat:2", "-o", "again"}).code == 0);
  for (int round = 0; round < 3; ++round) {
    target.obey("range again");
    target.obey("range usual");
    await("Waiting");
  }
  for (const char* name : {"again.1", "again.2"}) {
    const auto part = load(file(name));
    CHECK(ranges(*part, "again") == 1);
    CHECK(ranges(*part, "usual") == 0);
  }
  CHECK_FALSE(std::filesystem::exists(file("again.3")));
  CHECK(ask({"start", "-o", "asked"}).code == 0);
  target.obey("range again");
  target.obey("range usual");
  CHECK(ask({"stop"}).code == 0);
  CHECK(ranges(*load(file("asked")), "again") == 1);
  CHECK(ranges(*load(file("asked")), "usual") == 1);

  // A capture that is cancelled.
  CHECK(ask({"start", "-c", "nvtx", "-p", "late", "-o", "late"}).code == 0);
  const Ran back = ask({"stop"});
  CHECK(back.code == 0);
  CHECK_THAT(back.messages, contains_text("The range had not begun"));
  target.obey("range late");
  CHECK_FALSE(std::filesystem::exists(file("late")));
  CHECK(ask({"stop"}).code == 1);
  CHECK(ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 0);
  target.check_end(12);
}

namespace {

// The child of a recorder that runs this program; 0 if there is none.
pid_t child_that_runs(pid_t recorder, const std::filesystem::path& program) {
  std::ifstream children("/proc/" + std::to_string(recorder) + "/task/" + std::to_string(recorder) + "/children");
  std::error_code ignored;
  for (pid_t child = 0; children >> child;)
    if (std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", ignored) == program) return child;
  return 0;
}

}  // namespace

TEST_CASE("a program that was started to be recorded can't be taken by another recorder before its first event") {
  const TemporaryFolder folder;
  NvtxProgram target({program("lanescope").string(), "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", folder.path() / "first",
                      program("attach_nvtx_target").string(), "fresh"});
  const pid_t program_of_first = child_that_runs(target.pid(), std::filesystem::canonical(program("attach_nvtx_target")));
  REQUIRE(program_of_first != 0);
  for (const int recorder_does : {SIGCONT, SIGSTOP}) {  // a stopped one does not answer
    CAPTURE(recorder_does);
    kill(target.pid(), recorder_does);
    const Ran second =
        run_lanescope(folder.path(), {"attach", std::to_string(program_of_first), "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-d", "1", "-o", "second"});
    CHECK(second.code == 1);
    CHECK_THAT(second.messages, contains_text("another recording of it is under way"));
  }
  kill(target.pid(), SIGCONT);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "second.trace"));
  target.obey("range usual");
  target.check_end(1);
  CHECK(ranges(*load(folder.path() / "first.trace"), "usual") == 1);
}
