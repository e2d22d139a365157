// Too little memory, disk, addresses or descriptors: the program behaves as without a recorder, and what is not recorded is said.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "memory_limit.h"
#include "recorder.h"
#include "small_disk.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string endings() { return program("lanescope_program_endings").string(); }
std::string lives() { return program("lanescope_program_lives").string(); }

bool says(const Ran& ran, std::string_view text) { return ran.messages.find(text) != std::string::npos; }

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

}  // namespace

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

TEST_CASE("a signal handler's ranges are recorded if the signal arrives while the first NVTX call loads the agent") {
  const TemporaryFolder folder;
  const std::string traced = GENERATE("nvtx", "nvtx,osrt");
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "-t", traced, "-s", "none", "--cpuctxsw=none", "-o", "x", program("lanescope_program_signal_in_first_call").string()});
  const bool is_loaded_before = traced != "nvtx";  // then nothing is loaded in the call, and no signal comes
  CHECK(ran.code == (is_loaded_before ? 1 : 0));
  const auto trace = load(folder.path() / "x.trace");
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "handled") == (is_loaded_before ? 0 : 1));
  for (const char* each : {"first", "second"}) CHECK(count_events(*trace, TrackKind::kNvtxRanges, each) == 1);
}

TEST_CASE("a program whose limit leaves no room to load the agent at its first range is named") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", lives(), "no-data", "400"});
  CHECK(ran.code == 7);
  CHECK_THAT(ran.messages, contains_text("could not be followed in all that it did: it was seen with a limit that leaves no room to load an agent") &&
                               !contains_text("nothing dropped"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text("of its NVTX and CUDA calls nothing is recorded"));
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

TEST_CASE("a program that can't be recorded runs, and its 0 does not come back as if there were a recording") {
  const TemporaryFolder folder;
  const std::filesystem::path disk = folder.path() / "disk";
  // No block, and blocks but no file: the folder itself takes one.
  const SmallDisk full(disk, GENERATE("size=4k,nr_inodes=1", "size=4m,nr_inodes=1"));
  if (!full.is_there()) return;
  const auto run = [&](const std::string& script) {
    return run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-o", (disk / "x").string(), "--export", "sqlite", "/bin/sh", "-c", script});
  };
  const Ran good = run("echo ran");
  CHECK(good.code == 1);
  CHECK(good.output == "ran\n");
  CHECK_THAT(good.messages, contains_text("The program runs without being recorded."));
  CHECK(run("exit 6").code == 6);
  CHECK(run("kill -KILL $$").code == 128 + SIGKILL);
  CHECK(std::filesystem::is_empty(disk));
}

TEST_CASE("a signal that is sent to who stands for an unrecorded program reaches the program") {
  const TemporaryFolder folder;
  const std::string script = "trap 'exit 9' USR1; kill -USR1 $PPID; while :; do sleep 0.02; done";
  const Ran ran = run_under("ulimit -n 14", folder.path(), {"profile", "-t", "nvtx", "-o", "x", "/bin/sh", "-c", script});
  CHECK(ran.code == 9);
  CHECK_THAT(ran.messages, contains_text("The program runs without being recorded."));
}

TEST_CASE("who stands for an unrecorded program ends by the signal that ends the program") {
  const TemporaryFolder folder;
  const std::string command = "cd " + folder.path().string() + "; exec 2>messages; ulimit -n 14; exec " + program("lanescope").string() +
                              " profile -t nvtx -o x /bin/sh -c 'kill -TERM $$'";
  const int status = std::system(command.c_str());
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("a signal that is sent to the group of an unrecorded program reaches it once") {
  const TemporaryFolder folder;
  // Who stands for the program takes its signals in the order of their numbers, once it goes on and the program has had the first one.
  std::ofstream(folder.path() / "program") << "trap 'echo first' USR1; trap 'exit 9' USR2; kill -STOP $PPID; kill -USR1 0; kill -USR2 $PPID; kill -CONT $PPID\n"
                                              "while :; do sleep 0.02; done";
  const std::string command =
      "cd " + folder.path().string() + "; exec 2>messages; ulimit -n 14; exec " + program("lanescope").string() + " profile -t nvtx -o x /bin/sh program";
  const Ran ran = run_alone({"/usr/bin/setsid", "-w", "/bin/sh", "-c", command});
  CHECK(ran.code == 9);
  CHECK(ran.output == "first\n");
}

TEST_CASE("who stands for an unrecorded program keeps neither end of its pipes") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "program") << "exec <&- >&-; : > closed; i=0; while [ ! -e read ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done";
  std::ofstream(folder.path() / "writer")
      << "trap '' PIPE; while [ ! -e closed ]; do sleep 0.02; done; if echo x 2>/dev/null; then echo taken >&2; else echo refused >&2; fi";
  std::ofstream(folder.path() / "reader") << "cat; : > read";
  const std::string command = "cd " + folder.path().string() + "; ulimit -n 14; sh writer 2>wrote | " + program("lanescope").string() +
                              " profile -t nvtx -o x /bin/sh program 2>messages | sh reader";
  CHECK(run_alone({"/bin/sh", "-c", command}).code == 0);
  std::string wrote;
  std::ifstream(folder.path() / "wrote") >> wrote;
  CHECK(wrote == "refused");
  CHECK(std::filesystem::exists(folder.path() / "read"));
}

TEST_CASE("a recording without a process that could be followed has another exit code than success") {
  const TemporaryFolder folder;
  const Ran ran = run_under("ulimit -f 100", folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", threads_program()});
  CHECK_THAT(ran.messages, contains_text("could not be followed"));
  CHECK(ran.code == 1);
}

TEST_CASE("where there is no room for the relay's process, nobody is said to have ended it") {
  const TemporaryFolder folder;
  if (geteuid() != 0) return;  // only root can become users of whom nothing else runs, also none of what a run before leaves for a moment
  constexpr int kMostProcesses = 12, kFirstUser = 100'000;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  int runs = 0, unrecorded = 0;
  for (int most = 1; most <= kMostProcesses; ++most) {
    const std::string user = std::to_string(kFirstUser + getpid() * kMostProcesses + most), number = std::to_string(most);
    const std::string command = "cd " + folder.path().string() + "; exec 2>messages" + number + "; exec prlimit --nproc=" + number + ":" + number + " " +
                                program("lanescope").string() + " profile -f true -t nvtx -s none --cpuctxsw=none -o x /bin/echo ran";
    const Ran ran = run_alone({"/usr/bin/setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "/bin/sh", "-c", command});
    std::ostringstream messages;
    messages << std::ifstream(folder.path() / ("messages" + number)).rdbuf();
    CAPTURE(most, messages.str());
    CHECK_THAT(messages.str(), !contains_text("ended from outside"));
    runs += ran.output == "ran\n" ? 1 : 0;
    unrecorded += messages.str().find("The program runs without being recorded.") != std::string::npos ? 1 : 0;
  }
  CHECK(runs == kMostProcesses);
  CHECK(unrecorded > 0);
  CHECK(unrecorded < kMostProcesses);
}

TEST_CASE("a place that is no disk is refused before the program runs") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-o", "/proc/self/fd/x", "/bin/sh", "-c", "echo ran"});
  CHECK(ran.code == 1);
  CHECK(ran.output.empty());
  CHECK_THAT(ran.messages, contains_text("Can't create /proc/self/fd/x.trace"));
}

TEST_CASE("a file on a full disk says that ranges are missing") {
  const TemporaryFolder folder;
  const std::filesystem::path disk = folder.path() / "disk";
  const SmallDisk small(disk, 512);
  if (!small.is_there()) return;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-o", (disk / "x").string(), program("lanescope_program_nvtx_threads").string(), "100000"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text(" events had no room in the file, what came once the file was full\n") && !contains_text("more event"));
  const auto trace = load(disk / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->provenance().unwritten_events > 0);
  CHECK(trace->event_count() > 0);
  const std::string info = run_lanescope(folder.path(), {"info", (disk / "x.trace").string()}).output;
  CHECK_THAT(info, contains_text("Ended         the file could not be written any more"));
  CHECK_THAT(info, contains_text("had no room in the file"));
  CHECK_THAT(info, !contains_text("nothing dropped"));
}
