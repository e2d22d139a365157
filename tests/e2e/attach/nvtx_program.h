// A program with NVTX that is attached to (nvtx_target.cpp), and its recordings.
#pragma once

#include <sys/wait.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../../collector/attach/running_target.h"
#include "../recorder.h"
#include "collector/session/recording.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

// A program that makes NVTX ranges as it is told.
class NvtxProgram {
 public:
  explicit NvtxProgram(const std::string& mode) : NvtxProgram({program("attach_nvtx_target").string(), mode}) {}
  explicit NvtxProgram(std::vector<std::string> command) : target_(std::move(command)) { REQUIRE(target_.read_line() == "ready"); }
  [[nodiscard]] pid_t pid() const { return target_.pid(); }
  [[nodiscard]] const RunningTarget& target() const { return target_; }
  [[nodiscard]] std::string read_line() { return target_.read_line(); }
  void obey(const std::string& order) {
    target_.send(order + "\n");
    REQUIRE(target_.read_line() == "done");
  }
  // Makes ranges until the recording has one: from then on all are recorded.
  void wait_until_recorded(const session::Recording& recording) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (recording.statistics().events == 0) {
      obey("range probe");
      ++probes_;
      REQUIRE(std::chrono::steady_clock::now() < give_up);
    }
  }
  // The number of ranges that it made for that; only further ranges are the test's.
  [[nodiscard]] std::uint64_t probes() const { return probes_; }
  // Checks that it ends as it would have without us.
  void check_end(int ranges_beside_probes) {
    target_.close_input();
    std::string output;
    const int status = target_.finish(output);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(std::stoi(output) >= ranges_beside_probes);
    CHECK_THAT(output, contains_text(" ranges\n"));
  }

 private:
  RunningTarget target_;
  std::uint64_t probes_ = 0;
};

inline session::AttachRequest attach_request(pid_t pid, const std::filesystem::path& output) {
  session::AttachRequest request;
  request.pid = pid;
  request.settings.trace_cuda = false;
  request.output = output;
  request.agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so";
  return request;
}

// Tries again if attaching was only refused for the moment, for example on a machine that is too busy for its limits.
inline std::unique_ptr<session::Recording> attach(const session::AttachRequest& request) {
  Result<std::unique_ptr<session::Recording>> recording = session::Recording::attach(request);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!recording && recording.error().text.ends_with("Try again.") && std::chrono::steady_clock::now() < give_up)
    recording = session::Recording::attach(request);
  INFO((recording ? "" : recording.error().text));
  REQUIRE(recording);
  return std::move(*recording);
}
inline std::unique_ptr<session::Recording> attach(pid_t pid, const std::filesystem::path& output) { return attach(attach_request(pid, output)); }

inline std::shared_ptr<const Trace> end(std::unique_ptr<session::Recording> recording) {
  recording->stop();
  REQUIRE(recording->wait_for(std::chrono::minutes(10)));
  CHECK(recording->outcome().reason == session::EndReason::kStopped);
  CHECK(recording->outcome().statistics.dropped == 0);
  return load(recording->path());
}

inline std::uint64_t ranges(const Trace& trace, std::string_view name) { return count_events(trace, TrackKind::kNvtxRanges, name); }

}  // namespace lanescope::test
