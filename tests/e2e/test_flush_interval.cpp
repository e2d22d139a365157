// When GPU records of a running program reach its file, with a CUPTI that needs no GPU and returns a buffer only when it is full or requested.
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

#include "../collector/agent/mock_cupti.h"
#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

// When frames with GPU records were appended to the file. Frames within a few milliseconds of each other belong to one request.
class Arrivals {
 public:
  void take(std::span<const std::byte> frames) {
    const std::lock_guard lock(mutex_);
    while (!frames.empty()) {
      FrameHeader header;
      std::memcpy(&header, frames.data(), sizeof(header));
      if (header.type == proto::FRAME_EVENTS && header.source == proto::SOURCE_AGENT && header.event_count > 0) add(Clock::now());
      frames = frames.subspan(sizeof(header) + header.stored_size);
    }
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return times_.size();
  }

 private:
  void add(Clock::time_point time) {
    if (times_.empty() || time - times_.back() > 40ms) times_.push_back(time);
  }
  mutable std::mutex mutex_;
  std::vector<Clock::time_point> times_;
};

struct Recorded {
  std::size_t arrivals_while_it_ran = 0;
  Clock::duration time{};     // a little more than the time in which they came
  std::uint64_t kernels = 0;  // at the end

  // True if there were no more arrivals than the interval allows. On a busy machine, the records of one request may come in two parts.
  [[nodiscard]] bool are_as_seldom_as(std::chrono::milliseconds interval) const {
    return arrivals_while_it_ran <= 2 * static_cast<std::size_t>(time / interval) + 2;
  }
};

// Records launches for three seconds, and until `least_arrivals` arrivals have come.
Recorded record(std::chrono::milliseconds interval, std::size_t least_arrivals) {
  const TemporaryFolder folder;
  session::LaunchRequest request;
  request.command = {program("mock_steady_kernels").string()};
  request.environment = {{"LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI}};
  request.settings.trace_nvtx = false;
  request.settings.flush_interval = interval;
  request.output = (folder.path() / "x").string();
  request.agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so";
  Arrivals arrivals;
  const auto begin = Clock::now();
  const auto recording = session::Recording::launch(request, [&arrivals](std::span<const std::byte> frames) { arrivals.take(frames); });
  INFO((recording ? "" : recording.error().text));
  REQUIRE(recording);
  while (Clock::now() - begin < 3s || arrivals.count() < least_arrivals) REQUIRE_FALSE((*recording)->wait_for(100ms));
  Recorded recorded;
  recorded.arrivals_while_it_ran = arrivals.count();
  recorded.time = Clock::now() - begin;
  kill((*recording)->target_pid(), SIGTERM);
  REQUIRE((*recording)->wait_for(10min));
  CHECK((*recording)->exit_status() == session::ExitStatus{5, 0});
  CHECK((*recording)->outcome().statistics.dropped == 0);
  const auto trace = load(folder.path() / "x.trace");
  for (const Track& track : trace->tracks())
    for (const LaneId id : track.lanes) recorded.kernels += track.key.kind == TrackKind::kKernels ? trace->lane(id).size() : 0;
  return recorded;
}

}  // namespace

TEST_CASE("GPU records of a running program reach the file once in each interval, and no more often") {
  constexpr std::chrono::milliseconds kOften{100}, kSeldom{1000};
  const Recorded often = record(kOften, 10);
  CHECK(often.are_as_seldom_as(kOften));
  const Recorded seldom = record(kSeldom, 1);
  CHECK(seldom.are_as_seldom_as(kSeldom));
  CHECK(seldom.kernels > 0);
}

TEST_CASE("without an interval GPU records stay with CUPTI until a buffer is full or the recording ends, and none is lost") {
  const Recorded never = record(0ms, 0);
  CHECK(never.arrivals_while_it_ran == 0);
  CHECK(never.kernels > 0);
}
