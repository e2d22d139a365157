// Libraries that a program loads after the attach are recorded from their first call on.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../recorder.h"
#include "model/trace/load.h"
#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::map<long, int> ranges_by_life(const Trace& trace) {
  std::map<long, int> lives;
  constexpr std::string_view kLife = "life ";
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i)
        if (const std::string name(trace.name(trace.lane(id).name(i))); name.starts_with(kLife)) ++lives[std::stol(name.substr(kLife.size()))];
  }
  return lives;
}

struct RecordedLives {
  std::shared_ptr<const Trace> trace;
  std::string messages;
};

// Records for a second a program that loads and unloads the library again and again; each load lasts 3 ms.
RecordedLives record_lives(const std::string& library, const std::string& traces) {
  const TemporaryFolder folder;
  RunningTarget target({program("lanescope_program_nvtx_reloading").string(), library});
  REQUIRE(target.read_line() == "ready");
  const Ran ran = run_lanescope(folder.path(), {"attach", std::to_string(target.pid()), "-t", traces, "-s", "none", "-d", "1", "-o", "x"});
  CAPTURE(ran.messages);
  CHECK(ran.code == 0);
  kill(target.pid(), SIGTERM);
  std::string output;
  const int status = target.finish(output);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK_THAT(output, contains_text(" ranges\n"));
  return {load(folder.path() / "x.trace"), ran.messages};
}

// The first and the last may have begun before the recording, or ended after it.
void check_that_all_are_whole(const std::map<long, int>& lives) {
  REQUIRE(lives.size() > 20);
  const long first = lives.begin()->first;
  const long last = lives.rbegin()->first;
  CHECK(lives.size() == static_cast<std::size_t>(last - first + 1));  // none is missing
  CHECK(std::all_of(std::next(lives.begin()), std::prev(lives.end()), [](const auto& life) { return life.second == 3; }));
}

}  // namespace

TEST_CASE("a library that is loaded after the attach is recorded from its first range on, each time") {
  // The bare name is found through a path of the program's, so the agent cannot load the library in the program's place.
  const std::string library = GENERATE(program("liblanescope_program_nvtx_life.so").string(), std::string("liblanescope_program_nvtx_life.so"));
  const std::string traces = GENERATE("nvtx", "nvtx,osrt");
  CAPTURE(library, traces);
  const RecordedLives recorded = record_lives(library, traces);
  check_that_all_are_whole(ranges_by_life(*recorded.trace));
  CHECK_THAT(recorded.messages, !contains_text("as in their constructors"));
}

TEST_CASE("the calls of a library that is loaded after the attach are recorded from its first one on, each time") {
  const RecordedLives recorded = record_lives(program("liblanescope_program_nvtx_life.so").string(), "nvtx,osrt");
  const std::map<long, int> lives = ranges_by_life(*recorded.trace);
  check_that_all_are_whole(lives);
  const std::uint64_t sleeps = count_events(*recorded.trace, TrackKind::kOsRuntime, "usleep");
  CHECK(sleeps >= 3 * (lives.size() - 2));
}

TEST_CASE("libraries are recorded from their first range on where threads have left the loader's list by exceptions, jumps and their end") {
  const TemporaryFolder folder;
  const std::string way = GENERATE("throw", "end", "cancel", "jump");
  const bool traces_os_calls = GENERATE(false, true);
  CAPTURE(way, traces_os_calls);
  constexpr int kLives = 20;
  NvtxProgram target({program("lanescope_program_leaves_list").string(), program("liblanescope_program_nvtx_life.so").string(), std::to_string(kLives), way});
  session::AttachRequest request = attach_request(target.pid(), folder.path() / "x");
  request.settings.trace_os_runtime = traces_os_calls;
  std::unique_ptr<session::Recording> recording = attach(request);
  target.wait_until_recorded(*recording);
  target.obey("begin");
  std::map<long, int> lives = ranges_by_life(*end(std::move(recording)));
  lives.erase(0);
  CHECK(lives.size() == kLives);
  CHECK(std::all_of(lives.begin(), lives.end(), [](const auto& life) { return life.second == 3; }));
}

TEST_CASE("what a library marks while it is being loaded is missing, which is said, and nothing else of it is") {
  const RecordedLives recorded = record_lives(program("liblanescope_program_nvtx_early_life.so").string(), "nvtx");
  check_that_all_are_whole(ranges_by_life(*recorded.trace));
  CHECK(count_events(*recorded.trace, TrackKind::kNvtxRanges, "loading") == 0);
  const auto says_so = [](const DiagnosticMessage& message) { return message.text.find("as in their constructors, are missing") != std::string::npos; };
  CHECK(std::count_if(recorded.trace->diagnostics().begin(), recorded.trace->diagnostics().end(), says_so) == 1);
}
