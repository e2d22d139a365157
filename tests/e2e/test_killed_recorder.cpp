// A recorder that is killed leaves programs as they were without it: they continue, use no more memory for it, and end as they do alone.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <thread>

#include "recorder.h"
#include "support/await.h"
#include "support/catch.h"
#include "support/paths.h"

extern char** environ;

using namespace lanescope;
using namespace lanescope::test;
using namespace std::chrono_literals;

namespace {

std::string outliving() { return program("lanescope_program_nvtx_outliving").string(); }

constexpr std::size_t kHeaders = 64u << 10;  // bytes that a recording may leave
constexpr std::size_t kRecords = 1u << 20;   // bytes that the program writes in 50 ms

std::vector<pid_t> numbers_in(const std::filesystem::path& file) {
  std::ifstream text(file);
  return {std::istream_iterator<pid_t>(text), std::istream_iterator<pid_t>()};
}

// What /proc says under that name about the process ("RssShmem:"); 0 if it says nothing.
std::size_t status_of(pid_t pid, std::string_view name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stoul(line.substr(name.size()));
  return 0;
}

// Bytes of shared memory that the process has.
std::size_t shared_memory_of(pid_t pid) { return status_of(pid, "RssShmem:") << 10; }

// The program, which has forked a child that is recorded as well.
std::vector<pid_t> recorded_family(const std::filesystem::path& numbers) {
  test::await([&] { return numbers_in(numbers).size() == 1; });
  const pid_t parent = numbers_in(numbers).front();
  test::await([&] { return shared_memory_of(parent) > kHeaders; });
  kill(parent, SIGUSR1);
  test::await([&] { return numbers_in(numbers).size() == 2; });
  return numbers_in(numbers);
}

void check_that_memory_returns(const std::vector<pid_t>& processes) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  for (const pid_t each : processes) {
    CAPTURE(each);
    while (shared_memory_of(each) > kHeaders && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(10ms);
    CHECK(shared_memory_of(each) <= kHeaders);
  }
  // It rests once behind each thousand of ranges. Recorded, these would take many times the limit.
  constexpr std::size_t kRests = 300;
  const auto rests = [](pid_t each) { return status_of(each, "voluntary_ctxt_switches:"); };
  for (const pid_t each : processes) test::await([&, before = rests(each)] { return rests(each) >= before + kRests; });
  for (const pid_t each : processes) CHECK(shared_memory_of(each) <= kRecords);
}

void kill_recorder(LanescopeProcess& recorder) { kill(recorder.pid(), SIGKILL); }

// The sockets that the process has open: "socket:[4711]".
std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> sockets;
  std::error_code gone;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone))
    if (const std::string target = std::filesystem::read_symlink(descriptor, gone).string(); target.starts_with("socket:")) sockets.insert(target);
  return sockets;
}

// The last child of the process, once it has a connection that its parent does not have: it has asked the recorder.
void wait_until_a_child_asks(pid_t parent, std::size_t children) {
  test::await([&] {
    std::ifstream list("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
    const std::vector<pid_t> all{std::istream_iterator<pid_t>(list), std::istream_iterator<pid_t>()};
    if (all.size() < children) return false;
    const std::set<std::string> inherited = sockets_of(parent), has = sockets_of(all.back());
    return !std::includes(inherited.begin(), inherited.end(), has.begin(), has.end());
  });
}

}  // namespace

TEST_CASE("a program whose recorder is killed gets its memory back, records no more, and ends as it does alone") {
  const char* const traced = GENERATE("nvtx", "nvtx,osrt");
  CAPTURE(traced);
  const TemporaryFolder folder;
  const std::filesystem::path numbers = folder.path() / "numbers";
  LanescopeProcess recorder(folder.path(),
                            {"profile", "-t", traced, "-s", "none", "--cpuctxsw=none", "-o", "x", "sh", "-c", "$0 $1; echo code $?", outliving(), numbers});
  const std::vector<pid_t> processes = recorded_family(numbers);
  kill_recorder(recorder);
  check_that_memory_returns(processes);
  kill(processes.front(), SIGTERM);
  recorder.wait_for_line("ended as it should");
  recorder.wait_for_line("code 5");
  CHECK(recorder.wait() == 128 + SIGKILL);
}

TEST_CASE("a program whose recorder is killed with the process that started it is killed with that, as without us") {
  const bool is_to_run_on = GENERATE(false, true);
  CAPTURE(is_to_run_on);
  const TemporaryFolder folder;
  const std::filesystem::path numbers = folder.path() / "numbers", file = folder.path() / "x";
  int gate[2];
  REQUIRE(pipe2(gate, O_CLOEXEC) == 0);
  const pid_t starter = fork();
  if (starter == 0) {
    close(gate[1]);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string lanescope = program("lanescope").string(), runs = outliving();
      execl(lanescope.c_str(), lanescope.c_str(), "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", is_to_run_on ? "--kill=none" : "--kill=sigterm",
            "-o", file.c_str(), runs.c_str(), numbers.c_str(), nullptr);
      _exit(127);
    }
    char nothing = 0;
    _exit(static_cast<int>(read(gate[0], &nothing, 1)));
  }
  close(gate[0]);
  test::await([&] { return numbers_in(numbers).size() == 1; });
  const pid_t running = numbers_in(numbers).front();
  const int process = static_cast<int>(syscall(SYS_pidfd_open, running, 0));
  test::await([&] { return shared_memory_of(running) > kHeaders; });
  close(gate[1]);
  REQUIRE(waitpid(starter, nullptr, 0) == starter);
  if (is_to_run_on) {
    test::await([&] { return shared_memory_of(running) <= kHeaders; });  // the recorder is gone
    CHECK(kill(running, 0) == 0);
    kill(running, SIGTERM);
  }
  pollfd end{process, POLLIN, 0};
  CHECK(poll(&end, 1, 60'000) == 1);
  syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0);
  close(process);
}

TEST_CASE("a recorder that is killed leaves the file that it was replacing beside what it had recorded") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "x.trace", earlier = folder.path() / "x.trace.earlier";
  std::ofstream(file) << "earlier";
  LanescopeProcess recorder(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-f", "-o", "x",
                                            program("lanescope_program_nvtx_outliving").string(), folder.path() / "numbers"});
  test::await([&] { return std::filesystem::exists(earlier) && std::filesystem::file_size(file) > std::string_view("earlier").size(); });
  const std::vector<pid_t> processes = numbers_in(folder.path() / "numbers");
  kill_recorder(recorder);
  CHECK(recorder.wait() == 128 + SIGKILL);
  CHECK(load(file)->event_count() > 0);
  std::string kept;
  std::getline(std::ifstream(earlier), kept);
  CHECK(kept == "earlier");
  for (const pid_t each : processes) kill(each, SIGTERM);
}

TEST_CASE("a process that waits for a recorder which is killed goes on at once, and takes nothing") {
  constexpr auto kPatience = 5s;  // for so long it would wait for the answer, each time
  constexpr int kAttempts = 5;    // a busy machine may take as long for other reasons
  const auto goes_on_at_once = [&] {
    const TemporaryFolder folder;
    const std::filesystem::path numbers = folder.path() / "numbers";
    LanescopeProcess recorder(folder.path(),
                              {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", "sh", "-c", "$0 $1; echo code $?", outliving(), numbers});
    const pid_t parent = recorded_family(numbers).front();
    kill(recorder.pid(), SIGSTOP);
    siginfo_t stopped{};  // until its last thread is stopped, it may answer
    REQUIRE(waitid(P_PID, static_cast<id_t>(recorder.pid()), &stopped, WSTOPPED) == 0);
    const auto before = std::chrono::steady_clock::now();
    kill(parent, SIGUSR1);
    wait_until_a_child_asks(parent, 2);
    const bool waits = numbers_in(numbers).size() == 2;
    kill_recorder(recorder);
    test::await([&] { return numbers_in(numbers).size() == 3; });
    const auto took = std::chrono::steady_clock::now() - before;
    check_that_memory_returns(numbers_in(numbers));
    kill(parent, SIGTERM);
    recorder.wait_for_line("code 5");
    return waits && took < kPatience;
  };
  bool has_gone_on_at_once = false;
  for (int attempt = 0; attempt < kAttempts && !has_gone_on_at_once; ++attempt) has_gone_on_at_once = goes_on_at_once();
  CHECK(has_gone_on_at_once);
}

TEST_CASE("a program that is attached to by a recorder which is killed gets its memory back, and can be attached to again") {
  const TemporaryFolder folder;
  const std::filesystem::path numbers = folder.path() / "numbers";
  const std::string binary = outliving();
  const std::string file = numbers.string();
  const char* const arguments[] = {binary.c_str(), file.c_str(), nullptr};
  pid_t target = 0;
  REQUIRE(posix_spawn(&target, binary.c_str(), nullptr, nullptr, const_cast<char* const*>(arguments), environ) == 0);
  test::await([&] { return numbers_in(numbers).size() == 1; });
  {
    LanescopeProcess recorder(folder.path(), {"attach", "-t", "nvtx,osrt", "-s", "none", "--cpuctxsw=none", "-o", "x", std::to_string(target)});
    const std::vector<pid_t> processes = recorded_family(numbers);
    kill_recorder(recorder);
    check_that_memory_returns(processes);
  }
  CHECK(run_lanescope(folder.path(), {"attach", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-d", "0.2", "-o", "again", std::to_string(target)}).code == 0);
  CHECK(count_events(*load(folder.path() / "again.trace"), TrackKind::kNvtxRanges, "step") > 0);
  kill(target, SIGTERM);
  int status = 0;
  REQUIRE(waitpid(target, &status, 0) == target);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 5));
}

TEST_CASE("a recording that ends leaves a program that runs on none of its memory, also where the program has closed what it had of us") {
  const std::string closes = GENERATE("", "closes");
  const TemporaryFolder folder;
  const std::filesystem::path numbers = folder.path() / "numbers";
  LanescopeProcess recorder(folder.path(),
                            {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-d", "1", "--kill", "none", "-o", "x", outliving(), numbers, closes});
  const std::vector<pid_t> processes = recorded_family(numbers);
  CHECK(recorder.wait() == 0);
  check_that_memory_returns(processes);
  kill(processes.front(), SIGTERM);
}
