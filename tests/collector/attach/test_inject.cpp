#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "collector/attach/inject.h"
#include "running_target.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::attach;
using namespace std::chrono_literals;
using test::RunningTarget;

namespace {

std::string target_program() { return test::program("attach_target").string(); }

Result<Injection> inject_greeting(pid_t pid, Loader loader = Loader::kNewThread) {
  return inject({.pid = pid, .agent = LANESCOPE_GREETING_AGENT, .patience = 60s, .loader = loader});
}

std::string greeting(int connection) {
  std::array<char, 64> text{};
  const ssize_t count = recv(connection, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

// Attaches, checks that the agent was entered, and returns how long the target was stopped.
std::chrono::nanoseconds attach_once(pid_t pid, int call = 1, Loader loader = Loader::kNewThread) {
  const Result<Injection> injection = inject_greeting(pid, loader);
  INFO((injection ? "" : injection.error().text));
  REQUIRE(injection);
  CHECK(greeting(injection->connection) == "call " + std::to_string(call) + " in " + std::to_string(pid));
  CHECK((injection->origin == AgentOrigin::kLoaded) == (call == 1));
  close(injection->connection);
  return injection->stopped;
}

void check_end(RunningTarget& target) {
  std::string output;
  const int status = target.finish(output);
  CHECK(output == "undisturbed\n");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

// True if threads that run, or wait for a lock or a file, can be found safe: that requires their call stacks to be followed.
bool follows_stacks() {
  if (LANESCOPE_FOLLOWS_STACKS == 0) WARN("This build can't follow call stacks (there was no libdw): not tested.");
  return LANESCOPE_FOLLOWS_STACKS != 0;
}

bool has_filtered_thread(pid_t pid) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line == "Seccomp:\t2") return true;
  }
  return false;
}

std::set<int> open_descriptors(pid_t pid) {
  std::set<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    numbers.insert(std::stoi(entry.path().filename().string()));
  return numbers;
}

}  // namespace

TEST_CASE("a program that waits in a system call takes the agent in and goes on waiting") {
  struct Wait {
    const char* mode;
    long system_call;
  };
  const Wait wait = GENERATE(Wait{"read", SYS_read}, Wait{"nanosleep", SYS_clock_nanosleep}, Wait{"poll", SYS_poll}, Wait{"epoll", SYS_epoll_wait},
                             Wait{"signal-wait", SYS_rt_sigtimedwait});
  const Loader loader = GENERATE(Loader::kNewThread, Loader::kStoppedThread);
  CAPTURE(wait.mode, loader);
  if (wait.system_call == SYS_read && !follows_stacks()) return;
  RunningTarget target({target_program(), wait.mode});
  target.wait_until_in(wait.system_call);
  attach_once(target.pid(), 1, loader);
  target.send("hello");
  if (std::string(wait.mode) == "signal-wait") kill(target.pid(), SIGUSR1);
  check_end(target);
}

TEST_CASE("a program whose file was removed or replaced since it began takes the agent in") {
  if (!follows_stacks()) return;
  const test::TemporaryFolder folder;
  const std::filesystem::path copy = folder.path() / "program";
  std::filesystem::copy_file(target_program(), copy);
  RunningTarget target({copy.string(), "read"});
  target.wait_until_in(SYS_read);
  const bool is_replaced = GENERATE(false, true);
  if (is_replaced) {
    std::filesystem::copy_file("/bin/sh", folder.path() / "other");
    std::filesystem::rename(folder.path() / "other", copy);
  } else {
    std::filesystem::remove(copy);
  }
  if (GENERATE(false, true)) std::filesystem::copy_file("/bin/sh", copy.string() + " (deleted)");  // the path that the kernel shows
  attach_once(target.pid());
  target.send("hello");
  check_end(target);
}

TEST_CASE("a program whose loader is still at work, as on a slow file system, is waited for") {
  const test::TemporaryFolder folder;
  const std::string fifo = (folder.path() / "library.so").string();
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  setenv("LD_PRELOAD", fifo.c_str(), 1);  // the loader waits for its first byte before it has mapped the C library
  RunningTarget target({target_program(), "epoll"});
  unsetenv("LD_PRELOAD");
  target.wait_until_in(SYS_openat);
  std::thread slow([&fifo] {
    std::this_thread::sleep_for(700ms);
    close(open(fifo.c_str(), O_WRONLY));  // the file is empty: the loader continues without it
  });
  attach_once(target.pid());
  slow.join();
  target.send("hello");
  check_end(target);
}

TEST_CASE("a program that becomes another one while it is attached to is attached to as that one") {
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const std::string turns = std::to_string(500 + 300 * round);  // before exec: in one of the rounds that happens during the attach
    RunningTarget target({"/bin/sh", "-c", "i=0; while [ $i -lt " + turns + " ]; do i=$((i+1)); done; exec " + target_program() + " epoll"});
    target.wait_for_threads(1);
    const Result<Injection> injection = inject_greeting(target.pid());
    INFO((injection ? "" : injection.error().text));
    REQUIRE(injection);
    close(injection->connection);
    target.wait_until_in(SYS_epoll_wait);
    target.send("hello");
    check_end(target);
  }
}

TEST_CASE("a second recording is refused while the agent still waits for the answer to the first") {
  RunningTarget target({target_program(), "epoll"});
  target.wait_until_in(SYS_epoll_wait);
  const InjectionRequest request{.pid = target.pid(), .agent = LANESCOPE_REAL_AGENT, .patience = 60s};
  const Result<Injection> first = inject(request);
  REQUIRE(first);
  CHECK_FALSE(greeting(first->connection).empty());  // its thread has taken the invitation, and nobody answers it
  const Result<Injection> second = inject(request);
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().text, contains_text("another recording of it is under way"));
  close(first->connection);
  target.send("hello");
  check_end(target);
}

TEST_CASE("of two recordings that begin at the same moment, one is refused, whatever file each has the agent in") {
  const test::TemporaryFolder folder;
  const std::filesystem::path other = folder.path() / std::filesystem::path(LANESCOPE_REAL_AGENT).filename();
  std::filesystem::copy_file(LANESCOPE_REAL_AGENT, other);
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    RunningTarget target({target_program(), "epoll"});
    target.wait_until_in(SYS_epoll_wait);
    const auto enter = [&](const std::filesystem::path& agent) { return inject({.pid = target.pid(), .agent = agent, .patience = 60s}); };
    std::vector<Result<Injection>> injections(2, Error{"not tried"});
    std::thread first([&] { injections[0] = enter(other); });
    injections[1] = enter(LANESCOPE_REAL_AGENT);
    first.join();
    int accepted = 0;
    for (const Result<Injection>& injection : injections) {
      if (!injection) {
        // While the other one enters, it traces the target: here as a test, which is not known as a recorder by its name.
        CHECK_THAT(injection.error().text, contains_text("another recording of it is under way") || contains_text("traces it already"));
        continue;
      }
      ++accepted;
      close(injection->connection);
    }
    CHECK(accepted == 1);
    target.send("hello");
    check_end(target);
  }
}

TEST_CASE("the thread that loaded the agent ends, and leaves no memory that can be written and run") {
  RunningTarget target({target_program(), "epoll"});
  target.wait_until_in(SYS_epoll_wait);
  const auto threads = [&] {
    const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(target.pid()) + "/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto has_open_code = [&] {
    std::ifstream maps("/proc/" + std::to_string(target.pid()) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(" rwxp ") != std::string::npos) return true;
    return false;
  };
  const auto before = threads();
  for (int call = 1; call <= 3; ++call) attach_once(target.pid(), call);
  while (threads() != before) continue;
  CHECK_FALSE(has_open_code());
  target.send("hello");
  check_end(target);
}

TEST_CASE("a program whose threads wait for each other takes the agent in") {
  if (!follows_stacks()) return;
  RunningTarget target({target_program(), "futex"});
  target.wait_for_threads(2);
  attach_once(target.pid());
  target.close_input();
  check_end(target);
}

TEST_CASE("one of 33 threads is stopped, the others run on") {
  if (!follows_stacks()) return;
  RunningTarget target({target_program(), "threads"});
  target.wait_for_threads(33);
  attach_once(target.pid());
  target.close_input();
  check_end(target);
}

TEST_CASE("a program that allocates all the time on all threads is caught between allocations") {
  if (!follows_stacks()) return;
  RunningTarget target({target_program(), "storm"});
  target.wait_for_threads(4);
  for (int call = 1; call <= 10; ++call) attach_once(target.pid(), call, call % 2 == 0 ? Loader::kNewThread : Loader::kStoppedThread);
  target.close_input();
  check_end(target);
}

TEST_CASE("so is one with an allocator of its own") {
  if (!follows_stacks()) return;
  RunningTarget target({"/usr/bin/env", "LD_PRELOAD=libjemalloc.so.2", target_program(), "storm"});
  target.wait_for_threads(4);
  std::ifstream file("/proc/" + std::to_string(target.pid()) + "/maps");
  const std::string map{std::istreambuf_iterator<char>(file), {}};
  if (map.find("libjemalloc") == std::string::npos) {
    WARN("There is no jemalloc (libjemalloc2): not tested.");
    return;
  }
  for (int call = 1; call <= 10; ++call) attach_once(target.pid(), call, call % 2 == 0 ? Loader::kNewThread : Loader::kStoppedThread);
  target.close_input();
  check_end(target);
}

TEST_CASE("a program that only computes keeps its registers") {
  if (!follows_stacks()) return;
  RunningTarget target({target_program(), "compute"});
  target.wait_for_threads(1);
  // Once it computes, it uses processor time.
  for (std::string state; state != "R";) {
    std::ifstream file("/proc/" + std::to_string(target.pid()) + "/stat");
    std::string skipped;
    file >> skipped >> skipped >> state;
  }
  for (int call = 1; call <= 20; ++call) attach_once(target.pid(), call);
  target.close_input();
  check_end(target);
}

TEST_CASE("signals that arrive all the time are handled as before") {
  RunningTarget target({target_program(), "signals"});
  target.wait_until_in(SYS_clock_nanosleep);
  for (int call = 1; call <= 20; ++call) {
    kill(target.pid(), SIGUSR1);
    attach_once(target.pid(), call);
  }
  target.close_input();
  check_end(target);
}

TEST_CASE("attaching again enters the agent that is there, and leaves no descriptor behind") {
  RunningTarget target({target_program(), "epoll"});
  target.wait_until_in(SYS_epoll_wait);
  const std::set<int> before = open_descriptors(target.pid());
  for (int call = 1; call <= 3; ++call) attach_once(target.pid(), call);
  // The greeting agent keeps its end of each socket, as an agent does; no other descriptor is left.
  CHECK(open_descriptors(target.pid()).size() == before.size() + 3);
  target.send("hello");
  check_end(target);
}

TEST_CASE("a target that sees another file at the agent's path gets a copy in memory") {
  const test::TemporaryFolder folder;
  // The kernel shows the target's root as the same file system here; a name that the target cannot open stands for another mount namespace.
  const std::filesystem::path hidden = folder.path() / "liblanescope-agent.so";
  std::filesystem::copy_file(LANESCOPE_GREETING_AGENT, hidden);
  RunningTarget target({target_program(), "epoll"});
  target.wait_until_in(SYS_epoll_wait);
  const Result<Injection> injection = inject({.pid = target.pid(), .agent = "/proc/self/fd/../../" + std::to_string(getpid()) + "/root" + hidden.string()});
  INFO((injection ? "" : injection.error().text));
  REQUIRE(injection);
  CHECK(greeting(injection->connection) == "call 1 in " + std::to_string(target.pid()));
  close(injection->connection);
  target.send("hello");
  check_end(target);
}

TEST_CASE("an agent that faults is given up, and the target goes on") {
  RunningTarget target({target_program(), "read"});
  target.wait_until_in(SYS_read);
  const Result<Injection> injection = inject({.pid = target.pid(), .agent = LANESCOPE_FAULTY_AGENT, .patience = 60s});
  REQUIRE_FALSE(injection);
  CHECK_THAT(injection.error().text, contains_text("The agent faulted (SIGSEGV)") && contains_text("runs on without it"));
  target.send("hello");
  check_end(target);
}

TEST_CASE("an agent that does not return in the program's own thread is given up, and the thread goes on where it was") {
  RunningTarget target({target_program(), "read"});
  target.wait_until_in(SYS_read);
  const Result<Injection> injection = inject({.pid = target.pid(), .agent = LANESCOPE_BUSY_AGENT, .patience = 60s, .loader = Loader::kStoppedThread});
  REQUIRE_FALSE(injection);
  CHECK_THAT(injection.error().text, contains_text("waits for a lock that another thread holds"));
  target.send("hello");
  check_end(target);
}

TEST_CASE("an agent whose file was cut short is refused by the loader, which then loads a whole one") {
  const test::TemporaryFolder folder;
  const std::filesystem::path cut = folder.path() / "liblanescope-agent.so";
  std::filesystem::copy_file(LANESCOPE_REAL_AGENT, cut);
  std::filesystem::resize_file(cut, 4096);  // the rest cannot be read, although the file's first page says that it is there
  RunningTarget target({target_program(), "read"});
  target.wait_until_in(SYS_read);
  const Result<Injection> injection = inject({.pid = target.pid(), .agent = cut, .patience = 60s});
  REQUIRE_FALSE(injection);
  CHECK_THAT(injection.error().text, contains_text("its loader refused the agent: "));
  attach_once(target.pid());
  target.send("hello");
  check_end(target);
}

TEST_CASE("a program whose limits leave no room for a thread is refused with the limits that may be meant") {
  RunningTarget target(
      {"/bin/sh", "-c", "ulimit -s 65536; ulimit -d 40000; exec \"$0\" epoll", target_program()});  // a new thread's stack gets the first one's limit
  target.wait_until_in(SYS_epoll_wait);
  const Result<Injection> injection = inject({.pid = target.pid(), .agent = LANESCOPE_REAL_AGENT, .patience = 60s});
  REQUIRE_FALSE(injection);
  CHECK_THAT(injection.error().text, contains_text("its limits leave no room for a thread") && contains_text("ulimit -u, -v, -d, or -l"));
  target.send("hello");
  check_end(target);
}

TEST_CASE("a program whose root has neither /proc nor folders is refused with what works") {
  if (geteuid() != 0) {
    WARN("Only root changes a program's root: not tested.");
    return;
  }
  const test::TemporaryFolder root;
  RunningTarget target({target_program(), "rootless", root.path().string()});
  target.wait_until_in(SYS_epoll_wait);
  const Result<Injection> injection = inject_greeting(target.pid());
  REQUIRE_FALSE(injection);
  CHECK_THAT(injection.error().text, contains_text("its root has no /proc") && contains_text("lanescope attach -t none " + std::to_string(target.pid())));
  target.send("hello");
  check_end(target);
}

TEST_CASE("a file that is no agent is refused with the loader's words, and the target goes on") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "liblanescope-agent.so";
  std::ofstream(file) << "not a shared object";
  RunningTarget target({target_program(), "epoll"});
  target.wait_until_in(SYS_epoll_wait);
  const std::set<int> before = open_descriptors(target.pid());
  const Result<Injection> injection = inject({.pid = target.pid(), .agent = file, .loader = GENERATE(Loader::kNewThread, Loader::kStoppedThread)});
  REQUIRE_FALSE(injection);
  CHECK_THAT(injection.error().text, contains_text("its loader refused the agent") && contains_text("file too short"));
  CHECK(open_descriptors(target.pid()) == before);
  target.send("hello");
  check_end(target);
}

TEST_CASE("what can't be attached to is refused in one sentence and left alone") {
  SECTION("under strict seccomp") {
    RunningTarget target({target_program(), "strict"});
    target.wait_until_in(SYS_read);
    CHECK_THAT(inject_greeting(target.pid()).error().text, contains_text("strict seccomp"));
    target.send("hello");
    check_end(target);
  }
  SECTION("under a filter that forbids sockets") {
    RunningTarget target({target_program(), "filtered"});
    target.wait_until_in(SYS_read);
    CHECK_THAT(inject_greeting(target.pid()).error().text, contains_text("it may not open a socket (Operation not permitted)"));
    target.send("hello");
    check_end(target);
  }
  SECTION("under a filter that ends who asks for more than it did so far") {
    if (geteuid() != 0) {
      WARN("Filters of others are read by root alone.");
      return;
    }
    RunningTarget target({target_program(), "deadly"});
    target.wait_until_in(SYS_read);
    const std::string reason = inject_greeting(target.pid()).error().text;
    CHECK_THAT(reason, contains_text("its seccomp filter may have the kernel end it for a system call of the agent's (openat)"));
    CHECK_THAT(reason, contains_text("lanescope attach -t none " + std::to_string(target.pid())));
    target.send("hello");
    check_end(target);
  }
  SECTION("under such a filter of one thread alone") {
    if (geteuid() != 0) {
      WARN("Filters of others are read by root alone.");
      return;
    }
    RunningTarget target({target_program(), "deadly-thread"});
    target.wait_for_threads(2);
    while (!has_filtered_thread(target.pid())) usleep(1'000);
    CHECK_THAT(inject_greeting(target.pid()).error().text, contains_text("its seccomp filter may have the kernel end it"));
    target.send("hello");
    check_end(target);
  }
  SECTION("static") {
    RunningTarget target({test::program("attach_target_static").string(), "read"});
    target.wait_until_in(SYS_read);
    CHECK_THAT(inject_greeting(target.pid()).error().text, contains_text("linked statically"));
    target.send("hello");
    check_end(target);
  }
  SECTION("stopped") {
    RunningTarget target({target_program(), "read"});
    target.wait_until_in(SYS_read);
    kill(target.pid(), SIGSTOP);
    waitpid(target.pid(), nullptr, WUNTRACED);
    CHECK_THAT(inject_greeting(target.pid()).error().text, contains_text("it is stopped"));
    kill(target.pid(), SIGCONT);
    target.send("hello");
    check_end(target);
  }
  SECTION("traced by someone else") {
    RunningTarget target({target_program(), "read"});
    target.wait_until_in(SYS_read);
    REQUIRE(ptrace(PTRACE_SEIZE, target.pid(), nullptr, nullptr) == 0);
    CHECK_THAT(inject_greeting(target.pid()).error().text, contains_text("process " + std::to_string(getpid()) + " traces it already"));
  }
  SECTION("no such process") { CHECK(inject_greeting(999'999'999).error().text == "There is no process 999999999."); }
}

TEST_CASE("a process that ends while we attach ends as it would have") {
  for (int attempt = 0; attempt < 60; ++attempt) {
    RunningTarget target({target_program(), "short"});
    const Result<Injection> injection = inject_greeting(target.pid());
    if (injection) close(injection->connection);
    check_end(target);
  }
}
