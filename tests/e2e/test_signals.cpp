// Signals to programs and recorders: each reaches the program once, as without a recorder, and the recording ends with it.
#include <fcntl.h>
#include <pty.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string lives() { return program("lanescope_program_lives").string(); }
std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

// The state letter of proc(5); 0 if the process is gone.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t close = text.rfind(')');
  return close == std::string::npos ? '\0' : text[close + 2];
}
void wait_for_state(pid_t pid, char state) {
  for (int look = 0; state_of(pid) != state; ++look) {
    constexpr int kLooks = 120'000;
    REQUIRE(look < kLooks);
    usleep(1'000);
  }
}

// Runs a program under `lanescope profile` as the job of a shell that has a terminal, and waits for it as shells do. `when_stopped` is called when the shell
// notices that the job is stopped. Returns the exit code of the job; 100 if it was never stopped.
template <typename WhenStopped>
int run_job(const std::filesystem::path& folder, const std::string& script, WhenStopped when_stopped) {
  int screen = -1;
  const pid_t shell = forkpty(&screen, nullptr, nullptr, nullptr);
  REQUIRE(shell >= 0);
  if (shell == 0) {
    const pid_t job = fork();
    if (job == 0) setpgid(0, 0);
    if (job == 0) become_lanescope(folder, {"profile", "-t", "nvtx", "-o", "x", "sh", "-c", script}, {}, STDOUT_FILENO, STDERR_FILENO);
    int status = 0;
    if (waitpid(job, &status, WUNTRACED) != job || !WIFSTOPPED(status)) _exit(100);
    when_stopped(job);
    _exit(waitpid(job, &status, 0) == job && WIFEXITED(status) ? WEXITSTATUS(status) : 101);
  }
  char shown[4096];
  while (read(screen, shown, sizeof(shown)) > 0) {
  }
  int status = 0;
  waitpid(shell, &status, 0);
  close(screen);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 102;
}

// The signals that a recorder blocks just before it exits: bit n - 1 for signal n.
std::uint64_t held_back_at_end(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  const pid_t recorder = fork();
  if (recorder == 0) ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  if (recorder == 0) become_lanescope(folder, std::move(arguments), {}, STDOUT_FILENO, STDERR_FILENO);
  int status = 0;
  REQUIRE(waitpid(recorder, &status, 0) == recorder);  // it is lanescope now
  REQUIRE((WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP));
  REQUIRE(ptrace(PTRACE_SETOPTIONS, recorder, nullptr, PTRACE_O_TRACEEXIT) == 0);
  for (long signal = 0; status >> 8 != (SIGTRAP | PTRACE_EVENT_EXIT << 8); signal = WSTOPSIG(status)) {
    REQUIRE(ptrace(PTRACE_CONT, recorder, nullptr, signal) == 0);
    REQUIRE(waitpid(recorder, &status, 0) == recorder);
    REQUIRE(WIFSTOPPED(status));
  }
  std::ifstream facts("/proc/" + std::to_string(recorder) + "/status");
  std::uint64_t held_back = 0;
  for (std::string word; facts >> word;)
    if (word == "SigBlk:") facts >> std::hex >> held_back;
  REQUIRE(ptrace(PTRACE_CONT, recorder, nullptr, 0) == 0);
  REQUIRE(waitpid(recorder, &status, 0) == recorder);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  return held_back;
}

// `lanescope profile` in a separate terminal, whose Ctrl+C reaches all processes in the foreground.
class Terminal {
 public:
  Terminal(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    pid_ = forkpty(&screen_, nullptr, nullptr, nullptr);
    if (pid_ == 0) become_lanescope(folder, std::move(arguments), {}, STDOUT_FILENO, STDERR_FILENO);
  }
  // Runs a bash script instead.
  Terminal(const std::filesystem::path& folder, const std::string& script) {
    pid_ = forkpty(&screen_, nullptr, nullptr, nullptr);
    if (pid_ == 0 && chdir(folder.c_str()) == 0) execl("/bin/bash", "bash", "-c", script.c_str(), nullptr);
    if (pid_ == 0) _exit(125);
  }
  ~Terminal() {
    if (screen_ >= 0) close(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void wait_for(const std::string& text) {
    while (shown_.find(text) == std::string::npos) REQUIRE(read_more());
  }
  // Closes the terminal.
  int close_and_wait() {
    close(std::exchange(screen_, -1));
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  [[nodiscard]] const std::string& shown() const { return shown_; }
  void press_control_z() { REQUIRE(write(screen_, "\x1a", 1) == 1); }
  void press_control_c() { REQUIRE(write(screen_, "\x03", 1) == 1); }
  // Waits until the shell that runs a script waits for its child: before that, it takes Ctrl+C as its own end.
  void wait_until_shell_waits() const {
    for (long call = -1; call != SYS_wait4; usleep(1'000)) {
      std::ifstream now("/proc/" + std::to_string(pid_) + "/syscall");
      if (!(now >> call)) call = -1;
    }
  }
  // Waits until it has taken the pending signals: two pending ones count as one.
  void wait_until_taken(int signal) const {
    for (bool waits = true; waits; usleep(1'000)) {
      std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
      waits = false;
      for (std::string line; std::getline(status, line);)
        if (line.starts_with("ShdPnd:")) waits = (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    }
  }
  int wait_for_end() {
    while (read_more()) {
    }
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  bool read_more() {
    char buffer[4096];
    const ssize_t size = read(screen_, buffer, sizeof(buffer));
    if (size > 0) shown_.append(buffer, static_cast<std::size_t>(size));
    return size > 0;
  }
  pid_t pid_ = 0;
  int screen_ = -1;
  std::string shown_;
};

}  // namespace

TEST_CASE("Ctrl+C that comes behind the end of the recording ends a recorder only where it has something left to make") {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"profile", "-t", "none", "-s", "none", "--cpuctxsw=none", "-f", "true", "-o", "x", "sh", "-c", "exit 7"};
  constexpr std::uint64_t kInterrupt = std::uint64_t{1} << (SIGINT - 1);
  CHECK((held_back_at_end(folder.path(), arguments) & kInterrupt) != 0);
  arguments.insert(arguments.begin() + 1, "--stats=true");
  CHECK((held_back_at_end(folder.path(), arguments) & kInterrupt) == 0);
}

TEST_CASE("Ctrl+C in a terminal ends the program once, and the recording with it") {
  const TemporaryFolder folder;
  Terminal terminal(folder.path(), {"profile", "-o", "x", endless(), "5"});
  terminal.wait_for("ready");
  terminal.press_control_c();
  CHECK(terminal.wait_for_end() == 5);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 1'000);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kExited);
}

// As `timeout` does. Without a recorder, it would lead a shell's job, and each process of the job gets Ctrl+C.
TEST_CASE("Ctrl+C reaches all of a program that has made a group of its own, as if a shell had started it alone") {
  const TemporaryFolder folder;
  const std::string script = "trap 'echo heard; exit 5' INT; " + lives() + " wait; exit 6";
  Terminal terminal(folder.path(), {"profile", "-t", "nvtx", "-o", "x", "setsid", "-w", "sh", "-c", script});
  terminal.wait_for("ready");
  terminal.press_control_c();
  terminal.wait_for("heard");
  CHECK(terminal.wait_for_end() == 5);
  CHECK(load(folder.path() / "x.trace")->provenance().finished);

  Terminal of_timeout(folder.path(), {"profile", "-t", "nvtx", "-o", "y", "timeout", "3600", lives(), "wait"});
  of_timeout.wait_for("ready");
  of_timeout.press_control_c();
  CHECK(of_timeout.wait_for_end() == 128 + SIGINT);
}

// Shells continue after a child that exits, with any code: only a child that Ctrl+C has killed ends the script.
TEST_CASE("Ctrl+C that ends the program ends the recorder as it would end the program, and with it a script of several recordings") {
  const TemporaryFolder folder;
  const std::string record = program("lanescope").string() + " profile -t nvtx -s none --cpuctxsw=none -f true -o x ";
  const auto script_over = [&](const std::string& command) {
    Terminal terminal(folder.path(), "trap 'echo interrupted' EXIT; " + command + "; echo 'the next one begins'");
    terminal.wait_for("ready");
    terminal.wait_until_shell_waits();
    terminal.press_control_c();
    terminal.wait_for_end();
    return terminal.shown();
  };
  for (const std::string& recorded : {endless(), "setsid -w " + endless()}) {
    CAPTURE(recorded);
    const std::string alone = script_over(endless());
    CHECK_THAT(alone, contains_text("interrupted") && !contains_text("the next one begins"));
    const std::string shown = script_over(record + recorded);
    CHECK_THAT(shown, contains_text("Generated:") && contains_text("interrupted") && !contains_text("the next one begins"));
    CHECK(load(folder.path() / "x.trace")->provenance().finished);
  }
  // This program handles the signal itself.
  CHECK_THAT(script_over(endless() + " 5"), contains_text("the next one begins"));
  CHECK_THAT(script_over(record + endless() + " 5"), contains_text("the next one begins"));
}

TEST_CASE("a recorder ends by the signal that it has passed on, where that ends the program, and leaves no core file") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGQUIT, SIGUSR1);
  CAPTURE(signal);
  const TemporaryFolder folder;
  const pid_t recorder = fork();
  if (recorder == 0) {
    const int output = open((folder.path() / "output").c_str(), O_WRONLY | O_CREAT, 0600);
    become_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", endless()}, {}, output, output);
  }
  const auto is_ready = [&] {
    std::ifstream file(folder.path() / "output");
    std::string line;
    return std::getline(file, line) && line == "ready";
  };
  for (int look = 0; !is_ready(); ++look, usleep(1'000)) REQUIRE(look < 60'000);
  kill(recorder, signal);
  int status = 0;
  REQUIRE(waitpid(recorder, &status, 0) == recorder);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal);
  CHECK_FALSE(WCOREDUMP(status));
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
}

// A process that keeps a recording from afar sends Ctrl+C like this; it has no terminal there.
TEST_CASE("Ctrl+C that somebody sends to the recorder's group reaches all of a program that has made a group of its own") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", "setsid", "-w", "sh", "-c",
                                             "trap 'exit 5' INT; echo ready; sleep 86400; exit 6"});
  recording.wait_for_line("ready");
  REQUIRE(kill(-recording.pid(), SIGINT) == 0);  // it leads its group
  CHECK(recording.wait() == 5);                  // the shell takes the signal when its child has ended, so that this one has had it, too
}

// The kernel informs only the session's first process; a shell would inform its jobs.
TEST_CASE("a terminal that is closed ends the program of a recorder that it began with, as it would end the program") {
  const TemporaryFolder folder;
  const bool is_handled = GENERATE(false, true);
  const std::string end = folder.path() / "end";
  const std::string handler = is_handled ? "trap 'echo hung up > " + end + "; exit 5' HUP; " : "";
  Terminal terminal(folder.path(), {"profile", "-t", "nvtx", "-o", "run", "sh", "-c", handler + "echo ready; for i in $(seq 500); do sleep 0.02; done"});
  terminal.wait_for("ready");
  CHECK(terminal.close_and_wait() == (is_handled ? 5 : 128 + SIGHUP));
  CHECK(std::filesystem::exists(end) == is_handled);
  CHECK(load(folder.path() / "run.trace")->provenance().finished);
}

TEST_CASE("Ctrl+C twice ends the recording of a program that does not listen") {
  const TemporaryFolder folder;
  Terminal terminal(folder.path(), {"profile", "-o", "x", "sh", "-c", "trap '' INT; echo deaf $$.; exec sleep 30"});
  terminal.wait_for(".");
  terminal.press_control_c();
  terminal.wait_for("^C");
  terminal.wait_until_taken(SIGINT);
  terminal.press_control_c();
  CHECK(terminal.wait_for_end() == 128 + SIGINT);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->processes().back().end_kind == ProcessEndKind::kDetached);
  kill(static_cast<pid_t>(trace->processes().back().pid), SIGKILL);
}

TEST_CASE("signals of a batch system reach the program, and do not end its recording") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "signals"});
  recording.wait_for_line("ready");
  for (const int signal : {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR, SIGRTMIN + 6}) {
    kill(recording.pid(), signal);
    recording.wait_for_line("signal " + std::to_string(signal));
  }
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 7);
  CHECK_THAT(recording.messages(), contains_text("SIGUSR1 was passed on to the program; the recording goes on."));
  CHECK_THAT(recording.messages(), contains_text("signal 40 was passed on to the program; the recording goes on."));
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 100);
}

TEST_CASE("a signal to the recorder that ends the program leaves a whole file") {
  const int signal = GENERATE(SIGUSR1, SIGALRM, SIGXCPU, SIGQUIT, SIGHUP);
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "wait"});
  recording.wait_for_line("ready");
  kill(recording.pid(), signal);
  CHECK(recording.wait() == 128 + signal);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->processes()[0].signal == signal);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 100);
}

TEST_CASE("a signal to the group, to which the program belongs, reaches it once, and one to the recorder as well") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "signals"});
  recording.wait_for_line("ready");
  const auto send = [&](int signal, pid_t where) {
    const std::string line = "signal " + std::to_string(signal);
    kill(where, signal);
    recording.wait_for_line(line);
  };
  send(SIGUSR1, -recording.pid());
  send(SIGUSR2, recording.pid());
  send(SIGALRM, -recording.pid());
  send(SIGXCPU, -recording.pid());
  kill(-recording.pid(), SIGTERM);
  CHECK(recording.wait() == 7);
  std::istringstream lines(recording.output());
  std::vector<std::string> signals;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("signal")) signals.push_back(line);
  CHECK(signals == std::vector<std::string>{"signal 10", "signal 12", "signal 14", "signal 24", "signal 15"});
  CHECK_THAT(recording.messages(), contains_text("SIGUSR1 came to the program as well; the recording goes on."));
  CHECK_THAT(recording.messages(), contains_text("SIGUSR2 was passed on to the program; the recording goes on."));
}

TEST_CASE("signals that come to the group at once reach the program once each") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "signals"});
  recording.wait_for_line("ready");
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    kill(-recording.pid(), SIGUSR1);
    kill(-recording.pid(), SIGUSR2);
    usleep(200'000);  // a second signal would have come by now
  }
  kill(-recording.pid(), SIGTERM);
  CHECK(recording.wait() == 7);
  std::istringstream lines(recording.output());
  int first = 0, second = 0;
  for (std::string line; std::getline(lines, line);) {
    first += line == "signal 10" ? 1 : 0;
    second += line == "signal 12" ? 1 : 0;
  }
  CHECK(first == kRounds);
  CHECK(second == kRounds);
}

TEST_CASE("the list of processes has a program that is recorded once") {
  const TemporaryFolder folder;
  const std::string mark = folder.path().filename().string();
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "signals", mark});
  recording.wait_for_line("ready");
  const Ran list = run_lanescope(folder.path(), {"attach", "--list"});
  std::istringstream lines(list.output);
  int programs = 0;
  for (std::string line; std::getline(lines, line);)
    programs += line.find("lives signals " + mark) != std::string::npos && line.find("profile") == std::string::npos ? 1 : 0;
  CHECK(programs == 1);
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 7);
}

TEST_CASE("a program in a group of its own gets from its recorder what is sent to the recorder's group") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", "sh", "-c", "exec setsid \"$0\" signals", lives()});
  recording.wait_for_line("ready");
  kill(-recording.pid(), SIGUSR1);
  recording.wait_for_line("signal 10");
  kill(-recording.pid(), SIGTERM);
  CHECK(recording.wait() == 7);
}

TEST_CASE("a program that saves its state when it is asked for its end is waited for, however long that takes") {
  const TemporaryFolder folder;
  const std::string saves = "trap 'sleep 7; echo saved; exit 3' TERM; echo ready; while :; do sleep 0.1; done";
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", "sh", "-c", saves});
  recording.wait_for_line("ready");
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 3);
  CHECK(recording.output() == "ready\nsaved\n");
  CHECK_THAT(recording.messages(), contains_text("SIGTERM came to the program, which has not ended yet; the recording goes on."));
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kExited);
}

TEST_CASE("a program is stopped and goes on with its recorder") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "wait"});
  recording.wait_for_line("ready");
  const pid_t target = recording.target();
  kill(recording.pid(), SIGTSTP);
  wait_for_state(recording.pid(), 'T');
  wait_for_state(target, 'T');  // each thread stops when it next gets a processor
  kill(recording.pid(), SIGCONT);
  wait_for_state(target, 'S');
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 128 + SIGTERM);
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
}

TEST_CASE("where no shell could have a job go on, Ctrl+Z stops the recorder as little as the program, and Ctrl+C ends both") {
  const TemporaryFolder folder;
  Terminal terminal(folder.path(), {"profile", "-t", "nvtx", "-o", "x", lives(), "wait"});
  terminal.wait_for("ready");
  terminal.press_control_z();
  terminal.wait_until_taken(SIGTSTP);
  terminal.press_control_c();
  CHECK(terminal.wait_for_end() == 128 + SIGINT);
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
}

TEST_CASE("a program that stops itself stands before its shell as it would alone, and goes on with its job") {
  const TemporaryFolder folder;
  CHECK(run_job(folder.path(), "kill -STOP $$; exit 5", [](pid_t job) { kill(-job, SIGCONT); }) == 5);
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
}

TEST_CASE("a program that stopped itself, and is told to go on alone, takes its recorder with it") {
  const TemporaryFolder folder;
  const std::filesystem::path pid_file = folder.path() / "pid";
  const auto continue_program = [&](pid_t) {
    pid_t program = 0;
    std::ifstream(pid_file) >> program;
    kill(program, SIGCONT);
  };
  CHECK(run_job(folder.path(), "echo $$ > '" + pid_file.string() + "'; kill -STOP $$; exit 6", continue_program) == 6);
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
}

TEST_CASE("where a program that stopped itself has others at work, its recorder goes on") {
  const TemporaryFolder folder;
  constexpr int kNeverStood = 100;
  CHECK(run_job(folder.path(), "(sleep 1; kill -CONT $$) & kill -STOP $$; wait; exit 5", [](pid_t) {}) == kNeverStood);
}

TEST_CASE("what a program printed and could not be written is a failure, where the program itself could not know") {
  const TemporaryFolder folder;
  const auto code_of = [&](const std::string& script) {
    const pid_t recorder = fork();
    REQUIRE(recorder >= 0);
    if (recorder == 0)
      become_lanescope(folder.path(), {"profile", "-f", "-t", "nvtx", "-o", "x", "sh", "-c", script}, {}, open("/dev/full", O_WRONLY),
                       open("/dev/null", O_WRONLY));
    int status = 0;
    REQUIRE(waitpid(recorder, &status, 0) == recorder);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
  };
  CHECK(code_of("true") == 0);
  CHECK(code_of("seq 1000") == 1);
  CHECK(code_of("seq 1000; exit 7") == 7);
}

TEST_CASE("signals that mean nothing to who attaches do not end its recording") {
  const TemporaryFolder folder;
  LanescopeProcess holder(folder.path(),
                          {"profile", "-t", "none", "--sample=none", "--cpuctxsw=none", "-o", "holder", "sh", "-c", "echo ready; exec sleep 60"});
  holder.wait_for_line("ready");
  const pid_t target = holder.target();
  LanescopeProcess recording(folder.path(), {"attach", "-t", "none", "--cpuctxsw=process-tree", "-o", "x", std::to_string(target)});
  while (!std::filesystem::exists(folder.path() / "x.trace")) usleep(1'000);
  kill(recording.pid(), SIGUSR1);
  kill(recording.pid(), SIGINT);
  CHECK(recording.wait() == 0);
  CHECK_THAT(recording.messages(), contains_text("SIGUSR1 has no effect: the process was attached to. The recording goes on."));
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
  kill(target, SIGTERM);
  CHECK(holder.wait() == 128 + SIGTERM);
}

namespace {

// The exit code and output of a shell command in a separate process namespace, as its first process; an exit code that is not 0 if that is impossible.
std::pair<int, std::string> run_as_first_process(const std::filesystem::path& folder, const std::string& command, const char* proc = "--mount-proc ") {
  const std::string line = "cd " + folder.string() + "; unshare --fork --pid " + proc + command + " 2> messages";
  std::FILE* const pipe = popen(line.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output.append(buffer, size);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

}  // namespace

TEST_CASE("a recorder that is the first process of a container leaves none that has ended, passes signals on, and ends with its program") {
  const TemporaryFolder folder;
  if (run_as_first_process(folder.path(), "true").first != 0) {
    WARN("Only root can make namespaces of processes: not tested.");
    return;
  }
  // Orphans, whose parent is the first process; then a signal to it, as `docker stop` sends it.
  std::ofstream(folder.path() / "script") << "trap 'echo asked; exit 6' TERM\n"
                                             "for i in 1 2 3 4 5 6 7 8 9 10; do (sh -c ':' &); done; sleep 0.5\n"
                                             "cat /proc/[0-9]*/stat | grep -c ' Z '\n"
                                             "kill -TERM 1; while :; do sleep 0.1; done\n";
  for (const char* const traced : {"nvtx", "none"}) {
    CAPTURE(traced);
    const auto [code, output] =
        run_as_first_process(folder.path(), program("lanescope").string() + " profile -f -t " + traced + " -s none --cpuctxsw=none -o x sh script");
    CHECK(code == 6);
    CHECK(output == "0\nasked\n");
    CHECK(load(folder.path() / "x.trace")->provenance().finished);
  }
}

TEST_CASE("a recorder says that /proc is of another namespace of processes than its own") {
  const TemporaryFolder folder;
  if (run_as_first_process(folder.path(), "true").first != 0) {
    WARN("Only root can make namespaces of processes: not tested.");
    return;
  }
  const bool is_own = GENERATE(false, true);
  const std::string command = program("lanescope").string() + " profile -t nvtx -s none --cpuctxsw=none -o x true";
  CHECK(run_as_first_process(folder.path(), command, is_own ? "--mount-proc " : "").first == 0);
  std::ostringstream messages;
  messages << std::ifstream(folder.path() / "messages").rdbuf();
  CHECK((messages.str().find("/proc is of another namespace of processes") != std::string::npos) != is_own);
}
