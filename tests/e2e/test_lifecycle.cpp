// How programs and recordings end: in each case the program behaves as without a recorder, and the file can be opened and describes its contents.
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "memory_limit.h"
#include "model/trace/completeness.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string endings() { return program("lanescope_program_endings").string(); }
std::string lives() { return program("lanescope_program_lives").string(); }
std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

// Runs the command without a recorder.
Ran run_alone(const std::vector<std::string>& command) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(125);
  }
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof(buffer))) > 0;) output.append(buffer, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), output, {}};
}

// Runs lanescope in this folder, which also holds its sessions, under a limit set by a shell's `ulimit`.
Ran run_under(const std::string& limit, const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  const std::string script =
      "cd " + folder.string() + "; exec 2>messages; export XDG_RUNTIME_DIR=" + folder.string() + "; ulimit -c 0; " + limit + "; exec \"$0\" \"$@\"";
  std::vector<std::string> command{"/bin/sh", "-c", script, program("lanescope").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Ran ran = run_alone(command);
  std::ostringstream messages;
  messages << std::ifstream(folder / "messages").rdbuf();
  ran.messages = messages.str();
  return ran;
}

bool says(const Ran& ran, std::string_view text) { return ran.messages.find(text) != std::string::npos; }

struct Ending {
  std::vector<std::string> arguments;
  std::uint64_t steps;
  std::size_t processes;  // at least: with -t osrt, processes that only fork count, too
  ProcessEndKind kind;    // of the last process
};

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

TEST_CASE("a program without a descriptor left at its first event is named, and nothing of that is left behind") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-s", "none", "--cpuctxsw=none", "-o", "x", lives(), "opens-nothing"});
  CHECK(ran.code == 7);
  CHECK_THAT(ran.messages, contains_text("1 process could not be followed") && contains_text("lanescope_progr: this process could not be followed") &&
                               contains_text("has no file descriptor left by which it could report") && !contains_text("nothing dropped"));
  CHECK(run_lanescope(folder.path(), {"info", "x.trace"}).output.find("complete: nothing dropped") == std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) CHECK_FALSE(entry.path().filename().string().starts_with("lanescope-"));
}

TEST_CASE("a program without a descriptor left at its first range is recorded where the agent has set NVTX up before, and its children are named") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx,osrt", "-s", "none", "--cpuctxsw=none", "-o", "x", lives(), "opens-nothing"});
  CHECK(ran.code == 7);
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "step") == 100);
  CHECK_THAT(ran.messages, contains_text("5 processes could not be followed") && !contains_text("nothing dropped"));
}

TEST_CASE("a program without a descriptor left at its first range, by which the agent would come, is named") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", lives(), "opens-nothing", "400"});
  CHECK(ran.code == 7);
  CHECK_THAT(ran.messages,
             contains_text("lanescope_progr: this process could not be followed in all that it did: it was seen without a file descriptor left") &&
                 !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text("of its NVTX and CUDA calls nothing is recorded"));
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

TEST_CASE("a program for which there is no memory left is ended by the kernel, and what it did is kept") {
  const TemporaryFolder folder;
  const MemoryLimit limit(64);
  if (limit.entry().empty()) {
    WARN("Only root can limit the memory of a group of processes: not tested.");
    return;
  }
  // This puts the program and its memory under the limit, but not our processes.
  const std::string script = "echo $$ > " + limit.entry() + "; exec " + endings() + " hog";
  const Ran ran = run_lanescope(folder.path(), {"profile", "-o", "x", "sh", "-c", script});
  const Ran alone = run_alone({"/bin/sh", "-c", script});
  CHECK(alone.code == 128 + SIGKILL);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 100);
  CHECK(trace->processes().back().signal == SIGKILL);
  CHECK(trace->processes().back().completeness.dropped == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need more addresses than that
TEST_CASE("a recorder that has no memory for names of code goes on, and says so") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "x").string();
  const Ran ran = run_alone(
      {"/bin/sh", "-c", "ulimit -c 0; ulimit -v 100000; exec " + program("lanescope").string() + " profile -t nvtx -o " + file + " " + endings() + " exit"});
  CHECK(ran.code == 7);
  CHECK(load(file + ".trace")->provenance().finished);
}

TEST_CASE("a recorder that has little memory ends with the program's code behind a whole recording") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "x").string();
  int whole = 0;
  for (int kibibytes = 12'000; kibibytes <= 40'000; kibibytes += 4'000) {
    const Ran ran =
        run_under("ulimit -d " + std::to_string(kibibytes), folder.path(), {"profile", "-t", "nvtx", "-s", "none", "-f", "-o", "x", endings(), "exit"});
    CAPTURE(kibibytes, ran.messages);
    CHECK(ran.code == 7);
    if (!says(ran, "nothing dropped")) continue;
    ++whole;
    CHECK(count_events(*load(file + ".trace"), TrackKind::kNvtxRanges, "step") == 100);
    CHECK(!says(ran, "There is not enough memory for this"));
  }
  CHECK(whole > 0);
}
#endif

TEST_CASE("which limit keeps a program from being recorded is said, each by its name, and nothing is left of the session") {
  const auto [limit, sentence] = GENERATE(table<std::string, std::string>({
      {"ulimit -n 10", "this process may have 10 files open, which is too few. Allow more (ulimit -n) and record again."},
      {"ulimit -n 14", "this process may have 14 files open, which is too few. Allow more (ulimit -n) and record again."},
      {"ulimit -d 6000", "this process may have 6000 KiB of data, which is too little. Allow more (ulimit -d) and record again."},
  }));
  const TemporaryFolder folder;
  const Ran ran = run_under(limit, folder.path(), {"profile", "-t", "nvtx", "-s", "none", "-o", "x", endings(), "exit"});
  CHECK(ran.code == 7);
  CHECK_THAT(ran.messages, contains_text("The program can't be recorded: " + sentence + " The program runs without being recorded."));
  CHECK(std::filesystem::is_empty(folder.path() / "lanescope"));
}

TEST_CASE("threads that are not observed for want of descriptors are not laid to the kernel") {
  const TemporaryFolder folder;
  const Ran ran = run_under("ulimit -n 30", folder.path(), {"profile", "-t", "nvtx", "-o", "x", endings(), "exit"});
  CHECK(ran.code == 7);
  CHECK_THAT(ran.messages, !contains_text("this kernel has no performance events"));
}

TEST_CASE("a program that may not take the addresses in which it would report runs as without us, and this is said") {
  const TemporaryFolder folder;
  const std::string traced = GENERATE("nvtx", "cuda,nvtx,osrt");
  const std::vector<std::string> command{"/bin/sh", "-c", "ulimit -v 250000; exec " + endings() + " exit"};
  const Ran alone = run_alone(command);
  CHECK(alone.code == 7);
  std::vector<std::string> arguments{"profile", "-t", traced, "-o", "x"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  constexpr const char* kTold = "lanescope_program_endings: this process could not be followed, so nothing is recorded of what it did: it can't map";
  CHECK_THAT(ran.messages, contains_text(kTold) && contains_text("(ulimit -v, or ulimit -l where it locks its memory)"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
  CHECK_THAT(ran.messages, !contains_text("nothing dropped"));
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "step") == 0);
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
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-o", "x", program("lanescope_program_other_version").string()});
  CHECK(ran.code == 0);
  constexpr const char* kTold =
      "lanescope_program_other_version: this process could not be followed, so nothing is recorded of what it did: its agent is of another version of "
      "Lanescope (0.0.1, layout 1; ours is ";
  CHECK_THAT(ran.messages, contains_text(kTold));
  CHECK_THAT(ran.messages, !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
  CHECK(completeness_text(*load(folder.path() / "x.trace")) == "incomplete: processes could not be followed");
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

TEST_CASE("a file that is removed while it grows harms nobody") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-o", "gone", endless(), "5"});
  recording.wait_for_line("ready");
  std::filesystem::remove(folder.path() / "gone.trace");
  kill(recording.target(), SIGTERM);
  CHECK(recording.wait() == 5);
}

TEST_CASE("a program that removes its own recording ends as without us, and nobody is told of a file that is not there") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "gone.trace").string();
  const std::vector<std::string> command{"/bin/sh", "-c", "rm -f " + file + "; " + endings() + " exit; echo $?; exit 9"};
  const Ran alone = run_alone(command);
  std::vector<std::string> arguments{"profile", "-o", "gone"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  CHECK_THAT(ran.messages, contains_text(file + " was removed while it was recorded: what was recorded, "));
  CHECK_THAT(ran.messages, !contains_text("Generated"));
}

TEST_CASE("a recording whose place another file has by its end says where it is, and is not taken for a good one") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "x.trace").string(), kept = (folder.path() / "kept.trace").string();
  struct Case {
    std::string done;  // during the recording
    std::string words;
    std::string left;  // the content at its place
  };
  const std::vector<Case> cases{
      Case{"mv " + file + " " + kept, file + " was moved to " + kept + " while it was recorded: all that was recorded is in the file that was moved.", ""},
      Case{"mv " + file + " " + kept + "; echo other > " + file,
           file + " was moved to " + kept + " while it was recorded, and another file has its name now: ", "other\n"},
      Case{"rm " + file + "; echo other > " + file,
           file + " was removed while it was recorded, and another file has its name now: what was recorded, 100 events, is lost.", "other\n"},
      Case{": > " + file, file + " was overwritten by another program while it was recorded: what was recorded can't be read.", std::string(16, '\0')},
      Case{"until [ $(stat -c %s " + file + ") -gt 400 ]; do sleep 0.02; done; truncate -s 300 " + file,
           file + " was cut by another program while it was recorded: part of what was recorded is lost.", "\x89LST"}};
  const auto& [done, words, left] = cases[GENERATE(0u, 1u, 2u, 3u, 4u)];
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "--stats=true", "--export=csv", "-o", "x", "sh", "-c",
                                                endings() + " exit; " + done + "; exit 0"});
  INFO(ran.messages);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.messages, contains_text(words));
  CHECK_THAT(ran.messages, !contains_text("Generated") && !contains_text("nothing dropped"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.csv"));
  if (std::ifstream there(file); there) {
    std::string beginning(left.size(), ' ');
    there.read(beginning.data(), static_cast<std::streamsize>(left.size()));
    CHECK(beginning == left);
  }
  if (std::filesystem::exists(kept)) CHECK(count_events(*load(kept), TrackKind::kNvtxRanges, "step") == 100);
}

namespace {

// A file system of this number of KiB, if we may make one.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& place, int size) : place_(place) {
    std::filesystem::create_directory(place);
    is_there_ = mount("none", place.c_str(), "tmpfs", 0, ("size=" + std::to_string(size) + "k").c_str()) == 0;
    if (!is_there_) WARN("Only root can make a small disk: not tested.");
  }
  ~SmallDisk() {
    if (is_there_) umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  std::filesystem::path place_;
  bool is_there_ = false;
};

}  // namespace

TEST_CASE("a full disk ends the recording, not the program, and the file opens") {
  const TemporaryFolder folder;
  const std::filesystem::path disk = folder.path() / "disk";
  const SmallDisk small(disk, 64);
  if (!small.is_there()) return;
  // Random numbers hardly compress: the output fills the disk.
  const std::vector<std::string> command{"/bin/sh", "-c", "awk 'BEGIN { for (x = 1; i < 200000; ++i) print x = x * 16807 % 2147483647 }'; echo whole; exit 6"};
  std::vector<std::string> arguments{"profile", "-o", (disk / "x").string()};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran alone = run_alone(command);
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == 6);
  CHECK(ran.code == alone.code);
  CHECK((ran.output == alone.output));  // 3 MB: too long to be printed
  CHECK(ran.output.ends_with("whole\n"));
  CHECK(ran.messages.find("x.trace") != std::string::npos);
  CHECK(ran.messages.find("nothing dropped") == std::string::npos);
  const auto trace = load(disk / "x.trace");
  CHECK(trace->processes().size() == 2);  // the shell and awk
  CHECK(trace->provenance().finished);
  CHECK(trace->provenance().end == RecordingEnd::kDiskFull);
}

TEST_CASE("a file on a full disk says that ranges are missing") {
  const TemporaryFolder folder;
  const std::filesystem::path disk = folder.path() / "disk";
  const SmallDisk small(disk, 512);
  if (!small.is_there()) return;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-o", (disk / "x").string(), program("lanescope_program_nvtx_threads").string(), "100000"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("more events had no room in the file, and what came behind them was not recorded"));
  const auto trace = load(disk / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->provenance().unwritten_events > 0);
  CHECK(trace->event_count() > 0);
  const std::string info = run_lanescope(folder.path(), {"info", (disk / "x.trace").string()}).output;
  CHECK_THAT(info, contains_text("Ended         the file could not be written any more"));
  CHECK_THAT(info, contains_text("had no room in the file"));
  CHECK_THAT(info, !contains_text("nothing dropped"));
}

TEST_CASE("a program with a library of its own in LD_PRELOAD keeps it") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-o", "x", "sh", "-c", "echo $LD_PRELOAD"}, {{"LD_PRELOAD", "libm.so.6"}});
  CHECK(ran.code == 0);
  CHECK(ran.output.ends_with(":libm.so.6\n"));
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
