// Processes that no agent can join, among the descendants of a launched process.
#include "processes/unfollowed/strays.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "processes/proc.h"
#include "stray_children.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope::session;

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
  // Neither of them is reported again: the next one is a different process.
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
  const std::string many = "LD_PRELOAD=a" + std::string(50'000, ':');  // glibc reads it as one library and many empty names
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
  next_of(strays);  // this one, whose program the children run
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

TEST_CASE("a process with a seccomp filter of its own is told of in the end where the agent comes with a call, and has not come") {
  const bool is_loaded_with_program = GENERATE(false, true);
  const auto start = [](bool is_filtered) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog filter{1, &allow};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (is_filtered) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    for (;;) pause();
  };
  StrayProcesses strays(getpid(), {kVariable, "/bin/sleep", {{is_loaded_with_program ? "LD_PRELOAD" : "NVTX_INJECTION64_PATH", "NVTX ranges"}}});
  next_of(strays);  // this one, whose program the children run
  const Child filtered(start(true)), joins(start(true)), free(start(false));
  for (const pid_t pid : {filtered.pid(), joins.pid()})
    while (!has_filter_of_its_own(pid)) usleep(1000);
  CHECK_FALSE(has_filter_of_its_own(free.pid()));
  for (const pid_t pid : {filtered.pid(), joins.pid(), free.pid()}) strays.look_soon(pid);
  std::set<pid_t> looked_at;
  while (!looked_at.contains(filtered.pid()) || !looked_at.contains(joins.pid()) || !looked_at.contains(free.pid())) {
    const std::vector<StrayProcesses::Stray> found = strays.look([&](pid_t pid) {
      looked_at.insert(pid);
      return pid == joins.pid();
    });
    REQUIRE(found.empty());
    usleep(1000);
  }
  const std::vector<StrayProcesses::Stray> left = strays.take_agentless();
  REQUIRE(left.size() == (is_loaded_with_program ? 0 : 1));
  if (is_loaded_with_program) return;
  CHECK(left[0].pid == filtered.pid());
  CHECK_THAT(left[0].reason, contains_text("a seccomp filter of its own, and no agent came"));
}

TEST_CASE("a process that its agent has left alone because of a filter is told of, however the agent comes") {
  const std::string by = GENERATE("LD_PRELOAD", "NVTX_INJECTION64_PATH");
  const auto start = [](const char* filters) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog filter{1, &allow};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    char* variables[] = {const_cast<char*>(filters), nullptr};
    execle("/bin/sleep", "sleep", "100000", nullptr, variables);
    _exit(125);
  };
  StrayProcesses strays(getpid(), {"LANESCOPE_FILTERS", "/bin/sleep", {{by, "NVTX ranges"}}});
  next_of(strays);  // this one
  const Child left_alone(start("LANESCOPE_FILTERS=x000")), recorded(start("LANESCOPE_FILTERS=0001"));
  std::set<pid_t> looked_at;
  for (const pid_t pid : {left_alone.pid(), recorded.pid()}) wait_until_it_runs(pid, "sleep");
  for (const pid_t pid : {left_alone.pid(), recorded.pid()}) strays.look_soon(pid);
  for (int i = 0; i < 20 || !looked_at.contains(left_alone.pid()) || !looked_at.contains(recorded.pid()); ++i, usleep(1000))
    strays.look([&](pid_t pid) {
      looked_at.insert(pid);
      return false;
    });
  const std::vector<StrayProcesses::Stray> left = strays.take_agentless();
  REQUIRE(left.size() == 1);
  CHECK(left[0].pid == left_alone.pid());
  CHECK_THAT(left[0].reason, contains_text("a seccomp filter of its own before the agent came into it"));
}

TEST_CASE("a process of a user who may not read the agent is told of") {
  if (geteuid() != 0) return;  // only root can do this
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
  // A capability lets it read all files.
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

TEST_CASE("a program that starts itself anew is another one, also where addresses are not randomized") {
  int go[2], standing[2];
  REQUIRE((pipe(go) == 0 && pipe(standing) == 0));
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE);
    dup2(go[0], STDIN_FILENO);  // shells accept only descriptors of one digit
    dup2(standing[1], STDOUT_FILENO);
    for (const int each : {go[0], go[1], standing[0], standing[1]}) close(each);
    const char* script = "echo; read line; exec /bin/sh -c \"$0\" \"$0\"";
    char* variables[] = {nullptr};
    execle("/bin/sh", "/bin/sh", "-c", script, script, nullptr, variables);
    _exit(125);
  }
  const Child child(pid);
  close(standing[1]);  // so that its end is noticed, too
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

TEST_CASE("a process that leaves for another root folder by itself is told of once, and not where it has the agent") {
  if (geteuid() != 0) return;  // only root can do this
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
    for (int i = 0; i < 1'500; ++i, usleep(1000)) look();  // in the end it is looked at only once a second
    for (const int each : {go[0], go[1]}) close(each);
    return told;
  };
  CHECK(leave_with("/bin/sleep") == 1);
  CHECK(leave_with(agent.string()) == 0);
}

TEST_CASE("a process whose parent has ended before it was found is told of where it was seen, unless its number is another's by now") {
  // A daemon forks twice: the kernel decides who is its parent then.
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
  seen.start = 1;  // ns after the machine's start: this was a different process
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
  while (told.who.find("sleep") == std::string::npos) told = next_of(strays);  // the fork before its exec lacks the variable, too
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
  constexpr int kLooks = 250;  // after this number of looks, 11 ms apart, two looks are a second apart
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
