// Calls into the C library, counted for a program whose calls are known.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Number and total time of the calls of this name in a process.
struct Calls {
  std::uint64_t count = 0;
  Nanoseconds time = 0;
};
Calls calls(const Trace& trace, std::string_view name, ProcessId process) {
  Calls result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kOsRuntime || track.key.process != process) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (trace.name(lane.name(i)) != name) continue;
        ++result.count;
        result.time += lane.duration(i);
      }
    }
  }
  return result;
}

// A call, or the call chain of one: its thread, start and duration.
using Call = std::tuple<ThreadId, Nanoseconds, Nanoseconds>;

template <typename Use>
void for_events(const Trace& trace, TrackKind kind, Use use) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) use(track, lane, i);
    }
  }
}

// The functions of a chain, innermost first.
std::vector<std::string> functions_of(const Trace& trace, CallNodeId node) {
  std::vector<std::string> functions;
  const CallStacks& stacks = trace.call_stacks();
  for (; node != 0; node = stacks.node(node).parent)
    for (const CodeFunction& function : stacks.functions(stacks.node(node).location)) functions.emplace_back(trace.name(function.function));
  return functions;
}

bool has_function(const std::vector<std::string>& functions, std::string_view part) {
  return std::any_of(functions.begin(), functions.end(), [&](const std::string& name) { return name.find(part) != name.npos; });
}

}  // namespace

TEST_CASE("threads that live for one call end, and every call and range of theirs is recorded") {
  constexpr std::uint64_t kThreads = 8 * 1'500;
  for (const char* traced : {"osrt", "nvtx", "osrt,nvtx"}) {
    CAPTURE(traced);
    const TemporaryFolder folder;
    const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-s", "none", "--cpuctxsw", "none", "-o", "x",
                                                  program("lanescope_program_thread_churn").string(), "8", "1500"});
    CHECK(ran.code == 0);
    CHECK_THAT(ran.output, contains_text(std::to_string(kThreads) + " threads"));
    CHECK_THAT(ran.output + ran.messages, contains_text("nothing dropped"));
    const auto trace = load(folder.path() / "x.trace");
    const std::string kinds = traced;
    if (kinds.find("nvtx") != kinds.npos) CHECK(count_events(*trace, TrackKind::kNvtxRanges, "short life") == kThreads);
    if (kinds.find("osrt") != kinds.npos) CHECK(count_events(*trace, TrackKind::kOsRuntime, "usleep") == kThreads);
  }
}

TEST_CASE("a program that is built as packages are waits in calls that are recorded by their plain names") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(),
                                {"profile", "-t", "osrt", "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_checked_calls").string()});
  REQUIRE(ran.code == 0);
  CHECK(ran.output == "waited\n");
  const auto trace = load(folder.path() / "x.trace");
  constexpr Nanoseconds kWait = 20'000'000;
  for (const char* name : {"poll", "read", "recv", "pause", "sigwait", "fcntl"}) {
    CAPTURE(name);
    CHECK(calls(*trace, name, ProcessId{0}).time >= kWait);
  }
}

TEST_CASE("programs that are built with sanitizers run as alone, and their calls are recorded") {
  for (const char* kind : {"address", "thread", "undefined", "leak", "within"}) {
    for (const char* traced : {"osrt", "python-gil", "nvtx,osrt,python-gil", "mpi"}) {
      CAPTURE(kind, traced);
      const TemporaryFolder folder;
      const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-s", "none", "--cpuctxsw", "none", "-o", "x",
                                                    program(std::string("lanescope_program_sanitized_") + kind).string()});
      CHECK(ran.code == 5);
      CHECK_THAT(ran.output, contains_text("child 3"));
      CHECK(ran.messages.find("Sanitizer") == std::string::npos);
      const auto trace = load(folder.path() / "x.trace");
      const std::string_view kinds = traced;
      if (kinds.find("osrt") != kinds.npos) CHECK(count_events(*trace, TrackKind::kOsRuntime, "usleep") == 4 * 25 + 3);
      if (kinds.find("nvtx") != kinds.npos)
        CHECK(count_events(*trace, TrackKind::kNvtxRanges, "a range whose name is longer than a register of the processor") == 4 * 25);
    }
  }
}

TEST_CASE("each call that takes longer than its threshold has the call chain that led to it, and no other one") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-backtrace-threshold=15000000", "-s", "none", "--cpuctxsw", "none", "-o", "x",
                                        program("lanescope_program_os_calls").string()})
              .code == 0);
  const auto trace = load(folder.path() / "x.trace");
  std::set<Call> long_calls;
  std::map<Call, std::string> names;
  for_events(*trace, TrackKind::kOsRuntime, [&](const Track& track, const Lane& lane, EventIndex i) {
    const Call call{track.key.thread, lane.start(i), lane.duration(i)};
    names[call] = trace->name(lane.name(i));
    if (lane.duration(i) >= 15'000'000) long_calls.insert(call);
  });
  CHECK(long_calls.size() >= 4);  // usleep twice, pthread_cond_wait, pthread_mutex_lock
  std::set<Call> chains;
  for_events(*trace, TrackKind::kBacktraces, [&](const Track& track, const Lane& lane, EventIndex i) {
    const Call call{track.key.thread, lane.start(i), lane.duration(i)};
    CHECK(chains.insert(call).second);
    const std::vector<std::string> functions = functions_of(*trace, trace->sample_detail(lane.detail(i)).call_node);
    const std::string& name = names[call];
    CAPTURE(name, functions);
    const bool of_main = trace->threads()[track.key.thread].tid == trace->processes()[track.key.process].pid;
    CHECK(has_function(functions, of_main ? "main" : "other_thread"));
    CHECK_FALSE(has_function(functions, "lanescope"));
  });
  CHECK(chains == long_calls);
}

TEST_CASE("the call chains of programs that end at once have names") {
  const TemporaryFolder folder;
  const std::string script = "for i in $(seq 100); do sleep 0.0001; done";
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-backtrace-threshold=100000", "--osrt-threshold=0", "-s", "none", "--cpuctxsw", "none",
                                        "-o", "x", "sh", "-c", script})
              .code == 0);
  const auto trace = load(folder.path() / "x.trace");
  std::size_t of_sleeps = 0;
  for_events(*trace, TrackKind::kBacktraces, [&](const Track& track, const Lane& lane, EventIndex i) {
    if (!trace->processes()[track.key.process].executable.ends_with("sleep")) return;
    const std::vector<std::string> functions = functions_of(*trace, trace->sample_detail(lane.detail(i)).call_node);
    CAPTURE(functions);
    CHECK(has_function(functions, "__libc_start_main"));
    ++of_sleeps;
  });
  CHECK(of_sleeps >= 100);
}

TEST_CASE("processes are taken in while names of code are looked up, however long that takes") {
  const TemporaryFolder folder;
  const std::filesystem::path slow = folder.path() / "slow-code-names";
  std::ofstream(slow) << "#!/bin/sh\n/bin/sleep 4\nexec " << program("lanescope-code-names").string() << " \"$@\"\n";
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const std::string script = program("lanescope_program_os_calls").string() + "; " + program("lanescope_program_lives").string() + " exit 0";
  const Ran ran = run_lanescope(
      folder.path(),
      {"profile", "-t", "nvtx,osrt", "--osrt-backtrace-threshold=15000000", "-s", "none", "--cpuctxsw", "none", "-o", "x", "/bin/sh", "-c", script},
      {{"LANESCOPE_CODE_NAMES", slow.string()}});
  CHECK(ran.code == 0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 100);
  bool has_main = false;
  for_events(*trace, TrackKind::kBacktraces, [&](const Track&, const Lane& lane, EventIndex i) {
    has_main = has_main || has_function(functions_of(*trace, trace->sample_detail(lane.detail(i)).call_node), "main");
  });
  CHECK(has_main);
}

TEST_CASE("no call chains are taken where none are wanted") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-backtrace-threshold=none", "-o", "x", program("lanescope_program_os_calls").string()})
              .code == 0);
  const auto trace = load(folder.path() / "x.trace");
  for_events(*trace, TrackKind::kBacktraces, [](const Track&, const Lane&, EventIndex) { FAIL("a call chain"); });
  const Ran wrong = run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-backtrace-threshold=1ms", "true"});
  CHECK(wrong.code == 2);
}

TEST_CASE("calls that wait are recorded by name, with their time; errno and the program's output are as without us") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-o", "x", program("lanescope_program_os_calls").string()});
  CHECK(ran.code == 0);
  CHECK(ran.output == "neighbours 2\nerrno 9, child 0\n");
  const auto trace = load(folder.path() / "x.trace");
  ProcessId first = kNone;
  ProcessId forked = kNone;
  for (ProcessId id = 0; id < trace->processes().size(); ++id) {
    const Process& process = trace->processes()[id];
    CHECK(process.completeness.dropped == 0);
    if (process.name == "lanescope_program_os_calls") (process.forked ? forked : first) = id;
  }
  REQUIRE(first != kNone);
  REQUIRE(forked != kNone);
  constexpr Nanoseconds kMillisecond = 1'000'000;
  CHECK(calls(*trace, "usleep", first).count == 20);
  CHECK(calls(*trace, "usleep", first).time >= 58 * kMillisecond);  // 2 x 20 ms and 18 x 1 ms
  CHECK(calls(*trace, "poll", first).count == 5);
  CHECK(calls(*trace, "poll", first).time >= 10 * kMillisecond);
  CHECK(calls(*trace, "pthread_cond_wait", first).count == 1);
  CHECK(calls(*trace, "pthread_mutex_lock", first).time >= 15 * kMillisecond);  // the one call that waited
  CHECK(calls(*trace, "waitpid", first).count == 2);
  CHECK(calls(*trace, "pthread_cond_clockwait", first).count == 1);
  CHECK(calls(*trace, "popen", first).count == 2);
  CHECK(calls(*trace, "pclose", first).count == 2);
  CHECK(calls(*trace, "pclose", first).time >= 30 * kMillisecond);
#if defined(__x86_64__)
  CHECK(calls(*trace, "futex", first).count == 1);
  CHECK(calls(*trace, "futex", first).time >= 4 * kMillisecond);
  CHECK(calls(*trace, "dlopen", first).count == 3);  // without those calls for which the loader must see the caller
#endif
  CHECK(calls(*trace, "fork", first).count == 1);
  CHECK(calls(*trace, "fork", forked).count == 0);
  CHECK(calls(*trace, "usleep", forked).count == 3);
}

TEST_CASE("a program that loads files while one that it has was cut short goes on, whatever it does with SIGBUS") {
  const TemporaryFolder folder;
  const std::string way = GENERATE("goes on", "handles", "holds");
  CAPTURE(way);
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "nvtx,osrt", "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_cut_file").string(),
                                    program("liblanescope_program_nvtx_life.so").string(), "5", way});
  CHECK(ran.code == 3);
  CHECK(ran.output == "ready\n");
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kOsRuntime, "usleep") == 5);
}

TEST_CASE("a program that waits in the loader's list for a thread that loads a file or forks goes on") {
  const TemporaryFolder folder;
  const std::string work = GENERATE("load", "fork");
  const std::string traces = GENERATE("nvtx", "nvtx,osrt");
  CAPTURE(work, traces);
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_waits_in_list").string(),
                                    program("liblanescope_program_nvtx_life.so").string(), "50", work});
  CHECK(ran.code == 3);
}

TEST_CASE("children that are forked while the loader's list belongs to a callback end as they do alone") {
  const TemporaryFolder folder;
  const std::string place = GENERATE("stays", "jumped");
  const std::string how = GENERATE("fork", "_Fork", "clone");
  const std::string traces = GENERATE("nvtx", "nvtx,osrt");
  CAPTURE(place, how, traces);
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_fork_beside_visit").string(),
                      program("liblanescope_program_nvtx_life.so").string(), place, how});
  CHECK(ran.code == 3);
  CHECK(ran.output.empty());
}

TEST_CASE("a child that is forked unannounced while a library is being loaded makes its first range in another, and ends") {
  const TemporaryFolder folder;
  const std::string place = GENERATE("beside", "handler");
  const std::string how = GENERATE("_Fork", "clone");
  // Without a mark, the agent must be there from the begin.
  const auto [traces, before] = GENERATE(std::pair("nvtx", "marked"), std::pair("nvtx,osrt", "marked"), std::pair("nvtx,osrt", "unmarked"));
  CAPTURE(place, how, traces, before);
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_fork_beside_loading").string(),
                      program("liblanescope_program_nvtx_life.so").string(), program("liblanescope_program_forking_library.so").string(), place, how, before});
  CHECK(ran.code == 3);
  CHECK(ran.output.empty());
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "life 1") == 1);
}

TEST_CASE("a child that is forked unannounced within the constructor of a library makes no range there, which is told, and ends") {
  const TemporaryFolder folder;
  const std::string place = GENERATE("beside", "handler");
  const std::string how = GENERATE("_Fork", "clone");
  CAPTURE(place, how);
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "-t", "nvtx,osrt", "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_fork_beside_loading").string(),
                      "-", program("liblanescope_program_forking_library.so").string(), place, how, "marked"});
  CHECK(ran.code == 3);
  CHECK(ran.output.empty());
  const std::string told = run_lanescope(folder.path(), {"info", "x.trace"}).output;
  CHECK(told.find("NVTX ranges of a library are missing in this process") != told.npos);
}

TEST_CASE("a process begins when it does, however late its first call ends") {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "osrt", "-s", "none", "--cpuctxsw=none", "-o", "x", "bash", "-c", "sleep 1; sleep 1 & wait"}).code ==
          0);
  const auto trace = load(folder.path() / "x.trace");
  std::size_t sleeps = 0;
  for (ProcessId id = 0; id < trace->processes().size(); ++id) {
    const Process& process = trace->processes()[id];
    CAPTURE(process.name, process.pid, process.start, process.end.value_or(-1));
    REQUIRE(process.end);
    if (process.name == "sleep" || process.name == "coreutils") {
      ++sleeps;
      CHECK(*process.end - process.start >= kSecond);
    }
    if (process.end_kind == ProcessEndKind::kReplaced) {  // a shell's child, before it became sleep
      const auto next = std::find_if(trace->processes().begin(), trace->processes().end(),
                                     [&](const Process& other) { return other.pid == process.pid && other.start > process.start; });
      REQUIRE(next != trace->processes().end());
      CHECK(*process.end <= next->start);
    }
    for (const TrackId track : trace->tracks_of(id, TrackKind::kOsRuntime))
      for (const LaneId lane : trace->tracks()[track].lanes) CHECK(trace->lane(lane).start(0) >= process.start);
  }
  CHECK(sleeps == 2);
}

TEST_CASE("calls below the threshold are left out") {
  const TemporaryFolder folder;
  REQUIRE(
      run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-threshold=15000000", "-o", "x", program("lanescope_program_os_calls").string()}).code ==
      0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(count_events(*trace, TrackKind::kOsRuntime, "usleep") >= 2);  // those of 20 ms; others take 1 ms, or longer on a busy machine
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kOsRuntime)
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace->lane(lane).size(); ++i) CHECK(trace->lane(lane).duration(i) >= 15'000'000);
}

TEST_CASE("every process of a shell's pipeline is recorded, and its output is as without us") {
  const TemporaryFolder folder;
  const std::string script = "for i in 1 2 3; do echo $i | cat | tr 1-3 a-c; done; sleep 0.01; exit 9";
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "-o", "x", "bash", "-c", script});
  CHECK(ran.code == 9);
  CHECK(ran.output == "a\nb\nc\n");
  const auto trace = load(folder.path() / "x.trace");
  std::size_t cats = 0;
  for (const Process& process : trace->processes()) cats += process.name == "cat" || process.name == "coreutils" ? 1 : 0;
  CHECK(cats == 3);
}
