// Processes that no agent can join, among those that come of one process.
#include "processes/strays.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "processes/proc.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope::session;

namespace {

constexpr const char* kVariable = "LANESCOPE_TEST_OF_STRAYS";

// A process that runs a program until it is destroyed.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) { REQUIRE(pid > 0); }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// `pause` waits for the test's end, whatever it takes.
pid_t start_program(const std::vector<const char*>& environment) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> variables;
  for (const char* variable : environment) variables.push_back(const_cast<char*>(variable));
  variables.push_back(nullptr);
  char* arguments[] = {const_cast<char*>("sleep"), const_cast<char*>("100000"), nullptr};
  execve("/bin/sleep", arguments, variables.data());
  _exit(125);
}

void wait_until_it_runs(pid_t pid, const std::string& name) {
  while (program_state(pid).name != name) usleep(1000);
}

bool none_is_joined(pid_t) { return false; }

// Until one is told of.
StrayProcesses::Stray next_of(StrayProcesses& strays) {
  for (;;) {
    const std::vector<StrayProcesses::Stray> found = strays.look(none_is_joined);
    if (!found.empty()) return found.front();
    usleep(1000);
  }
}

}  // namespace

TEST_CASE("a process whose program was started without the variable is told of, and one with it is not") {
  const std::string with = std::string(kVariable) + "=1";
  const bool has_others = GENERATE(false, true);
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {}});
  next_of(strays);  // this one
  const Child followed(start_program({with.c_str()}));
  const Child stray(start_program(has_others ? std::vector<const char*>{"PATH=/bin"} : std::vector<const char*>{}));
  const StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid == stray.pid());
  CHECK(told.who == "[" + std::to_string(stray.pid()) + "] sleep");
  CHECK(told.reason.find("an environment of its own") != std::string::npos);
  // Neither of them is told of again: the next one is another.
  const Child other(start_program({"LANESCOPE_TEST_OF_STRAYS_=1"}));
  CHECK(next_of(strays).pid == other.pid());
}

TEST_CASE("a process that another recorder has started within this recording is told of") {
  const std::string ours = std::string(kVariable) + "=/tmp/ours", other = std::string(kVariable) + "=/tmp/other";
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {}, "/tmp/ours"});
  next_of(strays);  // this one
  const Child followed(start_program({ours.c_str()}));
  const Child of_other(start_program({other.c_str()}));
  const StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid == of_other.pid());
  CHECK_THAT(told.reason, contains_text("started by another recorder within this recording"));
}

TEST_CASE("a process whose program was started with another library in the place of the agent is told of") {
  const std::string with = std::string(kVariable) + "=1";
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {{"LD_PRELOAD", "calls into the C library"}, {"NVTX_INJECTION64_PATH", "NVTX ranges"}}});
  next_of(strays);  // this one
  const Child followed(start_program({"LD_PRELOAD=/bin/../bin/sleep:libm.so.6", "NVTX_INJECTION64_PATH=/bin/sleep", with.c_str()}));
  const Child changed(start_program({"LD_PRELOAD=libm.so.6", "NVTX_INJECTION64_PATH=/bin/sleep", with.c_str()}));
  const StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid == changed.pid());
  CHECK(told.missing == UnfollowedProcesses::Missing::kPart);
  CHECK(told.reason.find("started with LD_PRELOAD=libm.so.6, by which the agent comes: its calls into the C library are not recorded.") != std::string::npos);
  const std::string many = "LD_PRELOAD=a" + std::string(50'000, ':');  // as glibc takes it: one library, and empty names
  const Child of_many(start_program({many.c_str(), "NVTX_INJECTION64_PATH=/bin/sleep", with.c_str()}));
  const StrayProcesses::Stray cut = next_of(strays);
  CHECK(cut.pid == of_many.pid());
  CHECK(cut.reason.find("LD_PRELOAD=a:::") != std::string::npos);
  CHECK(cut.reason.size() < 400);
  const Child without(start_program({"LD_PRELOAD=/bin/sleep", with.c_str()}));
  const StrayProcesses::Stray other = next_of(strays);
  CHECK(other.pid == without.pid());
  CHECK(other.reason.find("started without NVTX_INJECTION64_PATH, by which the agent comes: its NVTX ranges are not recorded.") != std::string::npos);
}

TEST_CASE("a process that has no descriptor left for an agent that comes with a call is told of in the end, unless one has come") {
  const bool is_loaded_with_program = GENERATE(false, true);
  const std::string by = is_loaded_with_program ? "LD_PRELOAD" : "NVTX_INJECTION64_PATH";
  const auto start_with_descriptors = [&](rlim_t count) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 3; number < 1'024; ++number) close(number);
    const rlimit limit{count, count};
    setrlimit(RLIMIT_NOFILE, &limit);
    for (;;) pause();
  };
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {{by, "NVTX ranges"}}});
  next_of(strays);  // this one, whose program they run
  const Child has_none(start_with_descriptors(3)), has_one(start_with_descriptors(4)), joins(start_with_descriptors(3)), ends(start_with_descriptors(3));
  for (const pid_t pid : {has_none.pid(), joins.pid(), ends.pid()})
    while (!has_no_descriptor_left(pid)) usleep(1000);
  CHECK_FALSE(has_no_descriptor_left(has_one.pid()));
  std::vector<pid_t> told;
  pid_t joined = 0;
  const auto look = [&] {
    for (int i = 0; i < 100; ++i, usleep(1000))
      for (const StrayProcesses::Stray& stray : strays.look([&](pid_t pid) { return pid == joined; })) told.push_back(stray.pid);
  };
  look();
  CHECK(told.empty());
  joined = joins.pid();
  strays.note_joined(joined);
  kill(ends.pid(), SIGKILL);
  while (program_state(ends.pid()).runs) usleep(1000);
  strays.look_soon(ends.pid());
  look();
  CHECK(told == (is_loaded_with_program ? std::vector<pid_t>{} : std::vector<pid_t>{ends.pid()}));
  const std::vector<StrayProcesses::Stray> left = strays.take_agentless();
  REQUIRE(left.size() == (is_loaded_with_program ? 0 : 1));
  CHECK(strays.take_agentless().empty());
  if (is_loaded_with_program) return;
  CHECK(left[0].pid == has_none.pid());
  CHECK(left[0].missing == UnfollowedProcesses::Missing::kPart);
  CHECK_THAT(left[0].reason, contains_text("without a file descriptor left") && contains_text("of its NVTX and CUDA calls nothing is recorded"));
}

TEST_CASE("a process of a user who may not read the agent is told of") {
  if (geteuid() != 0) return;  // by root alone
  const lanescope::test::TemporaryFolder folder;
  const std::filesystem::path agent = folder.path() / "closed" / "agent.so";
  std::filesystem::create_directories(agent.parent_path());
  std::filesystem::copy_file("/bin/true", agent);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(125);
    execle("/bin/sleep", "sleep", "100000", nullptr, environ);
    _exit(125);
  }
  const Child child(pid);
  wait_until_it_runs(pid, "sleep");
  CHECK(!may_not_read(pid, "/bin/sleep"));
  for (const auto& [folders, file, closed] : {std::tuple(0755, 0755, false), std::tuple(0700, 0755, true), std::tuple(0755, 0700, true)}) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(agent.parent_path(), std::filesystem::perms(folders));
    std::filesystem::permissions(agent, std::filesystem::perms(file));
    CHECK(may_not_read(pid, agent) == closed);
    CHECK(!may_not_read(getpid(), agent));
  }
  // The system lets it read all files.
  const pid_t able = fork();
  if (able == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/usr/bin/setpriv", "setpriv", "--reuid=65534", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "sleep", "100000", nullptr);
    _exit(125);
  }
  const Child reader(able);
  wait_until_it_runs(able, "sleep");
  CHECK(!may_not_read(able, agent));
}

TEST_CASE("a process is told of when it becomes a program without the variable, and its forked children are what it is") {
  const std::string with = std::string(kVariable) + "=1";
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {}});
  next_of(strays);  // this one
  int go[2];
  REQUIRE(pipe(go) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(go[1]);
    dup2(go[0], STDIN_FILENO);
    char* variables[] = {const_cast<char*>(with.c_str()), const_cast<char*>("PATH=/usr/bin:/bin"), nullptr};
    execle("/bin/sh", "sh", "-c", "read line; exec env -i sleep 100000", nullptr, variables);
    _exit(125);
  }
  const Child child(pid);
  wait_until_it_runs(pid, "sh");
  for (int i = 0; i < 100; ++i) CHECK(strays.look(none_is_joined).empty());
  REQUIRE(write(go[1], "\n", 1) == 1);
  close(go[0]);
  close(go[1]);
  CHECK(next_of(strays).who == "[" + std::to_string(pid) + "] sleep");
}

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
    execl("/proc/self/exe", "recorder", "--wait-for-keypress", "start", nullptr);  // the program that looks for strays, as a recorder is
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

TEST_CASE("a program that starts itself anew is another one, also where addresses are not randomized") {
  int go[2], standing[2];
  REQUIRE((pipe(go) == 0 && pipe(standing) == 0));
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE);
    dup2(go[0], STDIN_FILENO);  // shells take numbers of one digit alone
    dup2(standing[1], STDOUT_FILENO);
    for (const int each : {go[0], go[1], standing[0], standing[1]}) close(each);
    const char* script = "echo; read line; exec /bin/sh -c \"$0\" \"$0\"";
    char* variables[] = {nullptr};
    execle("/bin/sh", "/bin/sh", "-c", script, script, nullptr, variables);
    _exit(125);
  }
  const Child child(pid);
  close(standing[1]);  // so that its end is seen, too
  const auto await = [&] {
    char line = 0;
    REQUIRE(read(standing[0], &line, 1) == 1);
  };
  ProgramNumber before;
  for (int i = 0; i < 4; ++i) {
    await();
    const ProgramNumber now = program_state(pid).number;
    CHECK(now.is_known());
    CHECK(now.is_same(program_state(pid).number));
    CHECK_FALSE(now.is_same(before));
    before = now;
    REQUIRE(write(go[1], "\n", 1) == 1);
  }
  for (const int each : {go[0], go[1], standing[0]}) close(each);
}

TEST_CASE("of a process that was attached to, programs that were seen are told of once, and those of recorders are not") {
  lanescope::cpu::SeenProcess child;
  child.pid = 4'000'001;  // more than there are
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

  // Seen once it was found by looking.
  const Child found(start_program({}));
  CHECK(next_of(strays).pid == found.pid());
  lanescope::cpu::SeenProcess same = child;
  same.pid = found.pid();
  same.executable = "/bin/sleep";
  CHECK_FALSE(strays.see(same));
  CHECK(strays.see(same));  // another one

  // Looked at once it was seen.
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
  CHECK_FALSE(strays.see(of_recorder));  // the number is of another process now
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
  CHECK(strays.take_doubt());  // it may have been a child's program
  // Its own children, also those that begin a session, are.
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
    // A shell beside it, whose orphan the first process gets.
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
  while (children().size() < 2 || sleeper() == 0) usleep(1000);  // the orphan, and its own
  const pid_t inherited = sleeper();
  for (int i = 0; i < 100; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  REQUIRE(write(child_goes[1], "", 1) == 1);
  const StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid != inherited);
  CHECK(parent_of_process(told.pid) == first);
  for (const int each : {go[0], go[1], orphan[0], child_goes[0], child_goes[1]}) close(each);
}

TEST_CASE("a process that leaves for another root folder by itself is told of once, and not where it has the agent") {
  if (geteuid() != 0) return;  // by root alone
  const lanescope::test::TemporaryFolder jail;
  const std::filesystem::path agent = std::filesystem::read_symlink("/proc/self/exe");
  const auto leave_with = [&](const std::string& file) {
    StrayProcesses strays(getpid(), {kVariable, file, {}});
    next_of(strays);  // this one
    int go[2];
    REQUIRE(pipe(go) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      char letter = 0;
      if (read(go[0], &letter, 1) != 1 || chroot(jail.path().c_str()) != 0 || chdir("/") != 0) _exit(125);
      for (;;) pause();
    }
    const Child child(pid);
    std::size_t told = 0;
    const auto look = [&] {
      for (const StrayProcesses::Stray& stray : strays.look(none_is_joined)) told += stray.pid == pid ? 1 : 0;
    };
    for (int i = 0; i < 50; ++i, usleep(1000)) look();
    CHECK(told == 0);
    REQUIRE(write(go[1], "", 1) == 1);
    for (int i = 0; i < 1'500; ++i, usleep(1000)) look();  // at last, it is looked at once a second
    for (const int each : {go[0], go[1]}) close(each);
    return told;
  };
  CHECK(leave_with("/bin/sleep") == 1);
  CHECK(leave_with(agent.string()) == 0);
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
  while (!has_child()) usleep(1000);  // nobody waits for it
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
  // What it forks meanwhile, as a server of workers does, and the attached process itself.
  seen.parent = before.pid();
  seen.pid = 4'000'001;  // more than there are
  seen.forked = true;
  CHECK(strays.see(seen));
  seen.pid = getpid();
  seen.parent = getppid();
  CHECK_FALSE(strays.see(seen));
}

TEST_CASE("of a process that was attached to and whose threads are expected, no child is doubted") {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  StrayProcesses strays(getpid());
  strays.expect_threads(true);
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

TEST_CASE("a process whose parent has ended before it was found is told of where it was seen, unless its number is another's by now") {
  // A daemon's two forks: whose child it is by then, the kernel decides.
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  int numbers[2];
  REQUIRE(pipe2(numbers, O_CLOEXEC) == 0);
  const pid_t parent = fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) execle("/bin/sleep", "sleep", "100000", nullptr, std::vector<const char*>{"ANY=1", nullptr}.data());
    _exit(write(numbers[1], &grandchild, sizeof(grandchild)) == sizeof(grandchild) ? 0 : 1);
  }
  pid_t daemon = 0;
  REQUIRE(read(numbers[0], &daemon, sizeof(daemon)) == sizeof(daemon));
  REQUIRE(waitpid(parent, nullptr, 0) == parent);
  const Child child(daemon);
  wait_until_it_runs(daemon, "sleep");

  StrayProcesses strays(parent, {kVariable, {}, {}});
  for (int i = 0; i < 50; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  lanescope::cpu::SeenProcess seen;
  seen.pid = daemon;
  seen.executed = true;
  seen.start = 1;  // ns after the machine's start: that was another process
  CHECK_FALSE(strays.see(seen));
  for (int i = 0; i < 50; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  seen.start = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  CHECK_FALSE(strays.see(seen));
  CHECK(next_of(strays).pid == daemon);
  for (int descriptor : numbers) close(descriptor);
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

TEST_CASE("children of a process whose first thread has ended are looked for") {
  int ready[2], go[2];
  REQUIRE((pipe(ready) == 0 && pipe(go) == 0));
  const pid_t pid = fork();
  if (pid == 0) {
    std::thread([&] {
      while (program_state(getpid()).runs) usleep(1000);
      static_cast<void>(write(ready[1], "", 1));
      char letter = 0;
      if (read(go[0], &letter, 1) == 1) start_program({});
      for (;;) pause();
    }).detach();
    syscall(SYS_exit, 0);
  }
  const Child headless(pid);
  char letter = 0;
  REQUIRE(read(ready[0], &letter, 1) == 1);
  REQUIRE_FALSE(program_state(pid).runs);
  StrayProcesses strays(pid, {kVariable, "/bin/sleep"});
  for (int i = 0; i < 50; ++i, usleep(1000)) CHECK(strays.look(none_is_joined).empty());
  REQUIRE(write(go[1], "", 1) == 1);
  StrayProcesses::Stray told = next_of(strays);
  CHECK(told.pid != pid);
  while (told.who.find("sleep") == std::string::npos) told = next_of(strays);  // the fork in front of its exec lacks the variable, too
  kill(told.pid, SIGKILL);
  for (const int each : {ready[0], ready[1], go[0], go[1]}) close(each);
}

TEST_CASE("a process that an agent has joined is told of once the agent is gone") {
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {}});
  next_of(strays);  // this one
  const Child stray(start_program({}));
  wait_until_it_runs(stray.pid(), "sleep");
  int asked = 0;
  const auto is_joined = [&](pid_t pid) { return pid == stray.pid() && ++asked <= 3; };
  std::vector<StrayProcesses::Stray> found;
  for (; found.empty(); usleep(1000)) {
    CHECK(asked <= 3);
    found = strays.look(is_joined);
  }
  CHECK(asked == 4);
  CHECK(found.front().pid == stray.pid());
}

TEST_CASE("a process is looked at ever more seldom, unless its agent leaves") {
  const std::string with = std::string(kVariable) + "=1";
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {}});
  next_of(strays);  // this one
  int go[2];
  REQUIRE(pipe(go) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(go[1]);
    dup2(go[0], STDIN_FILENO);
    char* variables[] = {const_cast<char*>(with.c_str()), const_cast<char*>("PATH=/usr/bin:/bin"), nullptr};
    execle("/bin/sh", "sh", "-c", "read line; exec env -i sleep 100000", nullptr, variables);
    _exit(125);
  }
  const Child child(pid);
  wait_until_it_runs(pid, "sh");
  constexpr int kLooks = 250;  // after so many, 11 ms apart, there is a second between two
  for (int i = 0; i < kLooks; ++i, usleep(11'000)) CHECK(strays.look(none_is_joined).empty());
  REQUIRE(write(go[1], "\n", 1) == 1);
  close(go[0]);
  close(go[1]);
  wait_until_it_runs(pid, "sleep");
  while (!program_state(pid).number.is_known()) usleep(1000);
  strays.look_soon(pid);
  std::vector<StrayProcesses::Stray> found;
  for (int looks = 0; looks < 2 && found.empty(); ++looks) {
    usleep(11'000);
    found = strays.look(none_is_joined);
  }
  REQUIRE(found.size() == 1);
  CHECK(found.front().pid == pid);
}
