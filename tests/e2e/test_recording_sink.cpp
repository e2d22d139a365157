// The library's own interface: a Recording that a program watches.
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <future>
#include <mutex>
#include <new>

#include "collector/session/recording.h"
#include "model/file/frame.h"
#include "model/trace/ingest/frame_ingest.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace std::chrono_literals;

namespace {

session::LaunchRequest request(const std::filesystem::path& folder, std::vector<std::string> command) {
  session::LaunchRequest result;
  result.command = std::move(command);
  result.output = (folder / "watched").string();
  result.target_output = session::TargetOutput::kStore;
  result.agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so";
  return result;
}

// Does what a viewer does: every frame goes into a builder as it comes.
struct Watcher {
  TraceBuilder builder;
  FrameIngest ingest{builder};
  std::string bytes;
  std::mutex mutex;
  std::condition_variable more;
  std::shared_ptr<const Trace> trace;

  void take(std::span<const std::byte> frames) {
    const std::lock_guard lock(mutex);
    bytes.append(reinterpret_cast<const char*>(frames.data()), frames.size());
    while (!frames.empty()) {
      FrameView frame;
      REQUIRE(frames.size() >= sizeof(frame.header));
      std::memcpy(&frame.header, frames.data(), sizeof(frame.header));
      frame.stored = frames.subspan(sizeof(frame.header), frame.header.stored_size);
      ingest.add(frame);
      frames = frames.subspan(sizeof(frame.header) + frame.header.stored_size);
    }
    trace = builder.snapshot();
    more.notify_all();
  }
  void wait_for_events(std::uint64_t count) {
    std::unique_lock lock(mutex);
    more.wait(lock, [&] { return trace && trace->event_count() >= count; });
  }
};

}  // namespace

TEST_CASE("whoever watches gets exactly what the file gets, while the program runs") {
  const TemporaryFolder folder;
  Watcher watcher;
  auto recording = session::Recording::launch(request(folder.path(), {program("lanescope_program_nvtx_endless").string()}),
                                              [&](std::span<const std::byte> frames) { watcher.take(frames); });
  REQUIRE(recording);
  watcher.wait_for_events(1'000);  // they come although the program continues
  CHECK((*recording)->state() == session::RecordingState::kRecording);
  CHECK_FALSE((*recording)->exit_status());
  kill((*recording)->target_pid(), SIGTERM);
  REQUIRE((*recording)->wait_for(10min));

  const session::RecordingOutcome outcome = (*recording)->outcome();
  CHECK(outcome.reason == session::EndReason::kTargetExited);
  REQUIRE(outcome.target);
  CHECK(outcome.target->signal == SIGTERM);
  CHECK_FALSE(outcome.failure);
  CHECK(outcome.statistics.events == 1'001);
  const std::string file = content((*recording)->path());
  REQUIRE(file.size() == outcome.statistics.bytes);
  CHECK(file.substr(sizeof(FileHeader), watcher.bytes.size()) == watcher.bytes);
  CHECK(load((*recording)->path())->event_count() == 1'001);
  CHECK(watcher.trace->event_count() == 1'001);
}

TEST_CASE("a recording that is stopped leaves the program running") {
  const TemporaryFolder folder;
  Watcher watcher;
  auto recording = session::Recording::launch(request(folder.path(), {program("lanescope_program_nvtx_endless").string(), "0"}),
                                              [&](std::span<const std::byte> frames) { watcher.take(frames); });
  REQUIRE(recording);
  watcher.wait_for_events(1'000);
  (*recording)->stop();
  REQUIRE((*recording)->wait_for(10min));
  CHECK((*recording)->outcome().reason == session::EndReason::kStopped);
  CHECK_FALSE((*recording)->outcome().target);
  CHECK(kill((*recording)->target_pid(), SIGKILL) == 0);
  const auto trace = load((*recording)->path());
  CHECK(trace->provenance().finished);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kDetached);
}

TEST_CASE("whoever waits for the end of a capture is answered where the recording gives up, while the program goes on") {
  const TemporaryFolder folder;
  Watcher watcher;
  std::atomic<bool> fails = false;
  auto recording =
      session::Recording::launch(request(folder.path(), {program("lanescope_program_nvtx_endless").string(), "0"}), [&](std::span<const std::byte> frames) {
        if (fails) throw std::bad_alloc();
        watcher.take(frames);
      });
  REQUIRE(recording);
  watcher.wait_for_events(1'000);
  fails = true;  // a waiting program sends nothing: the next frames are those of the end
  auto answer = std::async(std::launch::async, [&] { return (*recording)->end_capture(); });
  REQUIRE(answer.wait_for(60s) == std::future_status::ready);
  const Result<std::filesystem::path> file = answer.get();
  REQUIRE_FALSE(file);
  CHECK_THAT(file.error().text, contains_text("ended early"));
  CHECK(kill((*recording)->target_pid(), SIGKILL) == 0);
  REQUIRE((*recording)->wait_for(10min));
  CHECK((*recording)->outcome().failure);
}

TEST_CASE("a recording that goes out of scope ends at once, with a valid file") {
  const TemporaryFolder folder;
  std::filesystem::path path;
  pid_t target = 0;
  {
    auto recording = session::Recording::launch(request(folder.path(), {program("lanescope_program_nvtx_endless").string()}));
    REQUIRE(recording);
    path = (*recording)->path();
    target = (*recording)->target_pid();
  }
  CHECK(kill(target, SIGKILL) == 0);
  CHECK(load(path)->provenance().finished);
}

TEST_CASE("an agent that is not there is named before anything starts") {
  const TemporaryFolder folder;
  session::LaunchRequest wrong = request(folder.path(), {"true"});
  wrong.agent = folder.path() / "no-agent.so";
  const auto recording = session::Recording::launch(wrong);
  REQUIRE_FALSE(recording);
  CHECK(recording.error().text.find("no-agent.so") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));
}
