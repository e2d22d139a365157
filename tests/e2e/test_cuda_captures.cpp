// GPU work that is recorded in parts, and its end, with a CUPTI that needs no GPU.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <string>

#include "../collector/agent/mock_cupti.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace facts = lanescope::test::mock_cupti;

namespace {

// Records of CUPTI that make no sense are counted as invalid beside these; the mock makes some.
bool says_loss(const std::string& messages) { return std::regex_search(messages, std::regex("[0-9] (records? dropped|CUPTI buffers? lost)")); }

const std::vector<Environment> kMock{{"LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI}};
std::string cuda_program() { return program("mock_cuda_program").string(); }

// The values of MOCK_CUPTI_FAULTS are described in mock_cupti.h.
std::vector<Environment> faulting(const char* when) {
  std::vector<Environment> environment = kMock;
  environment.push_back({"MOCK_CUPTI_FAULTS", when});
  return environment;
}

struct Counts {
  std::uint64_t kernels = 0;
  std::uint64_t named = 0;
  std::uint64_t calls = 0;
};
Counts counts(const Trace& trace) {
  Counts result;
  for (const Track& track : trace.tracks()) {
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      if (track.key.kind == TrackKind::kCudaApi) result.calls += lane.size();
      if (track.key.kind != TrackKind::kKernels) continue;
      result.kernels += lane.size();
      for (EventIndex i = 0; i < lane.size(); ++i) result.named += trace.name(lane.name(i)).empty() ? 0 : 1;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("what lies between cudaProfilerStart and cudaProfilerStop is recorded, each time into a file that is whole by itself") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "-o", "part", cuda_program(), "5000", "captures", "3"}, kMock);
  CHECK(ran.code == 0);
  for (const char* name : {"part.1.trace", "part.2.trace", "part.3.trace"}) {
    const auto trace = load(folder.path() / name);
    const Counts found = counts(*trace);
    CHECK(found.calls == 100);
    CHECK(found.kernels == 100 + facts::kUnfinished);
    CHECK(found.named == found.kernels);  // names are sent with the first chunk that uses them, which may be in an earlier file here
    REQUIRE(trace->gpus().size() == 1);
    CHECK(trace->gpus()[0].name == "Mock GPU");
    CHECK(trace->processes()[0].completeness.dropped == 0);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "part.4.trace"));
}

TEST_CASE("a small file of a largest size has GPU work, as far as it has room") {
  const TemporaryFolder folder;
  constexpr std::uint64_t kMost = 20'000;  // bytes: all of it takes more
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "-t", "cuda", "-s", "none", "--cpuctxsw=none", "--max-file-size=" + std::to_string(kMost), "-o", "x", cuda_program(), "30000"},
      kMock);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("had no room in the file"));
  const std::uint64_t bytes = std::filesystem::file_size(folder.path() / "x.trace");
  CHECK(bytes <= kMost);
  CHECK(bytes > kMost / 2);
  const Counts found = counts(*load(folder.path() / "x.trace"));
  CHECK(found.kernels > 0);
  CHECK(found.calls > 0);
  CHECK(found.named == found.kernels);
}

TEST_CASE("captures that follow each other at once are recorded as well") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(),
                                {"profile", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "-o", "part", cuda_program(), "0", "captures", "20"}, kMock);
  CHECK(ran.code == 0);
  for (int i = 1; i <= 20; ++i) CHECK(counts(*load(folder.path() / ("part." + std::to_string(i) + ".trace"))).calls == 100);
}

TEST_CASE("records that the agent held when the program was killed are counted, in the file or as dropped") {
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "cuda", "--cpuctxsw=none", "--sample=none", "-o", "x", cuda_program(), "300000", "kill"}, kMock);
  CHECK(ran.code == 128 + SIGKILL);
  const auto trace = load(folder.path() / "x.trace");
  const Completeness completeness = trace->processes()[0].completeness;
  const std::uint64_t told = trace->diagnostics().size();  // the message that CUPTI records is a record, too
  CHECK(completeness.produced == trace->event_count() + told + completeness.dropped + completeness.invalid);
}

TEST_CASE("GPU records of a program that numbers its processes anew arrive whole") {
  if (geteuid() != 0) {
    WARN("Only root can make a PID namespace: not tested.");
    return;
  }
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "cuda", "-o", "x", "/usr/bin/unshare", "--pid", "--fork", "--mount-proc", cuda_program(), "5000"}, kMock);
  CHECK(ran.code == 0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(counts(*trace).calls == 5'000);
  CHECK(counts(*trace).kernels == 5'000 + facts::kUnfinished);
  CHECK(trace->processes().back().completeness.dropped == 0);
}

TEST_CASE("ends without handlers lose nothing") {
  const std::string traced = GENERATE("cuda", "cuda,osrt");
  const std::string how = GENERATE("_exit", "_Exit", "quick_exit");
  CAPTURE(traced, how);
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-o", "x", cuda_program(), "1000", how}, kMock);
  CHECK(ran.code == 7);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(counts(*trace).calls == 1'000);
  CHECK(trace->processes().back().completeness.unreturned_buffers == 0);
}

TEST_CASE("a program that becomes another one loses nothing, and hands on what it was to") {
  const std::string traced = GENERATE("cuda", "cuda,osrt");
  const std::string how = GENERATE("execve", "execv", "execvp", "execvpe", "fexecve", "execl", "execlp", "execle", "exec-call", "exec-at-call");
  CAPTURE(traced, how);
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-o", "x", cuda_program(), "1000", how}, kMock);
  CHECK(ran.code == 3);
  const bool has_environment = how == "execve" || how == "execvpe" || how == "fexecve" || how == "execle" || how.ends_with("call");
  CHECK(ran.output == std::string("first second ") + (has_environment ? "green\n" : "red\n"));
  const auto trace = load(folder.path() / "x.trace");
  REQUIRE(trace->processes().size() == 2);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kReplaced);
  CHECK(counts(*trace).calls == 1'000);
  CHECK(trace->processes()[0].completeness.unreturned_buffers == 0);
  CHECK(trace->processes()[0].completeness.dropped == 0);
}

TEST_CASE("a program that can't become another one is recorded on") {
  const std::string traced = GENERATE("cuda", "cuda,osrt");
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-o", "x", cuda_program(), "1000", "exec-fails"}, kMock);
  CHECK(ran.code == 0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(counts(*trace).calls == 2'000);
  CHECK(trace->processes()[0].completeness.dropped == 0);
}

TEST_CASE("what CUPTI held when a program was replaced by another by a bare system call is said to be lost") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "cuda", "-o", "x", cuda_program(), "1000", "exec-bare"}, kMock);
  CHECK(ran.code == 3);
  const auto trace = load(folder.path() / "x.trace");
  REQUIRE(trace->processes().size() == 2);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kReplaced);
  const bool all_there = counts(*trace).calls == 1'000;  // the agent may have requested them just before
  const Completeness& completeness = trace->processes()[0].completeness;
  CHECK((all_there || completeness.unreturned_buffers > 0 || completeness.dropped > 0 || completeness.invalid > 0));
  const bool is_lost = completeness.unreturned_buffers > 0;
  CHECK((ran.messages.find("mock_cuda_program: it ended with 1 CUPTI buffer, whose records are lost") != std::string::npos) == is_lost);
  // The shell has a separate environment; whether it runs long enough to be seen depends on the machine.
  const bool is_named = ran.messages.find("this process could not be followed") != std::string::npos;
  // A buffer that was being filled when the program was replaced has records without an end.
  const bool is_whole = completeness.dropped == 0 && completeness.invalid == 0;
  CAPTURE(ran.messages, is_lost, is_named, completeness.dropped, completeness.invalid);
  CHECK((ran.messages.find("nothing dropped") != std::string::npos) == (!is_lost && !is_named && is_whole));
  const Ran info = run_lanescope(folder.path(), {"info", "x.trace"});
  INFO(ran.messages << info.output);
  const std::string lost = std::string("incomplete: 1 CUPTI buffer lost") + (is_named ? ", processes could not be followed\n" : "\n");
  CHECK((info.output.find(lost) != std::string::npos) == (is_lost && is_whole));
}

TEST_CASE("of a program that a signal ends all GPU work is in the file, or said to be lost") {
  const auto [how, signal] = GENERATE(values<std::pair<const char*, int>>({{"abort", SIGABRT},
                                                                           {"segv", SIGSEGV},
                                                                           {"term", SIGTERM},
                                                                           {"int", SIGINT},
                                                                           {"hup", SIGHUP},
                                                                           {"clean-term", SIGTERM},
                                                                           {"clean-hup", SIGHUP},
                                                                           {"kill", SIGKILL}}));
  const std::string count = GENERATE("1000", "50000");
  CAPTURE(how, count);
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "cuda", "-o", "x", cuda_program(), count, how}, kMock);
  CHECK(ran.code == 128 + signal);
  const auto trace = load(folder.path() / "x.trace");
  const Process& process = trace->processes()[0];
  CHECK(process.signal == signal);
  CHECK(process.crash_thread == (signal == SIGABRT || signal == SIGSEGV ? process.pid : 0));
  const bool is_whole = counts(*trace).calls == std::stoull(count) && counts(*trace).kernels >= std::stoull(count);
  const Completeness& completeness = process.completeness;
  CHECK((is_whole || completeness.dropped > 0 || completeness.unreturned_buffers > 0));
  CHECK(is_whole == !says_loss(ran.messages));
  if (signal != SIGKILL) CHECK(is_whole);
}

TEST_CASE("a signal ends a program whose CUPTI does not come back, and what is missing is said") {
  const TemporaryFolder folder;
  std::vector<Environment> environment = kMock;
  environment.push_back({"MOCK_CUPTI_HANGS", "1"});
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "cuda", "-o", "x", cuda_program(), "1000", "term"}, environment);
  CHECK(ran.code == 128 + SIGTERM);
  CHECK_THAT(ran.messages, !contains_text("nothing dropped"));
  CHECK(load(folder.path() / "x.trace")->processes()[0].completeness.unreturned_buffers == 1);
}

TEST_CASE("a signal that is passed on to a program comes once its GPU work of before is handed over") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-t", "cuda", "--cuda-flush-interval=60000", "-o", "x", cuda_program(), "1000", "sleep"}, kMock);
  recording.wait_for_line("running");
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 128 + SIGTERM);
  CHECK_FALSE(says_loss(recording.messages()));
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->processes()[0].signal == SIGTERM);
  CHECK(counts(*trace).calls == 1'000);
  CHECK(counts(*trace).kernels == 1'000 + facts::kUnfinished);  // those once more before the signal's own end
  CHECK(trace->processes()[0].completeness.unreturned_buffers == 0);
}

TEST_CASE("many short programs that use CUDA are all whole, but those that are killed") {
  const TemporaryFolder folder;
  constexpr std::size_t kPrograms = 40;
  const std::string script = "for i in $(seq " + std::to_string(kPrograms) + "); do case $i in *5) how=kill;; *) how=exit;; esac; " + cuda_program() +
                             " 20 $how & [ $((i % 4)) = 0 ] && wait; done; wait; exit 7";
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "cuda", "-o", "x", "/bin/sh", "-c", script}, kMock);
  CHECK(ran.code == 7);
  const auto trace = load(folder.path() / "x.trace");
  std::size_t exited = 0;
  std::size_t killed = 0;
  for (ProcessId id = 0; id < trace->processes().size(); ++id) {
    const Process& process = trace->processes()[id];
    if (process.name != "mock_cuda_program") continue;
    const std::uint64_t calls = count_events(*trace, TrackKind::kCudaApi, "cudaLaunchKernel_v7000", id);
    const Completeness& completeness = process.completeness;
    process.signal == SIGKILL ? ++killed : ++exited;
    CHECK((calls == 20 || (process.signal == SIGKILL && completeness.dropped + completeness.unreturned_buffers > 0)));
    if (process.signal == 0) CHECK(completeness.unreturned_buffers == 0);
  }
  CHECK(killed == kPrograms / 10);
  CHECK(exited == kPrograms - killed);
}

TEST_CASE("records that can't be read end the recording of GPU work, not the program") {
  const std::string traced = GENERATE("cuda", "cuda,osrt");
  CAPTURE(traced);
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-o", "x", cuda_program(), "100000", "unreadable"}, kMock);
  CHECK(ran.code == 0);
  CHECK(ran.output == "unharmed\n");
  constexpr const char* kTold = "GPU activity is not recorded from here on: what CUPTI delivered led the agent to memory that can't be used";
  CHECK_THAT(ran.messages, contains_text(kTold) && !contains_text("nothing dropped"));
  const auto trace = load(folder.path() / "x.trace");
  const Process& process = trace->processes()[0];
  CHECK(process.end_kind == ProcessEndKind::kExited);
  CHECK(process.crash_thread == 0);
  CHECK(process.completeness.unreturned_buffers >= 1);  // the one with the fault; earlier ones were read
  CHECK(counts(*trace).kernels >= 65'536);              // at least a whole chunk was written before
  CHECK(counts(*trace).calls + counts(*trace).kernels <= 200'000);
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
}

TEST_CASE("a fault of CUPTI's at the end of a program costs its last GPU work, not the program") {
  const std::string traced = GENERATE("cuda", "cuda,osrt");
  const auto [how, code, output] = GENERATE(values<std::tuple<const char*, int, const char*>>(
      {{"exit", 0, ""}, {"_exit", 7, ""}, {"quick_exit", 7, ""}, {"execv", 3, "first second red\n"}, {"abort", 128 + SIGABRT, ""}}));
  CAPTURE(traced, how);
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", traced, "-o", "x", cuda_program(), "1000", how}, faulting("last"));
  CHECK(ran.code == code);
  CHECK(ran.output == output);
  constexpr const char* kTold = "GPU activity at the end of the program is missing: CUPTI faulted when it was asked for it.";
  CHECK_THAT(ran.messages, contains_text(kTold) && !contains_text("nothing dropped"));
  const auto trace = load(folder.path() / "x.trace");
  const Process& process = trace->processes()[0];
  CHECK(process.completeness.unreturned_buffers == 1);  // what CUPTI kept is unknown
  CHECK(process.crash_thread == (code == 128 + SIGABRT ? process.pid : 0));
  CHECK(counts(*trace).calls == 1'000);  // CUPTI had returned these before
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
}

TEST_CASE("a program comes to its end although CUPTI held a lock when it faulted") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "cuda", "-o", "x", cuda_program(), "100", "late"}, faulting("last"));
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("CUPTI faulted when it was asked for it."));
}

TEST_CASE("a fault of CUPTI's in mid-run costs what follows of GPU work, not the program, which waits for no lock of CUPTI's") {
  const std::string traced = GENERATE("cuda", "cuda,osrt");
  const std::string by = GENERATE("memory", "stack", "abort", "trap");
  CAPTURE(traced, by);
  const TemporaryFolder folder;
  std::vector<Environment> environment = faulting("first");
  environment.push_back({"MOCK_CUPTI_FAULTS_BY", by});
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", traced, "--cuda-flush-interval=20", "-o", "x", cuda_program(), "100000", "faulted"}, environment);
  CHECK(ran.code == 0);
  CHECK(ran.output == "unharmed\n");
  constexpr const char* kTold = "GPU activity is not recorded from here on: CUPTI faulted when it was asked for records.";
  CHECK_THAT(ran.messages, contains_text(kTold) && !contains_text("nothing dropped"));
  const auto trace = load(folder.path() / "x.trace");
  const Process& process = trace->processes()[0];
  CHECK(process.end_kind == ProcessEndKind::kExited);
  CHECK(process.crash_thread == 0);
  CHECK(process.completeness.unreturned_buffers >= 1);
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text(kTold));
}

TEST_CASE("a fault of CUPTI's in a call that ends a context is no fault of the program's") {
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "cuda", "--cuda-flush-interval=60000", "-o", "x", cuda_program(), "100", "reset"}, faulting("first"));
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("CUPTI faulted") && !contains_text("nothing dropped"));
}

TEST_CASE("CUDA in a child that was forked without exec is recorded where the parent had not used it, and harms nobody where it had") {
  const TemporaryFolder folder;
  const Ran child = run_lanescope(folder.path(), {"profile", "-o", "x", cuda_program(), "1000", "fork"}, kMock);
  CHECK(child.code == 0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(counts(*trace).calls == 1'000);
  CHECK(trace->processes().size() == 2);

  const Ran both = run_lanescope(folder.path(), {"profile", "--cpuctxsw=none", "--sample=none", "-o", "y", cuda_program(), "1000", "fork-after"}, kMock);
  CHECK(both.code == 0);
  const auto whole = load(folder.path() / "y.trace");
  CHECK(counts(*whole).calls == 1'000);  // the parent's; CUDA does not work in such a child
  for (const Process& process : whole->processes()) CHECK(process.end_kind == ProcessEndKind::kExited);
}

TEST_CASE("of a capture that ends while a kernel runs for seconds it is said that this is missing, and the program goes on") {
  const TemporaryFolder folder;
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);  // so that this process notices its end
  LanescopeProcess recording(folder.path(), {"profile", "-d", "10", "--kill=none", "-t", "cuda", "-o", "x", cuda_program(), "100", "long"}, kMock);
  recording.wait_for_line("running");
  const pid_t target = recording.target();
  CHECK(recording.wait() == 0);
  kill(target, SIGTERM);
  int status = 0;
  REQUIRE(waitpid(target, &status, 0) == target);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);

  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  const Counts found = counts(*trace);
  CHECK(found.calls == 101);
  CHECK(found.kernels == 100 + facts::kUnfinished);  // the unfinished kernels have a start, as in other versions of CUPTI
  CHECK(trace->processes()[0].completeness.late == 1);
  CHECK(trace->processes()[0].completeness.invalid == facts::kInvalid);
  const Ran info = run_lanescope(folder.path(), {"info", "x.trace"});
  CHECK_THAT(info.output, contains_text("Kernels and copies that had not ended when the recording did: 1.") &&
                              contains_text(std::string("The first kernel: ") + facts::kLongKernel));
  CHECK(trace->processes()[0].completeness.dropped == 0);
  CHECK(trace->processes()[0].completeness.unreturned_buffers == 0);
}

TEST_CASE("work of a graph whose ends are those of later launches is left out, and that is said") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-d", "1", "--kill=sigterm", "-t", "cuda", "-o", "x", cuda_program(), "0", "graph"}, kMock);
  recording.wait();

  const auto trace = load(folder.path() / "x.trace");
  std::vector<Nanoseconds> durations;  // of the first of the two launches: each kernel ends where the next starts
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (lane.correlation(i) >= facts::kGraphLaunch) durations.push_back(lane.duration(i));
    }
  }
  CHECK(durations == std::vector<Nanoseconds>(facts::kGraphKernels, 1'000));
  CHECK(trace->processes()[0].completeness.late == facts::kGraphKernels);
  CHECK(trace->processes()[0].completeness.dropped == 0);
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text("CUDA graphs that were launched last before recording stopped: 3."));
}

TEST_CASE("devices, contexts, streams and CUDA events have the names that the program gave") {
  const TemporaryFolder folder;
  std::vector<Environment> environment = kMock;
  environment.push_back({"MOCK_CUDA_LIBRARY", LANESCOPE_MOCK_CUDA});
  const Ran ran = run_lanescope(
      folder.path(), {"profile", "--cuda-event-trace=true", "--cuda-um-gpu-page-faults=true", "-o", "x", cuda_program(), "10", "names"}, environment);
  REQUIRE(ran.code == 0);
  REQUIRE(run_lanescope(folder.path(), {"export", "-t", "trace", "-o", "again.trace", "x.trace"}).code == 0);
  for (const char* file : {"x.trace", "again.trace"}) {
    CAPTURE(file);
    const auto trace = load(folder.path() / file);
    const ProcessId process = trace->devices().at(0).process;
    CHECK(trace->cuda_name(process, CudaResource::kDevice, facts::kDevice) == "left");  // the last name counts
    CHECK(trace->cuda_name(process, CudaResource::kContext, facts::kContext) == "main");
    CHECK(trace->cuda_name(process, CudaResource::kEvent, facts::kEvent) == "batch done");
    const CudaStream* stream = trace->find_stream(process, facts::kContext, facts::kFirstStream + 1);
    REQUIRE(stream != nullptr);
    CHECK(stream->name == "copies");
    CHECK(count_events(*trace, TrackKind::kCudaEvents, "CUDA event 3 batch done") == 1);
  }
  const std::string info = run_lanescope(folder.path(), {"info", "x.trace"}).output;
  CHECK_THAT(info, contains_text("0: Mock GPU (left)"));
  CHECK_THAT(info, contains_text("context 1 main, stream 8 \"copies\""));
}

TEST_CASE("a CUPTI that another profiler has is named, and the program runs as without us") {
  const TemporaryFolder folder;
  std::vector<Environment> environment = kMock;
  environment.push_back({"MOCK_CUPTI_SUBSCRIBE", "39"});
  const Ran ran = run_lanescope(folder.path(), {"profile", "-o", "x", cuda_program(), "0"}, environment);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("GPU activity is not recorded: CUPTI is in use by Another profiler"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output, contains_text("CUPTI is in use by Another profiler"));
}

TEST_CASE("a libcupti that is not there is named, and everything else is recorded") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-o", "x", cuda_program(), "0"}, {{"LANESCOPE_CUPTI_LIBRARY", "/nowhere/libcupti.so"}});
  CHECK(ran.code == 0);
  CHECK(ran.messages.find("GPU activity is not recorded") != std::string::npos);
  CHECK(load(folder.path() / "x.trace")->processes()[0].end_kind == ProcessEndKind::kExited);
}

TEST_CASE("call chains of CUDA calls that take long lead to the code that made them") {
  const auto record = [](const std::string& option) {
    const TemporaryFolder folder;
    const Ran ran = run_lanescope(folder.path(), {"profile", option, "-o", "x", cuda_program(), "0", "waits"}, kMock);
    CHECK(ran.code == 0);
    return load(folder.path() / "x.trace");
  };
  const auto trace = record("--cudabacktrace=sync:1000000");
  const auto track = std::find_if(trace->tracks().begin(), trace->tracks().end(), [](const Track& each) { return each.key.kind == TrackKind::kBacktraces; });
  REQUIRE(track != trace->tracks().end());
  const Lane& lane = trace->lane(track->lanes.front());
  CHECK(lane.size() == 3);
  const CallStacks& stacks = trace->call_stacks();
  for (EventIndex i = 0; i < lane.size(); ++i) {
    CHECK(lane.duration(i) >= 2'000'000);
    std::vector<std::string> functions;
    for (CallNodeId node = trace->sample_detail(lane.detail(i)).call_node; node != 0; node = stacks.node(node).parent)
      functions.emplace_back(trace->name(stacks.functions(stacks.node(node).location).front().function));
    const auto caller = std::find_if(functions.begin(), functions.end(), [](const std::string& name) { return name.starts_with("main"); });
    const auto waits = std::find(functions.begin(), functions.end(), "wait_in_mock_program");
    CHECK(waits != functions.end());
    CHECK(waits < caller);  // innermost first
    CHECK(caller != functions.end());
  }
  for (const char* none : {"--cudabacktrace=none", "--cudabacktrace=kernel", "--cudabacktrace=sync:900000000"})
    CHECK(count_events(*record(none), TrackKind::kBacktraces, "Backtrace of a CUDA call") == 0);
}
