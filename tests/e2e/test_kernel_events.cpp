// -t syscall, --ftrace and --cpu-core-events, for a program that counts what it does.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include <sched.h>
#include <sys/mount.h>

#include "collector/cpu/access.h"
#include "model/trace/domains/nvtx_payload.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

const std::vector<std::string> kQuiet{"-s", "none", "--cpuctxsw", "none", "-f", "-o", "x"};

// Makes the kernel's list of events visible to this process and its descendants only. If that fails, prints why.
bool sees_events() {
  std::error_code failed;
  const char* const event = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";
  if (std::filesystem::exists(event, failed)) return true;
  const bool is_mounted = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          mount("nodev", "/sys/kernel/tracing", "tracefs", 0, nullptr) == 0;
  if (is_mounted && std::filesystem::exists(event, failed)) return true;
  WARN("tracefs is not open and can't be mounted, or this kernel does not trace system calls: not tried (" << std::strerror(errno) << ")");
  return false;
}

bool build(const std::filesystem::path& folder) {
  const std::string program = (folder / "work").string();
  const bool built = std::system(("cc -O1 -w " LANESCOPE_TEST_PROGRAMS "/kernel_calls.c -o '" + program + "'").c_str()) == 0;
  if (!built) WARN("there is no C compiler: not tried");
  return built;
}

Ran record(const std::filesystem::path& folder, std::vector<std::string> options, const std::vector<std::string>& program) {
  options.insert(options.begin(), "profile");
  options.insert(options.end(), kQuiet.begin(), kQuiet.end());
  options.insert(options.end(), program.begin(), program.end());
  return run_lanescope(folder, options);
}

struct Call {
  ProcessId process;
  Nanoseconds duration;
  std::optional<std::int64_t> result;
  std::string values;
  bool is_finished;
};

// The calls by name, from tracks of this kind and domain.
std::multimap<std::string, Call> calls(const Trace& trace, TrackKind kind, std::string_view domain) {
  std::multimap<std::string, Call> result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind || trace.domain_name(track.key.process, track.key.domain) != domain) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const NvtxDetail detail = trace.nvtx_detail(lane.detail(i));
        Call call{track.key.process, lane.duration(i), {}, std::string(trace.name(detail.payload_json)), detail.finished == Finished::kYes};
        if (detail.payload_type == PayloadType::kSigned) call.result = static_cast<std::int64_t>(detail.payload);
        result.emplace(std::string(trace.name(lane.name(i))), std::move(call));
      }
    }
  }
  return result;
}

std::size_t count(const std::multimap<std::string, Call>& calls, const std::string& name, std::optional<std::int64_t> result) {
  const auto [first, last] = calls.equal_range(name);
  return static_cast<std::size_t>(std::count_if(first, last, [&](const auto& entry) { return entry.second.result == result; }));
}

bool permits_events(const Ran& ran) {
  const auto says = [&ran](const char* text) { return ran.messages.find(text) != std::string::npos; };
  if (!says("The kernel does not permit it") && !says("closed to this user") && !says("Threads are not observed")) return true;
  WARN("this user may not record events of the kernel: not tried");
  return false;
}

// The number of events in the whole recording, by name.
std::map<std::string, double> totals(const Trace& trace) {
  std::map<std::string, double> result;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    const CounterSeries& series = trace.counter_series(id);
    result[trace.counters()[id].name] = series.summarize(series.extent()).integral / 1e9;
  }
  return result;
}

}  // namespace

TEST_CASE("system calls are ranges of their threads, with what they returned") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!sees_events() || !build(folder)) return;
  const Ran ran = record(folder, {"-t", "syscall"}, {"./work"});
  REQUIRE(ran.code == 0);
  if (!permits_events(ran)) return;
  CHECK_THAT(ran.messages, !contains_text("are lost") && !contains_text("were lost"));
  const auto check = [&](const std::string& file) {
    const auto trace = load(folder / file);
    const auto all = calls(*trace, TrackKind::kNvtxRanges, "System calls");
    CHECK(count(all, "sched_get_priority_max", 99) == 7);
    CHECK(count(all, "sched_get_priority_min", 1) == 3);
    CHECK(count(all, "close", -EBADF) == 5);
    CHECK(count(all, "kill", 0) == 4);
    CHECK(count(all, "madvise", 0) == 1);
    // Both sleep for the requested time.
    std::size_t sleeps = 0;
    for (auto [each, last] = all.equal_range("clock_nanosleep"); each != last; ++each)
      sleeps += each->second.duration >= 20'000'000 && each->second.result == 0 ? 1 : 0;
    CHECK(sleeps == 2);
    // The end of a process never returns; a call of exec is the last call of the program that makes it.
    CHECK(count(all, "exit_group", std::nullopt) == 2);
    CHECK(all.find("exit_group")->second.is_finished == false);
    CHECK(all.find("kill")->second.is_finished);
    const auto execs = all.equal_range("execve");
    const ProcessId child = all.find("sched_get_priority_min")->second.process;
    CHECK(child != all.find("kill")->second.process);
    CHECK(std::any_of(execs.first, execs.second, [&](const auto& entry) { return entry.second.process == child && entry.second.result == 0; }));
  };
  check("x.trace");
  REQUIRE(run_lanescope(folder, {"export", "-t", "trace", "-o", "copy.trace", "x.trace"}).code == 0);
  check("copy.trace");
  const Ran table = run_lanescope(folder, {"stats", "-q", "-f", "csv", "-r", "nvtx_sum", "x.trace"});
  CHECK_THAT(table.output, contains_text("sched_get_priority_max"));
}

TEST_CASE("events of the kernel are marks of the threads that caused them, with their values") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!sees_events() || !build(folder)) return;
  const Ran ran = record(folder, {"-t", "none", "--ftrace=signal/signal_generate,sched:sched_process_exec"}, {"./work"});
  REQUIRE(ran.code == 0);
  if (!permits_events(ran)) return;
  const auto all = calls(*load(folder / "x.trace"), TrackKind::kNvtxMarks, "Kernel events");
  const auto signals = all.equal_range("signal_generate");
  const auto number = [](const Call& call, const char* field) { return payload_integer(call.values, field).value_or(-1); };
  CHECK(std::count_if(signals.first, signals.second, [&](const auto& entry) { return number(entry.second, "sig") == SIGUSR1; }) == 4);
  CHECK_THAT(all.find("signal_generate")->second.values, contains_text("\"comm\":\"work\""));
  const auto execs = all.equal_range("sched_process_exec");
  CHECK(std::any_of(execs.first, execs.second, [](const auto& entry) { return entry.second.values.find("/true\"") != std::string::npos; }));

  const Ran unknown = record(folder, {"-t", "none", "--ftrace=sched/no_such_event"}, {"./work"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.messages, contains_text("This kernel has no event sched/no_such_event."));
}

TEST_CASE("a process that runs already can have its system calls recorded, too") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!sees_events()) return;
  LanescopeProcess recorder(folder, {"profile", "-t", "syscall", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "outer", "sh", "-c",
                                     "echo ready; while [ ! -e stop ]; do sleep 0.02; done"});
  recorder.wait_for_line("ready");
  const Ran ran =
      run_lanescope(folder, {"attach", std::to_string(recorder.target()), "-t", "syscall", "-s", "none", "--cpuctxsw", "none", "-d", "2", "-f", "-o", "x"});
  CHECK(std::system(("touch '" + (folder / "stop").string() + "'").c_str()) == 0);
  CHECK(recorder.wait() == 0);
  CHECK(ran.code == 0);
  if (!permits_events(ran)) return;
  const auto all = calls(*load(folder / "x.trace"), TrackKind::kNvtxRanges, "System calls");
  CHECK(all.contains("execve"));  // the exec of sleep
  CHECK(all.contains("clock_nanosleep"));
}

TEST_CASE("events that are counted come to as many as the program counts, and those that can't be had are named") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!cpu::probe_access().own_processes) {
    WARN("threads can't be observed here: not tried");
    return;
  }
  if (!build(folder)) return;
  const Ran ran = record(folder, {"-t", "none", "--cpu-core-events=minor-faults,major-faults,r0"}, {"./work"});
  REQUIRE(ran.code == 0);
  const auto trace = load(folder / "x.trace");
  const std::size_t at = ran.output.find("faults ");
  REQUIRE(at != std::string::npos);
  const long among_pages = std::strtol(ran.output.c_str() + at + 7, nullptr, 10);
  const auto counted = totals(*trace);
  REQUIRE(counted.contains("minor-faults"));
  // The faults of the program's start, of its child and of its end are added: a few hundred.
  CHECK(among_pages > 100);
  CHECK(counted.at("minor-faults") >= static_cast<double>(among_pages) - 1);
  CHECK(counted.at("minor-faults") < static_cast<double>(among_pages) + 3000);
  CHECK(trace->counters()[0].group == "Events of the programs");
  const Ran table = run_lanescope(folder, {"stats", "-q", "-f", "csv", "-r", "machine_metric_sum", "x.trace"});
  CHECK_THAT(table.output, contains_text("minor-faults"));

  const Ran cycles = record(folder, {"-t", "none", "--cpu-core-events", "cycles,instructions"}, {"./work"});
  CHECK(cycles.code == 0);
  const auto hardware = totals(*load(folder / "x.trace"));
  if (hardware.contains("instructions"))
    CHECK(hardware.at("instructions") > 6000);
  else
    CHECK_THAT(cycles.messages, contains_text("Not counted: instructions. "));
  CHECK_THAT(run_lanescope(folder, {"profile", "--cpu-core-events=help"}).output, contains_text("minor-faults") && contains_text("rHEX"));
}
