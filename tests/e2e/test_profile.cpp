// What `lanescope profile` guarantees, with real programs: exit codes, files, signals, and the content of the trace.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/outline.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

}  // namespace

TEST_CASE("the program's exit code is ours, and its output passes through untouched") {
  const TemporaryFolder folder;
  const Ran seven = run_lanescope(folder.path(), {"profile", "-t", "none", "sh", "-c", "echo out; echo err >&2; exit 7"});
  CHECK(seven.code == 7);
  CHECK(seven.output == "out\n");
  CHECK(seven.messages.find("err\n") != std::string::npos);
  CHECK(run_lanescope(folder.path(), {"profile", "-t", "none", "sh", "-c", "kill -9 $$"}).code == 128 + SIGKILL);
  CHECK(run_lanescope(folder.path(), {"profile", "true"}).code == 0);

  const auto trace = load(folder.path() / "report1.trace");
  CHECK(trace->provenance().options.starts_with("--trace=none --"));
  CHECK(load(folder.path() / "report3.trace")->provenance().options.starts_with("--trace=cuda,nvtx --"));  // by default
  REQUIRE(trace->output().size() == 2);
  CHECK(trace->output()[0].bytes + trace->output()[1].bytes == (trace->output()[0].standard_error ? "err\nout\n" : "out\nerr\n"));
}

TEST_CASE("a large recording ends with its outline, a small one has none") {
  const auto [words, outlines] = GENERATE(table<std::vector<std::string>, std::size_t>(
      {{{"lanescope_program_nvtx_bursts", "burst", "1", std::to_string(kOutlineFromEvents)}, 1}, {{"lanescope_program_nvtx_threads", "100"}, 0}}));
  const TemporaryFolder folder;
  std::vector<std::string> command{"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", program(words[0]).string()};
  command.insert(command.end(), words.begin() + 1, words.end());
  const Ran ran = run_lanescope(folder.path(), command);
  CAPTURE(ran.messages);
  REQUIRE(ran.code == 0);
  const auto path = folder.path() / "x.trace";
  REQUIRE((load(path)->event_count() >= kOutlineFromEvents) == (outlines == 1));
  const auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  static constexpr std::uint16_t kOutline[] = {proto::FRAME_OUTLINE};
  CHECK(reader->indexed(kOutline).size() == outlines);
}

TEST_CASE("who writes to a program's standard input sees when it reads no more") {
  const TemporaryFolder folder;
  // At most ten seconds: the program waits for the file `told`.
  const std::string reader = "exec <&-; for i in $(seq 200); do test -e told && exit 4; sleep 0.05; done; exit 1";
  std::ofstream(folder.path() / "reader") << reader;
  const std::string line = "cd " + folder.path().string() + "; { trap '' PIPE; while echo 0123456789 2>/dev/null; do :; done; touch told; } | " +
                           program("lanescope").string() + " profile -t nvtx -s none --cpuctxsw=none -o x sh reader 2> messages";
  const int status = std::system(line.c_str());
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 4));
}

TEST_CASE("who reads a program's standard output sees when it writes no more") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "program") << "echo hi; exec >&-; i=0; while [ ! -e read ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done\n"
                                              "[ -e read ] && : > seen";
  const std::string command = "cd " + folder.path().string() + "; " + program("lanescope").string() +
                              " profile -t nvtx -s none --cpuctxsw=none -o x sh program 2>messages | { cat; : > read; }";
  CHECK(run_alone({"/bin/sh", "-c", command}).output == "hi\n");
  CHECK(std::filesystem::exists(folder.path() / "seen"));
}

TEST_CASE("a program in the current folder is found where an empty part of PATH stands for that") {
  const TemporaryFolder folder;
  std::filesystem::copy_file("/bin/echo", folder.path() / "its-own-name");
  const std::string path = GENERATE("/usr/bin:", ":/usr/bin", "/usr/bin::/bin", "");
  CAPTURE(path);
  const std::string command = "cd " + folder.path().string() + "; PATH=" + path + " exec " + program("lanescope").string() +
                              " profile -t nvtx -s none --cpuctxsw=none -o x its-own-name found 2>messages";
  CHECK(run_alone({"/bin/sh", "-c", command}).output == "found\n");
}

TEST_CASE("a command whose standard output is closed fails where it would write there") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", threads_program()}).code == 0);
  const auto code_of = [&](const std::string& words) {
    return run_alone({"/bin/sh", "-c", "cd " + folder.path().string() + "; exec " + program("lanescope").string() + " " + words + " >&- 2>messages"}).code;
  };
  for (const char* words : {"info x.trace", "analyze x.trace", "--help"}) {
    CAPTURE(words);
    CHECK(code_of(words) == 1);
  }
  CHECK(code_of("profile -t nvtx -s none --cpuctxsw=none -o y /bin/true") == 0);
}

TEST_CASE("output that is not shown is stored all the same") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-w", "false", "-o", "quiet", "echo", "hidden"});
  CHECK(ran.output.empty());
  REQUIRE(load(folder.path() / "quiet.trace")->output().size() == 1);
  CHECK(load(folder.path() / "quiet.trace")->output()[0].bytes == "hidden\n");
}

TEST_CASE("a recording says all that was asked for, and not what is so anyway") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile",
                                        "-t",
                                        "nvtx,osrt",
                                        "-s",
                                        "none",
                                        "--cpuctxsw=process-tree",
                                        "--python-sampling",
                                        "--osrt-threshold=5000",
                                        "--osrt-backtrace-threshold=none",
                                        "--record-memory=64",
                                        "--cudabacktrace=kernel,sync:20000",
                                        "--cuda-trace-all-apis",
                                        "--storage-metrics",
                                        "--ring=30",
                                        "-y",
                                        "0.1",
                                        "-d",
                                        "0.2",
                                        "--kill=9",
                                        "-w",
                                        "false",
                                        "--wait=primary",
                                        "-o",
                                        "x",
                                        endless()})
              .code == 128 + SIGKILL);
  CHECK(load(folder.path() / "x.trace")->provenance().options ==
        "--trace=nvtx,osrt --record-memory=64 --cuda-trace-all-apis --cudabacktrace=kernel,sync:20000 --osrt-threshold=5000 --osrt-backtrace-threshold=none "
        "--storage-metrics --python-sampling --delay=0.1 --duration=0.2 --ring=30 --kill=9 --wait=primary --show-output=false --cpuctxsw=process-tree "
        "--sample=none");
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-c", "nvtx", "-p", "wanted", "--capture-range-end", "none",
                                        "-o", "range", program("lanescope_program_nvtx_captures").string(), "plain"})
              .code == 3);
  CHECK(load(folder.path() / "range.trace")->provenance().options ==
        "--trace=nvtx --capture-range=nvtx --nvtx-capture=wanted --capture-range-end=none --cpuctxsw=none --sample=none");
}

TEST_CASE("a program without CUDA and NVTX is a trace of one process and no events, where its threads are not observed") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "--cpuctxsw=none", "--sample=none", "-o", "true", "/bin/true"}).code == 0);
  const auto trace = load(folder.path() / "true.trace");
  CHECK(trace->event_count() == 0);
  CHECK(trace->provenance().finished);
  CHECK(trace->provenance().command == std::vector<std::string>{"/bin/true"});
  CHECK(trace->provenance().processor_count == std::thread::hardware_concurrency());
  CHECK(trace->provenance().options == "--trace=cuda,nvtx --cpuctxsw=none --sample=none");
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kExited);
}

TEST_CASE("what can't be run leaves no file and says why") {
  const TemporaryFolder folder;
  const Ran missing = run_lanescope(folder.path(), {"profile", "no-such-program-anywhere"});
  CHECK(missing.code == 1);
  CHECK(missing.messages.find("no-such-program-anywhere") != std::string::npos);
  const Ran usage = run_lanescope(folder.path(), {"profile", "--cuda-grpah-trace=node", "true"});
  CHECK(usage.code == 2);
  CHECK(usage.messages.find("Unknown option --cuda-grpah-trace. Did you mean --cuda-graph-trace?") != std::string::npos);
  CHECK(run_lanescope(folder.path(), {"profile", "--strict", "-t", "vulkan", "true"}).code == 2);
  CHECK(run_lanescope(folder.path(), {"profile"}).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "report1.trace"));
}

TEST_CASE("a file is overwritten only with -f, and numbers go on where they are free") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "none", "-o", "same", "true"}).code == 0);
  const auto size = std::filesystem::file_size(folder.path() / "same.trace");
  const Ran refused = run_lanescope(folder.path(), {"profile", "-t", "none", "-o", "same", "sh", "-c", "touch it-ran"});
  CHECK(refused.code == 1);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "it-ran"));
  CHECK(std::filesystem::file_size(folder.path() / "same.trace") == size);
  CHECK(run_lanescope(folder.path(), {"profile", "-f", "true", "-t", "none", "-o", "same", "false"}).code == 1);
  CHECK(load(folder.path() / "same.trace")->provenance().command == std::vector<std::string>{"false"});

  for (int i = 0; i < 3; ++i) run_lanescope(folder.path(), {"profile", "-t", "none", "true"});
  CHECK(std::filesystem::exists(folder.path() / "report3.trace"));
  std::filesystem::remove(folder.path() / "report2.trace");
  run_lanescope(folder.path(), {"profile", "-t", "none", "true"});
  CHECK(std::filesystem::exists(folder.path() / "report2.trace"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "report4.trace"));
}

TEST_CASE("a copy that stands in the way of --export is told before the program runs") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "x.sqlite") << "mine";
  const Ran refused = run_lanescope(folder.path(), {"profile", "-t", "none", "--export=csv,sqlite", "-o", "x", "touch", "it-ran"});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.messages, contains_text("x.sqlite exists already"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "it-ran"));
  CHECK(std::filesystem::file_size(folder.path() / "x.sqlite") == 4);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.trace"));
  CHECK(run_lanescope(folder.path(), {"profile", "-f", "-t", "none", "--export=sqlite", "-o", "x", "true"}).code == 0);
  CHECK(std::filesystem::file_size(folder.path() / "x.sqlite") > 4);
}

TEST_CASE("a copy that can't be made ends in failure, though the program succeeded") {
  const TemporaryFolder folder;
  const std::string in_the_way = (folder.path() / "x.json").string();
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "none", "--export=json", "-o", "x", "mkdir", in_the_way});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.messages, contains_text("x.json is a folder"));
  CHECK(load(folder.path() / "x.trace")->provenance().finished);
}

TEST_CASE("what is no file is not taken for the name of one") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  for (const char* name : {"/dev/null", "/dev/zero", "pipe"}) {
    const Ran refused = run_lanescope(folder.path(), {"profile", "-t", "none", "-o", name, "touch", "it-ran"});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.messages, contains_text(std::string(name) + " is no file"));
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "it-ran"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "pipe.trace"));
}

TEST_CASE("options of the program are the program's") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "none", "-o", "x", "echo", "-o", "y", "--trace=none", "--", "-f"});
  CHECK(ran.code == 0);
  CHECK(ran.output == "-o y --trace=none -- -f\n");
}

TEST_CASE("the environment is changed as asked, and never stored") {
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "none", "-o", "env", "-e", "A=1,2,B=3", "sh", "-c", "echo $A $B"}, {{"SECRET_TOKEN", "hunter2-in-env"}});
  CHECK(ran.output == "1,2 3\n");
  std::ifstream file(folder.path() / "env.trace");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  CHECK(bytes.find("hunter2-in-env") == std::string::npos);
}

TEST_CASE("a program is started as another user where we are root, and the file is ours") {
  const TemporaryFolder folder;
  CHECK_THAT(run_lanescope(folder.path(), {"profile", "--run-as=no-such-user", "true"}).messages,
             contains_text("There is no user no-such-user on this machine."));
  if (geteuid() != 0) {
    const Ran refused = run_lanescope(folder.path(), {"profile", "--run-as=root", "true"});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.messages, contains_text("Only root may start a program as another user. Run: sudo lanescope profile"));
    return;
  }
  // Copies the agent to where all users can read it, like an installed one: this build's folder may be closed to others.
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::copy_file(std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so", folder.path() / "agent.so");
  std::filesystem::copy_file(threads_program(), folder.path() / "program");
  const std::vector<Environment> environment{{"LANESCOPE_AGENT", (folder.path() / "agent.so").string()}};
  const Ran ran = run_lanescope(folder.path(), {"profile", "--run-as=nobody", "-o", "x", "sh", "-c", "id -un; echo $HOME $USER; ./program"}, environment);
  CHECK(ran.code == 0);
  CHECK(ran.output.starts_with("nobody\n/nonexistent nobody\n"));
  CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "whole run") == 1);
  struct stat status {};
  REQUIRE(stat((folder.path() / "x.trace").c_str(), &status) == 0);
  CHECK(status.st_uid == geteuid());

  std::filesystem::permissions(folder.path() / "agent.so", std::filesystem::perms(0600));
  const Ran closed = run_lanescope(folder.path(), {"profile", "--run-as=nobody", "-o", "y", "true"}, environment);
  CHECK(closed.code == 1);
  CHECK_THAT(closed.messages, contains_text("as nobody, who may not read ") && contains_text("agent.so"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "y.trace"));
}

TEST_CASE("another tool's CUDA injection is respected, with a warning") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "--sample=none", "-o", "x", "sh", "-c", "echo $CUDA_INJECTION64_PATH"},
                                {{"CUDA_INJECTION64_PATH", "/other/tool.so"}});
  CHECK(ran.code == 0);
  CHECK(ran.output == "/other/tool.so\n");
  CHECK(ran.messages.find("CUDA is not traced: CUDA_INJECTION64_PATH is set to /other/tool.so") != std::string::npos);
  CHECK(load(folder.path() / "x.trace")->diagnostics().size() == 1);
}

TEST_CASE("a target killed in the middle leaves a file that opens and says so") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-o", "killed", endless()});
  recording.wait_for_line("ready");
  kill(recording.target(), SIGKILL);
  CHECK(recording.wait() == 128 + SIGKILL);
  const auto trace = load(folder.path() / "killed.trace");
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 1'000);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "left open") == 1);
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kSignaled);
  CHECK(trace->processes()[0].signal == SIGKILL);
  CHECK(trace->processes()[0].completeness.dropped == 0);

  const Ran info = run_lanescope(folder.path(), {"info", "killed.trace"});
  CHECK(info.output.find("ended by SIGKILL") != std::string::npos);
}

TEST_CASE("a host killed in the middle harms neither the target nor the file") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-o", "cut", endless(), "5"});
  recording.wait_for_line("ready");
  const pid_t target = recording.target();
  kill(recording.pid(), SIGKILL);
  CHECK(recording.wait() == 128 + SIGKILL);
  CHECK(kill(target, 0) == 0);
  kill(target, SIGKILL);
  const auto trace = load(folder.path() / "cut.trace");
  CHECK_FALSE(trace->provenance().finished);
  CHECK_FALSE(trace->provenance().condition.empty());
  REQUIRE(trace->processes().size() == 1);
}

TEST_CASE("an interrupt ends program and recording in order") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-o", "interrupted", endless(), "5"});
  recording.wait_for_line("ready");
  kill(recording.pid(), SIGINT);
  CHECK(recording.wait() == 5);  // the program ends by itself, as it does without a profiler
  const auto trace = load(folder.path() / "interrupted.trace");
  CHECK(trace->provenance().finished);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step") == 1'000);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kExited);
}

TEST_CASE("a second interrupt ends the recording at once with a valid file") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-o", "twice", "sh", "-c", "trap '' INT; echo deaf; exec sleep 1000"});
  recording.wait_for_line("deaf");
  const pid_t target = recording.target();
  kill(recording.pid(), SIGINT);
  while (true) {  // a pending signal interrupts only once: it is sent again until it was noticed
    siginfo_t ended{};
    kill(recording.pid(), SIGINT);
    waitid(P_PID, static_cast<id_t>(recording.pid()), &ended, WEXITED | WNOWAIT | WNOHANG);
    if (ended.si_pid == recording.pid()) break;
  }
  CHECK(recording.wait() == 128 + SIGINT);
  CHECK(kill(target, 0) == 0);
  kill(target, SIGKILL);
  const auto trace = load(folder.path() / "twice.trace");
  CHECK(trace->provenance().finished);
  CHECK(trace->processes().back().end_kind == ProcessEndKind::kDetached);
}

TEST_CASE("a duration ends the recording, and then the program") {
  const TemporaryFolder folder;
  CHECK(run_lanescope(folder.path(), {"profile", "-d", "0.3", "-o", "limited", endless()}).code == 128 + SIGTERM);
  CHECK(load(folder.path() / "limited.trace")->processes()[0].signal == SIGTERM);

  // Uses as much time as this machine needs to bring the program to its last range.
  std::uint64_t steps = 0;
  for (int seconds = 3; steps < 1'000; seconds *= 3) {
    REQUIRE(seconds < 100);
    LanescopeProcess left(folder.path(), {"profile", "-d", std::to_string(seconds), "--kill", "none", "-f", "-o", "left", endless()});
    left.wait_for_line("ready");
    const pid_t target = left.target();
    CHECK(left.wait() == 0);
    CHECK(kill(target, SIGKILL) == 0);  // it continued to run
    const auto trace = load(folder.path() / "left.trace");
    CHECK(trace->processes()[0].end_kind == ProcessEndKind::kDetached);
    steps = count_events(*trace, TrackKind::kNvtxRanges, "step");
  }
  CHECK(steps == 1'000);
}

TEST_CASE("what happens before the delay is over is not recorded, and all behind it is") {
  const TemporaryFolder folder;
  const std::string ticks = program("lanescope_program_nvtx_ticking").string();
  for (int delay = 1;; delay *= 2) {  // until the first ticks have ended before the delay has
    REQUIRE(delay <= 64);
    const auto begin = std::filesystem::file_time_type::clock::now();
    const std::string script = ticks + " 50; touch early; sleep " + std::to_string(delay) + ".1; " + ticks + " 70";
    REQUIRE(run_lanescope(folder.path(),
                          {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-y", std::to_string(delay), "-f", "-o", "x", "sh", "-c", script})
                .code == 0);
    if (std::filesystem::last_write_time(folder.path() / "early") - begin >= std::chrono::seconds(delay)) continue;
    CHECK(count_events(*load(folder.path() / "x.trace"), TrackKind::kNvtxRanges, "tick") == 70);
    break;
  }
}

TEST_CASE("a program that ends before the delay leaves no file, which is said, and the file of before stays") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-o", "x", threads_program()}).code == 0);
  const std::uint64_t events = load(folder.path() / "x.trace")->event_count();
  const Ran early = run_lanescope(folder.path(), {"profile", "-f", "-y", "3600", "-d", "20", "-o", "x", threads_program()});
  CHECK(early.code == 0);
  CHECK_THAT(early.messages, contains_text(", before the delay of 3600 s was over: nothing was recorded.") && contains_text("No file was made"));
  CHECK_THAT(early.messages, contains_text((folder.path() / "x.trace").string() + " is an earlier recording, which stays"));
  CHECK(load(folder.path() / "x.trace")->event_count() == events);
  const Ran replaced = run_lanescope(folder.path(), {"profile", "-f", "-o", "x", threads_program()});
  CHECK_THAT(replaced.messages, !contains_text("earlier recording"));
  CHECK(run_lanescope(folder.path(), {"profile", "-y", "600", "-o", "new", threads_program()}).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "new.trace"));
}

TEST_CASE("exec under the same pid is another process of the trace") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-o", "chain", "sh", "-c", "exec env A=1 " + threads_program()}).code == 0);
  const auto trace = load(folder.path() / "chain.trace");
  // The shell, the program and its forked child; also env between the first two, if its threads were seen in the millisecond in which it ran.
  const auto is_env = [](const Process& process) { return process.name == "env" && process.end_kind == ProcessEndKind::kReplaced; };
  const auto between = std::count_if(trace->processes().begin(), trace->processes().end(), is_env);
  CHECK(between <= 1);
  REQUIRE(trace->processes().size() == 3 + static_cast<std::size_t>(between));
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kReplaced);
  CHECK(trace->processes()[0].pid == trace->processes()[1].pid);
  CHECK(trace->processes()[1].name == "lanescope_program_nvtx_threads");
  CHECK(trace->processes()[1].end_kind == ProcessEndKind::kExited);
}

TEST_CASE("a program that is left in the background is waited for, unless only the first one counts") {
  const TemporaryFolder folder;
  const std::string script = "(" + threads_program() + " &); exit 4";
  CHECK(run_lanescope(folder.path(), {"profile", "-o", "all", "sh", "-c", script}).code == 4);
  CHECK(count_events(*load(folder.path() / "all.trace"), TrackKind::kNvtxRanges, "whole run") == 1);

  LanescopeProcess primary(folder.path(), {"profile", "--wait", "primary", "-o", "primary", "sh", "-c", "sleep 1000 & echo $!"});
  CHECK(primary.wait() == 0);
  kill(std::stoi(primary.output()), SIGKILL);
}

TEST_CASE("fifty children at once are fifty processes of one trace, each whole") {
  const TemporaryFolder folder;
  const std::string script = "i=0; while [ $i -lt 50 ]; do " + threads_program() + " 5 & i=$((i+1)); done; wait";
  REQUIRE(run_lanescope(folder.path(), {"profile", "-o", "fifty", "sh", "-c", script}).code == 0);
  const auto trace = load(folder.path() / "fifty.trace");
  CHECK(trace->processes().size() == 1 + 50 + 50);  // each has a forked child
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "whole run") == 50);
  for (const Process& process : trace->processes()) CHECK(process.completeness.dropped == 0);
}

TEST_CASE("a ring names every process of which it keeps something, however many ended before") {
  const TemporaryFolder folder;
  const std::string script = "i=0; while [ $i -lt 300 ]; do sleep 0.01; i=$((i+1)); done";
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "nvtx,osrt", "--ring=1", "-o", "ring", "sh", "-c", script}).code == 0);
  const auto trace = load(folder.path() / "ring.trace");
  CHECK(trace->processes().size() > 2);
  CHECK(trace->processes().size() < 300);
  for (const Process& process : trace->processes()) {
    CHECK(process.pid != 0);
    CHECK_FALSE(process.name.empty());
  }
}

TEST_CASE("info prints JSON that agrees with the trace") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-o", "x", threads_program()}).code == 0);
  const Ran info = run_lanescope(folder.path(), {"info", "--json", "x.trace"});
  REQUIRE(info.code == 0);
  const auto json = nlohmann::json::parse(info.output);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(json["event_count"] == trace->event_count());
  CHECK(json["finished"] == true);
  CHECK(json["processes"].size() == 2);
  CHECK(json["processes"][0]["end"]["kind"] == "exited");
  std::uint64_t sum = 0;
  for (const auto& count : json["counts"]) sum += count.get<std::uint64_t>();
  CHECK(sum == trace->event_count());
  CHECK(run_lanescope(folder.path(), {"info", "no-such.trace"}).code == 1);
}

TEST_CASE("calls of libraries that mark them are recorded of those alone that are named") {
  struct Library {
    std::string trace;
    std::string domain;
    std::uint64_t calls;
  };
  const auto each = GENERATE(values<Library>({{"nccl", "NCCL", 1},
                                              {"cublas", "cuBLAS", 1},
                                              {"cublas-verbose", "cuBLAS", 2},
                                              {"cudnn", "cuDNN", 1},
                                              {"cusolver", "cusolverDn", 1},
                                              {"cusolver-verbose", "cusolverDn", 2},
                                              {"cusparse", "CUSPARSE", 2},
                                              {"cusparse-verbose", "CUSPARSE", 2}}));
  CAPTURE(each.trace);
  const TemporaryFolder folder;
  const auto record = [&](const std::string& traced) {
    const Ran ran = run_lanescope(
        folder.path(), {"profile", "-t", traced, "--cpuctxsw=none", "--sample=none", "-f", "-o", "x", program("lanescope_program_nvtx_libraries").string()});
    CHECK(ran.code == 0);
    return load(folder.path() / "x.trace");
  };
  const auto alone = record(each.trace);
  std::uint64_t ranges = 0;
  for (const Track& track : alone->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    CHECK(alone->domain_name(track.key.process, track.key.domain) == each.domain);
    for (const LaneId id : track.lanes) ranges += alone->lane(id).size();
  }
  CHECK(ranges == each.calls);
  CHECK(count_events(*alone, TrackKind::kNvtxRanges, "query") == each.calls - 1);
  const auto among = record("nvtx," + each.trace);
  CHECK(count_events(*among, TrackKind::kNvtxRanges, "own") == 1);
  CHECK(count_events(*among, TrackKind::kNvtxRanges, "work") == (each.domain == "NCCL" ? 1 : 2));  // NCCL's range is always included
}
