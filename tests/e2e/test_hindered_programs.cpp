// Programs into which the agent comes only in part, or not at all: they behave as without a recorder, and what is not recorded is said.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "model/trace/completeness.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string endings() { return program("lanescope_program_endings").string(); }
std::string lives() { return program("lanescope_program_lives").string(); }

}  // namespace

TEST_CASE("a program that its seccomp filter ends for loading the agent is named, with what to do about it") {
  constexpr const char* kTold = "its seccomp filter had the kernel end it (SIGSYS), perhaps for loading the agent";
  constexpr int kEnds = 7;  // as it does alone
  const TemporaryFolder folder;
  const Ran ended = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", lives(), "seccomp-first", "100"});
  CHECK(ended.code == 128 + SIGSYS);
  CHECK_THAT(ended.messages, contains_text(kTold) && contains_text("-t osrt"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
  for (const char* advised : {"nvtx,osrt", "none"}) {
    const Ran ran = run_lanescope(folder.path(), {"profile", "-t", advised, "-s", "none", "--cpuctxsw=none", "-f", "-o", "x", lives(), "seccomp-first", "100"});
    CHECK(ran.code == kEnds);
    CHECK_THAT(ran.messages, !contains_text("seccomp"));
  }
}

TEST_CASE("a program that ends for loading the agent in the strict mode of seccomp is named, with what to do about it") {
  constexpr const char* kTold = "it had left itself no system calls but read and write (seccomp's strict mode), and the kernel ended it";
  constexpr int kEnds = 7;  // as it does alone
  const TemporaryFolder folder;
  const std::vector<std::string> command{lives(), "seccomp-strict-first", "100"};
  REQUIRE(run_alone(command).code == kEnds);
  const auto record = [&](const std::string& traced) {
    return run_lanescope(folder.path(),
                         {"profile", "-t", traced, "-s", "none", "--cpuctxsw=none", "-f", "true", "-o", "x", command[0], command[1], command[2]});
  };
  const Ran ended = record("nvtx");
  CHECK(ended.code == 128 + SIGKILL);
  CHECK_THAT(ended.messages, contains_text(kTold) && contains_text("-t osrt") && !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
  for (const char* advised : {"nvtx,osrt", "none"}) {
    const Ran ran = record(advised);
    CHECK(ran.code == kEnds);
    CHECK_THAT(ran.messages, !contains_text("strict mode), and the kernel"));
  }
  // No advice is given for a different SIGKILL.
  CHECK_THAT(run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-f", "true", "-o", "x", "sh", "-c", "kill -KILL $$"}).messages, !contains_text("seccomp"));
}

TEST_CASE("a program that its own seccomp filter ends is said to have been ended so, and one that was sent the signal is not") {
  constexpr const char* kTold = "its seccomp filter had the kernel end it (SIGSYS) for a system call";
  const TemporaryFolder folder;
  const std::string traced = GENERATE("nvtx", "nvtx,osrt", "none");
  CAPTURE(traced);
  const auto record = [&](const std::vector<std::string>& way) {
    std::vector<std::string> arguments{"profile", "-t", traced, "-s", "process-tree", "-f", "true", "-o", "x", lives()};
    arguments.insert(arguments.end(), way.begin(), way.end());
    return run_lanescope(folder.path(), arguments);
  };
  const Ran ended = record({"seccomp-ends"});
  CHECK(ended.code == 128 + SIGSYS);
  CHECK_THAT(ended.messages, contains_text(kTold));
  CHECK((ended.messages.find("If it does not end so alone") != std::string::npos) == (traced != "none"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
  const Ran sent = record({"signal", std::to_string(SIGSYS)});
  CHECK(sent.code == 128 + SIGSYS);
  CHECK_THAT(sent.messages, !contains_text("seccomp"));
}

TEST_CASE("a child that has the agent half loaded is named, with what to do about it") {
  constexpr const char* kTold = "it was forked while another thread's loader was at work on the agent, which it has half loaded";
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x",
                                    program("lanescope_program_fork_in_relocation").string(), program("liblanescope_program_nvtx_life.so").string()});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text(kTold) && !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
}

TEST_CASE("a service manager's variables that name the process name the program, as without us") {
  const TemporaryFolder folder;
  const std::string number = GENERATE("$$", "1");          // the recorder's, or that of another process, which stays
  const std::string pidfd = number == "1" ? "7" : "none";  // that of another process stays
  const std::string check = "test \"${LISTEN_PIDFDID-none}\" = " + pidfd +
                            " || exit 2; for each in \"$LISTEN_PID\" \"$WATCHDOG_PID\" \"$SYSTEMD_EXEC_PID\"; do test \"$each\" = " + number +
                            " || exit 1; done; test \"$LISTEN_FDS $OTHER_PID\" = \"2 $PPID\" && exit 7";
  const std::string lanescope = program("lanescope").string() + " profile -t nvtx -s none --cpuctxsw=none -o " + (folder.path() / "x").string();
  CAPTURE(number);
  CHECK(run_alone({"/bin/sh", "-c",
                   "export LISTEN_FDS=2 LISTEN_PIDFDID=7 OTHER_PID=$$ LISTEN_PID=" + number + " WATCHDOG_PID=" + number + " SYSTEMD_EXEC_PID=" + number +
                       "; exec " + lanescope + " sh -c '" + check + "'"})
            .code == 7);
}

TEST_CASE("a program that leaves for another root folder before its first range loses none where the agent is there already") {
  if (geteuid() != 0) return;  // only root can do this
  const TemporaryFolder folder;
  const std::filesystem::path jail = folder.path() / "jail";
  std::filesystem::create_directory(jail);
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "nvtx,osrt", "-s", "none", "--cpuctxsw=none", "-o", "x", lives(), "chroot-first", jail.string()});
  CHECK(ran.code == 2);                                                                          // as alone
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "step") == 150);  // its own and a child's
  CHECK_THAT(ran.messages, contains_text("nothing dropped"));
}

TEST_CASE("a program that is started with an emptied environment runs as without us, and is named as one that could not be followed") {
  const TemporaryFolder folder;
  const std::string traced = GENERATE("nvtx", "cuda,nvtx,osrt");
  // It runs until the recorder has reported it.
  const std::string waits = "while ! /bin/grep -q followed " + (folder.path() / "messages").string() + "; do /bin/sleep 0.05; done; exit 7";
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-o", "x", "sh", "-c", "env -i /bin/sh -c '" + waits + "'"});
  CHECK(ran.code == 7);
  CHECK(ran.output.empty());
  constexpr const char* kTold =
      "this process could not be followed, so nothing is recorded of what it did: its program was started with an environment of its own";
  CHECK_THAT(ran.messages, contains_text(kTold));
  CHECK_THAT(ran.messages, !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
}

TEST_CASE("nothing is complete where an agent of another version was sent away") {
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", program("lanescope_program_other_version").string()});
  CHECK(ran.code == 1);  // the program's is 0, and nothing was recorded of it
  constexpr const char* kTold =
      "lanescope_program_other_version: this process could not be followed, so nothing is recorded of what it did: its agent is of another version of "
      "Lanescope (0.0.1, layout 1; ours is ";
  CHECK_THAT(ran.messages, contains_text(kTold));
  CHECK_THAT(ran.messages, !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
  CHECK(completeness_text(*load(folder.path() / "x.trace")) == "incomplete: processes could not be followed");
}

TEST_CASE("nothing is complete where Lanescope's own place, or a variable, keeps out what was asked for") {
  const TemporaryFolder folder;
  const std::filesystem::path tools = folder.path() / "my tools";
  std::filesystem::create_directory(tools);
  const std::filesystem::path agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so";
  std::filesystem::copy_file(agent, tools / agent.filename());
  const auto end_of = [&](const std::string& traced, const Environment& variable) {
    const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-s", "none", "--cpuctxsw=none", "-f", "-o", "x", "true"}, {variable});
    CHECK(ran.code == 0);
    return std::pair(ran.messages, completeness_text(*load(folder.path() / "x.trace")));
  };
  const auto [said_of_place, of_place] = end_of("osrt", {"LANESCOPE_AGENT", tools / agent.filename()});
  CHECK_THAT(said_of_place, contains_text("OS runtime calls and Python's lock can't be recorded") && !contains_text("nothing dropped"));
  CHECK(of_place == "incomplete: 1 warning says what else is missing");
  const auto [said_of_tool, of_tool] = end_of("cuda", {"CUDA_INJECTION64_PATH", "/other/tool.so"});
  CHECK_THAT(said_of_tool, contains_text("CUDA is not traced") && !contains_text("nothing dropped"));
  CHECK(of_tool == "incomplete: 1 warning says what else is missing");
}

TEST_CASE("a program that was started with another LD_PRELOAD is not left waiting for itself in its first NVTX call") {
  const TemporaryFolder folder;
  const std::string traced = GENERATE("nvtx", "nvtx,osrt");
  CAPTURE(traced);
  const std::string command = "LD_PRELOAD=libm.so.6 exec " + program("lanescope_program_signal_in_first_call").string();
  CHECK(run_lanescope(folder.path(), {"profile", "-t", traced, "-s", "none", "--cpuctxsw=none", "-o", "x", "sh", "-c", command}).code == 0);
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "handled") == 1);
}

TEST_CASE("a program with another malloc is recorded as any other") {
  constexpr const char* kLibrary = "libjemalloc.so.2";
  const std::vector<Environment> environment{{"LD_PRELOAD", kLibrary}};
  const TemporaryFolder folder;
  const Ran probe = run_lanescope(folder.path(), {"--version"}, environment);
  if (probe.messages.find(kLibrary) != std::string::npos) {  // the loader reports that it is missing
    WARN("There is no jemalloc (libjemalloc2): not tested.");
    return;
  }
  const std::string traced = GENERATE("nvtx", "cuda,nvtx,osrt");
  const std::vector<std::string> command{"sh", "-c", "grep -o 'libjemalloc[^ ]*' /proc/$$/maps | sort -u; " + endings() + " children 3"};
  std::vector<std::string> arguments{"profile", "-t", traced, "--cpuctxsw=none", "--sample=none", "-o", "x"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments, environment);
  CHECK(ran.code == 7);
  CHECK(ran.output == std::string(kLibrary) + "\nready\n");
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "step") == 400);
}

TEST_CASE("a program with a library of its own in LD_PRELOAD keeps it") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-o", "x", "sh", "-c", "echo $LD_PRELOAD"}, {{"LD_PRELOAD", "libm.so.6"}});
  CHECK(ran.code == 0);
  CHECK(ran.output.ends_with(":libm.so.6\n"));
}

TEST_CASE("a static program runs as it does without us, and the file says that it was there") {
  const TemporaryFolder folder;
  const std::vector<std::string> command{"/bin/sh", "-c", "printf hello | " + program("attach_target_static").string() + " read"};
  const Ran alone = run_alone(command);
  CHECK(alone.code == 7);
  CHECK(alone.output == "undisturbed\n");
  std::vector<std::string> arguments{"profile", "-t", "cuda,nvtx,osrt", "-o", "x"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK_THAT(ran.messages, contains_text("its calls into the C library are not recorded: it is linked statically"));
  const auto is_it = [](const Process& process) { return process.name.starts_with("attach_target"); };
  CHECK(std::any_of(trace->processes().begin(), trace->processes().end(), is_it));
  // The same without observed threads, but with a program that lives for a while.
  arguments.insert(arguments.begin() + 1, {"-f", "-s", "none", "--cpuctxsw=none"});
  arguments.back() = "(sleep 0.5; printf hello) | " + program("attach_target_static").string() + " read";
  CHECK_THAT(run_lanescope(folder.path(), arguments).messages, contains_text("its calls into the C library are not recorded: it is linked statically"));
}

TEST_CASE("a program that gets rights from its file is said not to have its calls recorded, because its loader ignores LD_PRELOAD") {
  constexpr gid_t kOther = 65'534;
  if (geteuid() != 0) return;  // only root may give a file to a group in which it is not
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "program";
  std::filesystem::copy_file(endings(), file);
  REQUIRE(chown(file.c_str(), 0, kOther) == 0);
  REQUIRE(chmod(file.c_str(), 02755) == 0);
  const std::string traced = GENERATE("nvtx,osrt", "nvtx,python-gil");
  CAPTURE(traced);
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-s", "none", "--cpuctxsw=none", "-o", "x", file, "exit", "3"});
  CHECK_THAT(ran.messages, contains_text("program: its ") && contains_text("its loader ignores LD_PRELOAD") && !contains_text("nothing dropped"));
}

TEST_CASE("a program without /proc is named, because nobody knows its filters, and its loader does not find the agent") {
  if (geteuid() != 0) return;  // only root may take it away
  const TemporaryFolder folder;
  const bool is_with_calls = GENERATE(false, true);
  const std::string told = is_with_calls ? "it has no /proc, by which its loader would find the agent" : "it has no /proc, by which the agent learns";
  // It runs until the recorder has reported it. The variable is as an agent leaves it that has found no /proc.
  const std::string waits = "for i in $(seq 600); do grep -q '" + told + "' " + (folder.path() / "messages").string() + " && exit 7; sleep 0.05; done";
  std::ofstream(folder.path() / "waits") << waits;
  const std::string command = "umount -l /proc; export LANESCOPE_FILTERS=x000; exec sh " + (folder.path() / "waits").string();
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", is_with_calls ? "nvtx,osrt" : "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", "unshare",
                                                "--mount", "sh", "-c", command});
  CHECK(ran.code == 7);
  CHECK_THAT(ran.messages, contains_text(told) && !contains_text("nothing dropped"));
}

TEST_CASE("a program that removes the folder it lies in and starts itself anew is said not to have its calls recorded") {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder.path() / "unpacked";
  std::filesystem::create_directory(place);
  std::filesystem::copy_file(lives(), place / "lives");
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx,osrt", "-s", "none", "--cpuctxsw=none", "-o", "x", place / "lives", "unpacked"});
  CHECK(ran.code == 7);
  CHECK(ran.output == "out\nout\n");
  CHECK_THAT(ran.messages, contains_text("lives (deleted): its calls into the C library are not recorded: the folder that its file lay in is gone"));
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "step") == 200);
}

TEST_CASE("what a process in another time namespace does stands where it happened") {
  const std::vector<std::string> command{lives(), "tomorrow"};
  constexpr int kCanNotBeTried = 99;
  const Ran alone = run_alone(command);
  if (alone.code == kCanNotBeTried) {
    WARN("A time namespace takes root, and Linux 5.6: not tested.");
    return;
  }
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"profile", "-t", "nvtx,osrt", "--sample=none", "--cpuctxsw=none", "-o", "x"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  CHECK(run_lanescope(folder.path(), arguments).code == alone.code);
  const auto trace = load(folder.path() / "x.trace");
  Nanoseconds forks = INT64_MAX, has_waited = 0;  // the parent
  std::uint64_t of_child = 0;
  Nanoseconds first = INT64_MAX, last = 0;
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges && track.key.kind != TrackKind::kOsRuntime) continue;
    const bool is_childs = trace->processes()[trace->threads()[track.key.thread].process].forked;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const std::string_view name = trace->name(lane.name(i));
        if (!is_childs && name == "fork") forks = lane.start(i);
        if (!is_childs && name == "waitpid") has_waited = lane.end(i);
        if (!is_childs) continue;
        ++of_child;
        first = std::min(first, lane.start(i));
        last = std::max(last, lane.end(i));
      }
    }
  }
  CHECK(of_child > 50);  // ranges, and the call before them
  CHECK(forks < first);
  CHECK(last < has_waited);
}

TEST_CASE("a program that uses musl runs as it does without us, and can't be attached to") {
  const std::string musl = program("lanescope_program_musl").string();
  if (!std::filesystem::exists(musl)) {
    WARN("There is no musl-gcc (musl-tools): not tested.");
    return;
  }
  const TemporaryFolder folder;
  const std::vector<std::string> command{"/bin/sh", "-c", musl + " < /dev/null"};
  const Ran alone = run_alone(command);
  CHECK(alone.code == 7);
  std::vector<std::string> arguments{"profile", "-t", "cuda,nvtx,osrt", "-o", "x"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  CHECK_THAT(ran.messages, !contains_text("liblanescope-agent"));  // no error of its loader
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 0);
  // If threads may not be observed, nothing sees the shell become this program.
  const auto is_it = [](const Process& process) { return process.name.starts_with("lanescope_program_musl"); };
  if (std::any_of(trace->processes().begin(), trace->processes().end(), is_it))
    CHECK_THAT(ran.messages, contains_text("its calls into the C library are not recorded: it uses musl as its C library"));

  const std::string attach = program("lanescope").string() + " attach $! -d 0.1 2>&1; echo $?; exec 3>&-; wait $!";
  const Ran refused =
      run_alone({"/bin/sh", "-c",
                 "cd " + folder.path().string() + "; mkfifo in out; " + musl + " < in > out & exec 3> in 4< out; read line <&4; " + attach + "; echo $?"});
  CHECK_THAT(refused.output, contains_text("it uses musl as its C library; the agent needs glibc. Its threads can be recorded from outside"));
  CHECK_THAT(refused.output, contains_text("-t none\n1\n7\n"));
}
