// The commands that take --on, as a user gives them; the other machine is this one, behind a command prefix. tests/collector/remote tests the link itself, and
// remote_ssh.sh uses ssh.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "../recorder.h"
#include "model/trace/text/grouped_digits.h"
#include "support/await.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

// The user's machine and another one.
class TwoMachines {
 public:
  TwoMachines() { fs::create_directory(here()); }
  [[nodiscard]] fs::path here() const { return folder_.path() / "here"; }
  [[nodiscard]] fs::path there() const { return folder_.path() / "cache" / "lanescope" / "recordings"; }

  // The arguments with --on after the command.
  [[nodiscard]] static std::vector<std::string> on(std::vector<std::string> arguments, const std::string& target = "command:env") {
    arguments.insert(arguments.begin() + 1, {"--on", target, "--remote-lanescope", program("lanescope").string()});
    return arguments;
  }
  [[nodiscard]] std::vector<Environment> environment() const {
    return {{"XDG_RUNTIME_DIR", folder_.path().string()}, {"XDG_CACHE_HOME", (folder_.path() / "cache").string()}};
  }
  [[nodiscard]] Ran run(const std::vector<std::string>& arguments) const { return run_lanescope(here(), on(arguments), environment()); }
  [[nodiscard]] std::size_t count_there() const { return count(there()); }
  // The name of the only recording that is kept on the other machine.
  [[nodiscard]] std::string kept() const {
    const std::string list = run({"fetch", "--list"}).output;
    const std::size_t line = list.find('\n') + 1;
    return list.substr(line, list.find(' ', line) - line);
  }

 private:
  static std::size_t count(const fs::path& folder) {
    std::error_code missing;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder, missing), fs::directory_iterator()));
  }
  TemporaryFolder folder_;
};

// A command that records only NVTX ranges.
std::vector<std::string> quietly(const std::string& command, std::vector<std::string> rest) {
  rest.insert(rest.begin(), {command, "-t", "nvtx", "-s", "none", "--cpuctxsw=none"});
  return rest;
}

std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

std::uint64_t steps(const fs::path& file) { return count_events(*load(file), TrackKind::kNvtxRanges, "step"); }

}  // namespace

TEST_CASE("what can't be recorded is said, or refused, as for a program here") {
  const TwoMachines machines;
  for (const std::vector<std::string>& asked : {std::vector<std::string>{"profile", "-t", "nvtx,vulkan", "--gpuctxsw=true", "-o", "run", "true"},
                                                {"attach", "-t", "nvtx,vulkan", "--gpuctxsw=true", "1"},
                                                {"start", "--gpuctxsw=true"}}) {
    std::vector<std::string> strictly = asked;
    strictly.insert(strictly.begin() + 1, "--strict");
    CHECK(machines.run(strictly).code == 2);
  }
  const std::string messages = machines.run({"profile", "-t", "nvtx,vulkan", "--gpuctxsw=true", "-o", "run", "true"}).messages;
  CHECK_THAT(messages, contains_text("--trace=vulkan is left out"));
  const std::size_t once = messages.find("--gpuctxsw=true is left out");
  CHECK((once != std::string::npos && messages.find("--gpuctxsw=true is left out", once + 1) == std::string::npos));
}

TEST_CASE("a program that is recorded there is seen as one here: its output, its end, its file, and what is made of that") {
  const TwoMachines machines;
  const Ran ran = machines.run(quietly("profile", {"-o", "run", "--export=json", "--label", "night=a b", "-f", "false", "sh", "-c",
                                                   "echo out; echo error >&2; exec \"$0\"", program("lanescope_program_nvtx_threads").string()}));
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("out\n"));
  CHECK_THAT(ran.messages, contains_text("error\n") && contains_text((machines.here() / "run.trace").string()));
  CHECK_THAT(run_lanescope(machines.here(), {"info", "run.trace"}).output, contains_text("nothing dropped") && contains_text("a b"));
  CHECK(fs::exists(machines.here() / "run.json"));
  CHECK(machines.count_there() == 0);
  CHECK(machines.run(quietly("profile", {"-o", "ended", "sh", "-c", "kill -9 $$"})).code == 128 + SIGKILL);
}

TEST_CASE("what a program prints there and has no room here is said, and stays there until it is fetched") {
  const TwoMachines machines;
  std::string command = "cd " + machines.here().string() + " &&";
  for (const Environment& variable : machines.environment()) command += " " + variable.name + "=" + variable.value;
  const std::vector<std::string> arguments = machines.on(quietly("profile", {"-o", "run", "sh", "-c", "'echo one; sleep 0.1; echo two; exit 7'"}));
  command += " " + program("lanescope").string();
  for (const std::string& argument : arguments) command += " " + argument;

  CHECK(WEXITSTATUS(std::system((command + " > /dev/full 2> messages").c_str())) == 7);
  std::ifstream file(machines.here() / "messages");
  const std::string messages{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(messages, contains_text("8 bytes that were printed there to standard output could not be written here: No space left on device.") &&
                           contains_text("The recording is there still. Fetch it with: lanescope fetch --on"));
  CHECK(machines.count_there() == 1);
  CHECK(machines.run({"fetch", "--recording", machines.kept(), "-o", "again"}).output == "one\ntwo\n");
  CHECK(machines.count_there() == 0);

  // Output for a reader that has left is not waited for.
  fs::remove(machines.here() / "run.trace");
  CHECK(std::system(("(" + command + " 2> messages) | true").c_str()) == 0);
  CHECK(machines.count_there() == 0);
}

TEST_CASE("what a recorder there has to say arrives although its program filled the disk and all the room for messages") {
  if (geteuid() != 0) {
    WARN("Only root mounts a small disk: not tested.");
    return;
  }
  const TwoMachines machines;
  const fs::path disk = machines.there().parent_path().parent_path();
  fs::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0) {
    WARN("A disk can't be mounted here: not tested.");
    return;
  }
  constexpr std::size_t kBytes = 300'000;
  const std::string program =
      "dd if=/dev/zero of=" + (disk / "filling").string() + " bs=4k 2>/dev/null; yes '#' | tr -d '\\n' | head -c " + std::to_string(kBytes) + " >&2; exit 7";
  const Ran ran = machines.run(quietly("profile", {"-o", "run", "sh", "-c", program}));
  umount2(disk.c_str(), MNT_DETACH);
  CHECK(ran.code == 7);
  const auto arrived = static_cast<std::size_t>(std::count(ran.messages.begin(), ran.messages.end(), '#'));
  CHECK(arrived < kBytes);
  CHECK_THAT(ran.messages, contains_text(grouped_digits(kBytes - arrived) + " bytes that the program printed to standard error could not be written there") &&
                               contains_text("Generated:") && contains_text("Copied, and removed there:"));
}

TEST_CASE("a shell that takes its command in one word leads to another machine") {
  const TwoMachines machines;
  const std::string target = "command:bash -c";
  const Ran ran = run_lanescope(machines.here(), machines.on(quietly("profile", {"-o", "run", program("lanescope_program_nvtx_threads").string()}), target),
                                machines.environment());
  INFO(ran.messages);
  CHECK(ran.code == 0);
  CHECK_THAT(run_lanescope(machines.here(), {"info", "run.trace"}).output, contains_text("nothing dropped"));
}

TEST_CASE("what can't be done here is said before anything runs there") {
  const TwoMachines machines;
  std::ofstream(machines.here() / "mine.trace") << "mine";
  const std::string touch = (machines.here() / "ran").string();
  const auto arguments = GENERATE_COPY(std::vector<std::string>{"-o", "mine", "touch"}, std::vector<std::string>{"-o", "x%p", "touch"},
                                       std::vector<std::string>{"-o", "x%q{HOME}", "touch"}, std::vector<std::string>{"-o", "nowhere/x", "touch"},
                                       std::vector<std::string>{"--arm", "touch"});
  std::vector<std::string> command = quietly("profile", arguments);
  command.push_back(touch);
  const Ran ran = machines.run(command);
  CHECK((ran.code == 1 || ran.code == 2));
  CHECK_THAT(ran.messages, contains_text("lanescope: "));
  CHECK_FALSE(fs::exists(touch));
  CHECK(machines.count_there() == 0);
}

TEST_CASE("a session there is steered from here, and each of its captures becomes a file here") {
  const TwoMachines machines;
  LanescopeProcess session(machines.here(), machines.on(quietly("launch", {"-o", "part", endless(), "4"})), machines.environment());
  session.wait_for_line("ready");
  for (int capture = 0; capture < 2; ++capture) {
    CHECK(machines.run({"start"}).code == 0);
    CHECK_THAT(machines.run({"sessions"}).output, contains_text("Collection"));
    CHECK(machines.run({"stop"}).code == 0);
  }
  CHECK(machines.run({"start"}).code == 0);
  CHECK(machines.run({"cancel"}).code == 0);
  CHECK(machines.run({"shutdown"}).code == 0);
  CHECK(session.wait() == 4);
  for (const char* name : {"part.trace", "part.2.trace"}) CHECK(steps(machines.here() / name) == 0);  // all steps came before the captures
  CHECK_FALSE(fs::exists(machines.here() / "part.3.trace"));
  CHECK(machines.run({"stop"}).code == 1);  // as on the other machine: there is no session
}

TEST_CASE("repeated ranges there have the numbers that they have here") {
  const TwoMachines machines;
  const std::vector<std::string> options = quietly("profile", {"-c", "nvtx", "-p", "wanted", "--capture-range-end=repeat:2", "-o", "part",
                                                               program("lanescope_program_nvtx_captures").string(), "plain", "3"});
  CHECK(machines.run(options).code == 3);
  for (const char* name : {"part.1.trace", "part.2.trace"}) CHECK(count_events(*load(machines.here() / name), TrackKind::kNvtxRanges, "inside") == 20);
  CHECK_FALSE(fs::exists(machines.here() / "part.trace"));
  // A file that is in the way is reported before anything runs.
  fs::remove(machines.here() / "part.2.trace");
  CHECK(machines.run(options).code == 1);
  CHECK_FALSE(fs::exists(machines.here() / "part.2.trace"));
  CHECK(machines.run(quietly("profile", {"-c", "nvtx", "-p", "wanted", "-o", "one", program("lanescope_program_nvtx_captures").string(), "plain", "1"})).code >=
        0);
  CHECK(fs::exists(machines.here() / "one.trace"));
}

TEST_CASE("a recorder that is killed there is told, and that its recording is cut off") {
  const TwoMachines machines;
  LanescopeProcess recorder(machines.here(), machines.on(quietly("profile", {"-o", "run", endless(), "7"})), machines.environment());
  recorder.wait_for_line("ready");
  pid_t there = 0;
  std::ifstream(machines.there() / machines.kept() / "recorder") >> there;
  REQUIRE(there > 0);
  std::ifstream children("/proc/" + std::to_string(there) + "/task/" + std::to_string(there) + "/children");
  kill(there, SIGKILL);
  for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
  CHECK(recorder.wait() == 128 + SIGKILL);
  CHECK_THAT(recorder.messages(), contains_text("The recorder there was ended by signal 9 (Killed). The recording is cut off there"));
}

TEST_CASE("a recorder that was ended there behind its recording's end has not cut it off") {
  const TwoMachines machines;
  const fs::path folder = machines.there() / "20260101-000000-00000000";
  fs::create_directories(folder);
  fs::permissions(machines.there(), fs::perms::owner_all);
  fs::copy_file(data_file("cuda_streams.trace"), folder / "recording1.trace");
  std::ofstream(folder / "recorder") << "1 1\n";
  std::ofstream(folder / "ended") << "0 2\n";
  const Ran fetched = machines.run({"fetch", "--recording", folder.filename(), "-o", "fetched"});
  CHECK(fetched.code == 128 + SIGINT);
  CHECK_THAT(fetched.messages, contains_text("was ended by signal 2 (Interrupt). The recording was whole by then"));
}

TEST_CASE("how a program ended there is known although who started its recorder there was killed") {
  const TwoMachines machines;
  LanescopeProcess recorder(machines.here(), TwoMachines::on(quietly("profile", {"-o", "run", "sh", "-c", "echo ready; sleep 2; exit 5"})),
                            machines.environment());
  recorder.wait_for_line("ready");
  pid_t there = 0;
  std::ifstream(machines.there() / machines.kept() / "recorder") >> there;
  REQUIRE(there > 0);
  std::ifstream stat("/proc/" + std::to_string(there) + "/stat");
  std::string name, state;
  pid_t number = 0, keeper = 0;
  REQUIRE(stat >> number >> name >> state >> keeper);
  REQUIRE(keeper > 1);
  REQUIRE(kill(keeper, SIGKILL) == 0);
  CHECK(recorder.wait() == 5);
  CHECK_THAT(recorder.messages(), !contains_text("was killed"));
  CHECK(load(machines.here() / "run.trace")->provenance().finished);
  CHECK(machines.count_there() == 0);
}

TEST_CASE("a program there whose output nobody reads any more ends by that, as it would here") {
  const TwoMachines machines;
  const std::string stream = GENERATE("", " >&2");
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const auto arguments = TwoMachines::on(quietly("profile", {"-o", "run", "sh", "-c", "exec yes" + stream}));
  const pid_t recorder = fork();
  if (recorder == 0) become_lanescope(machines.here(), arguments, machines.environment(), ends[1], ends[1]);
  close(ends[1]);
  char first[2] = {};
  CHECK(read(ends[0], first, sizeof(first)) == 2);
  CHECK(std::string_view(first, 2) == "y\n");
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(recorder, &status, 0) == recorder);
  CHECK(WEXITSTATUS(status) == 128 + SIGPIPE);
  CHECK(load(machines.here() / "run.trace")->provenance().finished);
  CHECK(machines.count_there() == 0);
}

TEST_CASE("a program there whose output is read slowly waits, and what is stored of it there and here is little") {
  constexpr std::uintmax_t kMost = 32u << 20;  // bytes; `yes` prints as much in a tenth of a second
  const TwoMachines machines;
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t recorder = fork();
  if (recorder == 0) {
    become_lanescope(machines.here(), TwoMachines::on(quietly("profile", {"-o", "run", "sh", "-c", "yes | head -c 100000000; exit 5"})), machines.environment(),
                     ends[1], STDERR_FILENO);
  }
  close(ends[1]);
  char piece[64 << 10];
  REQUIRE(read(ends[0], piece, 2) == 2);
  const fs::path output = machines.there() / machines.kept() / "output";
  std::uintmax_t before = 0;
  await([&] {  // until the file stops growing
    const std::uintmax_t size = fs::file_size(output);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return size > 0 && std::exchange(before, size) == size;
  });
  CHECK(before < kMost);
  std::size_t bytes = 2;
  for (ssize_t size = 0; (size = read(ends[0], piece, sizeof(piece))) > 0; bytes += static_cast<std::size_t>(size))
    std::this_thread::sleep_for(std::chrono::milliseconds(4));  // reads more slowly than the program writes
  close(ends[0]);
  CHECK(bytes == 100'000'000);
  int status = 0;
  rusage used{};
  REQUIRE(wait4(recorder, &status, 0, &used) == recorder);
  CHECK(WEXITSTATUS(status) == 5);
  CHECK(used.ru_maxrss < 80 << 10);  // KiB: what waits on this machine is bounded, too
}

TEST_CASE("of a program that runs on there behind its recording, nobody reads the output, which is said and fills no disk") {
  const TwoMachines machines;
  constexpr off_t kKept = 1 << 20;
  const auto file = [&](const char* name) { return (machines.here() / name).string(); };
  const auto until = [&](const char* name) { return "until [ -e " + file(name) + " ]; do sleep 0.05; done; "; };
  const Ran ran =
      machines.run(quietly("profile", {"-o", "run", "-d", "0.3", "--kill", "none", "sh", "-c",
                                       "echo begun; " + until("go") + "head -c 5000000 /dev/zero; echo > " + file("printed") + "; " + until("end")}));
  CHECK(ran.output == "begun\n");
  CHECK_THAT(ran.messages, contains_text("The program still runs") && contains_text("What it prints from here on is not kept."));
  CHECK(machines.count_there() == 0);
  std::ofstream(file("go")) << '\n';
  await([&] { return fs::exists(file("printed")); });
  off_t largest = -1;
  std::error_code gone;
  for (fs::directory_iterator process("/proc"), none; process != none; process.increment(gone))
    for (fs::directory_iterator entry(process->path() / "fd", gone); !gone && entry != none; entry.increment(gone)) {
      std::error_code unreadable;
      struct stat facts {};
      if (fs::read_symlink(entry->path(), unreadable).string().starts_with(machines.there().string()) && stat(entry->path().c_str(), &facts) == 0)
        largest = std::max(largest, facts.st_size);
    }
  CHECK(largest >= 0);  // the relay, which reads what the program prints
  CHECK(largest < kKept);
  std::ofstream(file("end")) << '\n';
}

TEST_CASE("a file there that is not there is no wrong usage, nor is a program that is not here") {
  const TwoMachines machines;
  CHECK(machines.run({"fetch", "/nowhere/x.trace"}).code == 1);
  CHECK(run_lanescope(machines.here(), machines.on({"fetch", "/nowhere/x.trace"}, "command:/nowhere/podman exec x"), machines.environment()).code == 1);
}

TEST_CASE("Ctrl+C ends the program there, and all that it did is here") {
  const TwoMachines machines;
  LanescopeProcess recorder(machines.here(), machines.on(quietly("profile", {"-o", "run", endless(), "7"})), machines.environment());
  recorder.wait_for_line("ready");
  kill(recorder.pid(), SIGINT);
  CHECK(recorder.wait() == 7);
  CHECK(steps(machines.here() / "run.trace") == 1'000);
}

TEST_CASE("what a batch system sends before it ends a job reaches the program there, and so does the end, as it is sent") {
  const TwoMachines machines;
  const std::string program = "trap 'echo warned' USR1; trap 'echo saved; exit 9' TERM; echo ready; for i in $(seq 1000); do sleep 0.02; done";
  LanescopeProcess recorder(machines.here(), machines.on(quietly("profile", {"-o", "run", "sh", "-c", program})), machines.environment());
  recorder.wait_for_line("ready");
  kill(recorder.pid(), SIGUSR1);
  recorder.wait_for_line("warned");
  kill(recorder.pid(), SIGTERM);
  recorder.wait_for_line("saved");
  CHECK(recorder.wait() == 9);
}

TEST_CASE("a lanescope that is killed here, or whose terminal is closed, ends nothing there") {
  const TwoMachines machines;
  const int signal = GENERATE(SIGKILL, SIGHUP);
  {
    LanescopeProcess recorder(machines.here(), machines.on(quietly("profile", {"-o", "run", endless(), "7"})), machines.environment());
    recorder.wait_for_line("ready");
    kill(recorder.pid(), signal);
    CHECK(recorder.wait() == (signal == SIGHUP ? 1 : 128 + SIGKILL));
    if (signal == SIGHUP) CHECK_THAT(recorder.messages(), contains_text("--recording " + machines.kept()));
  }
  CHECK_THAT(machines.run({"fetch", "--list"}).output, contains_text("runs"));
  CHECK(machines.run({"shutdown"}).code == 0);
  const Ran fetched = machines.run({"fetch", "--recording", machines.kept(), "-o", "fetched"});
  CHECK(fetched.code == 7);
  CHECK(fetched.output == "ready\n");
  CHECK(steps(machines.here() / "fetched.trace") == 1'000);
  CHECK(machines.count_there() == 0);
}

// Ending a copy does not end what is copied: a user who returns to a training with fetch may leave it again.
TEST_CASE("Ctrl+C ends a fetch, and not the program whose recording it copies") {
  const TwoMachines machines;
  const int signal = GENERATE(SIGINT, SIGTERM);
  {
    LanescopeProcess recorder(machines.here(), machines.on(quietly("profile", {"-o", "run", endless(), "7"})), machines.environment());
    recorder.wait_for_line("ready");
    kill(recorder.pid(), SIGKILL);
    recorder.wait();
  }
  {
    LanescopeProcess fetch(machines.here(), machines.on({"fetch", "--recording", machines.kept(), "-o", "fetched"}), machines.environment());
    fetch.wait_for_line("ready");  // what was printed there is copied, too
    kill(fetch.pid(), signal);
    CHECK(fetch.wait() == 1);
    CHECK_THAT(fetch.messages(), contains_text("Left before all was copied.") && contains_text("there still, and its program may run on. Fetch it with") &&
                                     contains_text("--recording " + machines.kept()));
  }
  CHECK_THAT(machines.run({"fetch", "--list"}).output, contains_text("runs"));
  CHECK(machines.run({"shutdown"}).code == 0);
  const Ran fetched = machines.run({"fetch", "--recording", machines.kept(), "-o", "fetched"});
  CHECK(fetched.code == 7);
  CHECK(steps(machines.here() / "fetched.trace") == 1'000);
}

TEST_CASE("a copy that is removed here while it grows is not named, and the recording stays there") {
  const TwoMachines machines;
  LanescopeProcess recorder(machines.here(), machines.on(quietly("profile", {"-o", "run", endless(), "7"})), machines.environment());
  recorder.wait_for_line("ready");
  REQUIRE(fs::remove(machines.here() / "run.trace"));
  kill(recorder.pid(), SIGINT);
  CHECK(recorder.wait() == 1);
  CHECK_THAT(recorder.messages(), contains_text("run.trace was removed or replaced while it was copied") &&
                                      contains_text("The recording is there still. Fetch it with") && !contains_text("Copied so far"));
  CHECK(machines.count_there() == 1);
}

TEST_CASE("a process there is attached to from here") {
  const TwoMachines machines;
  const Ran none = machines.run({"attach", "-t", "none", "-o", "run", "2147483647"});
  CHECK(none.code == 1);
  CHECK_THAT(none.messages, contains_text("2147483647"));
  CHECK_THAT(machines.run({"attach", "--list"}).output, contains_text("COMMAND"));
  CHECK_THAT(machines.run({"status"}).output, contains_text("lanescope "));
  const Ran doctor = machines.run({"doctor", "--json"});
  CHECK((doctor.code == 0 || doctor.code == 1));
  CHECK_THAT(doctor.output, contains_text("\"part\": \"driver\""));
}

TEST_CASE("what an option takes is what the machine has of which it is asked") {
  const TwoMachines machines;
  const fs::path root = machines.here() / "root";
  fs::create_directories(root / "proc/net");
  fs::create_directories(root / "sys/block/sdq");
  std::ofstream(root / "proc/net/dev") << "head\nhead\n  eth7: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  std::ofstream(root / "proc/diskstats") << "8 0 sdq 1 2 3 4 5 6 7 8 9 10 11\n";
  std::ofstream(root / "sys/block/sdq/size") << "8\n";
  const std::string target = "command:env LANESCOPE_MACHINE_ROOT=" + root.string();
  const auto ask = [&](const std::vector<std::string>& arguments) {
    return run_lanescope(machines.here(), TwoMachines::on(arguments, target), machines.environment());
  };
  for (const char* command : {"profile", "launch", "attach", "start"}) {
    INFO(command);
    const Ran networks = ask({command, "--nic-metrics=help"});
    CHECK(networks.code == 0);
    CHECK_THAT(networks.output, contains_text("Network eth7: received"));
    CHECK_THAT(ask({command, "-o", "run", "-f", "true", "--storage-metrics=help"}).output, contains_text("Disks sdq: read"));
  }
  const Ran both = ask({"profile", "--on", target + " LANESCOPE_X=1", "--nic-metrics", "help", "app"});
  const std::size_t first = both.output.find("eth7");
  CHECK(both.output.starts_with(target + ":\n"));
  CHECK(both.output.find("eth7", first + 1) != std::string::npos);
}

TEST_CASE("text from there can't speak to a terminal here") {
  if (std::system("command -v script >/dev/null") != 0) {
    WARN("script is not here, which gives a command a terminal: not tested");
    return;
  }
  const TwoMachines machines;
  for (const Environment& variable : machines.environment()) setenv(variable.name.c_str(), variable.value.c_str(), 1);
  const std::string command = program("lanescope").string() + " profile --on command:env --remote-lanescope " + program("lanescope").string() +
                              " -t none -s none --cpuctxsw=none -o x printf 'a\\033[2Jb\\n'";
  const fs::path typescript = machines.here() / "typescript";
  std::ofstream(machines.here() / "command") << command << '\n';
  REQUIRE(std::system(("cd " + machines.here().string() + " && script -qec 'sh command' typescript >/dev/null </dev/null").c_str()) == 0);
  std::ostringstream shown;
  shown << std::ifstream(typescript).rdbuf();
  CHECK_THAT(shown.str(), contains_text("a\\u001b[2Jb") && !contains_text("a\x1b[2J"));
}
