// What is read from processes that map their command line and environment over as much memory as they like.
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <string>
#include <thread>

#include "collector/attach/candidate.h"
#include "collector/attach/process_text.h"
#include "processes/proc.h"
#include "processes/start_environments.h"
#include "processes/unfollowed/unfollowed.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

constexpr std::size_t kWide = 256u << 20;
const char kShown[] = "HIDDEN=behind";

// A process whose arguments are this number of zero bytes, and whose environment is as large with one variable at its end. None of it is in memory.
class WideProcess {
 public:
  WideProcess() {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char answer = become_wide() ? 'y' : 'n';
      if (write(ready[1], &answer, 1) == 1) pause();
      _exit(0);
    }
    close(ready[1]);
    char answer = 0;
    REQUIRE(read(ready[0], &answer, 1) == 1);
    close(ready[0]);
    is_wide_ = answer == 'y';
  }
  ~WideProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  WideProcess(const WideProcess&) = delete;
  WideProcess& operator=(const WideProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_wide() const { return is_wide_; }  // false if the kernel has no PR_SET_MM_MAP

 private:
  static bool become_wide() {
    char* const region = static_cast<char*>(mmap(nullptr, 2 * kWide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (region == MAP_FAILED) return false;
    std::memcpy(region + 2 * kWide - sizeof(kShown), kShown, sizeof(kShown));
    std::array<char, 4096> stat{};
    std::FILE* const file = std::fopen("/proc/self/stat", "r");
    if (file == nullptr || std::fread(stat.data(), 1, stat.size() - 1, file) == 0) return false;
    std::fclose(file);
    std::array<std::uint64_t, 53> field{};
    char* place = std::strrchr(stat.data(), ')') + 4;  // after the state, which is field 3 of proc(5)
    for (std::size_t i = 4; i < field.size(); ++i) field[i] = std::strtoull(place, &place, 10);
    prctl_mm_map map{};
    map.start_code = field[26];
    map.end_code = field[27];
    map.start_stack = field[28];
    map.start_data = field[45];
    map.end_data = field[46];
    map.start_brk = field[47];
    map.brk = reinterpret_cast<std::uint64_t>(sbrk(0));
    map.arg_start = reinterpret_cast<std::uint64_t>(region);
    map.arg_end = map.env_start = map.arg_start + kWide;
    map.env_end = map.env_start + kWide;
    map.exe_fd = static_cast<__u32>(-1);
    return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) == 0;
  }

  pid_t pid_ = 0;
  bool is_wide_ = false;
};

long most_memory_in_use() {  // the peak, in KiB
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("a process with a quarter of a gigabyte of arguments and of environment costs its readers four megabytes at most") {
  const WideProcess process;
  if (!process.is_wide()) {
    WARN("This kernel lets no process choose where its arguments lie.");
    return;
  }
  const long before = most_memory_in_use();
  CHECK(describe_process(process.pid()).arguments.size() == attach::kMostArguments);
  const Result<attach::Candidate> candidate = attach::read_candidate(process.pid());
  REQUIRE(candidate);
  CHECK(candidate->command_line.size() <= attach::kMostArgumentBytes);
  const std::string_view name = "HIDDEN";
  const StartVariables variables = start_variables(process.pid(), std::span(&name, 1));
  CHECK(variables.of(name) == StartEnvironment::kUnknown);
  CHECK(variables.found.empty());
  CHECK(has_arguments(process.pid()));
  CHECK(most_memory_in_use() - before < 4 << 10);
}

TEST_CASE("a process that names itself with what stands around names is taken for what it is") {
  const std::string name = GENERATE("a) Z 1 1\n1 (b", "a) x\nb", ") Z 1 2 3 4 5 6", "\n", "))\n((", "Uid:\t0\nPPid: 1");
  int ready[2], go[2];
  REQUIRE((pipe(ready) == 0 && pipe(go) == 0));
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, name.c_str(), 0, 0, 0);
    char letter = 0;
    _exit(write(ready[1], "r", 1) == 1 && read(go[0], &letter, 1) == 1 ? 7 : 8);
  }
  char letter = 0;
  REQUIRE(read(ready[0], &letter, 1) == 1);
  const ProgramState state = program_state(child);
  CHECK(state.runs);
  CHECK(state.name == name.substr(0, 15));  // as the kernel shortens it
  CHECK(state.parent == getpid());
  CHECK(state.number.is_known());
  CHECK(describe_process(child).parent == getpid());
  CHECK(parent_of_process(child) == getpid());
  CHECK_FALSE(is_of_another_user(child));
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  CHECK(is_there_since(child, now.tv_sec * 1'000'000'000 + now.tv_nsec));
  FrameLog log{{}, {}};
  UnfollowedProcesses unfollowed(log, [](const std::string&) {});
  for (const char* title : {"] env", "] python3"}) unfollowed.add("[" + std::to_string(child) + title, "why.");
  CHECK(unfollowed.count() == 1);
  REQUIRE(write(go[1], "g", 1) == 1);
  siginfo_t ended{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(program_state(child).runs);
  const std::optional<ExitStatus> status = exit_status_of_stranger(child, -1);
  REQUIRE(status);
  CHECK(status->code == 7);
  waitpid(child, nullptr, 0);
  for (const int each : {ready[0], ready[1], go[0], go[1]}) close(each);
}

TEST_CASE("a number that a thread has, or nobody, is no process") {
  CHECK(may_be_process(getpid()));
  CHECK(may_be_process(getppid()));
  std::latch seen(1);
  std::promise<pid_t> number;
  std::thread thread([&] {
    number.set_value(static_cast<pid_t>(syscall(SYS_gettid)));
    seen.wait();
  });
  const pid_t of_thread = number.get_future().get();
  CHECK(parent_of_process(of_thread) == 0);
  CHECK_FALSE(may_be_process(of_thread));
  seen.count_down();
  thread.join();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t ended{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(may_be_process(child));
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(may_be_process(child));
}

TEST_CASE("the variables and arguments that a program was started with are read whole") {
  const std::string long_value(1 << 16, 'v');
  const std::string long_argument(100'000, 'a');
  int ready[2];
  REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string variable = "LONG=" + long_value;
    const char* const arguments[] = {"sh", "-c", "kill -STOP $$", "", long_argument.c_str(), nullptr};
    const char* const environment[] = {"FIRST=1", variable.c_str(), "LAST=", nullptr};
    execve("/bin/sh", const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
    _exit(127);
  }
  close(ready[1]);
  char letter = 0;
  CHECK(read(ready[0], &letter, 1) == 0);  // exec closes the other end
  close(ready[0]);
  CHECK(describe_process(child).arguments == std::vector<std::string>{"sh", "-c", "kill -STOP $$", "", long_argument});
  const std::array<std::string_view, 4> names{"LONG", "LAST", "NONE", "FIRS"};
  const StartVariables variables = start_variables(child, names);
  CHECK(variables.found == std::map<std::string, std::string>{{"LONG", long_value}, {"LAST", ""}});
  CHECK(variables.of("LAST") == StartEnvironment::kWith);
  CHECK(variables.of("NONE") == StartEnvironment::kWithout);
  CHECK(variables.of("FIRS") == StartEnvironment::kWithout);  // FIRST is a different variable
  CHECK(has_arguments(child));
  CHECK_FALSE(program_state(child).number.is_same(program_state(getpid()).number));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_CASE("a process that writes over its environment is none without a variable") {
  // Like programs that show their status in place of their command: the area then has one text followed by zeros.
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char* const begin = environ[0];
    char* end = begin;
    for (char** each = environ; *each != nullptr; ++each) end = *each + std::strlen(*each) + 1;
    std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    std::strcpy(begin, "at work");
    for (;;) pause();
  }
  const auto environment_of = [&](std::string_view name) { return start_variables(pid, std::span(&name, 1)).of(name); };
  while (environment_of("PATH") != StartEnvironment::kUnknown) usleep(1000);
  CHECK(environment_of("LANESCOPE_TEST") == StartEnvironment::kUnknown);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST_CASE("what a program was started with is known once it was asked for, whatever the program writes over it, and of its forked children") {
  int go[2], ready[2];
  REQUIRE((pipe(go) == 0 && pipe(ready) == 0));
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(go[0], STDIN_FILENO);
    dup2(ready[1], STDOUT_FILENO);
    // It overwrites its environment with a valid one, then forks.
    const char* const script =
        "import ctypes, os, sys\n"
        "fields = open('/proc/self/stat').read().rsplit(')', 1)[1].split()\n"
        "begin, end = int(fields[47]), int(fields[48])\n"
        "print(flush=True)\n"
        "sys.stdin.readline()\n"
        "ctypes.memmove(begin, b'RANK=8\\0' + b'A=' * ((end - begin) // 2 - 4) + b'\\0', (end - begin) // 2 * 2)\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "sys.stdin.readline()\n";
    const char* const arguments[] = {"python3", "-c", script, nullptr};
    const char* const environment[] = {"RANK=7", "PATH=/usr/bin:/bin", "FILLING=................................................", nullptr};
    execve("/usr/bin/python3", const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
    _exit(127);
  }
  const auto line = [&] {
    std::string text;
    for (char letter = 0; read(ready[0], &letter, 1) == 1 && letter != '\n';) text += letter;
    return text;
  };
  const std::array<std::string_view, 2> names{"RANK", "NONE"};
  StartEnvironments known, asked_later;
  known.ask_for(names);
  asked_later.ask_for(names);
  line();
  CHECK(known.of(pid).found == std::map<std::string, std::string>{{"RANK", "7"}});
  CHECK(known.of(pid).of("NONE") == StartEnvironment::kWithout);
  REQUIRE(write(go[1], "\n", 1) == 1);
  const pid_t child = std::atoi(line().c_str());
  CHECK(asked_later.of(pid).found.at("RANK") == "8");
  for (const pid_t each : {pid, child}) CHECK(known.of(each).found.at("RANK") == "7");
  CHECK(known.of(getpid()).found.empty());
  kill(child, SIGKILL);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  for (const int each : {go[0], go[1], ready[0], ready[1]}) close(each);
}
