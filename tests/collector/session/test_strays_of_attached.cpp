// Processes that no agent can join, among the descendants of a process that was attached to.
#include "processes/unfollowed/strays.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "processes/proc.h"
#include "stray_children.h"
#include "support/catch.h"

using namespace lanescope::session;

TEST_CASE("of a process that was attached to, children that become programs are told of, whatever their environment, and those from before are not") {
  const std::string with = std::string(kVariable) + "=1";
  const Child before(start_program({with.c_str()}));
  wait_until_it_runs(before.pid(), "sleep");
  StrayProcesses strays(getpid());
  const Child stray(start_program({with.c_str()}));
  const StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid == stray.pid());
  CHECK_THAT(told.reason, contains_text("it became this program (exec)"));
  CHECK_FALSE(strays.has_become_another(getpid()));
  const Child other(start_program({}));
  CHECK(next_of(strays).pid == other.pid());
}

TEST_CASE("of a process that was attached to, recorders that it starts are no strays, nor is what they run") {
  StrayProcesses strays(getpid());
  int never[2];
  REQUIRE(pipe(never) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(never[0], STDIN_FILENO);
    execl("/proc/self/exe", "recorder", "--wait-for-keypress", "start", nullptr);  // the same program as the one that looks for strays, as a recorder is
    _exit(125);
  }
  const Child recorder(pid);
  while (describe_process(pid).arguments != std::vector<std::string>{"recorder", "--wait-for-keypress", "start"}) usleep(1000);
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  const Child stray(start_program({}));
  CHECK(next_of(strays).pid == stray.pid());
  close(never[0]);
  close(never[1]);
}

TEST_CASE("of a process that was attached to, what a recorder runs is no stray, whichever of the two is looked at first") {
  StrayProcesses strays(getpid());
  int never[2], started[2];
  REQUIRE((pipe(never) == 0 && pipe(started) == 0));
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const pid_t program = start_program({});
    dup2(never[0], STDIN_FILENO);
    if (write(started[1], &program, sizeof(program)) != sizeof(program)) _exit(125);
    execl("/proc/self/exe", "recorder", "--wait-for-keypress", "start", nullptr);
    _exit(125);
  }
  const Child recorder(pid);
  pid_t program = 0;
  REQUIRE(read(started[0], &program, sizeof(program)) == sizeof(program));
  while (describe_process(pid).arguments != std::vector<std::string>{"recorder", "--wait-for-keypress", "start"}) usleep(1000);
  wait_until_it_runs(program, "sleep");
  strays.look_soon(pid);
  strays.look_soon(program);
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  kill(program, SIGKILL);
  for (const int each : {never[0], never[1], started[0], started[1]}) close(each);
}

TEST_CASE("of a process that was attached to, programs that were seen are told of once, and those of recorders are not") {
  lanescope::cpu::SeenProcess child;
  child.pid = 4'000'001;  // above the largest process number
  child.parent = getpid();
  child.forked = true;
  StrayProcesses strays(getpid());
  CHECK_FALSE(strays.see(child));
  child.forked = false;
  child.executed = true;
  child.executable = "/usr/bin/make";
  const auto told = strays.see(child);
  REQUIRE(told);
  CHECK(told->who == "[4000001] make");
  CHECK_THAT(told->reason, contains_text("it became this program (exec)"));

  // Seen after it was found by looking.
  const Child found(start_program({}));
  CHECK(next_of(strays).pid == found.pid());
  lanescope::cpu::SeenProcess same = child;
  same.pid = found.pid();
  same.executable = "/bin/sleep";
  CHECK_FALSE(strays.see(same));
  CHECK(strays.see(same));  // it is a different program now

  // Looked at after it was seen.
  const Child other(start_program({}));
  wait_until_it_runs(other.pid(), "sleep");
  while (!program_state(other.pid()).number.is_known()) usleep(1000);
  same.pid = other.pid();
  CHECK(strays.see(same));
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());

  lanescope::cpu::SeenProcess recorder = child;
  recorder.executable = std::filesystem::read_symlink("/proc/self/exe");
  CHECK_FALSE(strays.see(recorder));
  lanescope::cpu::SeenProcess of_recorder = child;
  of_recorder.pid = 4'000'002;
  of_recorder.parent = recorder.pid;
  CHECK_FALSE(strays.see(of_recorder));
  of_recorder.parent = getpid();
  of_recorder.executed = false;
  of_recorder.forked = true;
  CHECK_FALSE(strays.see(of_recorder));  // the number belongs to a different process now
  of_recorder.executed = true;
  CHECK(strays.see(of_recorder));
}

TEST_CASE("of a process that was attached to, orphans of another session that the kernel gives to it are no strays") {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  int go[2], orphan[2];
  REQUIRE((pipe(go) == 0 && pipe(orphan) == 0));
  const pid_t shell = fork();
  if (shell == 0) {
    setsid();
    char letter = 0;
    if (read(go[0], &letter, 1) != 1) _exit(1);
    const pid_t pid = fork();
    if (pid == 0) execl("/bin/sleep", "sleep", "100000", nullptr);
    static_cast<void>(write(orphan[1], &pid, sizeof(pid)));
    _exit(0);
  }
  StrayProcesses strays(getpid());
  REQUIRE(write(go[1], "", 1) == 1);
  pid_t inherited = 0;
  REQUIRE(read(orphan[0], &inherited, sizeof(inherited)) == sizeof(inherited));
  REQUIRE(waitpid(shell, nullptr, 0) == shell);
  const Child child(inherited);
  wait_until_it_runs(inherited, "sleep");
  REQUIRE(parent_of_process(inherited) == getpid());
  CHECK(!strays.take_doubt());
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  CHECK(strays.take_doubt());  // it may have been started by a child
  // The process's own children, including those that begin a session, are strays.
  const Child stray(start_program({}));
  CHECK(next_of(strays).pid == stray.pid());
  const pid_t leads = fork();
  if (leads == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    execl("/bin/sleep", "sleep", "100000", nullptr);
    _exit(125);
  }
  const Child leader(leads);
  CHECK(next_of(strays).pid == leads);
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
  for (const int each : {go[0], go[1], orphan[0], orphan[1]}) close(each);
}

TEST_CASE("of the first process of a container, orphans are no strays, and children that were seen with its program are") {
  int go[2], orphan[2], child_goes[2];
  REQUIRE((pipe(go) == 0 && pipe(orphan) == 0 && pipe(child_goes) == 0));
  const pid_t outside = fork();
  if (outside == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWPID) != 0) _exit(3);
    const pid_t first = fork();
    if (first == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      char letter = 0;
      if (read(go[0], &letter, 1) != 1 || fork() != 0)
        for (;;) pause();
      if (read(child_goes[0], &letter, 1) == 1) execl("/bin/sleep", "sleep", "100000", nullptr);
      _exit(1);
    }
    static_cast<void>(write(orphan[1], &first, sizeof(first)));
    char letter = 0;
    // Beside it a shell, whose orphan is inherited by the first process.
    if (read(go[0], &letter, 1) != 1) _exit(1);
    const pid_t shell = fork();
    if (shell == 0 && fork() != 0) _exit(0);
    if (shell == 0) {
      execl("/bin/sleep", "sleep", "100000", nullptr);
      _exit(125);
    }
    waitpid(shell, nullptr, 0);
    static_cast<void>(write(orphan[1], &shell, sizeof(shell)));
    for (;;) pause();
  }
  close(orphan[1]);
  const Child host(outside);
  pid_t first = 0;
  if (read(orphan[0], &first, sizeof(first)) != sizeof(first)) {
    WARN("Only root can make namespaces of processes: not tested.");
    return;
  }
  const auto children = [first] {
    std::ifstream file("/proc/" + std::to_string(first) + "/task/" + std::to_string(first) + "/children");
    return std::vector<pid_t>(std::istream_iterator<pid_t>(file), {});
  };
  StrayProcesses strays(first);
  REQUIRE(write(go[1], "", 1) == 1);  // one of the two takes it, then the other
  REQUIRE(write(go[1], "", 1) == 1);
  pid_t shell = 0;
  REQUIRE(read(orphan[0], &shell, sizeof(shell)) == sizeof(shell));
  const auto sleeper = [&children] {
    for (const pid_t pid : children())
      if (program_state(pid).name == "sleep" && program_state(pid).number.is_known()) return pid;
    return 0;
  };
  while (children().size() < 2 || sleeper() == 0) usleep(1000);  // the orphan and its own child
  const pid_t inherited = sleeper();
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  REQUIRE(write(child_goes[1], "", 1) == 1);
  const StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid != inherited);
  CHECK(parent_of_process(told.pid) == first);
  for (const int each : {go[0], go[1], orphan[0], child_goes[0], child_goes[1]}) close(each);
}

TEST_CASE("children of an attached process that end before they are looked at bring no doubt whose they were") {
  StrayProcesses strays(getpid());
  std::atomic<bool> is_over = false;
  std::thread forks([&is_over] {
    while (!is_over) {
      const pid_t pid = fork();
      if (pid == 0) _exit(0);
      if (pid > 0) waitpid(pid, nullptr, 0);
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  bool has_doubt = false;
  while (!has_doubt && std::chrono::steady_clock::now() < end) {
    CHECK(strays.look(none_is_joined).empty());
    has_doubt = strays.take_doubt();
    usleep(1000);
  }
  is_over = true;
  forks.join();
  CHECK_FALSE(has_doubt);
}

TEST_CASE("children of a container's first process that end before they are looked at bring no doubt whose they were") {
  int told[2], go[2];
  REQUIRE((pipe(told) == 0 && pipe(go) == 0));
  const pid_t outside = fork();
  if (outside == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWPID) != 0) _exit(3);
    const pid_t first = fork();
    if (first == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      char letter = 0;
      if (read(go[0], &letter, 1) == 1 && fork() == 0) _exit(0);
      for (;;) pause();
    }
    static_cast<void>(write(told[1], &first, sizeof(first)));
    for (;;) pause();
  }
  close(told[1]);
  const Child host(outside);
  pid_t first = 0;
  if (read(told[0], &first, sizeof(first)) != sizeof(first)) {
    WARN("Only root can make namespaces of processes: not tested.");
    return;
  }
  StrayProcesses strays(first);
  REQUIRE(write(go[1], "", 1) == 1);
  const auto has_child = [first] { return std::ifstream("/proc/" + std::to_string(first) + "/task/" + std::to_string(first) + "/children").get() > 0; };
  while (!has_child()) usleep(1000);  // nothing waits for this child
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  CHECK_FALSE(strays.take_doubt());
  for (const int each : {told[0], go[0], go[1]}) close(each);
}

TEST_CASE("of a process that was attached to, children of before whose threads are seen are told of, and those of recorders are not") {
  const Child before(start_program({}));
  wait_until_it_runs(before.pid(), "sleep");
  StrayProcesses strays(getpid());
  lanescope::cpu::SeenProcess seen;
  seen.pid = before.pid();
  seen.parent = getpid();
  seen.executable = "/bin/sleep";
  const auto told = strays.see(seen);
  REQUIRE(told);
  CHECK(told->who == "[" + std::to_string(before.pid()) + "] sleep");
  CHECK(told->missing == UnfollowedProcesses::Missing::kPart);
  CHECK_THAT(told->reason, contains_text("ran already when lanescope attach came"));
  // A process that it forks meanwhile, as a server with workers does, and the attached process itself.
  seen.parent = before.pid();
  seen.pid = 4'000'001;  // above the largest process number
  seen.forked = true;
  CHECK(strays.see(seen));
  seen.pid = getpid();
  seen.parent = getppid();
  CHECK_FALSE(strays.see(seen));
}

TEST_CASE("of a process that was attached to and whose threads are expected, no child is doubted") {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  StrayProcesses strays(getpid());
  strays.expect_threads(StrayProcesses::Threads::kSeen);
  int orphan[2];
  REQUIRE(pipe(orphan) == 0);
  const pid_t shell = fork();
  if (shell == 0) {
    setsid();
    const pid_t pid = fork();
    if (pid == 0) execl("/bin/sleep", "sleep", "100000", nullptr);
    static_cast<void>(write(orphan[1], &pid, sizeof(pid)));
    _exit(0);
  }
  pid_t inherited = 0;
  REQUIRE(read(orphan[0], &inherited, sizeof(inherited)) == sizeof(inherited));
  REQUIRE(waitpid(shell, nullptr, 0) == shell);
  const Child child(inherited);
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  CHECK_FALSE(strays.take_doubt());
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
  for (const int each : orphan) close(each);
}

TEST_CASE("of an attached process whose threads are seen, no program is told of that was not seen") {
  StrayProcesses strays(getpid());
  lanescope::cpu::SeenProcess seen;
  seen.pid = getpid();
  CHECK_FALSE(strays.see(seen));
  const Child child(start_program({}));
  wait_until_it_runs(child.pid(), "sleep");
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  seen.pid = child.pid();
  seen.parent = getpid();
  seen.executed = true;
  CHECK(strays.see(seen));
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
}
