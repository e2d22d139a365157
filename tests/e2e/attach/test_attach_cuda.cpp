// GPU activity of a program that used CUDA before it was attached to.
#include <cstdlib>
#include <sstream>
#include <thread>

#include "../../collector/agent/mock_cupti.h"
#include "../../collector/attach/running_target.h"
#include "../recorder.h"
#include "collector/session/recording.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace std::chrono_literals;
using session::AttachRequest;
using session::Recording;
namespace facts = lanescope::test::mock_cupti;

namespace {

std::unique_ptr<Recording> attach(pid_t pid, const std::filesystem::path& output) {
  AttachRequest request;
  request.pid = pid;
  request.output = output;
  request.settings.flush_interval = 10ms;
  request.agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so";
  Result<std::unique_ptr<Recording>> recording = Recording::attach(request);
  INFO((recording ? "" : recording.error().text));
  REQUIRE(recording);
  return std::move(*recording);
}

std::uint64_t kernels(const Trace& trace) {
  std::uint64_t count = 0;
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kKernels)
      for (const LaneId lane : track.lanes) count += trace.lane(lane).size();
  return count;
}

bool is_recorded_with_cupti(const Trace& trace) {
  for (const DiagnosticMessage& diagnostic : trace.diagnostics())
    if (diagnostic.text.find("GPU activity is recorded with CUPTI") != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("GPU activity is recorded from the attach on, again and again, with the devices and streams that were there before") {
  setenv("LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI, 1);
  const TemporaryFolder folder;
  RunningTarget target({program("attach_cuda_target").string(), LANESCOPE_MOCK_CUDA});
  REQUIRE(target.read_line() == "ready");
  for (int round = 0; round < 3; ++round) {
    const std::filesystem::path file = folder.path() / ("round" + std::to_string(round) + ".trace");
    std::unique_ptr<Recording> recording = attach(target.pid(), file);
    // The file says when CUPTI is on.
    for (bool is_on = false; !is_on; std::this_thread::yield()) {
      const Result<std::shared_ptr<const Trace>> trace = load_trace(file);
      is_on = trace && is_recorded_with_cupti(**trace);
    }
    target.send("1000\n");
    REQUIRE(target.read_line() == "done");
    recording->stop();
    REQUIRE(recording->wait_for(10min));
    const std::shared_ptr<const Trace> trace = load(file);
    CHECK(kernels(*trace) == 1000 + facts::kUnfinished);
    REQUIRE(trace->devices().size() == 1);
    CHECK(trace->gpus()[0].name == "Mock GPU");
    CHECK(trace->streams().size() == facts::kStreams);
    // What happens between recordings goes nowhere.
    target.send("50\n");
    REQUIRE(target.read_line() == "done");
  }
  target.close_input();
  std::string output;
  CHECK(WEXITSTATUS(target.finish(output)) == 7);
}
