// GPU activity of a program that used CUDA before it was attached to.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "../../collector/agent/mock_cupti.h"
#include "../../collector/attach/running_target.h"
#include "../recorder.h"
#include "collector/session/recording.h"
#include "model/trace/kernel_records.h"
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

std::unique_ptr<Recording> attach(pid_t pid, const std::filesystem::path& output, const session::KernelSettings& kernels = {}) {
  AttachRequest request;
  request.pid = pid;
  request.output = output;
  request.settings.flush_interval = 10ms;
  request.settings.kernels = kernels;
  request.agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so";
  Result<std::unique_ptr<Recording>> recording = Recording::attach(request);
  INFO((recording ? "" : recording.error().text));
  REQUIRE(recording);
  return std::move(*recording);
}

std::uint64_t kernel_count(const Trace& trace) {
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
    // The file shows when CUPTI is on.
    for (bool is_on = false; !is_on; std::this_thread::yield()) {
      const Result<std::shared_ptr<const Trace>> trace = load_trace(file);
      is_on = trace && is_recorded_with_cupti(**trace);
    }
    target.send("1000\n");
    REQUIRE(target.read_line() == "done");
    recording->stop();
    REQUIRE(recording->wait_for(10min));
    const std::shared_ptr<const Trace> trace = load(file);
    CHECK(kernel_count(*trace) == 1000 + facts::kUnfinished);
    REQUIRE(trace->devices().size() == 1);
    CHECK(trace->gpus()[0].name == "Mock GPU");
    CHECK(trace->streams().size() == facts::kStreams);
    // Activity between recordings is not recorded.
    target.send("50\n");
    REQUIRE(target.read_line() == "done");
  }
  target.close_input();
  std::string output;
  CHECK(WEXITSTATUS(target.finish(output)) == 7);
}

TEST_CASE("where the driver's lock was never free while a program was attached to, that is said, and the next attach records") {
  setenv("LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI, 1);
  const TemporaryFolder folder;
  const std::filesystem::path lock = folder.path() / "lock";
  std::ofstream(lock).flush();
  setenv("MOCK_CUPTI_WAITS", lock.c_str(), 1);
  RunningTarget target({program("attach_cuda_target").string(), LANESCOPE_MOCK_CUDA});
  unsetenv("MOCK_CUPTI_WAITS");
  REQUIRE(target.read_line() == "ready");
  const auto says_so = [](const DiagnosticMessage& diagnostic) {
    return diagnostic.text.find("CUPTI had not begun when the recording ended") != std::string::npos;
  };
  {
    std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "first.trace");
    while (!std::filesystem::exists(lock.string() + ".waiting")) std::this_thread::yield();
    recording->stop();
    REQUIRE(recording->wait_for(10min));
  }
  const std::shared_ptr<const Trace> first = load(folder.path() / "first.trace");
  CHECK(kernel_count(*first) == 0);
  CHECK(std::count_if(first->diagnostics().begin(), first->diagnostics().end(), says_so) == 1);

  std::filesystem::remove(lock);
  const std::filesystem::path file = folder.path() / "second.trace";
  std::unique_ptr<Recording> recording = attach(target.pid(), file);
  for (bool is_on = false; !is_on; std::this_thread::yield()) {
    const Result<std::shared_ptr<const Trace>> trace = load_trace(file);
    is_on = trace && is_recorded_with_cupti(**trace);
  }
  target.send("1000\n");
  REQUIRE(target.read_line() == "done");
  recording->stop();
  REQUIRE(recording->wait_for(10min));
  const std::shared_ptr<const Trace> second = load(file);
  CHECK(kernel_count(*second) == 1000 + facts::kUnfinished);
  CHECK(std::none_of(second->diagnostics().begin(), second->diagnostics().end(), says_so));
  target.close_input();
  std::string output;
  CHECK(WEXITSTATUS(target.finish(output)) == 7);
}

TEST_CASE("a CUPTI that faults as it begins is not taken for one that waits for the driver's lock") {
  setenv("LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI, 1);
  setenv("MOCK_CUPTI_FAULTS", "subscribe", 1);
  const TemporaryFolder folder;
  RunningTarget target({program("attach_cuda_target").string(), LANESCOPE_MOCK_CUDA});
  unsetenv("MOCK_CUPTI_FAULTS");
  REQUIRE(target.read_line() == "ready");
  const auto says = [](const Trace& trace, const std::string& words) {
    return std::count_if(trace.diagnostics().begin(), trace.diagnostics().end(),
                         [&](const DiagnosticMessage& each) { return each.text.find(words) != std::string::npos; });
  };
  constexpr const char* kFault = "CUPTI faulted when it was asked to begin";
  std::unique_ptr<Recording> recording = attach(target.pid(), folder.path() / "x");
  for (bool is_told = false; !is_told; std::this_thread::yield()) {
    const Result<std::shared_ptr<const Trace>> trace = load_trace(folder.path() / "x.trace");
    is_told = trace && says(**trace, kFault) > 0;
  }
  recording->stop();
  REQUIRE(recording->wait_for(10min));
  const std::shared_ptr<const Trace> trace = load(folder.path() / "x.trace");
  CHECK(says(*trace, kFault) == 1);
  CHECK(says(*trace, "CUPTI had not begun when the recording ended") == 0);
  target.close_input();
  std::string output;
  CHECK(WEXITSTATUS(target.finish(output)) == 7);
}

TEST_CASE("warps of a program that runs already are sampled, in the context that it had, and no more when the recording ends while it launches on") {
  setenv("LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI, 1);
  const session::KernelSettings settings = GENERATE(session::KernelSettings{session::KernelCollection::kPcSamples, 0, 0ms, 0ms},
                                                    session::KernelSettings{session::KernelCollection::kPcSamples, 0, 200ms, 500ms});
  const bool has_windows = settings.window != 0ms;
  const TemporaryFolder folder;
  RunningTarget target({program("attach_cuda_target").string(), LANESCOPE_MOCK_CUDA});
  REQUIRE(target.read_line() == "ready");
  const auto ask = [&target](const std::string& question) {
    target.send(question + "\n");
    return target.read_line();
  };
  for (int round = 0; round < 2; ++round) {
    const std::filesystem::path file = folder.path() / ("round" + std::to_string(round) + ".trace");
    std::unique_ptr<Recording> recording = attach(target.pid(), file, settings);
    while (ask("sample") != "sampled") std::this_thread::yield();
    REQUIRE(ask("launch") == "done");
    // Waits for enough rounds of samples, and if there are windows, for a pause and another sample.
    std::uint32_t rounds = 1;
    bool has_paused = !has_windows, is_again = false;
    while (rounds < facts::kRounds || !has_paused || !is_again) {
      const bool is_sampled = ask("sample") == "sampled";
      REQUIRE((is_sampled || has_windows));
      rounds += is_sampled ? 1 : 0;
      is_again = has_paused && is_sampled;
      has_paused |= !is_sampled;
    }
    recording->stop();
    REQUIRE(recording->wait_for(10min));
    REQUIRE(ask("launch no more") == "done");
    CHECK(ask("sample") == "not sampled");
    const std::shared_ptr<const Trace> trace = load(file);
    std::uint64_t samples = 0;
    std::vector<TimeRange> windows;
    for (const auto& window : trace->kernel_records().windows) {
      for (const PcSample& sample : window->samples) samples += sample.samples;
      CHECK(window->every == (has_windows ? 500'000'000 : 0));
      windows.push_back(window->time);
    }
    CHECK(samples == rounds * (facts::kLongScoreboard + facts::kWait + facts::kSelected));
    if (has_windows) REQUIRE(windows.size() >= 2);
    for (std::size_t i = 1; has_windows && i < windows.size(); ++i) {
      CHECK(windows[i].begin - windows[i - 1].begin >= 500'000'000);
      CHECK(windows[i - 1].end - windows[i - 1].begin >= 200'000'000);
    }
    // Code that was loaded before comes with its launches.
    REQUIRE(trace->kernel_records().code.size() == 1);
    CHECK(trace->kernel_records().code[0]->image == std::string(facts::kImage, sizeof(facts::kImage)));
    for (const DiagnosticMessage& diagnostic : trace->diagnostics()) {
      CHECK(diagnostic.text.find("PC samples of") == std::string::npos);
      CHECK(diagnostic.text.find("PC samples are") == std::string::npos);
    }
  }
  target.close_input();
  std::string output;
  CHECK(WEXITSTATUS(target.finish(output)) == 7);
}
