// Agents that are greeted.
#include "processes/process_table.h"

#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clock.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// A process that has ended, which shows if its number is looked up.
class EndedProcess {
 public:
  EndedProcess() : pid_(fork()) {
    if (pid_ == 0) _exit(0);
    siginfo_t ended{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) == 0);
  }
  ~EndedProcess() { waitpid(pid_, nullptr, 0); }
  EndedProcess(const EndedProcess&) = delete;
  EndedProcess& operator=(const EndedProcess&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// Returns the number of processes that could not be followed if this process has hung up before it is greeted.
std::uint64_t unfollowed_of(pid_t pid, std::int64_t since) {
  FrameLog log{{}, {}};
  ProcessTable table(log, {}, {}, nullptr, [](const std::string&) {});
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  close(ends[1]);
  Greeting greeting{pid};
  greeting.hello.time = since;
  table.greet(FileDescriptor(ends[0]), greeting, {}, Joining::kWelcome);
  return table.unfollowed();
}

constexpr std::int64_t kMillisecond = 1'000'000;

enum class Agent { kWaits, kHasGone };

// A process that waits to be killed, and the table of a recording that its programs report to: program n starts 10 n ms after the recording.
class ManyPrograms {
 public:
  ManyPrograms() {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
    auto file = TraceFileWriter::create(path(), Overwrite::kRefuse);
    REQUIRE(file);
    proto::SessionStart start;
    start.set_epoch(begin_);
    log_.open(std::move(*file), start);
  }
  ~ManyPrograms() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ManyPrograms(const ManyPrograms&) = delete;
  ManyPrograms& operator=(const ManyPrograms&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] ProcessTable& table() { return table_; }
  [[nodiscard]] const std::vector<std::string>& sentences() const { return sentences_; }

  // Greets program n, called "program-n", which has waited for `waited` ns. An exec closes the connections of earlier programs.
  void greet(int n, Agent agent, std::int64_t waited = 0) {
    for (auto& [other, end] : ends_)
      if (other < n) end.reset();
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    ends_[n] = FileDescriptor(ends[1]);
    if (agent == Agent::kHasGone) ends_[n].reset();
    Greeting greeting{pid_};
    greeting.hello.begin = begin_ + 10 * n * kMillisecond - waited;
    greeting.hello.time = greeting.hello.begin + kMillisecond;
    greeting.hello.random = agent == Agent::kWaits ? getauxval(AT_RANDOM) : 1;
    const std::string name = "program-" + std::to_string(n);
    name.copy(greeting.hello.program, sizeof(greeting.hello.program) - 1);
    table_.greet(FileDescriptor(ends[0]), greeting, {}, Joining::kWelcome);
  }
  void kill_process() {
    kill(pid_, SIGKILL);
    siginfo_t ended{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) == 0);
    ends_.clear();
  }
  // The processes in the file, after the end of the recording.
  [[nodiscard]] std::vector<Process> recorded() {
    table_.detach_all();
    log_.close({});
    const auto trace = load_trace(path());
    REQUIRE(trace);
    return (*trace)->processes();
  }
  // The start of program n, relative to that of the recording.
  [[nodiscard]] static Nanoseconds begin_of(int n) { return 10 * n * kMillisecond; }

 private:
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "x.trace"; }

  test::TemporaryFolder folder_;
  std::int64_t begin_ = monotonic_now() - 100 * kMillisecond;
  pid_t pid_ = fork();
  FrameLog log_{{}, {}};
  std::vector<std::string> sentences_;
  ProcessTable table_{log_, {}, {}, nullptr, [this](const std::string& sentence) { sentences_.push_back(sentence); }};
  std::map<int, FileDescriptor> ends_;
};

}  // namespace

TEST_CASE("the place of a launched program in its job is known, also where it has ended before anything of it is read") {
  const EndedProcess launched;
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  auto file = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(file);
  FrameLog log{{}, {}};
  log.open(std::move(*file), {});
  ProcessTable table(log, {}, {}, nullptr, [](const std::string&) {});
  const std::vector<std::string> environment{"HOME=/", "RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=4", "RANK", "=", ""};
  table.add_launched(launched.pid(), {getpid(), "/bin/true", {"true"}}, monotonic_now(), environment);
  table.detach_all();
  log.close({});
  const auto trace = load_trace(path);
  REQUIRE(trace);
  REQUIRE((*trace)->processes().size() == 1);
  const JobPlace& place = (*trace)->processes()[0].place;
  CHECK(place.launcher == "torchrun");
  CHECK(place.rank == 3);
  CHECK(place.local_rank == 1);
  CHECK(place.world_size == 4);
}

TEST_CASE("programs that follow each other in a process are told apart in whatever order their agents are heard") {
  std::vector<int> order{1, 2, 3};
  do {
    const Agent early = GENERATE(Agent::kWaits, Agent::kHasGone);
    ManyPrograms programs;
    std::vector<int> expected;  // programs that are not known to be replaced yet
    for (const int n : order) {
      const bool is_late = !expected.empty() && expected.back() > n;
      programs.greet(n, n == 3 || (!is_late && early == Agent::kWaits) ? Agent::kWaits : Agent::kHasGone);
      if (!is_late) expected.push_back(n);
    }
    CAPTURE(order, early);
    REQUIRE(programs.table().live().size() == 1);
    CHECK(programs.table().live().front()->is_connected());
    CHECK(programs.table().unfollowed() == 0);  // each had just started to wait
    CHECK(programs.sentences().empty());
    const std::vector<Process> recorded = programs.recorded();
    REQUIRE(recorded.size() == expected.size());
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      CHECK(recorded[i].pid == static_cast<std::uint32_t>(programs.pid()));
      CHECK(recorded[i].start == ManyPrograms::begin_of(expected[i]));
      CHECK(recorded[i].end_kind == (i + 1 < recorded.size() ? ProcessEndKind::kReplaced : ProcessEndKind::kDetached));
      if (i + 1 < recorded.size()) CHECK(recorded[i].end == ManyPrograms::begin_of(expected[i + 1]));
      const bool has_gone = expected[i] != 3 && early == Agent::kHasGone;
      CHECK((recorded[i].name == "program-" + std::to_string(expected[i])) == has_gone);  // otherwise it is the name of its file, which the kernel knows
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("how a process ended is how its last program did, whether that was heard of before or after") {
  const bool is_heard_late = GENERATE(false, true);
  ManyPrograms programs;
  programs.greet(1, Agent::kWaits);
  if (!is_heard_late) programs.greet(2, Agent::kWaits);
  programs.kill_process();
  CHECK(programs.table().reap() == 1);
  if (is_heard_late) programs.greet(2, Agent::kHasGone);
  programs.greet(1, Agent::kHasGone);  // a second connection of the first program, which was not answered
  programs.table().reap();
  CHECK(programs.table().live().empty());
  CHECK(programs.table().unfollowed() == 0);
  const std::vector<Process> recorded = programs.recorded();
  REQUIRE(recorded.size() == 2);
  CHECK(recorded[0].end_kind == ProcessEndKind::kReplaced);
  CHECK(recorded[0].end == ManyPrograms::begin_of(2));
  CHECK(recorded[1].end_kind == ProcessEndKind::kSignaled);
  CHECK(recorded[1].signal == SIGKILL);
}

TEST_CASE("a program that may have gone on without an answer is named, and not the one that runs in its place") {
  constexpr std::int64_t kLong = 6'000 * kMillisecond;
  const bool is_first = GENERATE(true, false);
  ManyPrograms programs;
  if (is_first) programs.greet(1, Agent::kHasGone, kLong);
  programs.greet(2, Agent::kWaits);
  if (!is_first) programs.greet(1, Agent::kHasGone, kLong);
  CHECK(programs.table().unfollowed() == 1);
  REQUIRE(programs.sentences().size() == 1);
  CHECK(programs.sentences().front().starts_with("[" + std::to_string(programs.pid()) + "] program-1: this process could not be followed"));
  CHECK(programs.table().live().size() == 1);
  CHECK(programs.table().live().front()->is_connected());
  CHECK_FALSE(programs.table().live().front()->is_unfollowed());
}

TEST_CASE("a program of which nothing was heard is the one that reports where it is the same, and else another one has taken its place") {
  ManyPrograms programs;
  programs.table().add_attached(programs.pid());
  programs.greet(1, Agent::kWaits);
  CHECK(programs.table().joined() == 1);
  programs.greet(2, Agent::kWaits);  // from the same file, in the same process
  CHECK(programs.table().joined() == 2);
}

TEST_CASE("a process that ended while its agent waited for an answer gave all that it had, and others that have hung up did not") {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const EndedProcess ended;
  CHECK(unfollowed_of(ended.pid(), monotonic_now()) == 0);
  CHECK(unfollowed_of(ended.pid(), monotonic_now() - 6 * kSecond) == 1);  // it may have continued without an answer, and then ended
  CHECK(unfollowed_of(ended.pid(), monotonic_now() + kSecond) == 1);      // its time is in the future, by another clock: nothing is known
  CHECK(unfollowed_of(getpid(), monotonic_now()) == 1);                   // it still runs, and records nothing from here on
}

TEST_CASE("processes that have ended are no longer running while what they have written is read") {
  ManyPrograms programs;
  programs.greet(1, Agent::kWaits);
  CHECK(programs.table().is_any_running());
  programs.kill_process();
  CHECK_FALSE(programs.table().is_empty());
  CHECK_FALSE(programs.table().is_any_running());
}
