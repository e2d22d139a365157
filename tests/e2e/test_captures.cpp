// Which part of a run is recorded: ranges, repeats, sessions steered from elsewhere.
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "model/file/trace_file.h"
#include "model/trace/load.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string captures() { return program("lanescope_program_nvtx_captures").string(); }
std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

// What a file holds of one round of nvtx_captures.
struct Captured {
  std::uint64_t wanted = 0;
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  bool operator==(const Captured&) const = default;
};
Captured captured(const std::filesystem::path& file) {
  const auto trace = load(file);
  CHECK(trace->provenance().finished);
  return {count_events(*trace, TrackKind::kNvtxRanges, "wanted") + count_events(*trace, TrackKind::kNvtxProcessRanges, "wanted"),
          count_events(*trace, TrackKind::kNvtxRanges, "inside"), count_events(*trace, TrackKind::kNvtxMarks, "outside")};
}
constexpr Captured kOneRound{1, 20, 0};

}  // namespace

TEST_CASE("the range that is captured is recorded whole, and nothing else, plain or registered") {
  struct Case {
    std::string kind;
    std::string range;
  };
  const auto each = GENERATE(values<Case>({{"plain", "wanted"},
                                           {"plain", "wanted@*"},
                                           {"start", "wanted"},
                                           {"left", "wanted"},
                                           {"ascii", "wanted@app"},
                                           {"registered", "wanted@app"},
                                           {"registered", "wanted@*"}}));
  CAPTURE(each.kind, each.range);
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-c", "nvtx", "-p", each.range, "--capture-range-end=stop", "-o", "x", captures(), each.kind, "3"});
  CHECK(ran.code == 3);  // it continued to its end
  CHECK(ran.output == "done\n");
  const Captured found = captured(folder.path() / "x.trace");
  CHECK(found.wanted == 1);
  CHECK(found.inside == 20);
  CHECK(found.outside == 0);
}

TEST_CASE("a range in another domain begins no capture, and no file is made") {
  const TemporaryFolder folder;
  struct Case {
    std::string kind;
    std::string range;
    std::string awaited;
  };
  for (const Case& each : {Case{"plain", "wanted@app", "the NVTX range \"wanted\" in the domain \"app\""},
                           Case{"registered", "wanted", "the NVTX range \"wanted\" in the default domain"},
                           Case{"plain", "want", "the NVTX range \"want\" in the default domain"}}) {
    const Ran ran = run_lanescope(folder.path(), {"profile", "-c", "nvtx", "-p", each.range, "-o", "x", captures(), each.kind});
    CHECK(ran.code == 3);
    CHECK(ran.messages.find("No file was made") != std::string::npos);
    CHECK(ran.messages.find("One begins with " + each.awaited) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "x.trace"));
  }
  std::ofstream(folder.path() / "x.trace") << "of before";
  const Ran without = run_lanescope(folder.path(), {"profile", "-c", "cudaProfilerApi", "-f", "-o", "x", captures(), "plain"});
  CHECK(without.messages.find("x.trace is an earlier recording, which stays") != std::string::npos);
  CHECK(without.messages.find("No file was made") != std::string::npos);
  CHECK(without.messages.find("cudaProfilerStart()") != std::string::npos);
}

TEST_CASE("at the end of the range the program ends, unless it is to go on") {
  const TemporaryFolder folder;
  const Ran ended = run_lanescope(folder.path(), {"profile", "-c", "nvtx", "-p", "wanted", "-o", "x", captures(), "plain", "100000000"});
  CHECK(ended.code == 128 + SIGTERM);
  CHECK(captured(folder.path() / "x.trace") == kOneRound);
  const Ran whole = run_lanescope(folder.path(), {"profile", "-c", "nvtx", "-p", "wanted", "--capture-range-end", "none", "-o", "y", captures(), "plain", "3"});
  CHECK(whole.code == 3);
  CHECK(captured(folder.path() / "y.trace") == Captured{3, 60, 50});  // all but the marks before the first range
}

TEST_CASE("a program that is ended behind its capture hears of it at once, also where its next range would have been captured") {
  const TemporaryFolder folder;
  for (const char* after : {"stop-shutdown", "repeat-shutdown:3"}) {
    CAPTURE(after);
    LanescopeProcess recording(
        folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-c", "nvtx", "-p", "tick", std::string("--capture-range-end=") + after, "-f",
                        "true", "-o", "x", program("lanescope_program_nvtx_ticking").string(), "-1", "5"});
    recording.wait_for_line("ready");
    CHECK(recording.wait() == 5);
    CHECK_THAT(recording.messages(), !contains_text("still runs"));  // it would be left running after 5 s
  }
}

TEST_CASE("at the end of its duration a script is ended with all of its group, and what has left that is told of") {
  const TemporaryFolder folder;
  const std::string script = "sleep 61 & echo $! > child; setsid sleep 62 & echo $! > left; wait";
  const auto number_in = [&](const char* file) {
    pid_t number = 0;
    std::ifstream(folder.path() / file) >> number;
    return number;
  };
  Ran ran;
  for (int seconds = 1; number_in("left") == 0; seconds *= 2)  // until the script has begun all of it
    ran = run_lanescope(folder.path(),
                        {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true", "-d", std::to_string(seconds), "-o", "x", "sh", "-c", script});
  CHECK(ran.code == 128 + SIGTERM);
  const pid_t left = number_in("left");
  const pid_t child = number_in("child");
  for (int i = 0; i < 500 && kill(child, 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until init has reaped it
  CHECK(kill(child, 0) != 0);
  CHECK(kill(left, SIGKILL) == 0);
  CHECK_THAT(ran.messages, contains_text("run on, and nothing is recorded of what they do from now on: [" + std::to_string(left) + "] sleep."));
}

TEST_CASE("each repeated range is a file of its own, with everything that it refers to") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-c", "nvtx", "-p", "wanted@app", "--capture-range-end=repeat:3", "-o", "part", "--cpuctxsw=none",
                                                "--sample=none", captures(), "registered", "5"});
  CHECK(ran.code == 3);
  for (const char* name : {"part.1.trace", "part.2.trace", "part.3.trace"}) {
    CHECK(captured(folder.path() / name) == kOneRound);
    const auto trace = load(folder.path() / name);
    REQUIRE(trace->processes().size() == 1);
    CHECK(trace->processes()[0].name == "lanescope_program_nvtx_captures");
    CHECK(trace->processes()[0].completeness.produced == 42);  // in this part: a push and a pop for each range
    CHECK(trace->processes()[0].completeness.dropped == 0);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "part.4.trace"));

  // A second recording replaces the files of the first one if it may; otherwise it has further numbers.
  const auto again = [&](std::vector<std::string> more) {
    std::vector<std::string> asked{"profile",         "-c",           "nvtx", "-p", "wanted@app", "--capture-range-end=repeat:2", "-o", "part",
                                   "--cpuctxsw=none", "--sample=none"};
    asked.insert(asked.end(), more.begin(), more.end());
    asked.insert(asked.end(), {captures(), "registered", "5"});
    return run_lanescope(folder.path(), asked).code;
  };
  const auto before = std::filesystem::last_write_time(folder.path() / "part.1.trace");
  CHECK(again({"-f"}) == 3);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "part.4.trace"));
  CHECK(std::filesystem::last_write_time(folder.path() / "part.1.trace") > before);
  CHECK(captured(folder.path() / "part.2.trace") == kOneRound);
  CHECK(again({}) == 3);
  CHECK(captured(folder.path() / "part.5.trace") == kOneRound);

  const Ran ended = run_lanescope(
      folder.path(), {"profile", "-c", "nvtx", "-p", "wanted", "--capture-range-end=repeat-shutdown:2", "-o", "end%n", captures(), "plain", "100000000"});
  CHECK(ended.code == 128 + SIGTERM);
  CHECK(captured(folder.path() / "end2.trace") == kOneRound);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "end3.trace"));
}

TEST_CASE("a program does not wait longer for its next capture than for names of the one before, however long these take") {
  const TemporaryFolder folder;
  const std::filesystem::path slow = folder.path() / "slow-code-names", go = folder.path() / "go";
  std::ofstream(slow) << "#!/bin/sh\nwhile [ ! -e " << go.string() << " ]; do sleep 0.02; done\nexec " << program("lanescope-code-names").string()
                      << " \"$@\"\n";
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const Ran ran = run_lanescope(folder.path(),
                                {"profile", "-o", "x", "-t", "nvtx", "-s", "process-tree", "-c", "nvtx", "-p", "wanted", "--capture-range-end=repeat:2", "sh",
                                 "-c", captures() + " working 2; touch go"},
                                {{"LANESCOPE_CODE_NAMES", slow.string()}});
  CAPTURE(ran.messages);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("The program waited at the start of a capture"));
  CHECK_THAT(ran.messages, !contains_text("the recorder was not ready"));
  for (const char* name : {"x.1.trace", "x.2.trace"}) CHECK(captured(folder.path() / name) == kOneRound);
}

TEST_CASE("with -f, recorders of one name replace what was there before them, and nothing of each other") {
  const TemporaryFolder folder;
  const auto asked = [](const std::string& repeats, const std::string& script) {
    return std::vector<std::string>{"profile", "-f",   "true", "-o",     "run",
                                    "-t",      "nvtx", "-s",   "none",   "--cpuctxsw=none",
                                    "-c",      "nvtx", "-p",   "wanted", "--capture-range-end=repeat:" + repeats,
                                    "sh",      "-c",   script};
  };
  const auto identity = [&](int number) { return identity_of(folder.path() / ("run." + std::to_string(number) + ".trace")); };
  const auto wait_for = [](const std::string& file) { return "while [ ! -e " + file + " ]; do sleep 0.02; done"; };
  const std::string makes = captures() + " plain 5";
  REQUIRE(run_lanescope(folder.path(), asked("3", makes)).code == 3);
  const auto old = identity(3);
  REQUIRE(old);
  REQUIRE_FALSE(identity(4));

  // It begins first, and its captures come when the other one has ended.
  LanescopeProcess early(folder.path(), asked("2", threads_program() + " >threads; echo ready; " + wait_for("begin") + "; " + makes));
  early.wait_for_line("ready");
  const auto before = identity(1);
  const Ran other = run_lanescope(folder.path(), asked("2", makes));
  REQUIRE(other.code == 3);
  CHECK_THAT(other.messages, contains_text("Replaced of an earlier recording, as -f asks: " + (folder.path() / "run.1.trace").string() + " and 1 more.") &&
                                 contains_text("fewer captures: " + (folder.path() / "run.3.trace").string() + "."));
  const auto first = identity(1), second = identity(2);
  CHECK(first != before);
  std::ofstream(folder.path() / "begin") << "x";
  CHECK(early.wait() == 3);
  CHECK_THAT(early.messages(), contains_text("run.1.trace was made by another recording, which still runs or began after this one; this one goes to " +
                                             (folder.path() / "run.4.trace").string()));
  CHECK(identity(1) == first);
  CHECK(identity(2) == second);
  CHECK(identity(3) == old);
  CHECK(captured(folder.path() / "run.4.trace") == kOneRound);
  CHECK(captured(folder.path() / "run.5.trace") == kOneRound);

  // It has made its files, and runs on.
  LanescopeProcess late(folder.path(), asked("2", makes + "; echo made; " + wait_for("end")));
  late.wait_for_line("made");
  const auto its = identity(1);
  CHECK(its != first);
  CHECK(run_lanescope(folder.path(), asked("2", makes)).code == 3);
  CHECK(identity(1) == its);
  CHECK(captured(folder.path() / "run.6.trace") == kOneRound);
  std::ofstream(folder.path() / "end") << "x";
  CHECK(late.wait() == 0);
  CHECK(captured(folder.path() / "run.2.trace") == kOneRound);
}

TEST_CASE("a ring gives up what is older than it keeps while its program runs") {
  const TemporaryFolder folder;
  const auto made_before = [&](std::chrono::milliseconds pause) {
    std::filesystem::remove(folder.path() / "go");
    LanescopeProcess recorder(folder.path(), {"profile", "-f", "true", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "--ring", "0.2", "-o", "x", "sh", "-c",
                                              captures() + " plain 1 >first; echo ready; while [ ! -e go ]; do sleep 0.02; done"});
    recorder.wait_for_line("ready");
    std::this_thread::sleep_for(pause);
    std::ofstream(folder.path() / "go") << "x";
    CHECK(recorder.wait() == 0);
    return captured(folder.path() / "x.trace").inside;
  };
  std::chrono::milliseconds pause(500);
  while (made_before(pause) > 0 && pause < std::chrono::seconds(60)) pause *= 2;  // a busy machine may have read it late
  CHECK(pause < std::chrono::seconds(60));
}

TEST_CASE("a capture holds all of its range where the recorder is not ready at once; a program that waits for one that stands still goes on, which is said") {
  const bool goes_on = GENERATE(true, false);
  CAPTURE(goes_on);
  const TemporaryFolder folder;
  LanescopeProcess recorder(folder.path(), {"profile", "-c", "nvtx", "-p", "wanted", "--capture-range-end=stop", "-o", "x", captures(), "plain", "1",
                                            (folder.path() / "go").string()});
  recorder.wait_for_line("ready");
  const pid_t target = recorder.target();
  kill(recorder.pid(), SIGSTOP);
  siginfo_t stopped{};  // until its last thread is stopped, they may answer
  REQUIRE(waitid(P_PID, static_cast<id_t>(recorder.pid()), &stopped, WSTOPPED) == 0);
  std::ofstream(folder.path() / "go").flush();
  if (goes_on) {
    constexpr unsigned kLongerThanAMoment = 2'000'000;  // µs
    usleep(kLongerThanAMoment);
  } else {
    while (std::filesystem::exists("/proc/" + std::to_string(target) + "/exe")) usleep(10'000);
  }
  kill(recorder.pid(), SIGCONT);
  CHECK(recorder.wait() == 3);
  INFO(recorder.messages());
  constexpr const char* kGaveUp = "A capture was to begin, and the recorder was not ready for it within 10 s";
  if (goes_on) CHECK(captured(folder.path() / "x.trace") == kOneRound);
  CHECK((recorder.messages().find(kGaveUp) != std::string::npos) == !goes_on);
}

TEST_CASE("NVTX domains are recorded as they were chosen") {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& option) {
    REQUIRE(run_lanescope(folder.path(), {"profile", "-f", option, "-o", "x", captures(), "registered"}).code == 3);
    return captured(folder.path() / "x.trace");
  };
  CHECK(run("--nvtx-domain-include=app") == Captured{1, 0, 0});
  CHECK(run("--nvtx-domain-include=default") == Captured{0, 20, 20});
  CHECK(run("--nvtx-domain-exclude=app") == Captured{0, 20, 20});
  CHECK(run("--nvtx-domain-exclude=default,other") == Captured{1, 0, 0});
}

TEST_CASE("a session is started, stopped, cancelled and shut down from elsewhere") {
  const TemporaryFolder folder;
  LanescopeProcess session(folder.path(), {"launch", "--session-new=mine", "-t", "nvtx", endless(), "5"});
  session.wait_for_line("ready");
  const auto ask = [&](std::vector<std::string> arguments) {
    const TemporaryFolder messages;  // the session's own files lie in `folder`
    return run_lanescope(messages.path(), arguments, {{"XDG_RUNTIME_DIR", folder.path().string()}});
  };
  const std::string file = (folder.path() / "one").string();
  CHECK(ask({"stop"}).code == 1);
  CHECK(ask({"start", "-o", file}).code == 0);
  CHECK(ask({"start"}).code == 1);  // one is already running
  CHECK(ask({"sessions", "list"}).output.find("Collection") != std::string::npos);
  CHECK(ask({"stop", "--session=mine"}).code == 0);
  CHECK(load(file + ".trace")->processes()[0].end_kind == ProcessEndKind::kDetached);
  CHECK(kill(session.target(), 0) == 0);

  CHECK(ask({"start", "-o", (folder.path() / "two").string()}).code == 0);
  CHECK(ask({"cancel"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "two.trace"));
  CHECK(ask({"stop", "--session=other"}).code == 2);
  CHECK(ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 5);  // the program ends on SIGTERM as without a recorder
  CHECK(ask({"sessions", "list"}).output.find("mine") == std::string::npos);
}

TEST_CASE("a capture ends when it is stopped, and so does all that is open in it, however long the names of its code take") {
  const TemporaryFolder folder;
  const std::filesystem::path slow = folder.path() / "slow-code-names", go = folder.path() / "go";
  std::ofstream(slow) << "#!/bin/sh\nwhile [ ! -e " << go.string() << " ]; do sleep 0.02; done\nexec " << program("lanescope-code-names").string()
                      << " \"$@\"\n";
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const std::string others = "while kill -0 $$ 2>/dev/null; do " + program("lanescope_program_lives").string() + " exit 0 >/dev/null; echo next; done & ";
  LanescopeProcess session(folder.path(),
                           {"launch", "--session-new=mine", "-t", "nvtx,osrt", "--osrt-backtrace-threshold=1000000", "-s", "none", "--cpuctxsw=none",
                            "--nic-metrics=lf", "--storage-metrics", "sh", "-c", others + "exec " + program("lanescope_program_nvtx_ticking").string()},
                           {{"LANESCOPE_CODE_NAMES", slow.string()}});
  session.wait_for_line("ready");
  const auto ask = [&](std::vector<std::string> arguments) {
    const TemporaryFolder messages;  // the session's own files lie in `folder`
    return run_lanescope(messages.path(), arguments, {{"XDG_RUNTIME_DIR", folder.path().string()}});
  };
  const auto now = [] { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  for (const char* name : {"one", "two"}) {
    CAPTURE(name);
    const std::filesystem::path file = folder.path() / (std::string(name) + ".trace");
    REQUIRE(ask({"start", "-o", file.string()}).code == 0);
    for (bool has_enough = false; !has_enough; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
      const auto so_far = load_trace(file);
      has_enough = so_far && count_events(**so_far, TrackKind::kNvtxRanges, "tick") > 50 && count_events(**so_far, TrackKind::kNvtxRanges, "step") >= 100;
    }
    const TemporaryFolder messages;
    LanescopeProcess stop(messages.path(), {"stop"}, {{"XDG_RUNTIME_DIR", folder.path().string()}});
    // Names are held up until the file is there. The second capture has the same code, whose names are known.
    const bool is_held_up = name == std::string("one");
    while (is_held_up && ask({"sessions", "list"}).output.find("Stopping") == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const Nanoseconds stopped = now();
    if (is_held_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));  // in which the program goes on
      siginfo_t ended{};
      CHECK((waitid(P_PID, static_cast<id_t>(stop.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0));
      std::ofstream(go).flush();
    }
    REQUIRE(stop.wait() == 0);
    const auto trace = load(file);
    const Nanoseconds latest = (is_held_up ? stopped : now()) - trace->provenance().monotonic_epoch;
    CHECK(count_events(*trace, TrackKind::kNvtxRanges, "tick") > 50);
    CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") >= 100);
    CHECK(trace->extent().end <= latest);
    for (const Process& process : trace->processes()) {
      CAPTURE(process.name, process.pid);
      CHECK(process.start <= latest);
      CHECK(process.end.value_or(0) <= latest);
    }
    REQUIRE_FALSE(trace->output().empty());
    CHECK(trace->output().back().time <= latest);
    REQUIRE_FALSE(trace->counters().empty());
    for (CounterId id = 0; id < trace->counters().size(); ++id) CHECK(trace->counter_series(id).extent().end <= latest);
  }
  CHECK(ask({"shutdown"}).code == 0);
}

TEST_CASE("a profile can be stopped from elsewhere; its program runs on") {
  const TemporaryFolder folder;
  LanescopeProcess session(folder.path(), {"profile", "-o", "x", endless(), "5"});
  session.wait_for_line("ready");
  const TemporaryFolder messages;
  CHECK(run_lanescope(messages.path(), {"stop"}, {{"XDG_RUNTIME_DIR", folder.path().string()}}).code == 0);
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "step") == 1'000);
  kill(session.target(), SIGTERM);
  CHECK(session.wait() == 5);
}

TEST_CASE("a program whose captures can have no file is refused before it runs, and one whose file was taken meanwhile has failed") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "x.trace").string();
  const auto record = [&](const std::string& before) {
    return run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-c", "nvtx", "-p", "wanted", "--capture-range-end=stop",
                                         "-o", "x", "sh", "-c", before + captures() + " plain; echo ran"});
  };
  const Ran meanwhile = record("echo other > " + file + "; ");
  CHECK(meanwhile.code == 1);
  CHECK_THAT(meanwhile.output, contains_text("ran"));
  CHECK_THAT(meanwhile.messages, contains_text(file + " exists already") && !contains_text("no capture began"));
  const Ran refused = record("");
  CHECK(refused.code == 1);
  CHECK(refused.output.empty());
  CHECK_THAT(refused.messages, contains_text(file + " exists already"));
}

TEST_CASE("a capture ends where its file has the size that it may have") {
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "--max-file-size=64K", "-w", "false", "-o", "x", "sh", "-c", "head -c 3000000 /dev/urandom | od; exit 2"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.messages,
             contains_text("x.trace has the size that it may have: what comes from now on is not recorded.") && !contains_text("nothing dropped"));
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
  CHECK(load(folder.path() / "x.trace")->provenance().end == RecordingEnd::kFileSize);
  CHECK(std::filesystem::file_size(folder.path() / "x.trace") <= 64u << 10);
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text("Ended         the file had the size that it may have (--max-file-size)"));
}

TEST_CASE("what a full file lacks is said once, and that nothing was dropped is not said beside it") {
  const TemporaryFolder folder;
  const bool is_ring = GENERATE(false, true);
  CAPTURE(is_ring);
  constexpr std::uint64_t kMost = 64u << 10;
  std::vector<std::string> arguments{"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "--max-file-size=64K", "-o", "x"};
  if (is_ring) arguments.push_back("--ring=1000");
  arguments.insert(arguments.end(), {program("lanescope_program_nvtx_bursts").string(), "names", "20000"});
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == 0);
  const auto size = std::filesystem::file_size(folder.path() / "x.trace");
  CHECK(size <= kMost);
  CHECK(size >= kMost / 2);
  CHECK_THAT(ran.messages, !contains_text("dropped") && contains_text(is_ring ? "more had no room in the file" : "has the size that it may have"));
}

TEST_CASE("a ring keeps the last seconds, and names that were told before") {
  const TemporaryFolder folder;
  // The second program's ranges come later than those of the first one by more than the ring's length. On a machine on which the second program takes longer
  // than the ring, or the recorder takes the first one's ranges late, a longer ring shows the same.
  constexpr int kLongest = 16;  // s
  Captured kept;
  for (int seconds = 1; kept != Captured{1, 20, 20} && seconds <= kLongest; seconds *= 2) {
    const std::string script = captures() + " plain; sleep " + std::to_string(2 * seconds) + "; " + captures() + " registered";
    REQUIRE(run_lanescope(folder.path(), {"profile", "-f", "--ring=" + std::to_string(seconds), "-o", "x", "sh", "-c", script}).code == 3);
    kept = captured(folder.path() / "x.trace");
  }
  CHECK(kept == Captured{1, 20, 20});
}

TEST_CASE("a ring that has what it was asked for says that of this part nothing was dropped") {
  const TemporaryFolder folder;
  // On a busy machine the recorder may take the first program's ranges late.
  Ran ran;
  for (int seconds = 2; ran.messages.find("as --ring asks; what came before was not kept.") == std::string::npos; seconds *= 2) {
    REQUIRE(seconds <= 64);
    const std::string script = captures() + " plain; sleep " + std::to_string(seconds) + "; " + captures() + " plain";
    ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-f", "--ring=1", "-o", "x", "sh", "-c", script});
  }
  CHECK_THAT(ran.messages, contains_text(", nothing of that part dropped\n"));
}

TEST_CASE("a recording goes on after the program where it is told to, until its duration is over") {
  const TemporaryFolder folder;
  const auto before = std::chrono::steady_clock::now();
  CHECK(run_lanescope(folder.path(), {"profile", "-x", "false", "-d", "0.5", "-o", "x", "sh", "-c", "exit 4"}).code == 4);
  CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(500));
  CHECK(run_lanescope(folder.path(), {"profile", "-x", "false", "-o", "x", "true"}).code == 2);
}

TEST_CASE("an output that is a folder gets a numbered file") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "there");
  for (const char* output : {"there", "there/", "./there"}) CHECK(run_lanescope(folder.path(), {"profile", "-t", "none", "-o", output, "true"}).code == 0);
  for (const char* name : {"report1.trace", "report2.trace", "report3.trace"}) CHECK(std::filesystem::exists(folder.path() / "there" / name));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "there.trace"));
}

TEST_CASE("options may come from a file") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "options") << "-t nvtx  # only these\n-o 'from file'\n";
  CHECK(run_lanescope(folder.path(), {"profile", "--command-file=options", captures(), "plain"}).code == 3);
  CHECK(captured(folder.path() / "from file.trace") == Captured{1, 20, 20});
  CHECK(run_lanescope(folder.path(), {"profile", "--command-file=missing", "true"}).code == 2);
  CHECK(run_lanescope(folder.path(), {"profile", "--command-file"}).code == 2);
}

TEST_CASE("an option of the program's that is called as one of ours stays the program's") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "options") << "-t none -o x";
  const std::string print = "printf '%s;' \"$@\"";
  const auto printed = [&](std::vector<std::string> arguments) { return run_lanescope(folder.path(), std::move(arguments)).output; };
  CHECK(printed({"profile", "-t", "none", "-o", "a", "sh", "-c", print, "sh", "--command-file=options", "--command-file", "missing"})
            .starts_with("--command-file=options;--command-file;missing;"));
  CHECK(printed({"profile", "--command-file", "options", "--", "sh", "-c", print, "sh", "--command-file=options"}).starts_with("--command-file=options;"));
  CHECK(std::filesystem::exists(folder.path() / "x.trace"));
}

TEST_CASE("an option of nsys's or of hearsay is answered with what to do") {
  const TemporaryFolder folder;
  const auto answer = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "profile");
    options.emplace_back("true");
    const Ran ran = run_lanescope(folder.path(), options);
    CHECK(ran.code == 2);
    return ran.messages;
  };
  CHECK_THAT(answer({"-c", "cuda"}), contains_text("Did you mean --trace=cuda?"));
  CHECK_THAT(answer({"--nvtx"}), contains_text("Did you mean --trace=cuda,nvtx?"));
  CHECK_THAT(answer({"--output-dir=x"}), contains_text("Did you mean --output?"));
  CHECK_THAT(answer({"--strict", "--sampling-period=1000"}), contains_text("--sampling-frequency"));
  CHECK_THAT(answer({"--strict", "--gpuctxsw=true"}), contains_text("Switches of contexts on the GPU are not recorded"));
  CHECK_THAT(answer({"--strict", "-t", "cuda,oshmem"}), contains_text("Put NVTX ranges around what it does"));
  CHECK_THAT(answer({"-t", "cuda,cusolvr"}), contains_text("Did you mean cusolver?"));
  CHECK_THAT(answer({"-c", "nvtx"}), contains_text("--nvtx-capture=TEXT"));
  CHECK_THAT(answer({"--capture-range-end=twice"}), contains_text("repeat-shutdown:N"));
  CHECK_THAT(answer({"-c", "nvtx", "-p", "x", "-t", "cuda"}), contains_text("need NVTX to be traced"));
}
