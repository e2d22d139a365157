#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "collector/attach/candidate.h"
#include "collector/attach/process_list.h"
#include "running_target.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::attach;
using test::RunningTarget;

namespace {

std::string target_program() { return test::program("attach_target").string(); }

const ProcessSummary* find(const std::vector<ProcessSummary>& list, pid_t pid) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const ProcessSummary& entry) { return entry.pid == pid; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a process is described as it was started") {
  RunningTarget target({target_program(), "read"});
  target.wait_until_in(SYS_read);
  const Result<Candidate> candidate = read_candidate(target.pid());
  REQUIRE(candidate);
  CHECK(candidate->name == "attach_target");
  CHECK(candidate->command_line == target_program() + " read");
  CHECK(candidate->parent == getpid());
  CHECK(candidate->user == geteuid());
  CHECK(candidate->state == RunState::kSleeping);
  CHECK(candidate->access == Access::kReadable);
  CHECK(candidate->linkage == Linkage::kDynamic);
  CHECK(candidate->c_library == CLibrary::kGlibc);
  CHECK_FALSE(candidate->uses_cuda);
  CHECK_FALSE(candidate->has_agent);
  CHECK_FALSE(candidate->kernel_thread);
  CHECK(read_rights(*candidate).kin == TracerRights::Kin::kDescendant);
}

TEST_CASE("a process that waits for its vfork child is recognised") {
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) pause();
    }
    _exit(0);
  }
  Result<Candidate> candidate = read_candidate(parent);
  while (candidate && candidate->state != RunState::kUninterruptible && candidate->state != RunState::kZombie) candidate = read_candidate(parent);
  REQUIRE(candidate);
  CHECK(candidate->waits_for_vfork);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
}

TEST_CASE("a static executable, a stopped process and a zombie are recognised") {
  SECTION("static") {
    RunningTarget target({test::program("attach_target_static").string(), "read"});
    target.wait_until_in(SYS_read);
    const Result<Candidate> candidate = read_candidate(target.pid());
    REQUIRE(candidate);
    CHECK(candidate->linkage == Linkage::kStatic);
    CHECK(candidate->c_library == CLibrary::kNone);
  }
  SECTION("stopped") {
    RunningTarget target({target_program(), "read"});
    target.wait_until_in(SYS_read);
    kill(target.pid(), SIGSTOP);
    waitpid(target.pid(), nullptr, WUNTRACED);
    CHECK(read_candidate(target.pid())->state == RunState::kStopped);
  }
  SECTION("without its first thread") {
    RunningTarget target({target_program(), "headless"});
    Result<Candidate> candidate = read_candidate(target.pid());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (; candidate && candidate->state != RunState::kHeadless && std::chrono::steady_clock::now() < give_up; candidate = read_candidate(target.pid()))
      std::this_thread::yield();
    REQUIRE(candidate);
    CHECK(candidate->state == RunState::kHeadless);
    CHECK_THAT(refusal(*candidate, read_rights(*candidate)).value_or(""), contains_text("its first thread has ended"));
  }
  SECTION("zombie") {
    RunningTarget target({target_program(), "read"});
    kill(target.pid(), SIGKILL);
    siginfo_t information{};
    waitid(P_PID, static_cast<id_t>(target.pid()), &information, WEXITED | WNOWAIT);
    CHECK(read_candidate(target.pid())->state == RunState::kZombie);
  }
}

TEST_CASE("a process that gives its memory back at its end is none of the kernel's threads") {
  // We may not run while the process gives its memory back; then another one is looked at.
  constexpr int kMostTargets = 100;
  std::size_t endings = 0;
  for (int i = 0; i < kMostTargets && endings == 0; ++i) {
    RunningTarget target({test::program("attach_target").string(), "large"});
    REQUIRE(target.read_line() == "large");
    kill(target.pid(), SIGKILL);
    for (Result<Candidate> candidate = read_candidate(target.pid()); candidate && candidate->state != RunState::kZombie;
         candidate = read_candidate(target.pid())) {
      CHECK_FALSE(candidate->kernel_thread);
      if (candidate->state != RunState::kEnding) continue;
      ++endings;
      CHECK_THAT(refusal(*candidate, read_rights(*candidate)).value_or(""), contains_text("it is ending."));
    }
  }
  CHECK(endings > 0);
  if (read_candidate(2) && read_candidate(2)->name == "kthreadd") CHECK(read_candidate(2)->kernel_thread);  // not in a container
}

TEST_CASE("numbers that are no process are refused with one sentence") {
  CHECK(read_candidate(999'999'999).error().text == "There is no process 999999999.");
  CHECK_FALSE(read_candidate(-1));
  pid_t other = 0;
  std::string text;
  std::thread([&] {
    other = gettid();
    text = read_candidate(other).error().text;
  }).join();
  CHECK_THAT(text, contains_text(std::to_string(other) + " is a thread of process " + std::to_string(getpid())));
}

TEST_CASE("names in the process list are whole where the kernel keeps a part of them") {
  const test::TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "training_of_the_large_model";
  std::filesystem::copy_file(target_program(), program);
  RunningTarget target({program.string(), "read"});
  target.wait_until_in(SYS_read);
  const std::vector<ProcessSummary> list = list_processes();
  const ProcessSummary* entry = find(list, target.pid());
  REQUIRE(entry != nullptr);
  CHECK(entry->name == "training_of_the_large_model");
}

TEST_CASE("the process list holds a new process, and not ourselves") {
  RunningTarget target({target_program(), "read"});
  target.wait_until_in(SYS_read);
  const std::vector<ProcessSummary> list = list_processes();
  const ProcessSummary* entry = find(list, target.pid());
  REQUIRE(entry != nullptr);
  CHECK(entry->name == "attach_target");
  CHECK(entry->command_line == target_program() + " read");
  CHECK_FALSE(entry->user.empty());
  CHECK_FALSE(entry->uses_cuda);
  CHECK(find(list, getpid()) == nullptr);
  CHECK(std::is_sorted(list.begin(), list.end(), [](const auto& left, const auto& right) { return left.pid < right.pid; }));
}
