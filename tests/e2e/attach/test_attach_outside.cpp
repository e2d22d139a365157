// Recordings of programs that nothing enters: only their threads, seen from outside.
#include <sys/syscall.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "../../collector/attach/running_target.h"
#include "../../collector/cpu/recorded.h"
#include "../recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

#define SKIP_WHERE_FORBIDDEN()                        \
  if (const auto reason = cannot_observe(); reason) { \
    WARN(*reason);                                    \
    return;                                           \
  }

std::string file_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Processor time of a process's first thread since its start, as the kernel counts it.
Nanoseconds processor_time(pid_t pid) { return std::stoll(file_of(pid, "schedstat")); }

// The time that a hypervisor took from all processors, during which their threads stand still. The kernel counts it in hundredths of a second.
Nanoseconds stolen_time() {
  std::ifstream file("/proc/stat");
  std::string processors;
  Nanoseconds user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0, stolen = 0;
  file >> processors >> user >> nice >> system >> idle >> waiting >> hard >> soft >> stolen;
  return stolen * 10'000'000;
}

Nanoseconds wall_time() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

Ran attach_outside(const TemporaryFolder& folder, pid_t pid, std::vector<std::string> options) {
  options.insert(options.begin(), {"attach", std::to_string(pid), "-t", "none", "-o", "x"});
  return run_lanescope(folder.path(), options);
}

}  // namespace

TEST_CASE("a process that nothing enters has the states and samples that its work makes, and is left as it was") {
  SKIP_WHERE_FORBIDDEN();
  const TemporaryFolder folder;
  RunningTarget target({program("lanescope_program_cpu_work").string(), "steady"});
  REQUIRE(target.read_line() == "ready");
  const std::string map_before = file_of(target.pid(), "maps");
  const Nanoseconds ran_before = processor_time(target.pid());
  const Nanoseconds stolen_before = stolen_time();
  const Nanoseconds began = wall_time();
  const Ran ran = attach_outside(folder, target.pid(), {"-d", "2", "--sampling-frequency=1000"});
  const Nanoseconds wall = wall_time() - began;
  const Nanoseconds ran_meanwhile = processor_time(target.pid()) - ran_before;
  const Nanoseconds stolen = stolen_time() - stolen_before;
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, !contains_text("stood still"));
  CHECK(file_of(target.pid(), "maps") == map_before);  // no library, no thread, no memory of ours
  CHECK_THAT(file_of(target.pid(), "status"), contains_text("TracerPid:\t0\n") && contains_text("Threads:\t1\n"));

  const std::shared_ptr<const Trace> trace = load(folder.path() / "x.trace");
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].pid == static_cast<std::uint32_t>(target.pid()));
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kDetached);
  CHECK(trace->processes()[0].completeness.dropped == 0);
  REQUIRE(trace->threads().size() == 1);
  const std::vector<Interval> all = intervals(*trace, 0);
  REQUIRE_FALSE(all.empty());
  const Nanoseconds seen = all.back().end - all.front().start;
  const Nanoseconds running = time_in(all, ThreadState::kRunning);
  constexpr Nanoseconds kTick = 4'000'000;  // between two updates of the kernel's own count for a running thread
  CHECK(seen > 1'500'000'000);
  CHECK(running <= ran_meanwhile + stolen + ran_meanwhile / 50 + kTick);
  CHECK(running >= ran_meanwhile - ran_meanwhile / 50 - (wall - seen) - kTick);  // the program may have worked in all the rest of the time
  CHECK(time_in(all, ThreadState::kBlocked) >= running);                         // it sleeps twice as long as it works

  const std::vector<Chain> chains = samples(*trace, 0);
  const auto sixty = static_cast<double>(count_with(chains, "sixty"));
  const auto forty = static_cast<double>(count_with(chains, "forty"));
  REQUIRE(sixty + forty > 100);
  CHECK(std::abs(sixty / (sixty + forty) - 0.6) < 5 * std::sqrt(0.6 * 0.4 / (sixty + forty)));
  CHECK(kill(target.pid(), 0) == 0);
}

TEST_CASE("programs that the agent can't enter are recorded from outside") {
  SKIP_WHERE_FORBIDDEN();
  const TemporaryFolder folder;
  RunningTarget target({program("attach_target_static").string(), "read"});
  target.wait_until_in(SYS_read);
  const Ran refused = run_lanescope(folder.path(), {"attach", std::to_string(target.pid())});
  CHECK_THAT(refused.messages, contains_text("lanescope attach " + std::to_string(target.pid()) + " -t none"));
  CHECK(attach_outside(folder, target.pid(), {"-d", "1"}).code == 0);
  const std::shared_ptr<const Trace> trace = load(folder.path() / "x.trace");
  const std::vector<Interval> all = intervals(*trace, 0);
  REQUIRE(all.size() == 1);  // it waits for its input
  CHECK(all[0].state == ThreadState::kBlocked);
  CHECK(all[0].end - all[0].start > 200'000'000);
}

TEST_CASE("a recording from outside ends with the process, and is steered as others are") {
  SKIP_WHERE_FORBIDDEN();
  const TemporaryFolder folder;
  RunningTarget target({program("lanescope_program_cpu_work").string(), "steady"});
  REQUIRE(target.read_line() == "ready");
  LanescopeProcess recording(folder.path(), {"attach", std::to_string(target.pid()), "-t", "none", "-Y", "--session-new=outside"});
  const auto ask = [&](std::vector<std::string> arguments) {
    const TemporaryFolder messages;
    return run_lanescope(messages.path(), arguments, {{"XDG_RUNTIME_DIR", folder.path().string()}});
  };
  while (ask({"sessions", "list"}).output.find("Waiting") == std::string::npos) {
  }
  const std::string file = (folder.path() / "part").string();
  CHECK(ask({"start", "-o", file}).code == 0);
  CHECK(ask({"stop"}).code == 0);
  CHECK(load(file + ".trace")->processes()[0].end_kind == ProcessEndKind::kDetached);
  CHECK(ask({"start", "-o", file + "2"}).code == 0);
  kill(target.pid(), SIGKILL);
  CHECK(recording.wait() == 0);
  const std::shared_ptr<const Trace> trace = load(file + "2.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->processes()[0].end_kind != ProcessEndKind::kDetached);
}

TEST_CASE("a ring of a recording from outside holds its last second") {
  SKIP_WHERE_FORBIDDEN();
  const TemporaryFolder folder;
  RunningTarget target({program("lanescope_program_cpu_work").string(), "steady"});
  REQUIRE(target.read_line() == "ready");
  CHECK(attach_outside(folder, target.pid(), {"-d", "6", "--ring=1"}).code == 0);
  const std::shared_ptr<const Trace> trace = load(folder.path() / "x.trace");
  const std::vector<Interval> all = intervals(*trace, 0);
  REQUIRE_FALSE(all.empty());
  const Nanoseconds seen = all.back().end - all.front().start;
  CHECK(seen > 900'000'000);
  CHECK(seen < 5'000'000'000);  // a backlog, which arises if the machine had no time for the recorder, is dropped at once
  CHECK(count_with(samples(*trace, 0), "sixty") > 0);
}

TEST_CASE("a recording from outside of nothing, or of no process, is refused with one sentence") {
  const TemporaryFolder folder;
  RunningTarget target({program("attach_target_static").string(), "read"});
  const Ran nothing = attach_outside(folder, target.pid(), {"-s", "none", "--cpuctxsw=none"});
  CHECK(nothing.code == 2);
  CHECK_THAT(nothing.messages, contains_text("There is nothing to record"));
  const Ran nobody = attach_outside(folder, 999999999, {});
  CHECK(nobody.code == 1);
  CHECK(nobody.messages == "lanescope: There is no process 999999999.\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.trace"));
}
