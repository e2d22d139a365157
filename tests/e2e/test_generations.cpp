// Processes that run several programs in succession within milliseconds: each has its own activity, and nothing of the others.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Runs more threads that never wait than there are processors.
class BusyMachine {
 public:
  BusyMachine() {
    for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads_.emplace_back([this] {
        while (!is_over_) {
        }
      });
  }
  ~BusyMachine() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> threads_;
};

// How often each range occurs in the program's process.
std::map<std::string, int> ranges_of(const Trace& trace, ProcessId process) {
  std::map<std::string, int> ranges;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges || track.key.process != process) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) ++ranges[std::string(trace.name(trace.lane(id).name(i)))];
  }
  return ranges;
}

std::map<std::string, int> each_once(const std::string& number, int count) {
  std::map<std::string, int> ranges;
  for (int i = 0; i < count; ++i) ranges[number + "/" + std::to_string(i)] = 1;
  return ranges;
}

std::string number_of(const Process& process) {
  REQUIRE(process.arguments.size() == 6);
  return process.arguments[4];
}

// Each program ends where the next one starts, and none starts before the previous program became it.
void check_ends(const Trace& trace) {
  for (const Process& process : trace.processes())
    if (!process.arguments.empty()) CHECK(trace.provenance().monotonic_epoch + process.start >= std::stoll(process.arguments[5]));
  for (ProcessId id = 0; id + 1 < trace.processes().size(); ++id) {
    const Process &process = trace.processes()[id], &next = trace.processes()[id + 1];
    CHECK(process.end_kind == ProcessEndKind::kReplaced);
    CHECK(process.pid == next.pid);
    REQUIRE(process.end);
    CHECK(*process.end >= process.start);
    CHECK(next.start >= *process.end);
  }
  CHECK(trace.processes().back().end_kind == ProcessEndKind::kExited);
  CHECK(trace.processes().back().exit_code == 7);
}

// Nothing is seen of a program's threads after the next one has started.
void check_threads(const Trace& trace) {
  std::map<ProcessId, std::pair<Nanoseconds, Nanoseconds>> seen;  // first start, last end
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kThreadStates) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const Nanoseconds begin = lane.start(i), end = begin + lane.duration(i);
        auto& [first, last] = seen.try_emplace(track.key.process, begin, end).first->second;
        first = std::min(first, begin);
        last = std::max(last, end);
      }
    }
  }
  for (ProcessId id = 1; id < trace.processes().size(); ++id)
    if (seen.contains(id - 1) && seen.contains(id)) CHECK(seen[id].first >= seen[id - 1].second);
}

// For the way "hasty": every other program has all of its ranges, and no program has those of others. A program that was gone before the recorder heard of it
// has neither number nor ranges.
void check_programs(const Trace& trace, int programs, int ranges) {
  std::map<std::string, std::map<std::string, int>> by_number;
  for (ProcessId id = 0; id < trace.processes().size(); ++id) {
    const Process& process = trace.processes()[id];
    const std::map<std::string, int> own = ranges_of(trace, id);
    if (process.arguments.empty()) CHECK(own.empty());
    if (!process.arguments.empty()) CHECK(by_number.emplace(number_of(process), own).second);
  }
  for (int number = 1; number <= programs; ++number) {
    const std::string name = std::to_string(number);
    CAPTURE(name);
    if (number % 2 == 1) CHECK(by_number[name] == each_once(name, ranges));
    for (const auto& [range, times] : by_number[name]) {
      CHECK(range.starts_with(name + "/"));
      CHECK(times == 1);
    }
  }
  check_ends(trace);
}

const std::vector<std::string> kTraces{"nvtx", "nvtx,osrt"};

std::vector<std::string> command(const std::string& traces, const std::vector<std::string>& more, const std::string& way, int count, int ranges) {
  std::vector<std::string> all{"profile", "-t", traces, "-f", "-o", "x"};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {program("lanescope_program_generations").string(), way, std::to_string(count), std::to_string(ranges), "1", "0"});
  return all;
}

}  // namespace

TEST_CASE("programs that follow each other in one process within milliseconds are a process each, with what each did") {
  constexpr int kPrograms = 20, kRanges = 5;
  const auto& traces = GENERATE_REF(from_range(kTraces));
  const bool sees_threads = GENERATE(false, true);
  const TemporaryFolder folder;
  const BusyMachine busy;
  const std::vector<std::string> threads = sees_threads ? std::vector<std::string>{} : std::vector<std::string>{"-s", "none", "--cpuctxsw=none"};
  const int runs = sees_threads ? 1 : 5;
  for (int run = 0; run < runs; ++run) {
    const Ran ran = run_lanescope(folder.path(), command(traces, threads, "plain", kPrograms, kRanges));
    CAPTURE(traces, sees_threads, run, ran.messages);
    CHECK(ran.code == 7);
    CHECK(ran.messages.find("could not be followed") == std::string::npos);
    const auto trace = load(folder.path() / "x.trace");
    REQUIRE(trace->processes().size() == kPrograms);
    for (ProcessId id = 0; id < kPrograms; ++id) {
      const Process& process = trace->processes()[id];
      CHECK(number_of(process) == std::to_string(id + 1));
      CHECK(ranges_of(*trace, id) == each_once(number_of(process), kRanges));
      CHECK(process.completeness.dropped == 0);
    }
    check_ends(*trace);
    check_threads(*trace);
  }
}

// A program's agent has connected, and may receive an answer that nobody waits for when another program already runs.
TEST_CASE("a program that has gone before its agent was answered leaves the next one all that is its own") {
  constexpr int kPrograms = 21, kRanges = 5, kRuns = 5;
  const auto& traces = GENERATE_REF(from_range(kTraces));
  const TemporaryFolder folder;
  const BusyMachine busy;
  for (int run = 0; run < kRuns; ++run) {
    const Ran ran = run_lanescope(folder.path(), command(traces, {"-s", "none", "--cpuctxsw=none"}, "hasty", kPrograms, kRanges));
    CAPTURE(traces, run, ran.messages);
    CHECK(ran.code == 7);
    CHECK(ran.messages.find("could not be followed") == std::string::npos);
    const auto trace = load(folder.path() / "x.trace");
    check_programs(*trace, kPrograms, kRanges);
  }
}

// The recorder is stopped again and again, so that it hears several programs at once.
TEST_CASE("programs of one process are told apart by a recorder that comes late to each") {
  constexpr int kPrograms = 31, kRanges = 3, kRuns = 3;
  const auto& traces = GENERATE_REF(from_range(kTraces));
  const TemporaryFolder folder;
  for (int run = 0; run < kRuns; ++run) {
    LanescopeProcess recording(folder.path(), command(traces, {"-s", "none", "--cpuctxsw=none"}, "hasty", kPrograms, kRanges));
    std::atomic<bool> is_over{false};
    std::thread stopping([&, pid = recording.pid()] {
      for (int pause = 1; !is_over; pause = pause % 20 + 1) {
        kill(pid, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
        kill(pid, SIGCONT);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
    const int code = recording.wait();
    is_over = true;
    stopping.join();
    CAPTURE(traces, run, recording.messages());
    CHECK(code == 7);
    check_programs(*load(folder.path() / "x.trace"), kPrograms, kRanges);
    CHECK(recording.messages().find("could not be followed") == std::string::npos);
  }
}
