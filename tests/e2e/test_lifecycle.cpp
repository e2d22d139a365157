// How programs and recordings end: in each case the program behaves as without a recorder, and the file can be opened and describes its contents.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string endings() { return program("lanescope_program_endings").string(); }
std::string lives() { return program("lanescope_program_lives").string(); }
std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

struct Ending {
  std::vector<std::string> arguments;
  std::uint64_t steps;
  std::size_t processes;  // at least: with -t osrt, processes that only fork count, too
  ProcessEndKind kind;    // of the last process
};

}  // namespace

TEST_CASE("a child that is killed while it joins the recording is one process, which is its parent's program and begins behind it") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx,osrt", "-o", "x", lives(), "killed-children", "100"});
  CHECK(ran.code == 7);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->processes().size() == 101);
  std::uint32_t first = 0;
  for (const Process& process : trace->processes())
    if (!process.forked) first = process.pid;
  std::size_t long_lives = 0;
  for (const Process& process : trace->processes()) {
    CAPTURE(process.pid, process.name, process.start, process.end.value_or(-1));
    CHECK(process.name == "lanescope_program_lives");
    CHECK(process.start <= process.end.value_or(process.start - 1));
    CHECK(process.end_kind != ProcessEndKind::kReplaced);
    if (!process.forked) continue;
    CHECK(process.parent_pid == first);
    long_lives += process.end.value_or(0) - process.start < 1'000'000'000 ? 0 : 1;
  }
  CHECK(long_lives < 50);  // they take 1 to 4 ms; a busy machine holds some up
}

TEST_CASE("however a program ends, it ends as without us and its ranges are in the file") {
  const auto each =
      GENERATE(values<Ending>({{{"exit"}, 100, 1, ProcessEndKind::kExited},           {{"_exit"}, 100, 1, ProcessEndKind::kExited},
                               {{"quick_exit"}, 100, 1, ProcessEndKind::kExited},     {{"abort"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"segv"}, 100, 1, ProcessEndKind::kSignaled},         {{"chained"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"fault"}, 100, 1, ProcessEndKind::kSignaled},        {{"bus"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"ill"}, 100, 1, ProcessEndKind::kSignaled},          {{"fpe"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"fault-thread"}, 100, 1, ProcessEndKind::kSignaled}, {{"overflow"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"survives"}, 100, 1, ProcessEndKind::kExited},       {{"refused"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"term"}, 100, 1, ProcessEndKind::kSignaled},         {{"kill"}, 100, 1, ProcessEndKind::kSignaled},
                               {{"exec"}, 200, 2, ProcessEndKind::kExited},           {{"children", "200"}, 100 + 200 * 100, 201, ProcessEndKind::kExited},
                               {{"forkserver"}, 600, 6, ProcessEndKind::kExited},     {{"double-fork"}, 200, 2, ProcessEndKind::kExited},
                               {{"daemon"}, 200, 2, ProcessEndKind::kExited}}));
  const std::string traced = GENERATE("nvtx", "cuda,nvtx,osrt");
  CAPTURE(each.arguments[0], traced);
  std::vector<std::string> command{endings()};
  command.insert(command.end(), each.arguments.begin(), each.arguments.end());
  const Ran alone = run_alone(command);

  const TemporaryFolder folder;
  std::vector<std::string> arguments{"profile", "-t", traced, "--cpuctxsw=none", "--sample=none", "-o", "x"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == each.steps);
  CHECK(trace->processes().size() >= each.processes);
  CHECK(trace->processes().back().end_kind == each.kind);
  for (const Process& process : trace->processes()) CHECK(process.completeness.dropped == 0);
}

TEST_CASE("a program that crashes is said to have, in which thread and where") {
  struct Crash {
    std::string how;
    std::string signal;
    std::string address;  // if it is known
  };
  const auto each = GENERATE(values<Crash>({{"fault", "SIGSEGV", "0x10"},
                                            {"chained", "SIGSEGV", "0x10"},
                                            {"bus", "SIGBUS", "0x"},
                                            {"ill", "SIGILL", ""},
                                            {"fpe", "SIGFPE", ""},
                                            {"fault-thread", "SIGSEGV", "0x10"},
                                            {"abort", "SIGABRT", ""},
                                            {"refused", "SIGABRT", ""}}));
  CAPTURE(each.how);
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-o", "x", endings(), each.how}).code >= 128);
  const auto trace = load(folder.path() / "x.trace");
  const Process& process = trace->processes()[0];
  std::uint32_t expected = process.pid;  // the first thread's number is the process's
  for (const Thread& thread : trace->threads())
    if (each.how == "fault-thread" && thread.name == "culprit") expected = thread.tid;
  CHECK((expected != process.pid) == (each.how == "fault-thread"));
  CHECK(process.crash_thread == expected);
  const std::string place = each.address.empty() ? "" : ", at address " + each.address;
  const Ran info = run_lanescope(folder.path(), {"info", "x.trace"});
  CHECK_THAT(info.output, contains_text("ended by " + each.signal + " in thread " + std::to_string(expected) + place));
}

TEST_CASE("a signal that ends a program from outside came to none of its threads") {
  const TemporaryFolder folder;
  for (const char* how : {"kill", "term", "survives"}) {
    run_lanescope(folder.path(), {"profile", "-f", "-o", "x", endings(), how});
    CHECK(load(folder.path() / "x.trace")->processes()[0].crash_thread == 0);
  }
}

TEST_CASE("a program whose host is killed lives on, prints, and ends as it would have") {
  const TemporaryFolder folder;
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);  // so that this process notices its end
  LanescopeProcess recording(folder.path(), {"profile", "-t", "cuda,nvtx,osrt", "-o", "cut", endless(), "5"});
  recording.wait_for_line("ready");
  const pid_t target = recording.target();
  kill(recording.pid(), SIGKILL);
  CHECK(recording.wait() == 128 + SIGKILL);
  kill(target, SIGTERM);
  int status = 0;
  REQUIRE(waitpid(target, &status, 0) == target);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  const auto trace = load(folder.path() / "cut.trace");
  CHECK_FALSE(trace->provenance().finished);
  CHECK_FALSE(trace->provenance().condition.empty());
}

TEST_CASE("a worker that is killed does not disturb the others") {
  const TemporaryFolder folder;
  const std::string script = endings() + " kill; " + endings() + " exit";
  const Ran ran = run_lanescope(folder.path(), {"profile", "-o", "x", "sh", "-c", script});
  CHECK(ran.code == 7);
  const auto trace = load(folder.path() / "x.trace");
  REQUIRE(trace->processes().size() == 3);
  CHECK(trace->processes()[1].signal == SIGKILL);
  CHECK(trace->processes()[2].end_kind == ProcessEndKind::kExited);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 200);
}

TEST_CASE("a process that runs on by itself when the recording ends, and has made no call by which it would have joined, is named") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "--sample=none", "--cpuctxsw=none", "-o", "x", lives(), "sleeper"});
  CHECK(ran.code == 7);
  constexpr const char* kTold = "Processes that were started run on, and nothing is recorded of what they do from now on: [";
  REQUIRE_THAT(ran.messages, contains_text(kTold) && !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold) && contains_text("incomplete: processes could not be followed"));
  const pid_t sleeper = std::atoi(ran.messages.c_str() + ran.messages.find(kTold) + std::string_view(kTold).size());
  REQUIRE(sleeper > 0);
  CHECK(kill(sleeper, SIGKILL) == 0);

  // A process whose own agent reports is not named.
  const Ran alone = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "--sample=none", "--cpuctxsw=none", "-o", "y", lives(), "orphan"});
  CHECK_THAT(alone.messages, !contains_text("run on"));
}

TEST_CASE("a process whose threads are observed is waited for, though it has closed all that it shared with the recorder") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "-o", "x", "sh", "-c", "sleep 1 <&- >&- 2>&- & exit 3"});
  CHECK(ran.code == 3);
  const auto trace = load(folder.path() / "x.trace");
  const auto sleeper = std::find_if(trace->processes().begin(), trace->processes().end(), [](const Process& process) { return process.name == "sleep"; });
  if (sleeper == trace->processes().end()) return;  // threads can't be observed here
  CHECK_THAT(ran.messages, !contains_text("run on"));
  CHECK(sleeper->end_kind != ProcessEndKind::kDetached);
  CHECK(sleeper->end.value_or(0) - sleeper->start >= 900'000'000);
}

TEST_CASE("what a killed host leaves behind is cleared away by the next one") {
  const TemporaryFolder folder;
  const auto folders = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) count += entry.path().filename().string().starts_with("lanescope-") ? 1 : 0;
    return count;
  };
  LanescopeProcess killed(folder.path(), {"profile", "-o", "cut", endless()});
  killed.wait_for_line("ready");
  const pid_t target = killed.target();
  kill(killed.pid(), SIGKILL);
  killed.wait();
  CHECK(folders() == 1);
  LanescopeProcess next(folder.path(), {"profile", "-o", "next", endless(), "5"});
  next.wait_for_line("ready");
  CHECK(folders() == 1);  // its own folder
  kill(next.target(), SIGTERM);
  CHECK(next.wait() == 5);
  CHECK(folders() == 0);
  kill(target, SIGKILL);
}
