// Programs that already run are recorded from the moment of attaching, and continue as if nothing had happened.
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <thread>

#include "collector/channel/file_descriptor.h"
#include "model/trace/load.h"
#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace std::chrono_literals;
using session::Recording;

TEST_CASE("every range since the attach is recorded, whether or not the program had used NVTX before") {
  const std::string built = GENERATE("attach_nvtx_target", "attach_nvtx_target_in_place");
  const std::string mode = GENERATE("initialised", "fresh");
  CAPTURE(built, mode);
  const TemporaryFolder folder;
  NvtxProgram target({program(built).string(), mode});
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("range one");
  target.obey("burst 20000");
  target.obey("threads 8");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "before") == 0);
  CHECK(ranges(*trace, "one") == 1);
  CHECK(ranges(*trace, "burst") == 20'000);
  CHECK(ranges(*trace, "on thread") == 8);
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].pid == static_cast<std::uint32_t>(target.pid()));
  target.check_end(1 + 20'000 + 8);
}

TEST_CASE("a program that hides some of its memory is recorded, and lives") {
  const TemporaryFolder folder;
  NvtxProgram target("guarded");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("burst 10");
  CHECK(ranges(*end(std::move(recording)), "burst") == 10);
  target.check_end(10);
}

TEST_CASE("a loaded file that was cut short since costs what it would tell, not the program") {
  const TemporaryFolder folder;
  const std::filesystem::path library = folder.path() / "plugin.so";
  std::filesystem::copy_file(LANESCOPE_NVTX_PLUGIN, library);
  NvtxProgram program("initialised");
  program.obey("load " + library.string());
  std::filesystem::resize_file(library, 0);
  const Ran ran = run_lanescope(folder.path(), {"attach", std::to_string(program.pid()), "-t", "nvtx,osrt", "-d", "0.3", "-o", "x"});
  program.obey("range after");  // it still runs; its normal end would run code of the truncated file
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("Of 1 of the loaded files no calls into the C library are recorded") &&
                               contains_text("Of 1 of the loaded files no NVTX is recorded"));
}

TEST_CASE("a program that loads files while one that it has was cut short goes on, whatever it does with SIGBUS") {
  const TemporaryFolder folder;
  const std::string way = GENERATE("goes on", "handles", "holds");
  CAPTURE(way);
  RunningTarget target({program("lanescope_program_cut_file").string(), program("liblanescope_program_nvtx_life.so").string(), "200", way});
  REQUIRE(target.read_line() == "ready");
  const Ran ran = run_lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx,osrt", "-s", "none", "-d", "1", "-o", "x"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("Of 1 of the loaded files no calls into the C library are recorded"));
  std::string output;
  const int status = target.finish(output);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 3));
}

TEST_CASE("a program that waits in the loader's list for a thread that loads a file or forks is recorded, and goes on") {
  const TemporaryFolder folder;
  const std::string work = GENERATE("load", "fork");
  const bool traces_os_calls = GENERATE(false, true);
  CAPTURE(work, traces_os_calls);
  RunningTarget target({program("lanescope_program_waits_in_list").string(), program("liblanescope_program_nvtx_life.so").string(), "1000", work});
  REQUIRE(target.read_line() == "ready");
  session::AttachRequest request = attach_request(target.pid(), folder.path() / "x");
  request.settings.trace_os_runtime = traces_os_calls;
  std::unique_ptr<Recording> recording = attach(request);
  target.send("begin\n");  // nothing helps if it already waits there while the agent is loaded (docs/security.md)
  std::string output;
  const int status = target.finish(output);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 3));
}

TEST_CASE("what the program got from NVTX without a tool stays valid") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("early");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "") == 1);  // no tool was there to store the string
  target.check_end(1);
}

TEST_CASE("structured data of which nobody knows the fields is shown as bytes, and the file says why") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  for (const char* name : {"first", "second"}) {
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / name);
    target.wait_until_recorded(*recording);
    target.obey("data");
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    std::string data;
    for (const Track& track : trace->tracks())
      for (const LaneId id : track.lanes)
        for (EventIndex i = 0; i < trace->lane(id).size(); ++i)
          if (trace->name(trace->lane(id).name(i)) == "data") data = trace->name(trace->nvtx_detail(trace->lane(id).detail(i)).payload_json);
    CHECK(data == R"({"schema":16777221,"size":12,"bytes":"0100000002000000cdab0000"})");
    const auto says_why = [](const DiagnosticMessage& message) { return message.text.starts_with("Structured data of NVTX events is shown as bytes"); };
    CHECK(std::count_if(trace->diagnostics().begin(), trace->diagnostics().end(), says_why) == 1);
  }
  target.check_end(2);
}

TEST_CASE("a library that is loaded after the attach is recorded") {
  const std::string plugin = GENERATE(LANESCOPE_NVTX_PLUGIN, LANESCOPE_PACKED_NVTX_PLUGIN);
  CAPTURE(plugin);
  const TemporaryFolder folder;
  NvtxProgram target("fresh");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("load " + plugin);
  target.obey("load " + plugin);
  CHECK(ranges(*end(std::move(recording)), "in plugin") == 2);
  target.check_end(2);
}

TEST_CASE("a child that the program forks joins the recording") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("fork");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "in child") == 1);
  REQUIRE(trace->processes().size() == 2);
  CHECK(trace->processes()[1].forked);
  target.check_end(1);
}

TEST_CASE("a program whose own preparation of a fork waits for a thread that calls NVTX forks on") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  target.obey("lock 1");  // its preparation was registered before the agent's, and so runs after it
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("lock 50");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "locked") == 1);
  target.check_end(2);
}

TEST_CASE("a fork within the preparation of another one leaves a program its signals, and libraries are loaded in no time there and behind it") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  target.obey("nest");  // its preparation was registered before the agent's, and so runs after it
  session::AttachRequest request = attach_request(target.pid(), folder.path() / "x");
  request.settings.trace_os_runtime = true;
  std::unique_ptr<Recording> recording = attach(request);
  target.wait_until_recorded(*recording);
  target.obey("nest");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "nested") == 1);
  target.check_end(2);
}

TEST_CASE("what a program's own preparations of a fork do with signals stays as they do it") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  target.obey("mask");  // its preparation was registered before the agent's, and so runs after it
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("mask");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "masked") == 1);
  target.check_end(2);
}

TEST_CASE("a program can be attached to again and again") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  for (int round = 0; round < 4; ++round) {
    const std::string name = "round" + std::to_string(round);
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / name);
    target.wait_until_recorded(*recording);
    target.obey("range " + name);
    target.obey("threads 3");
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, name) == 1);
    CHECK(ranges(*trace, "on thread") == 3);
    CHECK(ranges(*trace, "between") == 0);
    target.obey("range between");
  }
  target.check_end(4 * 5);
}

TEST_CASE("no file that a program opens meanwhile gets another number for the agent's sockets") {
  const TemporaryFolder folder;
  for (int round = 0; round < 10; ++round) {
    NvtxProgram target("initialised");
    target.target().send("open\n");
    REQUIRE(target.read_line() == "opens");
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / std::to_string(round));
    target.obey("range next");  // ends the previous command; the answer is that command's
    target.wait_until_recorded(*recording);
    target.obey("opened");
    target.obey("opened");  // each answer is that of the previous command
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, "lowest") >= 1);
    CHECK(ranges(*trace, "beside a socket") == 0);
  }
}

TEST_CASE("a program that closes all that it does not know while it is recorded is recorded on, and can be attached to again") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "first");
  target.wait_until_recorded(*recording);
  target.obey("clear");
  target.obey("range one");
  const Result<std::unique_ptr<Recording>> second = Recording::attach(attach_request(target.pid(), folder.path() / "second"));
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().text, contains_text("another recording of it is under way"));
  CHECK(ranges(*end(std::move(recording)), "one") == 1);
  for (const char* name : {"third", "fourth"}) {
    recording = attach(target.pid(), folder.path() / name);
    target.wait_until_recorded(*recording);
    target.obey("range two");
    CHECK(ranges(*end(std::move(recording)), "two") == 1);
    target.obey("clear");
  }
}

TEST_CASE("a program that is attached to again and again keeps the addresses of the first times, and needs no more") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  const auto mebibytes = [&] {
    std::ifstream file("/proc/" + std::to_string(target.pid()) + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("VmSize:")) return std::stoull(line.substr(7)) >> 10;
    return 0ull;
  };
  // Stacks of threads that happened to run at once, and an arena of malloc() for one of them; the memory of a session is at least 256 MiB.
  constexpr std::uint64_t kOfThreads = 32 + 64;
  std::uint64_t after_first_times = 0;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const std::string name = "round" + std::to_string(round);
    session::AttachRequest request = attach_request(target.pid(), folder.path() / name);
    if (round % 5 == 4) request.settings.pool_bytes = std::uint64_t{16} << 20;  // like --record-memory=16
    std::unique_ptr<Recording> recording = attach(request);
    target.wait_until_recorded(*recording);
    target.obey("burst 100");
    target.obey("threads 3");
    target.obey("fork");
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, "burst") == 100);
    CHECK(ranges(*trace, "on thread") == 3);
    CHECK(ranges(*trace, "in child") == 1);
    target.obey("range between");
    if (round == 9) after_first_times = mebibytes();
    if (round < 10) continue;
    CHECK(mebibytes() <= after_first_times + kOfThreads);
    // From here on there is no room for another memory.
    const rlimit limit{(after_first_times + 100) << 20, RLIM_INFINITY};
    REQUIRE(prlimit(target.pid(), RLIMIT_AS, &limit, nullptr) == 0);
  }
  target.check_end(20 * 104);
}

TEST_CASE("a child of a child of a child keeps no more addresses for that") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  std::string last = std::to_string(target.pid());
  const auto mebibytes = [&] {
    std::ifstream file("/proc/" + last + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("VmSize:")) return std::stoull(line.substr(7)) >> 10;
    return 0ull;
  };
  constexpr int kGenerations = 10;
  std::uint64_t of_early_ones = 0;
  for (int generation = 0; generation < kGenerations; ++generation) {
    target.obey("follow");
    std::ifstream("/proc/" + last + "/task/" + last + "/children") >> last;
    if (generation == 3) of_early_ones = mebibytes();
  }
  CHECK(of_early_ones > 0);
  CHECK(mebibytes() <= of_early_ones);
  CHECK(ranges(*end(std::move(recording)), "first of child") == kGenerations);
}

TEST_CASE("where a program has no addresses for a recording, that is said, nothing is said to be well, and it goes on") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  const rlimit limit{std::uint64_t{250} << 20, RLIM_INFINITY};
  REQUIRE(prlimit(target.pid(), RLIMIT_AS, &limit, nullptr) == 0);
  for (const char* name : {"first", "second"}) {
    const Ran ran = run_lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-d", "0.1", "-o", name});
    CHECK_THAT(ran.messages, contains_text("it can't map") && contains_text("Nothing was recorded of what process " + std::to_string(target.pid())));
    CHECK(ran.code == 1);
    target.obey("range after");
  }
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  REQUIRE(prlimit(target.pid(), RLIMIT_AS, &none, nullptr) == 0);
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "last");
  target.wait_until_recorded(*recording);
  target.obey("burst 10");
  CHECK(ranges(*end(std::move(recording)), "burst") == 10);
  target.check_end(12);
}

TEST_CASE("a program that has addresses for one recording alone, or for two, is attached to again and again") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  const int with_room = GENERATE(1, 2);
  for (int round = 0; round < 8; ++round) {
    CAPTURE(with_room, round);
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / ("round" + std::to_string(round)));
    target.wait_until_recorded(*recording);
    target.obey("burst 100");
    target.obey("threads 3");
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, "burst") == 100);
    CHECK(ranges(*trace, "on thread") == 3);
    CHECK(trace->processes().front().completeness.dropped == 0);
    target.obey("range between");
    if (round + 1 != with_room) continue;
    std::ifstream file("/proc/" + std::to_string(target.pid()) + "/statm");
    std::uint64_t pages = 0;
    file >> pages;
    constexpr std::uint64_t kOfThreads = std::uint64_t{100} << 20;  // their stacks
    const rlimit limit{pages * 4096 + kOfThreads, RLIM_INFINITY};
    REQUIRE(prlimit(target.pid(), RLIMIT_AS, &limit, nullptr) == 0);
  }
  target.check_end(8 * 104);
}

TEST_CASE("ranges that the program enters later are captured, each into a file of its own, and it runs on") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  for (int attach = 0; attach < 2; ++attach) {
    session::AttachRequest request = attach_request(target.pid(), folder.path() / ("part" + std::to_string(attach)));
    request.settings.range = {.trigger = session::CaptureTrigger::kNvtxRange,
                              .name = "wanted",
                              .domain = "",
                              .after = session::AfterCapture::kRepeat,
                              .repeats = 2,
                              .after_repeats = session::AfterCapture::kShutdown};
    Result<std::unique_ptr<Recording>> recording = Recording::attach(request);
    while (!recording && recording.error().text.ends_with("Try again.")) recording = Recording::attach(request);
    INFO((recording ? "" : recording.error().text));
    REQUIRE(recording);
    // The first ranges may come before NVTX was taken over.
    while (!(*recording)->wait_for(0ms)) {
      target.obey("range other");
      target.obey("range wanted");
    }
    const auto files = (*recording)->outcome().files;
    REQUIRE(files.size() == 2);
    for (const session::RecordedFile& file : files) {
      const auto trace = load(file.path);
      CHECK(ranges(*trace, "wanted") == 1);
      CHECK(ranges(*trace, "other") == 0);
    }
  }
  target.check_end(4);
}

TEST_CASE("two recordings of a program at the same time are refused, and the first goes on") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "first");
  target.wait_until_recorded(*recording);
  const Result<std::unique_ptr<Recording>> second = Recording::attach(attach_request(target.pid(), folder.path() / "second"));
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().text, contains_text("another recording of it is under way"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "second.trace"));
  target.obey("range after");
  CHECK(ranges(*end(std::move(recording)), "after") == 1);
  target.check_end(1);
}

TEST_CASE("the recording ends with the program, and says so") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  const std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("range last");
  target.check_end(1);
  REQUIRE(recording->wait_for(10min));
  CHECK(recording->outcome().reason == session::EndReason::kTargetExited);
  CHECK(ranges(*load(recording->path()), "last") == 1);
}

TEST_CASE("a program that is killed leaves what it produced") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  const std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("burst 1000");
  kill(target.pid(), SIGKILL);
  REQUIRE(recording->wait_for(10min));
  CHECK(ranges(*load(recording->path()), "burst") == 1000);
}

TEST_CASE("lanescope attach records until Ctrl+C and leaves the program running") {
  const TemporaryFolder folder;
  NvtxProgram target("fresh");
  LanescopeProcess lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-o", "x"});
  const std::filesystem::path file = folder.path() / "x.trace";
  const auto probes = [&]() -> std::uint64_t {
    if (!std::filesystem::exists(file)) return 0;
    const Result<std::shared_ptr<const Trace>> trace = load_trace(file);
    return trace ? ranges(**trace, "probe") : 0;
  };
  while (probes() == 0) target.obey("range probe");
  target.obey("burst 5");
  kill(lanescope.pid(), SIGINT);
  CHECK(lanescope.wait() == 0);
  CHECK_THAT(lanescope.messages(), contains_text("x.trace") && contains_text("still runs"));
  CHECK(ranges(*load(file), "burst") == 5);
  target.check_end(5);
}

TEST_CASE("a recording of a running program is listed, started, stopped and shut down from another terminal, and the program runs on") {
  const TemporaryFolder folder;
  const TemporaryFolder messages;
  const auto ask = [&](const std::vector<std::string>& arguments) {
    return run_lanescope(messages.path(), arguments, {{"XDG_RUNTIME_DIR", folder.path().string()}});
  };
  // Waits without a limit: a busy machine attaches slowly.
  const auto await = [&](LanescopeProcess& recorder, const std::string& state) {
    while (ask({"sessions"}).output.find(state) == std::string::npos) {
      siginfo_t ended{};
      REQUIRE(waitid(P_PID, static_cast<id_t>(recorder.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
      if (ended.si_pid == 0) continue;
      recorder.wait();
      FAIL(recorder.messages());
    }
  };
  NvtxProgram target("initialised");
  const auto record = [&](const std::filesystem::path& file) {
    const auto probes = [&] {
      const Result<std::shared_ptr<const Trace>> trace = load_trace(file);
      return trace ? ranges(**trace, "probe") : 0;
    };
    while (probes() == 0) target.obey("range probe");
    target.obey("burst 5");
  };
  {
    LanescopeProcess lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-Y", "--session-new=mine"});
    await(lanescope, "mine");
    CHECK(ask({"stop"}).code == 1);  // nothing is recorded
    for (const char* name : {"one", "two"}) {
      const std::filesystem::path file = folder.path() / (std::string(name) + ".trace");
      REQUIRE(ask({"start", "-o", file.string()}).code == 0);
      record(file);
      CHECK(ask({"stop", "--session=mine"}).code == 0);
      CHECK(ranges(*load(file), "burst") == 5);
    }
    CHECK(ask({"shutdown"}).code == 0);
    CHECK(lanescope.wait() == 0);
    CHECK_THAT(lanescope.messages(), contains_text("still runs"));
  }
  {
    LanescopeProcess lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-o", "whole"});
    await(lanescope, "Collection");
    record(folder.path() / "whole.trace");
    CHECK(ask({"stop"}).code == 0);  // the recording ends with its only capture
    CHECK(lanescope.wait() == 0);
    CHECK(ranges(*load(folder.path() / "whole.trace"), "burst") == 5);
  }
  {
    LanescopeProcess lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-o", "away"});
    await(lanescope, "Collection");
    CHECK(ask({"cancel"}).code == 0);
    CHECK(lanescope.wait() == 0);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "away.trace"));
  }
  CHECK_THAT(ask({"sessions"}).output, !contains_text("attach"));
  target.check_end(15);
}

TEST_CASE("lanescope attach fails where its file was replaced meanwhile") {
  const TemporaryFolder folder;
  NvtxProgram target("fresh");
  LanescopeProcess lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-o", "x"});
  const std::filesystem::path file = folder.path() / "x.trace";
  while (!std::filesystem::exists(file)) target.obey("range probe");
  std::filesystem::remove(file);
  std::ofstream(file) << "other";
  kill(lanescope.pid(), SIGINT);
  CHECK(lanescope.wait() == 1);
  CHECK_THAT(lanescope.messages(),
             contains_text("x.trace was removed while it was recorded, and another file has its name now") && !contains_text("Generated"));
  target.check_end(0);
}

TEST_CASE("lanescope attach ends after its duration") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  const Ran ran = run_lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", "nvtx", "-d", "0.3", "-o", "x"});
  CHECK(ran.code == 0);
  CHECK(std::filesystem::exists(folder.path() / "x.trace"));
  target.check_end(0);
}

TEST_CASE("what lanescope attach can't do is one sentence, exit code 1, and no file") {
  const TemporaryFolder folder;
  SECTION("a static program") {
    RunningTarget target({program("attach_target_static").string(), "read"});
    target.wait_until_in(SYS_read);
    const Ran ran = run_lanescope(folder.path(), {"attach", std::to_string(target.pid())});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.messages, contains_text("lanescope: Can't attach to " + std::to_string(target.pid()) + " (") && contains_text("statically"));
  }
  SECTION("no such process") {
    const Ran ran = run_lanescope(folder.path(), {"attach", "999999999"});
    CHECK(ran.code == 1);
    CHECK(ran.messages == "lanescope: There is no process 999999999.\n");
  }
  SECTION("no process named") { CHECK(run_lanescope(folder.path(), {"attach"}).code == 2); }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) CHECK(entry.path().extension() != ".trace");
}

TEST_CASE("an armed program is recorded without being stopped, names of before included, again and again") {
  const TemporaryFolder folder;
  setenv("LANESCOPE_AGENT", (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so").c_str(), 1);
  NvtxProgram target({program("lanescope").string(), "profile", "--arm", "--", program("attach_nvtx_target").string(), "initialised"});
  for (int round = 0; round < 3; ++round) {
    const std::string name = "round" + std::to_string(round);
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / name);
    target.wait_until_recorded(*recording);
    target.obey("range " + name);
    target.obey("early");
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, name) == 1);
    CHECK(ranges(*trace, "early string") == 1);  // registered before anyone had attached
    CHECK(ranges(*trace, "between") == 0);
    bool knows_domain = false;
    for (const Track& track : trace->tracks()) knows_domain = knows_domain || trace->domain_name(track.key.process, track.key.domain) == "early";
    CHECK(knows_domain);
    target.obey("range between");
  }
  target.check_end(3 * 3);
}

TEST_CASE("an armed program is found without being stopped where somebody else has its name") {
  const TemporaryFolder folder;
  setenv("LANESCOPE_AGENT", (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so").c_str(), 1);
  const channel::FileDescriptor others[] = {channel::FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET, 0)),
                                            channel::FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET, 0))};
  const auto take = [](const channel::FileDescriptor& socket, const std::string& name) {
    sockaddr_un address{AF_UNIX, {}};
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
    REQUIRE(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
    REQUIRE(listen(socket.get(), 1) == 0);
  };
  // Done before the process becomes the program, so that its number is known.
  std::thread squatter([&] {
    std::string number;
    while (!std::getline(std::ifstream(folder.path() / "number"), number)) std::this_thread::sleep_for(1ms);
    take(others[0], "lanescope-agent-" + number);
    take(others[1], "lanescope-agent-" + number + "-0123456789abcdef");
    std::ofstream(folder.path() / "go").flush();
  });
  const std::string script = "cd " + folder.path().string() + "; echo $$ > number.new; mv number.new number; until [ -e go ]; do sleep 0.01; done; exec " +
                             program("lanescope").string() + " profile --arm -- " + program("attach_nvtx_target").string() + " initialised";
  NvtxProgram target({"/bin/sh", "-c", script});
  squatter.join();
  for (const char* round : {"first", "second"}) {
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / round);
    target.wait_until_recorded(*recording);
    target.obey("range one");
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, "one") == 1);
    for (const DiagnosticMessage& diagnostic : trace->diagnostics()) CHECK_THAT(diagnostic.text, !contains_text("stood still"));
  }
  target.check_end(2);
}

TEST_CASE("children of an armed program are armed, forked or of another program") {
  const std::string order = GENERATE("follow", "become");
  CAPTURE(order);
  const TemporaryFolder folder;
  setenv("LANESCOPE_AGENT", (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so").c_str(), 1);
  NvtxProgram target({program("lanescope").string(), "profile", "--arm", "--", program("attach_nvtx_target").string(), "initialised"});
  target.target().send(order + "\n");
  REQUIRE(target.target().read_line() == (order == "follow" ? "done" : "ready"));
  pid_t child = 0;
  std::ifstream("/proc/" + std::to_string(target.pid()) + "/task/" + std::to_string(target.pid()) + "/children") >> child;
  REQUIRE(child > 0);
  std::ifstream sockets("/proc/net/unix");
  const std::string text{std::istreambuf_iterator<char>(sockets), {}};
  CHECK_THAT(text, contains_text("@lanescope-agent-" + std::to_string(child) + "\n"));  // the child's agent listens

  std::unique_ptr<Recording> recording = attach(child, folder.path() / "x");
  target.wait_until_recorded(*recording);
  target.obey("range one");
  const std::shared_ptr<const Trace> trace = end(std::move(recording));
  CHECK(ranges(*trace, "one") == 1);
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].pid == static_cast<std::uint32_t>(child));
  target.check_end(1);
}

TEST_CASE("an armed program that closes what it does not know can be attached to soon again, and takes no time for that") {
  const TemporaryFolder folder;
  setenv("LANESCOPE_AGENT", (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so").c_str(), 1);
  NvtxProgram target({program("lanescope").string(), "profile", "--arm", "--", program("attach_nvtx_target").string(), "initialised"});
  const auto processor_seconds = [&] {
    std::ifstream file("/proc/" + std::to_string(target.pid()) + "/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    for (int i = 0; i < 11; ++i) fields >> field;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  };
  target.obey("clear");
  const auto begin = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::unique_ptr<Recording> recording;
  while (recording == nullptr && elapsed() < 120) {
    auto attached = Recording::attach(attach_request(target.pid(), folder.path() / "x"));
    if (attached) recording = std::move(*attached);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  REQUIRE(recording != nullptr);
  CHECK(processor_seconds() - before < 0.5 * elapsed() + 0.1);
  target.wait_until_recorded(*recording);
  target.obey("range seen");
  CHECK(ranges(*end(std::move(recording)), "seen") == 1);
  target.check_end(1);
}

TEST_CASE("an agent of another version is named, and no file is left") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  session::AttachRequest request = attach_request(target.pid(), folder.path() / "x");
  request.agent = LANESCOPE_STALE_AGENT;
  const Result<std::unique_ptr<Recording>> recording = Recording::attach(request);
  REQUIRE_FALSE(recording);
  CHECK_THAT(recording.error().text, contains_text("Process " + std::to_string(target.pid()) +
                                                   " can't be recorded: its agent is of another version of Lanescope (0.0.1, layout 1; ours is "));
  CHECK(std::filesystem::is_empty(folder.path()));
  target.check_end(0);
}

TEST_CASE("info says which process was attached to") {
  const TemporaryFolder folder;
  NvtxProgram target("initialised");
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  target.wait_until_recorded(*recording);
  end(std::move(recording));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "x.trace"}).output,
             contains_text("Attached to") && contains_text("process " + std::to_string(target.pid()) + " (attach_nvtx_target)"));
}

TEST_CASE("lanescope attach --list names processes") {
  const TemporaryFolder folder;
  NvtxProgram target("fresh");
  const Ran ran = run_lanescope(folder.path(), {"attach", "--list"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text(std::to_string(target.pid())) && contains_text("attach_nvtx_target fresh"));
}
